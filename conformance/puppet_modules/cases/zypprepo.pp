zypprepo { 'case': descr => 'Case packages', baseurl => 'http://mirror.case.test/suse', enabled => 1, autorefresh => 1, gpgcheck => 0, type => 'rpm-md' }
