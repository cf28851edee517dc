class { 'autofs': mounts => { 'data' => { 'mount' => '/data', 'mapfile' => '/etc/auto.data', 'options' => '--timeout=60', 'order' => 1 } } }
autofs::mapfile { '/etc/auto.data': mappings => [{ 'key' => 'one', 'options' => 'ro,soft', 'fs' => 'files.case.test:/one' }] }
