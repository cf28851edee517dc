class { 'keepalived': service_manage => false }
keepalived::vrrp::script { 'alive': script => '/bin/true', interval => 3 }
keepalived::vrrp::instance { 'VI_7': interface => 'lo', state => 'BACKUP', virtual_router_id => 71, priority => 90, auth_type => 'PASS', auth_pass => 'casepass', virtual_ipaddress => ['192.0.2.70/32'], track_script => ['alive'] }
