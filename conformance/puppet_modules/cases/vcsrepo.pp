exec { 'make': command => 'git init -q -b main /tmp/case-src/up && cd /tmp/case-src/up && git -c user.name=c -c user.email=c@case.test commit -q --allow-empty --date 2020-01-01T00:00:00Z -m first', environment => ['HOME=/root', 'GIT_COMMITTER_DATE=2020-01-01T00:00:00Z'], path => '/usr/bin:/bin', creates => '/tmp/case-src/up/.git' }
-> vcsrepo { '/tmp/case/work': ensure => present, provider => git, source => '/tmp/case-src/up', revision => 'main' }
vcsrepo { '/tmp/case/bare': ensure => bare, provider => git }
