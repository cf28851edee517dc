file { '/tmp/case/defaults': content => "A=1\n# B=2\n", replace => false }
-> shellvar { 'A': ensure => present, target => '/tmp/case/defaults', value => 'three four' }
-> shellvar { 'B': ensure => present, target => '/tmp/case/defaults', value => '5', uncomment => true }
