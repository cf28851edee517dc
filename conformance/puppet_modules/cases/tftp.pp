class { 'tftp': root => '/srv/boot', address => '127.0.0.1', port => 6969 }
