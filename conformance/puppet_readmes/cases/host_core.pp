host { 'example': ensure => 'present', ip => '10.0.0.1', host_aliases => ['foo', 'bar'], comment => 'x' }
host { 'other': ip => '10.0.0.2' }
host { 'none': ensure => absent }
