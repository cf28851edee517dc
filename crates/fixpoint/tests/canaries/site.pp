# Sensitive values in every position that takes one. Each canary is one token.
class shop(Sensitive[String] $pw, Sensitive $other = Sensitive('CANARYp02')) {
  file { '/srv/target/p1': content => $pw }
  notify { 'by default': message => $other }
  notify { "in a title ${pw}": }
}
class { 'shop': pw => Sensitive('CANARYp01') }

define kept(Sensitive $v, $h = {}) {
  file { "/srv/target/${name}": content => $v, mode => '0600' }
  notify { "define ${v} ${h}": }
}
kept { 'p3': v => Sensitive('CANARYp03'), h => { 'deep' => [Sensitive('CANARYp04')] } }

file { '/srv/target/old': content => Sensitive("CANARYp05\n"), backup => false }
file { '/srv/target/diffed': content => Sensitive("CANARYp06\nmore\n"), show_diff => true, backup => false }
file { '/srv/target/none/p7': content => Sensitive('CANARYp07') }
file { '/srv/target/verified': content => Sensitive('CANARYp08'), validate_cmd => '/bin/sh -c "cat %; false"' }
file { '/srv/target/nobody': content => 'x', owner => Sensitive('CANARYp09') }
file { '/srv/target/linked': ensure => link, target => Sensitive('/srv/CANARYp10') }

exec { 'loud': command => Sensitive('/bin/echo CANARYp11'), logoutput => true }
exec { 'broken': command => Sensitive('/bin/sh -c "echo CANARYp12; exit 3"') }
exec { 'not there': command => Sensitive('/srv/CANARYp13 --now') }
exec { 'unqualified': command => Sensitive('CANARYp14 --now'), path => '/nowhere' }
exec { 'environment': command => '/bin/true', environment => Sensitive(['A=CANARYp15']) }
exec { 'guarded': command => '/bin/true', unless => Sensitive('/bin/sh -c "echo CANARYp17; false"') }
exec { 'only if': command => '/bin/true', onlyif => Sensitive('/bin/sh -c "echo CANARYp18; true"') }
exec { 'refreshed': command => '/bin/true', refreshonly => true, refresh => Sensitive('/bin/sh -c "echo CANARYp19; exit 4"'), subscribe => File['/srv/target/old'] }
exec { 'list': command => Sensitive(['/bin/echo', 'CANARYp20']), logoutput => true }
exec { 'slow': command => Sensitive('/bin/sh -c "echo CANARYp21; exec sleep 5"'), timeout => 1 }
exec { 'retried': command => Sensitive('/bin/sh -c "echo CANARYp22 >&2; exit 5"'), tries => 2, try_sleep => 0 }

user { 'canfresh': ensure => present, password => Sensitive('$6$CANARYp23$abcdefgh') }
user { 'canold': ensure => present, password => Sensitive('$6$CANARYp24$abcdefgh') }
user { 'canplain': ensure => present, password => '$6$CANARYp25$abcdefgh' }

$secret = Sensitive('CANARYp26')
file { '/srv/target/epp': content => Sensitive(inline_epp('x=<%= $v %>', { 'v' => 'CANARYp27' })) }
file { '/srv/target/epp2': content => Sensitive(inline_epp('x=<%= $v.unwrap %>', { 'v' => Sensitive('CANARYp28') })) }
file { '/srv/target/erb': content => Sensitive(inline_template('<%= "CANARY" + "p29" %> <%= @secret %>')) }
file { '/srv/target/mod-epp': content => Sensitive(epp('shop/a.epp', { 'v' => $secret })) }
file { '/srv/target/mod-erb': content => Sensitive(template('shop/a.erb')) }

notify { 'message': message => Sensitive('CANARYp30') }
notify { 'list': message => [Sensitive('CANARYp31'), 'open'] }
notify { 'hash': message => { 'a' => Sensitive('CANARYp32') } }
notify { 'with path': message => Sensitive('CANARYp33'), withpath => true }
notice(Sensitive('CANARYp34'))
warning("as text ${secret}", Sensitive('CANARYp35'), [Sensitive('CANARYp36')])
debug({ 'k' => Sensitive('CANARYp37') })
notice(String(Sensitive('CANARYp38')), sprintf('%s %p', $secret, Sensitive('CANARYp39')))

file { '/srv/target/looked': content => lookup('shop::converted') }
file { '/srv/target/inner': content => lookup('shop::nested.password') }
file { '/srv/target/eyaml': content => Sensitive(lookup('shop::sealed')) }
notify { "looked up ${lookup('shop::converted')} ${lookup('shop::nested')}": }
include shop::bound

file { '/srv/target/later': content => Deferred('new', [Sensitive, 'x']) }
file { '/srv/target/later2': content => Sensitive(Deferred('sprintf', ['%s', Sensitive('CANARYp40')])) }
file { '/srv/target/later3': content => Sensitive(Deferred('unwrap', [Sensitive('CANARYp41')])) }
notify { 'later': message => Deferred('sprintf', ['%s', Sensitive('CANARYp42')]) }
exec { 'later': command => Sensitive(Deferred('sprintf', ['/bin/echo %s', 'CANARYp43'])), logoutput => true }

file { '/srv/target/overridden': content => 'x' }
File<| title == '/srv/target/overridden' |> { content => Sensitive('CANARYp44') }
cron { 'canary': command => Sensitive('echo CANARYp45'), minute => '5', environment => Sensitive(['A=CANARYp46']) }
mount { '/srv/target/m': ensure => present, device => '//srv/x', fstype => 'cifs', options => Sensitive('password=CANARYp47') }
host { 'canary.example': ip => '127.0.0.9', comment => Sensitive('CANARYp48') }
thing { 'a': secret => Sensitive('CANARYp49'), token => Sensitive('CANARYp50') }
thing { 'b': secret => Sensitive('CANARYp51 refuse') }
service { 'canary': ensure => running, provider => 'base', start => Sensitive('/bin/sh -c "echo CANARYp52; false"'), status => Sensitive('/bin/sh -c "echo CANARYp53; false"') }
package { 'canary': ensure => present, provider => 'dpkg', source => Sensitive('/srv/CANARYp54.deb') }
file { '/srv/target/fetched': source => 'http://u:CANARYp55@127.0.0.1:1/x' }
