systemd::unit_file { 'case.service': content => "[Unit]\nDescription=case\n", daemon_reload => false }
systemd::tmpfile { 'case.conf': content => "d /run/case 0755 root root\n" }
systemd::dropin_file { 'case.conf': unit => 'case.service', content => "[Service]\nRestart=no\n", daemon_reload => false }
