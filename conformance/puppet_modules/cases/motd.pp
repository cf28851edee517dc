class { 'motd': content => "a line\n" }
