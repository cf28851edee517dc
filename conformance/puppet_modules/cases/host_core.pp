host { 'one.test': ensure => 'present', ip => '192.0.2.1', host_aliases => ['one', 'first'], comment => 'x' }
host { 'other': ip => '192.0.2.2' }
host { 'none': ensure => absent }
