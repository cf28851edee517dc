class { 'haproxy': global_options => { 'log' => '127.0.0.1 local1', 'maxconn' => '300', 'user' => 'haproxy', 'group' => 'haproxy', 'daemon' => '' }, defaults_options => { 'mode' => 'http', 'timeout' => ['connect 4s', 'client 20s', 'server 20s'] } }
haproxy::listen { 'front': ipaddress => '127.0.0.1', ports => '8090', options => { 'balance' => 'roundrobin' } }
haproxy::balancermember { 'one': listening_service => 'front', server_names => 'one.case.test', ipaddresses => '127.0.0.2', ports => '8091', options => 'check' }
