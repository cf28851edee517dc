//! A preview is true and touches nothing: sequences are foreseen, what cannot be known is
//! marked, and the machine is the same afterwards.

#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "a test runs the program from outside"
)]

use std::path::Path;
use std::process::{Command, Stdio};

use fx_host::{OsHost, Sandbox, SandboxOptions, Spec};

const PROGRAM: &str = env!("CARGO_BIN_EXE_fixpoint");

fn is_root() -> bool {
    let meta = std::fs::metadata("/proc/self").unwrap();
    let root = std::os::unix::fs::MetadataExt::uid(&meta) == 0;
    if !root {
        eprintln!("SKIPPED: a copy of the machine needs root");
    }
    root
}

fn ran(dir: &Path, args: &[&str]) -> (i32, String, String) {
    let output = Command::new(PROGRAM)
        .args(args)
        .current_dir(dir)
        .env("NO_COLOR", "1")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
}

/// One policy in three languages: a directory, a file in it, a link to the file whose target
/// must exist, and what only happens because the file was repaired. Then a command, and a
/// file whose fate depends on it.
const POLICIES: [(&str, &str); 3] = [
    (
        "site.cf",
        r#"bundle agent main {
          files:
            "/srv/fx/." create => "true";
            "/srv/fx/a" create => "true", content => "one", classes => made;
            a_made::
              "/srv/fx/after" create => "true";
          commands:
            a_made::
              "/bin/touch /srv/fx/b" if => fileexists("/srv/fx/a");
          reports:
              "done";
        }
        body classes made { promise_repaired => { "a_made" }; }"#,
    ),
    (
        "site.pp",
        "file { '/srv/fx': ensure => directory }
         -> file { '/srv/fx/a': content => 'one' }
         -> file { '/srv/fx/after': source => '/srv/fx/a' }
         -> exec { '/bin/touch /srv/fx/b': refreshonly => true, subscribe => File['/srv/fx/a'] }
         -> exec { '/bin/touch /srv/fx/d': creates => '/srv/fx/d' }
         -> file { '/srv/fx/c': content => 'x' }\n",
    ),
    (
        "site.rb",
        "directory '/srv/fx'
         file '/srv/fx/a' do
           content 'one'
           notifies :create, 'file[/srv/fx/after]', :immediately
         end
         file '/srv/fx/after' do
           action :nothing
           only_if { File.read('/srv/fx/a') == 'one' }
         end
         execute 'touch /srv/fx/b' do
           only_if 'test -e /srv/fx/after'
         end
         file '/srv/fx/c'\n",
    ),
];

#[test]
fn later_steps_see_what_earlier_ones_would_do_and_commands_end_certainty() {
    if !is_root() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    for (name, policy) in POLICIES {
        std::fs::write(dir.path().join(name), policy).unwrap();
        std::os::unix::fs::chown(dir.path().join(name), Some(0), Some(0)).unwrap();
        let (code, out, err) = ran(dir.path(), &["plan", name]);
        assert_eq!(code, 2, "{name}: {out}{err}");
        let line = |what: &str| {
            out.lines().find(|line| line.starts_with("would-repair") && line.contains(what))
        };
        for certain in ["/srv/fx/a]", "/srv/fx/after]"] {
            let line = line(certain).unwrap_or_else(|| panic!("{name}: no {certain} in {out}"));
            assert!(!line.contains("unknown"), "{name}: {line}");
        }
        assert!(out.contains("touch /srv/fx/"), "{name}: {out}");
        if let Some(line) = line("/srv/fx/c]") {
            assert!(line.contains("unknown after"), "{name}: {line}");
        }
        assert!(!Path::new("/srv/fx").exists(), "{name}: nothing happened");
    }
}

/// A package that is not there, a file in the directory it brings, what refers to that file, and
/// the service it brings: none of it can be known while the package is withheld.
const AFTER_A_PACKAGE: [(&str, &str); 3] = [
    (
        "package.cf",
        r#"body common control { bundlesequence => { "brought", "after" }; }
        bundle agent brought {
          packages: "fxnone" package_policy => "add", package_method => apt;
        }
        bundle agent after {
          files:
            "/etc/fxnone/conf" edit_line => line, edit_defaults => there;
            "/srv/fx-certain" create => "true";
          commands: "/usr/sbin/fxnone --start";
        }
        bundle edit_line line { insert_lines: "x"; }
        body edit_defaults there { empty_file_before_editing => "false"; }
        body package_method apt {
          package_changes => "bulk";
          package_list_command => "/usr/bin/dpkg -l";
          package_list_name_regex => "^ii\s+([^\s:]+)(:?).*";
          package_list_version_regex => "^ii\s+[^\s]+\s+([^\s]+).*";
          package_installed_regex => "^ii.*";
          package_name_convention => "$(name)";
          package_add_command => "/usr/bin/apt-get --yes install";
        }"#,
    ),
    (
        "package.pp",
        "package { 'fxnone': ensure => installed }
         -> file { '/etc/fxnone/conf': content => 'x', notify => Service['fxnone'] }
         -> exec { '/usr/sbin/fxnone --check': }
         service { 'fxnone': ensure => running, enable => true }
         -> file { '/srv/fx-certain': content => 'x' }\n",
    ),
    (
        "package.rb",
        "package 'fxnone'
         file '/etc/fxnone/conf' do
           content 'x'
           notifies :restart, 'service[fxnone]'
         end
         execute '/usr/sbin/fxnone --check' do
           only_if '/usr/sbin/fxnone --there'
         end
         ruby_block 'read' do
           block { raise 'not reached' }
           not_if { File.read('/etc/fxnone/made') == 'x' }
         end
         service('fxnone') { action [:enable, :start] }
         file '/srv/fx-certain'\n",
    ),
];

#[test]
fn what_fails_after_something_withheld_is_unknown_and_the_plan_goes_on() {
    if !is_root() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    for (name, policy) in AFTER_A_PACKAGE {
        std::fs::write(dir.path().join(name), policy).unwrap();
        std::os::unix::fs::chown(dir.path().join(name), Some(0), Some(0)).unwrap();
        let (code, out, err) = ran(dir.path(), &["plan", name]);
        assert_eq!(code, 2, "{name}: {out}{err}");
        assert!(!out.contains("error") && !err.contains("error"), "{name}: {out}{err}");
        for about in ["/etc/fxnone/conf]", "fxnone", "/srv/fx-certain]"] {
            let mut lines = out.lines().filter(|line| line.starts_with("would-repair"));
            let line = lines.find(|line| line.contains(about));
            let line = line.unwrap_or_else(|| panic!("{name}: no {about} in {out}"));
            let unknown = line.contains("unknown after");
            assert_eq!(unknown, about != "fxnone", "{name}: {line}");
        }
    }
}

/// The same inside a resource of a cookbook, whose own action fails after its part was withheld.
#[test]
fn what_fails_beside_a_withheld_part_is_unknown_too() {
    if !is_root() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let book = dir.path().join("t");
    for part in ["recipes", "resources"] {
        std::fs::create_dir_all(book.join(part)).unwrap();
    }
    std::fs::write(book.join("metadata.rb"), "name 't'\n").unwrap();
    std::fs::write(
        book.join("resources/app.rb"),
        "provides :app\nunified_mode true\naction :install do
           execute '/usr/sbin/fxnone --install'
           File.read('/etc/fxnone/made')
         end\n",
    )
    .unwrap();
    let recipe = "app 'x' do\n  notifies :create, 'file[/srv/fx-told]'\nend
        file('/srv/fx-told') { action :nothing }\n";
    std::fs::write(book.join("recipes/default.rb"), recipe).unwrap();
    let (code, out, err) = ran(dir.path(), &["plan", "t"]);
    assert_eq!(code, 2, "{out}{err}");
    let repaired = |name: &str| {
        out.lines().any(|line| line.starts_with("would-repair") && line.contains(name))
    };
    assert!(repaired("app[x]") && repaired("/srv/fx-told]"), "{out}{err}");
}

#[test]
fn a_preview_writes_nothing_at_all() {
    if !is_root() {
        return;
    }
    let examples = format!("{}/../../examples", env!("CARGO_MANIFEST_DIR"));
    let host = OsHost::new();
    for example in ["cfengine/web.cf", "puppet/web.pp", "chef/cookbooks/web"] {
        for verb in ["plan", "explain", "check"] {
            // A copy of the machine around the call: whatever it writes is in its layers.
            let around =
                Sandbox::new(&SandboxOptions { trusted: true, ..SandboxOptions::default() })
                    .unwrap();
            let words = [PROGRAM, verb, &format!("{examples}/{example}")].map(str::to_owned);
            let ended = around.run(&host, &Spec::argv(words)).unwrap();
            let told = String::from_utf8_lossy(&ended.stdout).into_owned();
            let code = ended.exit.code();
            assert_eq!(code, if verb == "plan" { 2 } else { 0 }, "{verb} {example}: {told}");
            let changes = around.changes().found;
            assert!(changes.is_empty(), "{verb} {example}: {:?}", changes[0].path);
        }
    }
}

#[test]
fn the_mode_for_a_copy_is_refused_outside_one() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("site.cf"), POLICIES[0].1).unwrap();
    for verb in ["plan", "explain", "check", "compile"] {
        let (code, out, err) = ran(dir.path(), &[verb, "--inside", "site.cf"]);
        assert!(code == 1 && out.is_empty() && err.contains("this is none"), "{out}{err}");
    }
    assert!(!Path::new("/srv/fx").exists());
}

#[test]
fn services_are_recorded_in_a_copy_and_answer_as_if_they_ran() {
    if !is_root() {
        return;
    }
    let host = OsHost::new();
    // A machine that looks as if a manager of services ran, whatever this one is.
    let around =
        Sandbox::new(&SandboxOptions { trusted: true, ..SandboxOptions::default() }).unwrap();
    let shell = |line: String| {
        let ended = around.run(&host, &Spec::argv(["sh", "-c", &line])).unwrap();
        String::from_utf8_lossy(&ended.stdout).into_owned()
    };
    if !shell("test -x /usr/bin/systemctl && echo yes".to_owned()).contains("yes") {
        eprintln!("SKIPPED: there is no systemctl on this machine");
        return;
    }
    let unit = "[Service]\\nExecStart=/bin/true\\n[Install]\\nWantedBy=multi-user.target\\n";
    let told = shell(format!(
        r#"mkdir -p /run/systemd/system /srv/p; cd /srv/p; umask 077
        printf '{unit}' > /etc/systemd/system/fxdemo.service
        cat > site.pp <<'END'
file {{ '/etc/fxdemo.conf': content => 'x', notify => Service['fxdemo'] }}
service {{ 'fxdemo': ensure => running, enable => true }}
END
        cat > site.rb <<'END'
file '/etc/fxdemo.conf' do
  content 'x'
  notifies :restart, 'service[fxdemo]'
end
service('fxdemo') {{ action [:enable, :start] }}
END
        for site in site.pp site.rb; do {PROGRAM} try $site; echo code $?; done"#
    ));
    // For Puppet a start makes the restart that was asked for needless, for Chef it does not.
    let started = "services, not touched\n  start fxdemo.service\n";
    assert_eq!(told.matches(started).count(), 2, "{told}");
    let restarted = format!("{started}  restart fxdemo.service\n");
    assert_eq!(told.matches(&restarted).count(), 1, "{told}");
    assert_eq!(told.matches("verdict: idempotent\ncode 0").count(), 2, "{told}");
    let enabled = "multi-user.target.wants/fxdemo.service";
    assert_eq!(told.matches(enabled).count(), 2, "{told}");
}

#[test]
fn a_shell_looks_around_in_the_copy() {
    if !is_root() {
        return;
    }
    use std::io::Write;
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("site.rb"), "file('/srv/fx-seen') { content 'inside' }\n")
        .unwrap();
    let mut child = Command::new(PROGRAM)
        .args(["try", "--shell", "--runs", "1", "site.rb"])
        .current_dir(dir.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"cat /srv/fx-seen\nexit\n").unwrap();
    let output = child.wait_with_output().unwrap();
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(told.ends_with("inside"), "{told}");
    assert!(!Path::new("/srv/fx-seen").exists());
}

/// In a chroot the namespace's root is another than the process's; a copy made there must be
/// one of the chroot, and what runs in it must not reach what is around.
#[test]
fn a_copy_made_in_a_chroot_is_a_copy_of_the_chroot() {
    if !is_root() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let policy = r#"bundle agent main {
        classes: "here" expression => fileexists("/srv/only-in-the-chroot");
        files:
          here::
            "/srv/fx-made" create => "true"; }"#;
    std::fs::write(dir.path().join("site.cf"), policy).unwrap();
    let program = Path::new(PROGRAM);
    let script = format!(
        "set -e; mount --make-rprivate /; mount -t tmpfs none /mnt; cd /mnt; mkdir u w r
         mount -t overlay none -o lowerdir=/,upperdir=/mnt/u,workdir=/mnt/w r
         mount -t proc proc r/proc; mount --rbind /dev r/dev
         mount --bind {} r/opt; mount --bind {} r/media
         touch r/srv/only-in-the-chroot
         chroot r sh -c 'cd /media; /opt/{} try site.cf; ls /srv'; ls /srv",
        program.parent().unwrap().display(),
        dir.path().display(),
        program.file_name().unwrap().display(),
    );
    let output = Command::new("unshare").args(["--mount", "sh", "-c", &script]).output();
    let Ok(output) = output else {
        eprintln!("SKIPPED: there is no unshare on this machine");
        return;
    };
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(told.contains("added      /srv/fx-made"), "{told}{output:?}");
    let after = told.split("verdict:").nth(1).unwrap_or_default();
    assert!(after.contains("only-in-the-chroot") && !after.contains("fx-made"), "{told}");
}
