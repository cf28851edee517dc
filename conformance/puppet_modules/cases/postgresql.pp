class { 'postgresql::server': listen_addresses => '127.0.0.1' }
postgresql::server::db { 'casedb': user => 'caseuser', password => postgresql::postgresql_password('caseuser', 'casepass') }
postgresql::server::pg_hba_rule { 'lan': type => 'host', database => 'casedb', user => 'caseuser', address => '192.0.2.0/24', auth_method => 'scram-sha-256' }
