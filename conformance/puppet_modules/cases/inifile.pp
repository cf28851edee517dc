ini_setting { 'one': ensure => present, path => '/tmp/case/a.ini', section => 's', setting => 'k', value => 'v' }
ini_setting { 'two': ensure => present, path => '/tmp/case/a.ini', section => 't', setting => 'l', value => 'w', key_val_separator => ':' }
ini_subsetting { 'part': ensure => present, section => '', key_val_separator => '=', path => '/tmp/case/args', setting => 'ARGS', subsetting => '-x', value => '1' }
create_ini_settings({ 's' => { 'a' => '1', 'b' => { 'ensure' => 'absent' } } }, { 'path' => '/tmp/case/b.ini' })
