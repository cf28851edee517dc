sysctl { 'net.ipv4.ip_forward': ensure => present, value => '1', apply => false, target => '/tmp/case/sysctl.conf' }
sysctl { 'vm.swappiness': value => '10', apply => false, target => '/tmp/case/sysctl.conf' }
