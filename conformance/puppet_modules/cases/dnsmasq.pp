# modules: stdlib
class { 'dnsmasq': service_ensure => 'stopped', service_enable => false }
dnsmasq::conf { 'lan': ensure => present, content => "domain=case.test\nlisten-address=127.0.0.1\n" }
dnsmasq::host { 'box': hostname => 'box.case.test', ip => '192.0.2.5' }
