class { 'telegraf': manage_repo => false, manage_service => false, manage_user => false, ensure => 'absent', hostname => 'case', outputs => { 'file' => [{ 'files' => ['stdout'] }] } }
telegraf::input { 'cpu': plugin_type => 'cpu', options => [{ 'percpu' => true }] }
