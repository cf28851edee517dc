service { ['fxdemo', 'fxdemo.timer', 'fxdemo.socket']: ensure => stopped, enable => false }
mount { '/srv/fxdemo': ensure => absent }
user { 'fxdemo': ensure => absent }
