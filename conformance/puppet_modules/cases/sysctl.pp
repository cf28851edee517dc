sysctl { 'net.ipv4.conf.all.log_martians': value => '1' }
sysctl { 'net.ipv4.tcp_syncookies': value => '1', comment => 'case' }
