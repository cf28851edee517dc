systemd::unit_file { 'foo.service': content => "[Unit]\nDescription=foo\n", daemon_reload => false }
systemd::tmpfile { 'foo.conf': content => "d /run/foo 0755 root root\n" }
systemd::dropin_file { 'foo.conf': unit => 'foo.service', content => "[Service]\nRestart=no\n", daemon_reload => false }
