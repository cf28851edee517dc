ssh_authorized_key { 'nick@magpie.example.com': ensure => present, user => 'root', type => 'ssh-rsa', key => 'AAAAB3NzaC1yc2EAAAABIwAAAQEAx' }
sshkey { 'www.example.com': ensure => present, type => 'ssh-rsa', key => 'AAAAB3Nza', host_aliases => ['web'] }
