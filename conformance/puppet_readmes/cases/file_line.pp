file { '/tmp/case/bashrc': content => "PATH=/bin\n", replace => false }
-> file_line { 'bashrc_proxy': ensure => present, path => '/tmp/case/bashrc', line => 'export HTTP_PROXY=http://squid.puppetlabs.vm:3128', match => '^export\ HTTP_PROXY\=' }
-> file_line { 'after': path => '/tmp/case/bashrc', line => 'two', after => '^PATH' }
-> file_line { 'gone': ensure => absent, path => '/tmp/case/bashrc', line => 'PATH=/bin' }
