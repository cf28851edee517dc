yumrepo { 'case': descr => 'Case packages', baseurl => 'http://mirror.case.test/el9', enabled => true, gpgcheck => false, priority => 40, target => '/etc/yum.repos.d/case.repo' }
yumrepo { 'none': ensure => absent }
