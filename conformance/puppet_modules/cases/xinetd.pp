class { 'xinetd': }
xinetd::service { 'caseecho': port => '7007', server => '/bin/cat', protocol => 'tcp', user => 'nobody', bind => '127.0.0.1', service_type => 'UNLISTED' }
