class { 'rsync': package_ensure => 'present' }
file { '/tmp/case-src/tree': ensure => directory } -> file { '/tmp/case-src/tree/leaf': content => "leaf\n" }
-> rsync::get { '/tmp/case/tree': source => '/tmp/case-src/tree/', recursive => true, times => true }
