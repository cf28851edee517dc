file { '/tmp/case/tree': ensure => directory }
-> file { '/tmp/case/tree/leaf': content => "x\n" }
-> posix_acl { '/tmp/case/tree': action => set, recursemode => 'lazy', permission => ['user::rwx', 'group::r-x', 'mask::rwx', 'other::---', 'user:daemon:r-x', 'default:user:daemon:r-x'] }
