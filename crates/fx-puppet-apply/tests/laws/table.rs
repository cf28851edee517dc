//! The manifests that the laws are tested on.

use fx_host::MemoryHost;

/// Planted wherever a manifest has a secret.
pub(crate) const SECRET: &str = "hunter2";

/// A manifest and the machine it is applied to.
pub(crate) struct Case {
    /// What a broken law calls it.
    pub(crate) name: &'static str,
    /// Prepares the machine.
    pub(crate) setup: fn(&MemoryHost),
    pub(crate) code: &'static str,
    /// What guards of the manifest run.
    pub(crate) guards: &'static [&'static str],
    /// Targets that are due in every run.
    pub(crate) always: &'static [&'static str],
    /// More is found to do once the first change is made.
    pub(crate) unfolds: bool,
}

const fn case(name: &'static str, code: &'static str) -> Case {
    Case { name, setup: |_| {}, code, guards: &[], always: &[], unfolds: false }
}

/// The whole table.
pub(crate) fn cases() -> Vec<Case> {
    let mut all = files();
    all.extend(trees());
    all.extend(commands());
    all.extend(system());
    all.extend(modules());
    all
}

fn files() -> Vec<Case> {
    vec![
        case("new file", "file { '/srv/a': content => 'text', mode => '0640', owner => 'ann' }"),
        case("changed content", "file { '/etc/motd': content => \"new\\n\" }"),
        case("secret content", "file { '/etc/motd': content => Sensitive('hunter2') }"),
        case("mode and owner", "file { '/etc/motd': mode => 'u+x,go=', owner => 'ann' }"),
        case("removed file", "file { '/etc/motd': ensure => absent }"),
        case("kept beside itself", "file { '/etc/motd': content => 'new', backup => '.old' }"),
        case("new directory", "file { '/srv/d': ensure => directory, mode => '0750' }"),
        case("new link", "file { '/srv/l': ensure => link, target => '/etc/motd' }"),
        case("file for a link", "file { '/srv/l': ensure => file, content => 'x' }"),
        Case {
            setup: |host| host.put("/srv/source", "text"),
            ..case("copied file", "file { '/srv/a': source => '/srv/source' }")
        },
        Case {
            setup: |host| host.on_url("http://web/a", 200, "text"),
            ..case("fetched file", "file { '/srv/a': source => 'http://web/a' }")
        },
        Case {
            guards: &[],
            ..case(
                "checked content",
                "file { '/srv/a': content => 'x', validate_cmd => '/usr/bin/test %' }",
            )
        },
    ]
}

fn trees() -> Vec<Case> {
    let tree = |host: &MemoryHost| {
        host.put("/srv/source/a", "a");
        host.put("/srv/source/b/c", "c");
    };
    vec![
        Case {
            setup: tree,
            unfolds: true,
            ..case(
                "copied tree",
                "file { '/srv/copy': ensure => directory, recurse => true, source => '/srv/source' }",
            )
        },
        Case {
            setup: |host| host.put("/srv/tree/stray", "x"),
            ..case(
                "purged tree",
                "file { '/srv/tree': ensure => directory, recurse => true, purge => true }",
            )
        },
        Case {
            setup: tree,
            ..case("tidied tree", "tidy { '/srv/source': recurse => true, matches => 'c' }")
        },
        case("purged hosts", "resources { 'host': purge => true }"),
    ]
}

fn commands() -> Vec<Case> {
    vec![
        Case { always: &["notify[hello]"], ..case("message", "notify { 'hello': }") },
        Case {
            always: &["notify[Sensitive [value redacted]]"],
            ..case("secret message", "notify { 'n': message => Sensitive('hunter2') }")
        },
        case("command", "exec { '/usr/bin/touch /srv/a': creates => '/srv/a' }"),
        Case {
            guards: &["run /usr/bin/test -e /srv/a"],
            ..case(
                "command with a guard",
                "exec { '/usr/bin/touch /srv/a': unless => '/usr/bin/test -e /srv/a' }",
            )
        },
        Case {
            guards: &["run [redacted]"],
            ..case(
                "secret guard",
                "exec { '/usr/bin/touch /srv/a': unless => Sensitive('/usr/bin/test -e /srv/a hunter2') }",
            )
        },
        case(
            "secret command",
            "exec { 'x': command => Sensitive('/usr/bin/touch /srv/a hunter2'), creates => '/srv/a' }",
        ),
        case(
            "refreshed command",
            "file { '/etc/motd': content => 'x' } ~> exec { '/usr/bin/touch /srv/a': refreshonly => true }",
        ),
        case("refreshed service", "file { '/etc/motd': content => 'x' } ~> service { 'web': }"),
    ]
}

fn system() -> Vec<Case> {
    vec![
        case("package", "package { 'web': ensure => installed }"),
        case("removed package", "package { 'old': ensure => absent }"),
        case("service", "service { 'web': ensure => running, enable => true }"),
        case("user", "user { 'bob': uid => 1234, shell => '/bin/zsh' }"),
        case("removed user", "user { 'ann': ensure => absent }"),
        case(
            "user with a secret",
            "user { 'bob': ensure => present, password => Sensitive('$6$hunter2') }",
        ),
        case("group", "group { 'web': gid => 77 }"),
        case("cron", "cron { 'job': command => 'run', minute => 5 }"),
        case("host", "host { 'db': ip => '10.0.0.1' }"),
        case("mount", "mount { '/data': ensure => mounted, device => '/dev/b', fstype => 'ext4' }"),
        case(
            "key",
            "ssh_authorized_key { 'ann@desk': user => 'ann', type => 'ed25519', key => 'AAAA' }",
        ),
        case("yum repository", "yumrepo { 'base': baseurl => 'http://web/', descr => 'base' }"),
        case("augeas", "augeas { 'motd': changes => 'set /files/etc/motd/1 x' }"),
        case("switch of SELinux", "selboolean { 'web': value => on }"),
        case("module of SELinux", "selmodule { 'web': ensure => present }"),
    ]
}

const TYPE: &str = "Puppet::Type.newtype(:note) do
  newparam(:path, namevar: true)
  newproperty(:text)
end";

const PROVIDER: &str = "Puppet::Type.type(:note).provide(:ruby) do
  def text = File.exist?(resource[:path]) ? File.read(resource[:path]) : :absent
  def text=(value)
    File.write(resource[:path], value)
  end
end";

fn modules() -> Vec<Case> {
    let setup = |host: &MemoryHost| {
        host.put("/modules/note/lib/puppet/type/note.rb", TYPE);
        host.put("/modules/note/lib/puppet/provider/note/ruby.rb", PROVIDER);
    };
    vec![
        Case { setup, ..case("type of a module", "note { '/srv/n': text => 'x' }") },
        Case {
            setup,
            ..case("secret of a module", "note { '/srv/n': text => Sensitive('hunter2') }")
        },
    ]
}
