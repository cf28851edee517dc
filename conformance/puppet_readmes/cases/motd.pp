class { 'motd': content => "Hello world!\n" }
