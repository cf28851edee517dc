# Secrets that policy takes out of their cover: what is recorded does not hold them either.
$open = Sensitive('CANARYu01').unwrap
exec { 'unwrapped': command => "/bin/echo ${open}", logoutput => true }
exec { "/bin/echo ${Sensitive('CANARYu02').unwrap}": }
exec { 'fails': command => "/bin/sh -c 'echo ${Sensitive('CANARYu03 x').unwrap}; exit 3'" }
exec { 'words': command => ['/bin/sh', '-c', "exit 4 ${Sensitive('CANARYu04').unwrap}"] }
notify { "message ${Sensitive('CANARYu05').unwrap}": }
notice(Sensitive('CANARYu06').unwrap)
file { '/srv/target/open': content => "a\n${Sensitive('CANARYu07').unwrap}\n", show_diff => true, backup => false }
file { '/srv/target/nobody2': content => 'x', owner => Sensitive('CANARYu08').unwrap }
$done = shop::log_in(Sensitive('CANARYu09'))
account { 'a': ensure => present, token => Sensitive('CANARYu10') }
account { 'b': ensure => present, token => Sensitive('CANARYu11').unwrap, level => 'high' }
user { Sensitive('CANARYu12').unwrap: ensure => absent }
file { '/srv/target/template': content => inline_template('<%= Puppet::Pops::Types::PSensitiveType::Sensitive.new("CANARYu13").unwrap %>') }
host { 'canary2.example': ip => '127.0.0.8', comment => Sensitive('CANARYu14').unwrap }
