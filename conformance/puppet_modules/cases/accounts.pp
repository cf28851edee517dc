accounts::user { 'casey': uid => 4100, gid => 4100, groups => ['daemon'], shell => '/bin/sh', comment => 'Case Y', home => '/home/casey', sshkeys => ['ssh-rsa AAAAB3NzaC1yc2EAAAABIwAAAQEAz casey@case.test'], bash_profile_content => "umask 027\n", password => '!!', locked => false }
accounts::user { 'left': ensure => 'absent' }
