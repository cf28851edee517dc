class { 'resolv_conf': nameservers => ['192.0.2.53', '192.0.2.54'], searchpath => ['case.test'] }
