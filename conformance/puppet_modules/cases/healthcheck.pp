tcp_conn_validator { 'closed': host => '127.0.0.1', port => 9, timeout => 1, try_sleep => 1 }
notify { 'after': require => Tcp_conn_validator['closed'] }
