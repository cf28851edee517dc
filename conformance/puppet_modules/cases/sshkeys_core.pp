ssh_authorized_key { 'case@test': ensure => present, user => 'root', type => 'ssh-rsa', key => 'AAAAB3NzaC1yc2EAAAABIwAAAQEAx' }
sshkey { 'www.case.test': ensure => present, type => 'ssh-rsa', key => 'AAAAB3Nza', host_aliases => ['web'] }
