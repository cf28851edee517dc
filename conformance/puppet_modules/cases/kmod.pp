kmod::blacklist { 'casemod': }
kmod::alias { 'caseal': source => 'casemod' }
kmod::option { 'size': module => 'casemod', option => 'size', value => '9', file => '/etc/modprobe.d/case.conf' }
