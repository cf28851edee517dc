hocon_setting { 'size': ensure => present, path => '/tmp/case/app.conf', setting => 'app.pool.size', value => 12 }
hocon_setting { 'hosts': ensure => present, path => '/tmp/case/app.conf', setting => 'app.hosts', value => ['a', 'b'], type => 'array' }
hocon_setting { 'none': ensure => absent, path => '/tmp/case/app.conf', setting => 'app.none' }
