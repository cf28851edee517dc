debconf { 'case/ask': ensure => present, package => 'tzdata', item => 'tzdata/Areas', type => 'select', value => 'Europe' }
