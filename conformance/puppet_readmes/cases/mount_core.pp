mount { '/tmp/case': ensure => 'present', device => 'UUID=1', fstype => 'ext4', options => 'defaults', pass => 2, dump => 0 }
mount { '/srv/none': ensure => absent }
