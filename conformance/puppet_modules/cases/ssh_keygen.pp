ssh_keygen { 'root': filename => '/tmp/case/key', comment => 'case', type => 'ed25519' }
