#!/bin/bash
# Runs an agent from nothing against a real puppetserver 7 and prints what it says, does and leaves:
#
#   AGENT=/usr/bin/puppet conformance/puppet_network/against_puppetserver.sh > real.txt
#   AGENT=/path/puppet    conformance/puppet_network/against_puppetserver.sh > ours.txt   # a link named puppet to fixpoint
#
# Compare the two: the same lines in the same order but for fingerprints, versions of catalogs,
# seconds, times and names of temporary files, and "(corrective)" (docs/puppet.md).
#
# It rewrites /etc/puppet, /etc/hosts and the name of the machine and starts a server: run it in a
# throw-away copy with a network of its own, where nothing can set the clock. It takes some minutes.
for program in puppetserver curl; do
    command -v $program >/dev/null || { echo "SKIPPED: $program is not installed" >&2; exit 77; }
done
: "${AGENT:?name the program to run as puppet}"
hostname node1.example.com
echo "127.0.0.1 localhost node1.example.com node1 puppet" > /etc/hosts
E=/etc/puppet/code/environments/production
M=$E/modules/m
mkdir -p $E/manifests $M/files/tree/sub $M/lib/facter $M/facts.d $M/lib/puppet/type $M/lib/puppet/provider/thing
echo hello > $M/files/src.txt
echo a > $M/files/tree/a.txt
echo b > $M/files/tree/sub/b.txt
echo 'Facter.add(:mfact) { setcode { "custom!" } }' > $M/lib/facter/mfact.rb
echo 'xfact=ext' > $M/facts.d/x.txt
cat > $M/lib/puppet/type/thing.rb <<'X'
Puppet::Type.newtype(:thing) do
  newparam(:name, namevar: true)
  newproperty(:state) { }
end
X
cat > $M/lib/puppet/provider/thing/ruby.rb <<'X'
Puppet::Type.type(:thing).provide(:ruby) do
  def at = "/tmp/out/thing-#{resource[:name]}"
  def state = File.exist?(at) ? File.read(at) : 'none'
  def state=(v)
    File.write(at, v)
  end
end
X
cat > $E/manifests/site.pp <<'X'
node default {
  file { '/tmp/out': ensure => directory }
  file { '/tmp/out/src.txt': source => 'puppet:///modules/m/src.txt' } ~> exec { '/bin/true': refreshonly => true }
  file { '/tmp/out/tree': ensure => directory, recurse => true, source => 'puppet:///modules/m/tree' }
  file { '/tmp/out/facts': content => "${facts['mfact']} ${facts['xfact']} ${trusted['certname']}\n" }
  file { '/tmp/out/secret': content => Sensitive("s3cr3t\n") }
  file { '/tmp/out/deferred': content => Deferred('sprintf', ['%s!', 'later']) }
  thing { 'one': state => 'up' }
}
X
D=/tmp/D
mkdir -p $D/n1/conf
printf '[main]\ncertname=n1\nserver=localhost\nssldir=%s\npublicdir=%s\n' $D/n1/ssl $D/n1/var/public > $D/n1/conf/puppet.conf
printf '[server]\ncertname=localhost\ndns_alt_names=localhost,puppet\n[main]\nserver=localhost\n' > /etc/puppet/puppet.conf
chown -R puppet /etc/puppet
rm -rf /etc/puppet/puppetserver/ca /var/lib/puppet/ssl
puppetserver ca setup >/dev/null
JAVA_ARGS="-Xms400m -Xmx700m" puppetserver foreground >/dev/null 2>&1 &
server=$!
for _ in $(seq 1 300); do curl -sk https://localhost:8140/status/v1/simple >/dev/null && break; sleep 2; done
agent() {
    echo "### $*"
    "$AGENT" agent --confdir $D/n1/conf --vardir $D/n1/var --rundir $D/n1/run --logdir $D/n1/log --color=false "$@" 2>&1
    echo "rc=$?"
}
ssl() {
    echo "### ssl $*"
    "$AGENT" ssl "$@" --color=false --confdir $D/n1/conf --vardir $D/n1/var 2>&1
    echo "rc=$?"
}
agent -t
puppetserver ca sign --certname n1
agent -t
agent -t
echo tampered > /tmp/out/src.txt
agent -t --noop
agent -t
agent -t --environment nosuch
agent --fingerprint
ssl verify
ssl bootstrap
find $D/n1/ssl $D/n1/var/lib $D/n1/var/facts.d /tmp/out -printf '%M %p\n' | sort -k2
echo 'fail("oh no")' > $E/manifests/site.pp
agent -t
echo 'notify { "x": }' > $E/manifests/site.pp
agent --onetime --no-daemonize
puppetserver ca revoke --certname n1
sleep 4
agent -t
kill $server
