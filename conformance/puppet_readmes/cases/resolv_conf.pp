class { 'resolv_conf': nameservers => ['8.8.8.8', '8.8.4.4'], searchpath => ['example.com'] }
