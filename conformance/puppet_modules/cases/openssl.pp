file { '/tmp/case/given.pem': content => "not a key\n" }
class { 'openssl': package_ensure => 'present' }
ssl_pkey { '/tmp/case/given.pem': ensure => 'absent' }
openssl::dhparam { '/tmp/case/none.pem': ensure => 'absent' }
