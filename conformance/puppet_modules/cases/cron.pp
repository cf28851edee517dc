class { 'cron': manage_service => false }
cron::job { 'tidy': command => '/bin/true', minute => '*/7', hour => '2-4', user => 'root', environment => ['MAILTO=case'] }
cron::daily { 'report': command => '/bin/true', minute => '12', hour => '5' }
cron::job::multiple { 'pair': jobs => [{ 'minute' => '5', 'command' => '/bin/true' }, { 'minute' => '35', 'command' => '/bin/false' }] }
