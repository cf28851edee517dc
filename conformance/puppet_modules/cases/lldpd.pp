class { 'lldpd': manage_repo => false }
