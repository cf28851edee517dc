class { 'apt': update => { 'frequency' => 'reluctantly' }, purge => { 'sources.list.d' => false } }
apt::source { 'case': comment => 'a case', location => 'http://mirror.case.test/debian', release => 'stable', repos => 'main contrib', pin => 700, notify_update => false }
apt::pin { 'hold': packages => ['casepkg'], version => '1.2*', priority => 1001 }
apt::conf { 'caseconf': priority => '30', content => 'Acquire::Retries "4";', notify_update => false }
