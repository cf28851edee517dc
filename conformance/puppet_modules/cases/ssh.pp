class { 'ssh::client': ensure => 'absent', storeconfigs_enabled => false, options => { 'Host *.case.test' => { 'User' => 'case' } } }
