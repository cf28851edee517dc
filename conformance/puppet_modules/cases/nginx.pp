class { 'nginx': manage_repo => false, worker_processes => 2, client_max_body_size => '12m' }
nginx::resource::server { 'site.case.test': listen_port => 8085, www_root => '/srv/site', index_files => ['index.html'] }
nginx::resource::location { 'app': server => 'site.case.test', location => '/app', proxy => 'http://back' }
nginx::resource::upstream { 'back': members => { 'one' => { 'server' => '127.0.0.1', 'port' => 8086, 'weight' => 2 } } }
