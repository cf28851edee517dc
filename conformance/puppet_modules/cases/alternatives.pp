file { '/tmp/case/alt': content => "#!/bin/sh\n", mode => '0755' }
-> alternative_entry { '/tmp/case/alt': ensure => present, altlink => '/tmp/case/link', altname => 'casealt', priority => 10 }
