cron { 'nightly': command => '/bin/true', user => 'root', hour => 3, minute => 15 }
cron { 'two': command => '/bin/true', user => 'root', hour => [2, 4], minute => '*/10', environment => 'PATH=/bin' }
cron { 'special': command => '/bin/true', user => 'root', special => 'reboot' }
