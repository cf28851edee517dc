class { 'git': }
git::repo { 'fresh': target => '/tmp/case/fresh', bare => true }
