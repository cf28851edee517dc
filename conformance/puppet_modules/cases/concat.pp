concat { '/tmp/case/parts': owner => 'root', group => 'root', mode => '0644' }
concat::fragment { 'head': target => '/tmp/case/parts', content => "first\n", order => '01' }
concat::fragment { 'tail': target => '/tmp/case/parts', content => "last\n", order => '15' }
concat { '/tmp/case/y': format => 'yaml' }
concat::fragment { 'y1': target => '/tmp/case/y', content => "a: 1\n" }
concat::fragment { 'y2': target => '/tmp/case/y', content => "b: [2]\n" }
