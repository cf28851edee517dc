cron { 'logrotate': command => '/usr/sbin/logrotate', user => 'root', hour => 2, minute => 0 }
cron { 'two': command => '/usr/sbin/logrotate', user => 'root', hour => [2, 4], minute => '*/10', environment => 'PATH=/bin' }
cron { 'special': command => '/bin/true', user => 'root', special => 'reboot' }
