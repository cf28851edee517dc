augeas { 'host': context => '/files/etc/hosts', changes => ['set 01/ipaddr 192.0.2.77', 'set 01/canonical seven.case.test'], onlyif => "match *[ipaddr = '192.0.2.77'] size == 0" }
augeas { 'login': incl => '/etc/login.defs', lens => 'Login_Defs.lns', changes => 'set /files/etc/login.defs/PASS_MAX_DAYS 120' }
