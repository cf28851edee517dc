class { 'locales': default_locale => 'en_GB.UTF-8', locales => ['en_GB.UTF-8 UTF-8', 'nb_NO.UTF-8 UTF-8'] }
