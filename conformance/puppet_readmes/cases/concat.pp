concat { '/tmp/case/motd': owner => 'root', group => 'root', mode => '0644' }
concat::fragment { 'motd_header': target => '/tmp/case/motd', content => "\nPuppet modules on this server:\n\n", order => '01' }
concat::fragment { 'motd_local': target => '/tmp/case/motd', content => "local\n", order => '15' }
concat { '/tmp/case/y': format => 'yaml' }
concat::fragment { 'y1': target => '/tmp/case/y', content => "a: 1\n" }
concat::fragment { 'y2': target => '/tmp/case/y', content => "b: [2]\n" }
