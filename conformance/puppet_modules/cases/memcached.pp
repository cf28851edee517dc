class { 'memcached': max_memory => 48, listen => ['127.0.0.1'], tcp_port => 11290, udp_port => 0, max_connections => 200 }
