file { '/tmp/case/settings': content => "A=1\n", replace => false }
-> file_line { 'b': ensure => present, path => '/tmp/case/settings', line => 'B=2', match => '^B=' }
-> file_line { 'after': path => '/tmp/case/settings', line => 'two', after => '^A' }
-> file_line { 'gone': ensure => absent, path => '/tmp/case/settings', line => 'A=1' }
