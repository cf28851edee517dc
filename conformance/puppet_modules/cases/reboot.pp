file { '/tmp/case/kernel': content => "1\n" }
reboot { 'after': when => 'refreshed', apply => 'finished', timeout => 900 }
