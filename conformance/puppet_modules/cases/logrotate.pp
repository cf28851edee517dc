class { 'logrotate': manage_cron_daily => true }
logrotate::rule { 'caseapp': path => ['/var/log/case/*.log', '/var/log/case.log'], rotate => 6, rotate_every => 'week', compress => true, missingok => true, postrotate => '/bin/true' }
