ini_setting { 'sample setting': ensure => present, path => '/tmp/case/foo.ini', section => 'bar', setting => 'baz', value => 'quux' }
ini_setting { 'prefixed': ensure => present, path => '/tmp/case/foo.ini', section => 'foo', setting => 'foosetting', value => 'FOO!', key_val_separator => ':' }
ini_subsetting { 'sample subsetting': ensure => present, section => '', key_val_separator => '=', path => '/tmp/case/jre', setting => 'JAVA_ARGS', subsetting => '-Xmx', value => '512m' }
create_ini_settings({ 'section1' => { 'setting1' => 'value1', 'settings2' => { 'ensure' => 'absent' } } }, { 'path' => '/tmp/case/bar.ini' })
