//! What applying a catalog says and leaves behind, in the original's words: files and their
//! old content, commands, checks of values, and types of the resource API.

use std::path::Path;
use std::rc::Rc;

use fx_host::{Edits, Files, MemoryHost, Reply};
use fx_puppet_apply::Request;

#[path = "support/lines.rs"]
mod lines;

use lines::{apply, machine, run};

fn check(files: &[(&str, &str)], code: &str, expected: &[&str]) -> Rc<MemoryHost> {
    let host = machine(files);
    assert_eq!(apply(&host, code), expected, "{code}");
    host
}

const OLD: &str = "01d09d19c2139a46aebfb577780d123d7396e97201bc7ead210a2ebff8239dee";
const NEW: &str = "7aa7a5359173d05b63cfd682e3c38487f3cb4f7f1d60659fe59fab1505977d4c";

#[test]
fn old_content_goes_into_a_bucket_before_it_is_replaced() {
    let host = check(
        &[("/srv/f", "old\n")],
        "filebucket { 'main': path => '/srv/bucket' }\nfile { '/srv/f': content => \"new\\n\", backup => main }",
        &[
            "Computing checksum on file /srv/f",
            &format!("/Stage[main]/Main/File[/srv/f]: Filebucketed /srv/f to main with sum {OLD}"),
            &format!(
                "/Stage[main]/Main/File[/srv/f]/content: content changed '{{sha256}}{OLD}' to '{{sha256}}{NEW}'"
            ),
        ],
    );
    let place = format!("/srv/bucket/0/1/d/0/9/d/1/9/{OLD}/contents");
    assert_eq!(host.read(Path::new(&place)).expect("it was kept"), b"old\n");
}

#[test]
fn a_bucket_that_is_not_declared_ends_the_run() {
    check(
        &[("/srv/f", "old\n")],
        "file { '/srv/f': content => 'x', backup => 'nowhere' }",
        &["Could not find filebucket nowhere specified in backup"],
    );
}

/// Recorded from Puppet 7.23; a source decides itself what it makes.
#[test]
fn a_file_that_cannot_be_made_fails_in_the_word_of_the_manifest() {
    for (ensure, wanted) in [("present", "present"), ("file", "file")] {
        let host = machine(&[]);
        let code = format!("file {{ '/none/f': ensure => {ensure}, content => 'x' }}");
        let lines = apply(&host, &code);
        let first = format!("Could not set '{wanted}' on ensure: No such file or directory - ");
        let last = format!(
            "/Stage[main]/Main/File[/none/f]/ensure: change from 'absent' to '{wanted}' failed: {first}"
        );
        assert!(lines.iter().any(|line| line.starts_with(&first)), "{lines:?}");
        assert!(lines.iter().any(|line| line.starts_with(&last)), "{lines:?}");
    }
}

#[test]
fn a_link_with_only_a_mode_is_left_alone() {
    let host = machine(&[("/srv/f", "x")]);
    host.symlink(Path::new("f"), Path::new("/srv/l")).expect("it is made");
    assert_eq!(apply(&host, "file { '/srv/l': mode => '0600' }"), [""; 0]);
    assert!(host.lstat(Path::new("/srv/l")).expect("it is there").is_symlink());
}

#[test]
fn a_directory_makes_no_room_for_a_link_without_force() {
    let path = "/Stage[main]/Main/File[/srv/d]";
    let kept = format!("{path}: Not removing directory; use 'force' to override");
    let host = check(
        &[("/srv/d/x", "x")],
        "file { '/srv/d': ensure => link, target => '/x' }",
        &[
            &kept,
            &kept,
            "Could not remove existing file",
            &format!(
                "{path}/ensure: change from 'directory' to 'link' failed: Could not remove existing file"
            ),
        ],
    );
    assert!(host.exists(Path::new("/srv/d/x")).expect("it can be seen"));
}

#[test]
fn values_are_refused_before_anything_is_done() {
    for (code, expected) in [
        (
            "exec { 'a': command => '/bin/true', tries => 0 }",
            "Parameter tries failed on Exec[a]: Munging failed for value 0 in class tries: Tries must be an integer >= 1 (file: /site.pp, line: 1)",
        ),
        (
            "file { '/a': mode => 644 }",
            "Parameter mode failed on File[/a]: The file mode specification must be a string, not 'Integer' (file: /site.pp, line: 1)",
        ),
        (
            "file { '/a': content => 'a', source => '/x' }",
            "Validation of File[/a] failed: You cannot specify more than one of content, source, target (file: /site.pp, line: 1)",
        ),
        (
            "file { '/a': ensure => fille, content => 'a' }",
            "Validation of File[/a] failed: You cannot specify more than one of content, source, target (file: /site.pp, line: 1)",
        ),
        (
            "service { 'a': provider => nosuch }",
            "Parameter provider failed on Service[a]: Invalid service provider 'nosuch' (file: /site.pp, line: 1)",
        ),
        (
            "user { 'a': managehome => maybe }",
            "Parameter managehome failed on User[a]: Munging failed for value \"maybe\" in class managehome: expected a boolean value (file: /site.pp, line: 1)",
        ),
        (
            "notify { 'a': loglevel => loud }",
            "Parameter loglevel failed on Notify[a]: Invalid value \"loud\". Valid values are debug, info, notice, warning, err, alert, emerg, crit, verbose. (file: /site.pp, line: 1)",
        ),
        (
            "notify { 'a': noop => maybe }",
            "Parameter noop failed on Notify[a]: Invalid value \"maybe\". Valid values are true, false. (file: /site.pp, line: 1)",
        ),
        (
            "cron { 'a': command => 'x', hour => 25 }",
            "Parameter hour failed on Cron[a]: Munging failed for value 25 in class hour: 25 is not a valid hour (file: /site.pp, line: 1)",
        ),
        (
            "cron { 'a': command => 'x', special => 'sometimes' }",
            "Parameter special failed on Cron[a]: Invalid special schedule \"sometimes\" (file: /site.pp, line: 1)",
        ),
        (
            "cron { 'a': command => 'x', special => 'daily', hour => 3 }",
            "Validation of Cron[a] failed: Cron[a] cannot specify both a special schedule and a value for hour (file: /site.pp, line: 1)",
        ),
        (
            "cron { 'a': command => 'x', environment => ['foo'] }",
            "Parameter environment failed on Cron[a]: Invalid environment setting \"foo\" (file: /site.pp, line: 1)",
        ),
        (
            "host { 'bad host': ip => '1.2.3.4' }",
            "Parameter name failed on Host[bad host]: Invalid host name (file: /site.pp, line: 1)",
        ),
        (
            "host { 'h': ip => '1.2.3' }",
            "Parameter ip failed on Host[h]: Invalid IP address \"1.2.3\" (file: /site.pp, line: 1)",
        ),
        (
            "mount { '/m': device => 'x', fstype => '', options => 'a b' }",
            "Parameter fstype failed on Mount[/m]: fstype must not be an empty string (file: /site.pp, line: 1)",
        ),
        (
            "mount { '/m': ensure => mounted, device => 'x', dump => '7', fstype => 'ext4', remounts => 'maybe' }",
            "Parameter dump failed on Mount[/m]: Invalid value \"7\". Valid values match /(0|1)/. (file: /site.pp, line: 1)",
        ),
        (
            "ssh_authorized_key { 'k': type => 'rsa', key => 'AA BB', user => 'root' }",
            "Parameter key failed on Ssh_authorized_key[k]: Key must not contain whitespace: AA BB (file: /site.pp, line: 1)",
        ),
        (
            "ssh_authorized_key { 'k': type => 'rsax', key => 'AA', user => 'root' }",
            "Parameter type failed on Ssh_authorized_key[k]: Invalid value \"rsax\". Valid values are ssh-dss, ssh-rsa, ecdsa-sha2-nistp256, ecdsa-sha2-nistp384, ecdsa-sha2-nistp521, ssh-ed25519, sk-ecdsa-sha2-nistp256@openssh.com, sk-ssh-ed25519@openssh.com, ssh-rsa-cert-v01@openssh.com, ssh-ed25519-cert-v01@openssh.com, ssh-dss-cert-v01@openssh.com, ecdsa-sha2-nistp256-cert-v01@openssh.com, ecdsa-sha2-nistp384-cert-v01@openssh.com, ecdsa-sha2-nistp521-cert-v01@openssh.com. (file: /site.pp, line: 1)",
        ),
        (
            "host { 'h': ip => '1.2.3.4', host_aliases => [''] }",
            "Parameter host_aliases failed on Host[h]: Host aliases cannot be an empty string. Use an empty array to delete all host_aliases  (file: /site.pp, line: 1)",
        ),
        (
            "ssh_authorized_key { 'k': type => 'rsa', key => 'AA' }",
            "Validation of Ssh_authorized_key[k] failed: Attribute 'user' or 'target' is mandatory (file: /site.pp, line: 1)",
        ),
        (
            "exec { 'ls -l': }",
            "Validation of Exec[ls -l] failed: 'ls' is not qualified and no path was specified. Please qualify the command or specify a path. (file: /site.pp, line: 1)",
        ),
        (
            "file { '/a': content => 'b', checksum => none }",
            "Validation of File[/a] failed: You cannot specify content when using checksum 'none' (file: /site.pp, line: 1)",
        ),
    ] {
        check(&[], code, &[expected]);
    }
}

#[test]
fn a_program_that_is_not_there_is_not_run() {
    check(
        &[],
        "exec { 'a': command => '/nonexistent/x' }",
        &[
            "Could not find command '/nonexistent/x'",
            "/Stage[main]/Main/Exec[a]/returns: change from 'notrun' to ['0'] failed: Could not find command '/nonexistent/x'",
        ],
    );
}

const THING: &str = "
Puppet::ResourceApi.register_type(
  name: 'thing', desc: 'x', features: ['canonicalize'],
  attributes: {
    ensure: { type: 'Enum[present, absent]', desc: 'e', default: 'present' },
    name: { type: 'String', desc: 'n', behaviour: :namevar },
    text: { type: 'Optional[String]', desc: 't' },
    size: { type: 'Optional[Integer[1,10]]', desc: 's' },
  },
)";

const PROVIDER: &str = "
class Puppet::Provider::Thing::Thing < Puppet::ResourceApi::SimpleProvider
  def get(context) = [{ name: 'old', ensure: 'present', text: 'a' }]
  def canonicalize(context, all) = all.each { |one| one[:text] = one[:text].downcase if one[:text] }
  def create(context, name, should)
    raise 'cannot be made' if name == 'bad'
    context.notice(\"made #{name} #{should}\")
  end
  def update(context, name, should) = context.notice(\"changed #{name}\")
  def delete(context, name) = context.notice(\"gone #{name}\")
end";

#[test]
fn a_type_of_the_resource_api_is_applied_by_its_provider() {
    let files = [
        ("/modules/m/lib/puppet/type/thing.rb", THING),
        ("/modules/m/lib/puppet/provider/thing/thing.rb", PROVIDER),
    ];
    let host = machine(&files);
    let told =
        apply(&host, "thing { 'new': text => 'B' } thing { 'old': text => 'C' } thing { 'bad': }");
    let told: Vec<&str> =
        told.iter().map(|line| line.split(" in 0.").next().unwrap_or_default()).collect();
    let told: Vec<&str> =
        told.iter().map(|line| line.split(" after 0.").next().unwrap_or_default()).collect();
    assert_eq!(
        told,
        [
            "/Stage[main]/Main/Thing[new]/ensure: defined 'ensure' as 'present'",
            "thing[new]: Creating: made new {:name=>\"new\", :text=>\"b\", :ensure=>\"present\"}",
            "thing[new]: Creating: Finished",
            "/Stage[main]/Main/Thing[old]/text: text changed 'a' to 'c'",
            "thing[old]: Updating: changed old",
            "thing[old]: Updating: Finished",
            "/Stage[main]/Main/Thing[bad]/ensure: defined 'ensure' as 'present'",
            "thing[bad]: Creating: Failed",
            "/Stage[main]/Main/Thing[bad]: Could not evaluate: Execution encountered an error",
            "Class[Main]: Unscheduling all events on Class[Main]",
        ]
    );
    assert_eq!(
        apply(&host, "thing { 'x': size => 11 }"),
        [
            "Parameter size failed on Thing[x]: thing.size expects a value of type Undef or Integer[1, 10], got Integer[11, 11]"
        ]
    );
}

#[test]
fn a_saved_catalog_that_cannot_be_is_refused() {
    let row = r#"{"type":"Notify","title":"a","file":"/f","line":99999999}"#;
    let table = [
        (format!(r#"{{"resources":[{row}]}}"#), "defined 'message' as 'a'"),
        (format!(r#"{{"resources":[{row},{row}]}}"#), "Duplicate declaration: Notify[a]"),
        ("{}".to_owned(), "it has no resources"),
        ("[".to_owned(), "Could not intern from rich_data_json"),
    ];
    for (text, expected) in table {
        let catalog = Some(("c.json".to_owned(), text.clone().into_bytes()));
        let told = run(&Rc::new(MemoryHost::linux()), Request { catalog, ..Request::default() });
        assert!(told.iter().any(|line| line.contains(expected)), "{text}: {told:?}");
    }
}

#[test]
fn a_link_that_is_followed_stays_a_link() {
    let host = machine(&[("/w/a", "a\n")]);
    host.symlink(Path::new("/w/a"), Path::new("/w/l")).unwrap();
    host.set_mode(Path::new("/w/a"), 0o644).unwrap();
    let said = apply(&host, "file { '/w/l': links => follow, mode => '0600' }");
    assert_eq!(said, ["/Stage[main]/Main/File[/w/l]/mode: mode changed '0644' to '0600'"]);
    assert!(host.lstat(Path::new("/w/l")).unwrap().is_symlink());
    assert_eq!(host.text("/w/a"), "a\n");
}

#[test]
fn a_link_is_not_replaced_where_nothing_may_be() {
    let host = machine(&[("/w/a", "a\n")]);
    host.symlink(Path::new("/w/a"), Path::new("/w/l")).unwrap();
    let code = "file { '/w/l': ensure => file, content => 'x', replace => false }";
    assert_eq!(apply(&host, code), [""; 0]);
    assert!(host.lstat(Path::new("/w/l")).unwrap().is_symlink());
}

#[test]
fn what_another_resource_manages_below_a_tree_is_its_own() {
    let host = machine(&[("/s/1", "1"), ("/s/a/2", "2")]);
    let code = "file { '/d': ensure => directory, recurse => true, source => '/s' }\n\
        file { '/d/a': ensure => directory }";
    let said = apply(&host, code);
    assert_eq!(said.len(), 3, "{said:?}");
    assert!(host.lstat(Path::new("/d/a")).unwrap().is_dir());
    assert!(host.lstat(Path::new("/d/a/2")).is_err());
}

#[test]
fn modes_by_letters_and_owners_by_number_are_told_by_both() {
    let host =
        machine(&[("/w/a", "a"), ("/etc/passwd", "root:x:0:0::/:/bin/sh\nbin:x:2:2::/:/bin/sh\n")]);
    host.set_mode(Path::new("/w/a"), 0o644).unwrap();
    let said = apply(&host, "file { '/w/a': owner => 2, mode => 'u+x,g-r' }");
    let start = "/Stage[main]/Main/File[/w/a]";
    let owner = format!("{start}/owner: owner changed 'root' to 'bin'");
    let mode = format!("{start}/mode: mode changed '0644' to '0704' (u+x,g-r)");
    assert_eq!(said, [owner, mode]);
}

#[test]
fn two_tidies_may_have_one_path() {
    let host = machine(&[("/w/a.tmp", "a")]);
    let code = "tidy { '/w': recurse => 1, matches => '*.tmp' }\n\
        tidy { 'more': path => '/w', recurse => 1, matches => '*.bak' }";
    let said = apply(&host, code);
    assert!(said.iter().any(|line| line.ends_with("File[/w/a.tmp]/ensure: removed")), "{said:?}");
}

#[test]
fn a_number_is_no_content() {
    let host = machine(&[]);
    let said = apply(&host, "file { '/w/a': content => 3 }");
    let why = "Parameter content failed on File[/w/a]: Munging failed for value 3 in class \
        content: no implicit conversion of Integer into String (file: /site.pp, line: 1)";
    assert_eq!(said, [why]);
}

#[test]
fn keys_that_the_catalog_does_not_name_are_purged() {
    let keys = "ssh-rsa AAAA a@x\nssh-rsa BBBB\nssh-rsa CCCC keep@x\n";
    let host = machine(&[("/etc/passwd", "root:x:0:0::/root:/bin/sh\n"), ("/w/keys", keys)]);
    let code = "user { 'root': purge_ssh_keys => '/w/keys' }\n\
        ssh_authorized_key { 'keep@x': user => root, target => '/w/keys', type => 'ssh-rsa', key => 'CCCC' }";
    let said = apply(&host, code);
    let removed =
        |name: &str| format!("/Stage[main]/Main/Ssh_authorized_key[{name}]/ensure: removed");
    assert_eq!(said, [removed("a@x"), removed("/w/keys:unnamed-1")]);
    assert_eq!(host.text("/w/keys"), "ssh-rsa CCCC keep@x\n");
}

const JOINED: &[(&str, &str)] = &[
    (
        "/modules/m/lib/puppet/type/joined.rb",
        r#"Puppet::Type.newtype(:joined) do
  newparam(:path, namevar: true)
  def generate
    [Puppet::Type.type(:file).new(path: self[:path], ensure: :file, mode: '0600')]
  end
  def eval_generate
    parts = catalog.resources.select { |r| r.is_a?(Puppet::Type.type(:part)) }
    file = catalog.resource("File[#{self[:path]}]")
    file[:content] = parts.map { |r| r[:text] }.join
    [file]
  end
end
"#,
    ),
    (
        "/modules/m/lib/puppet/type/part.rb",
        "Puppet::Type.newtype(:part) { newparam(:name, namevar: true); newparam(:text) }",
    ),
    ("/srv/old", ""),
];

#[test]
fn what_a_type_of_a_module_generates_is_applied() {
    let host = check(
        JOINED,
        "joined { '/srv/x': } ~> exec { '/bin/true': refreshonly => true, noop => true }
part { ['a', 'b']: text => \"t\\n\" }",
        &[
            "/Stage[main]/Main/File[/srv/x]/ensure: defined content as '{sha256}be0d4bbc28f4dff8f1bedc3586a4bd4f6af2ebe3de0d01f541ddd675f09bb69b'",
            "/srv/x: Scheduling refresh of Exec[/bin/true]",
            "/Stage[main]/Main/Exec[/bin/true]: Would have triggered 'refresh' from 1 event",
        ],
    );
    assert_eq!(host.read(Path::new("/srv/x")).expect("it was made"), b"t\nt\n");
}

#[test]
fn in_a_rehearsal_what_is_generated_counts_for_its_maker_and_for_the_class_around() {
    let code = "class c { joined { '/srv/x': } }\ninclude c\npart { 'a': text => 't' }";
    let manifests = vec![("/site.pp".to_owned(), code.into())];
    assert_eq!(
        run(&machine(JOINED), Request { manifests, noop: true, ..Request::default() }),
        [
            "/Stage[main]/C/File[/srv/x]/ensure: current_value 'absent', should be 'file' (noop)",
            "/srv/x: Would have triggered 'refresh' from 1 event",
            "Class[C]: Would have triggered 'refresh' from 2 events",
            "Stage[main]: Would have triggered 'refresh' from 1 event",
        ]
    );
}

#[test]
fn whether_a_thing_is_there_is_looked_at_though_nobody_says_it_should_be() {
    check(
        &[
            (
                "/modules/m/lib/puppet/type/asked.rb",
                "Puppet::Type.newtype(:asked) do\n  ensurable\n  newparam(:name, namevar: true)\nend\n",
            ),
            (
                "/modules/m/lib/puppet/provider/asked/ruby.rb",
                "Puppet::Type.type(:asked).provide(:ruby) do\n  def exists?\n    resource.catalog.resource('File[/srv/f]')[:content] = 'by asked'\n    true\n  end\nend\n",
            ),
            ("/srv/old", ""),
        ],
        "asked { 'a': before => File['/srv/f'] }\nfile { '/srv/f': content => 'by file', noop => false }",
        &[
            "/Stage[main]/Main/File[/srv/f]/ensure: defined content as '{sha256}5b2e53331869cf58d5703b000e2d5ef47dad3016c742bd56656bd53bfe756615'",
        ],
    );
}

#[test]
fn a_reference_in_a_value_is_a_resource_to_ruby() {
    check(
        &[(
            "/modules/m/lib/puppet/type/points.rb",
            "Puppet::Type.newtype(:points) do\n  newparam(:name, namevar: true)\n  newparam(:at) { munge { |v| Puppet.notice([v].flatten.map { |r| \"#{r.class} #{r.ref}\" }.join(', ')); v } }\nend\n",
        )],
        "file { '/srv/f': noop => true }\npoints { 'a': at => File['/srv/f'] }\npoints { 'b': at => [File['/srv/f']] }",
        &["Puppet::Resource File[/srv/f]", "Puppet::Resource File[/srv/f]"],
    );
}

#[test]
fn a_block_made_of_a_name_munges_the_value() {
    check(
        &[(
            "/modules/m/lib/puppet/type/trimmed.rb",
            "Puppet::Type.newtype(:trimmed) do\n  newparam(:name, namevar: true)\n  newproperty(:text) do\n    munge(&:strip)\n    def retrieve = 'x'\n  end\nend\n",
        )],
        "trimmed { 'a': text => ' x ' }",
        &[],
    );
}

/// A machine on which systemd runs and knows no unit.
fn without_units() -> Rc<MemoryHost> {
    let host = machine(&[]);
    host.put_dir("/run/systemd/system", 0o755);
    host.put_program("/usr/bin/systemctl");
    host.put_program("/usr/bin/journalctl");
    host.on_any(|_, spec| {
        let line = spec.display();
        Some(match () {
            () if line.contains("show") => {
                Reply::prints("LoadState=not-found\nActiveState=inactive\n")
            }
            () if line.contains("journalctl") => Reply::prints("-- No entries --\n"),
            () => Reply::exit(5),
        })
    });
    host
}

#[test]
fn a_service_that_nobody_knows_would_be_started_once() {
    let code = "exec { '/bin/true': noop => true } ~> service { 'ghost': ensure => running, noop => true }";
    assert_eq!(
        apply(&without_units(), code),
        [
            "/Stage[main]/Main/Exec[/bin/true]/returns: current_value 'notrun', should be ['0'] (noop)",
            "/Stage[main]/Main/Exec[/bin/true]: Scheduling refresh of Service[ghost]",
            "/Stage[main]/Main/Service[ghost]/ensure: current_value 'stopped', should be 'running' (noop)",
            "/Stage[main]/Main/Service[ghost]: Unscheduling refresh on Service[ghost]",
            "Class[Main]: Would have triggered 'refresh' from 2 events",
            "Stage[main]: Would have triggered 'refresh' from 1 event",
        ]
    );
}

#[test]
fn what_systemd_cannot_do_is_worded_with_its_journal() {
    let journal = "Systemd start for ghost failed!\njournalctl log for ghost:\n-- No entries --";
    for (attribute, property, from, to, why) in [
        ("ensure => running", "ensure", "stopped", "running", journal),
        ("enable => true", "enable", "false", "true", "Could not enable ghost: "),
    ] {
        let place = format!("/Stage[main]/Main/Service[ghost]/{property}");
        let failed = format!("{place}: change from '{from}' to '{to}' failed: {why}");
        let code = format!("service {{ 'ghost': {attribute} }}");
        assert_eq!(apply(&without_units(), &code), [why.to_owned(), failed], "{attribute}");
    }
}

#[test]
fn a_generated_file_waits_for_its_folder() {
    check(
        JOINED,
        "joined { '/srv/y/x': }\npart { 'a': text => \"t\\n\" }\nfile { '/srv/y': ensure => directory }",
        &[
            "/Stage[main]/Main/File[/srv/y]/ensure: created",
            "/Stage[main]/Main/File[/srv/y/x]/ensure: defined content as '{sha256}fe8edeeb98cc6d3b93cf2d57000254b84bd9eba34b4df7ce4b87db8b937b7703'",
        ],
    );
}

#[test]
fn a_purge_leaves_what_a_type_of_a_module_generates() {
    let code = "file { '/srv': ensure => directory, recurse => true, purge => true }
joined { '/srv/x': }
part { 'a': text => \"t\\n\" }";
    let host = check(
        JOINED,
        code,
        &[
            "/Stage[main]/Main/File[/srv/old]/ensure: removed",
            "/Stage[main]/Main/File[/srv/x]/ensure: defined content as '{sha256}fe8edeeb98cc6d3b93cf2d57000254b84bd9eba34b4df7ce4b87db8b937b7703'",
        ],
    );
    assert_eq!(apply(&host, code), [""; 0]);
}

#[test]
fn code_of_modules_reads_files_by_their_address() {
    let function = r##"Puppet::Functions.create_function(:served) do
  def served(address)
    found = Puppet::FileServing::Metadata.indirection.find(address)
    return "nothing" unless found
    "#{found.ftype} #{Puppet::FileServing::Content.indirection.find(address).content}"
  end
end"##;
    check(
        &[
            ("/modules/m/lib/puppet/functions/served.rb", function),
            ("/modules/m/files/d/f", "of a module"),
            ("/srv/f", "of the machine"),
        ],
        "notice(served('puppet:///modules/m/d/f'), served('file:///srv/f'), served('/srv/f'), served('puppet:///modules/m/no'))",
        &["Scope(Class[main]): file of a module file of the machine file of the machine nothing"],
    );
}

#[test]
fn a_template_may_be_the_first_to_need_facts_of_modules() {
    for template in ["<%= @facts['role'] %>", "<%= @role %>", "<%= scope['facts']['role'] %>"] {
        check(
            &[
                ("/modules/m/lib/facter/role.rb", "Facter.add(:role) { setcode { 'web' } }"),
                ("/modules/m/templates/t.erb", template),
            ],
            "notice(template('m/t.erb'))",
            &["Scope(Class[main]): web"],
        );
    }
}

#[test]
fn a_class_hands_on_all_it_was_told_as_one_event() {
    check(
        &[],
        "file { ['/srv/k', '/srv/l']: ensure => file, noop => true, notify => Class['b'] }
class b { exec { '/bin/true': refreshonly => true } }
include b",
        &[
            "/Stage[main]/Main/File[/srv/k]/ensure: current_value 'absent', should be 'file' (noop)",
            "/Stage[main]/Main/File[/srv/k]: Scheduling refresh of Class[B]",
            "/Stage[main]/Main/File[/srv/l]/ensure: current_value 'absent', should be 'file' (noop)",
            "/Stage[main]/Main/File[/srv/l]: Scheduling refresh of Class[B]",
            "Class[Main]: Would have triggered 'refresh' from 2 events",
            "Class[B]: Would have triggered 'refresh' from 2 events",
            "Class[B]: Scheduling refresh of Exec[/bin/true]",
            "/Stage[main]/B/Exec[/bin/true]: Would have triggered 'refresh' from 1 event",
            "Class[B]: Would have triggered 'refresh' from 1 event",
            "Stage[main]: Would have triggered 'refresh' from 2 events",
        ],
    );
}

#[test]
fn what_is_made_for_a_user_belongs_to_them() {
    let host = check(
        &[
            (
                "/modules/m/lib/puppet/type/home.rb",
                r#"Puppet::Type.newtype(:home) do
  newparam(:name, namevar: true)
  newproperty(:made) do
    def retrieve = :no
    def sync
      Puppet::Util::SUIDManager.asuser('web') do
        Dir.mkdir(resource[:name], 0o700)
        Puppet::Util::FileType.filetype(:flat).new(File.join(resource[:name], "f")).write('x')
      end
    end
  end
end
"#,
            ),
            ("/etc/passwd", "root:x:0:0::/root:/bin/sh\nweb:x:33:34::/srv:/bin/sh\n"),
            ("/srv/x", ""),
        ],
        "home { '/srv/h': made => yes }",
        &["/Stage[main]/Main/Home[/srv/h]/made: made changed 'no' to 'yes'"],
    );
    for path in ["/srv/h", "/srv/h/f"] {
        let meta = host.lstat(Path::new(path)).expect("it was made");
        assert_eq!((meta.uid, meta.gid), (33, 34), "{path}");
    }
    let meta = host.lstat(Path::new("/srv/h/f")).expect("it was made");
    assert_eq!(meta.mode & 0o777, 0o600);
}

/// The report's log entries as `source: message`, without those of the run.
fn reported(host: &Rc<MemoryHost>, code: &str) -> Vec<String> {
    let request = Request {
        manifests: vec![("/site.pp".to_owned(), code.into())],
        report: Some("/var/report.yaml".into()),
        ..Request::default()
    };
    run(host, request);
    let text = host.text("/var/report.yaml");
    let field = |line: &str, name: &str| {
        let value = line.trim_start_matches("- ").trim().strip_prefix(name)?.strip_prefix(": ")?;
        Some(value.trim_matches(['"', '\'']).to_owned())
    };
    let logs = text.lines().skip_while(|line| !line.starts_with("logs:"));
    let mut out: Vec<String> = Vec::new();
    let mut message = String::new();
    for line in logs.take_while(|line| !line.starts_with("metrics:")) {
        if let Some(text) = field(line, "message") {
            message = text;
        } else if let Some(source) = field(line, "source") {
            out.push(format!("{source}: {message}"));
        }
    }
    out
}

#[test]
fn who_speaks_is_known_whatever_the_words_are() {
    let host = machine(&[]);
    let code = "notify { 'a: b': withpath => false, message => '/looks: like a path' }";
    let found = reported(&host, code);
    assert_eq!(found[0], "Puppet: /looks: like a path", "{found:?}");
    let own =
        "/Stage[main]/Main/Notify[a: b]/message: defined ''message'' as ''/looks: like a path";
    assert_eq!(found[1], own, "{found:?}");
}

#[test]
fn a_secret_owner_is_in_no_failure() {
    let code = "file { '/srv': ensure => directory, owner => Sensitive('hunter2') }";
    let lines = apply(&machine(&[]), code);
    assert!(!lines.is_empty() && lines.iter().all(|line| !line.contains("hunter2")), "{lines:?}");
}

/// Recorded from Puppet 7.23: the property fails, in a rehearsal too, and not the whole resource.
#[test]
fn a_property_that_cannot_be_judged_fails_by_its_name() {
    let host = machine(&[(
        "/modules/m/lib/puppet/type/judged.rb",
        "Puppet::Type.newtype(:judged) do
  newparam(:name, namevar: true)
  newproperty(:text) do
    def retrieve = 'old'
    def insync?(_is) = raise(ArgumentError, 'Path /x not found')
  end
end
",
    )]);
    let expected = [
        "Path /x not found",
        "/Stage[main]/Main/Judged[a]/text: change from 'old' to 'new' failed: Path /x not found",
    ];
    for noop in [true, false] {
        let code = "judged { 'a': text => 'new' }";
        let manifests = vec![("/site.pp".to_owned(), code.into())];
        let lines = run(&host, Request { manifests, noop, ..Request::default() });
        assert_eq!(lines, expected, "noop: {noop}");
    }
}

#[test]
fn the_history_that_augtool_begins_is_removed_again() {
    let host = machine(&[("/etc/passwd", "root:x:0:0::/root:/bin/sh\n")]);
    let history = Path::new("/root/.augeas/history");
    host.put("/usr/bin/augtool", "");
    host.on_any(move |_, spec| {
        let reply = Reply::prints("/augeas/events/saved = /files/etc/hosts\n");
        let begins = reply.effect(move |host, _| host.put(history, ""));
        spec.display().starts_with("/usr/bin/augtool").then_some(begins)
    });
    let lines = apply(&host, "augeas { 'a': changes => 'set /files/etc/hosts/1/alias b' }");
    assert_eq!(lines, ["/Stage[main]/Main/Augeas[a]/returns: executed successfully"]);
    assert!(host.stat_opt(Path::new("/root/.augeas")).unwrap().is_none());
    // One that was there before stays.
    host.put(history, "set a b\n");
    apply(&host, "augeas { 'a': changes => 'set /files/etc/hosts/1/alias b' }");
    assert!(host.stat_opt(history).unwrap().is_some());
}

#[test]
fn what_augtool_cannot_save_is_a_failed_save() {
    let host = machine(&[("/usr/bin/augtool", "")]);
    let words = "error: Failed to execute command\nsaving failed (run 'errors' for details)\n";
    host.on(["/usr/bin/augtool"], Reply::exit(1).stderr(words));
    let lines = apply(&host, "augeas { 'a': changes => 'set /files/etc/hosts/1/alias b' }");
    let expected = "/Stage[main]/Main/Augeas[a]: Could not evaluate: Save failed, see debug output for details";
    assert_eq!(lines, [expected]);
}

/// Recorded from Puppet 7.23.
#[test]
fn a_file_of_lines_that_cannot_be_written_is_named_with_its_kind() {
    let host = machine(&[
        (
            "/modules/m/lib/puppet/type/kept.rb",
            "Puppet::Type.newtype(:kept) do
  ensurable
  newparam(:name, namevar: true)
  newproperty(:target) { defaultto('/none/such/file') }
end
",
        ),
        (
            "/modules/m/lib/puppet/provider/kept/parsed.rb",
            "require 'puppet/provider/parsedfile'
Puppet::Type.type(:kept).provide(:parsed, parent: Puppet::Provider::ParsedFile, default_target: '/none/such/file', filetype: :flat) do
  text_line :comment, match: /^#/
  record_line :parsed, fields: %w[name]
end
",
        ),
    ]);
    let lines = apply(&host, "kept { 'a': ensure => present }");
    let why = "Puppet::Util::FileType::FileTypeFlat could not write /none/such/file: No such file or directory @ rb_sysopen - /none/such/file";
    let expected = [
        "/Stage[main]/Main/Kept[a]/ensure: created",
        why,
        &format!("/Stage[main]/Main/Kept[a]: Could not evaluate: {why}"),
        "Class[Main]: Unscheduling all events on Class[Main]",
    ];
    assert_eq!(lines, expected);
}

/// A provider may take long to look.
#[test]
fn whether_a_thing_is_there_is_looked_at_once() {
    check(
        &[
            (
                "/modules/m/lib/puppet/type/slow.rb",
                "Puppet::Type.newtype(:slow) do\n  ensurable\n  newparam(:name, namevar: true)\nend\n",
            ),
            (
                "/modules/m/lib/puppet/provider/slow/ruby.rb",
                "Puppet::Type.type(:slow).provide(:ruby) do\n  def exists?\n    Puppet.notice('looked')\n    true\n  end\nend\n",
            ),
        ],
        "slow { 'a': ensure => present }",
        &["looked"],
    );
}

#[test]
fn a_type_of_two_names_refuses_a_value_under_its_own_title() {
    let keyed = (
        "/modules/m/lib/puppet/type/keyed.rb",
        r##"Puppet::Type.newtype(:keyed) do
  def name = "#{self[:name]}@#{self[:type]}"
  alias_method :title, :name
  def self.title_patterns = [[/^(.*?)@(.*)$/, [[:name], [:type]]], [/^([^@]+)$/, [[:name]]]]
  newparam(:type) { isnamevar }
  newparam(:name) { isnamevar }
  newparam(:other) { validate { |v| raise Puppet::Error, "no blanks " if v.include?(" ") } }
end
"##,
    );
    let manifests = "keyed { 'k': type => 'rsa', other => 'a b' }".into();
    let manifests = vec![("/site.pp".to_owned(), manifests)];
    assert_eq!(
        run(&machine(&[keyed]), Request { manifests, ..Request::default() }),
        ["Parameter other failed on Keyed[k@rsa]: no blanks  (file: /site.pp, line: 1)"]
    );
}
