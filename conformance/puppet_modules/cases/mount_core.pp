mount { '/tmp/case': ensure => 'present', device => 'LABEL=case', fstype => 'ext4', options => 'ro', pass => 2, dump => 0 }
mount { '/srv/none': ensure => absent }
