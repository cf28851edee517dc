$unit = "[Unit]\nDescription=fixpoint's test\n[Service]\nExecStart=/bin/sleep infinity\n[Install]\nWantedBy=multi-user.target\n"
$timer = "[Timer]\nOnBootSec=1d\nUnit=fxdemo.service\n[Install]\nWantedBy=timers.target\n"
$socket = "[Socket]\nListenStream=/run/fxdemo.sock\nService=fxecho.service\n[Install]\nWantedBy=sockets.target\n"
file {
  '/etc/systemd/system/fxdemo.service': content => $unit;
  '/etc/systemd/system/fxecho.service': content => $unit;
  '/etc/systemd/system/fxdemo.timer': content => $timer;
  '/etc/systemd/system/fxdemo.socket': content => $socket;
}
~> exec { '/bin/systemctl daemon-reload': refreshonly => true }
-> service { ['fxdemo', 'fxdemo.timer', 'fxdemo.socket']: ensure => running, enable => true }
file { '/srv/fxdemo': ensure => directory }
-> mount { '/srv/fxdemo': ensure => mounted, device => 'tmpfs', fstype => 'tmpfs', options => 'size=1m' }
user { 'fxdemo': ensure => present, system => true, shell => '/bin/false' }
