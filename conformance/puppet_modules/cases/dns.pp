class { 'dns': forwarders => ['192.0.2.53'], recursion => 'yes', allow_recursion => ['127.0.0.0/8'], listen_on_v6 => 'none' }
dns::zone { 'case.test': soa => 'ns.case.test', contact => 'ops.case.test.' }
