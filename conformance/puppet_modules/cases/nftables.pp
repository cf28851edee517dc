class { 'nftables': in_ssh => true, out_ntp => false, out_dns => true, noflush_tables => ['inet-f2b-table'] }
nftables::rule { 'default_in-caseweb': content => 'tcp dport 8080 accept' }
