//! A try that really installs a package of the distribution, in each language, beside a
//! user, a file and a command that is not idempotent; and a plan of a file in a directory that
//! the package brings. Needs root, apt and a network, and says so where it has them not.

#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "a test runs the program from outside"
)]

use std::fmt::Write;
use std::path::Path;
use std::process::Command;

/// How CFEngine installs with apt.
const APT: &str = r#"body package_method apt {
  package_changes => "bulk";
  package_list_command => "/usr/bin/dpkg -l";
  package_list_name_regex => "^ii\s+([^\s:]+)(:?).*";
  package_list_version_regex => "^ii\s+[^\s]+\s+([^\s]+).*";
  package_installed_regex => "^ii.*";
  package_name_convention => "$(name)";
  package_add_command => "/usr/bin/apt-get --yes install";
}
"#;

/// A package, then a file in a directory that it brings.
const PLANNED: [(&str, &str); 3] = [
    (
        "site.cf",
        r#"bundle agent main {
          methods: "a" usebundle => a; "b" usebundle => b; }
        bundle agent a { packages: "hello" package_policy => "add", package_method => apt; }
        bundle agent b { files: "/usr/share/doc/hello/copyright" content => "x"; }
        "#,
    ),
    (
        "site.pp",
        "package { 'hello': ensure => installed } -> file { '/usr/share/doc/hello/copyright': content => 'x' }\n",
    ),
    ("site.rb", "package 'hello'\nfile('/usr/share/doc/hello/copyright') { content 'x' }\n"),
];

/// The commonest policy: a package, a file in the directory that it brings, and the service.
const SERVED: [(&str, &str); 3] = [
    (
        "served.cf",
        r#"bundle agent main {
          methods: "a" usebundle => brought; "b" usebundle => configured; "c" usebundle => served; }
        bundle agent brought {
          packages: "chrony" policy => "present", package_module => apt_get; }
        bundle agent configured {
          files: "/etc/chrony/chrony.conf" content => "x"; }
        bundle agent served {
          services: "chrony" service_policy => "start"; }
        bundle agent standard_services(service, state) {
          commands: "/usr/sbin/service $(service) $(state)"; }
        body package_module apt_get {
          query_installed_ifelapsed => "0"; query_updates_ifelapsed => "0";
          interpreter => "/usr/bin/cfengine-selected-python"; }
        "#,
    ),
    (
        "served.pp",
        "package { 'chrony': ensure => installed }
         -> file { '/etc/chrony/chrony.conf': content => 'x' }
         ~> service { 'chrony': ensure => running, enable => true }\n",
    ),
    (
        "served.rb",
        "package 'chrony'
         file '/etc/chrony/chrony.conf' do
           content 'x'
           notifies :restart, 'service[chrony]'
         end
         service('chrony') { action [:enable, :start] }\n",
    ),
];

const POLICIES: [(&str, &str, &str); 3] = [
    (
        "site.cf",
        r#"bundle agent main {
          users: "fxuser" policy => "present";
          files: "/etc/fx-try.conf" create => "true", content => "x";
          packages: "hello" package_policy => "add", package_method => apt;
          commands: "/bin/sh -c 'date >> /var/log/fx-try.log'" contain => sh; }
        body contain sh { useshell => "noshell"; }
        "#,
        "commands[",
    ),
    (
        "site.pp",
        r#"package { 'hello': ensure => installed }
           user { 'fxuser': ensure => present }
           file { '/etc/fx-try.conf': content => 'x' }
           exec { '/bin/sh -c "date >> /var/log/fx-try.log"': }"#,
        "exec[",
    ),
    (
        "site.rb",
        "package 'hello'\nuser 'fxuser'\nfile('/etc/fx-try.conf') { content 'x' }\nexecute 'date >> /var/log/fx-try.log'\n",
        "execute[",
    ),
];

/// Name, size and times of what a policy could have touched.
fn state() -> String {
    let mut out = String::new();
    let mut todo: Vec<_> =
        ["/etc", "/var/lib/dpkg", "/usr/bin"].map(Path::new).map(Path::to_owned).into();
    while let Some(path) = todo.pop() {
        let Ok(meta) = std::fs::symlink_metadata(&path) else { continue };
        let _ = writeln!(out, "{} {} {:?}", path.display(), meta.len(), meta.modified().ok());
        if meta.is_dir() {
            let mut below: Vec<_> = std::fs::read_dir(&path)
                .unwrap()
                .filter_map(|e| e.ok().map(|e| e.path()))
                .collect();
            below.sort();
            todo.extend(below);
        }
    }
    out
}

/// Whether the package can be fetched: an installed one, or no network, proves nothing.
fn can_install() -> bool {
    let dir = tempfile::tempdir().unwrap();
    let fetched = Command::new("timeout")
        .args(["60", "apt-get", "download", "-q", "hello"])
        .current_dir(dir.path())
        .output();
    let root = is_root();
    root && fetched.is_ok_and(|output| output.status.success())
        && !Path::new("/usr/bin/hello").exists()
}

fn is_root() -> bool {
    std::fs::metadata("/proc/self")
        .is_ok_and(|meta| std::os::unix::fs::MetadataExt::uid(&meta) == 0)
}

#[test]
fn a_package_is_really_installed_in_the_copy_and_only_the_command_is_named() {
    if !can_install() {
        eprintln!("SKIPPED: needs root and a package 'hello' that apt can fetch");
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let before = state();
    for (name, policy, culprit) in POLICIES {
        let (code, printed) = run(dir.path(), name, policy, &["try", "--net"]);
        assert_eq!(code, Some(3), "{name}: {printed}");
        for expected in ["added      /usr/bin/hello", "package added hello ", "user added fxuser "]
        {
            assert!(printed.contains(expected), "{name}: no '{expected}' in {printed}");
        }
        let again: Vec<&str> = printed.lines().filter(|line| line.contains("again: ")).collect();
        assert!(again.len() == 1 && again[0].contains(culprit), "{name}: {again:?}");
    }
    assert!(state() == before, "the machine was touched");
}

#[test]
fn a_plan_with_a_network_knows_what_a_package_brings() {
    if !can_install() {
        eprintln!("SKIPPED: needs root and a package 'hello' that apt can fetch");
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let before = state();
    for (name, policy) in PLANNED {
        let line = |printed: &str| {
            let line = printed.lines().find(|line| line.contains("/copyright]"));
            line.unwrap_or_else(|| panic!("{name}: {printed}")).to_owned()
        };
        let (code, printed) = run(dir.path(), name, policy, &["plan"]);
        assert_eq!(code, Some(2), "{name}: {printed}");
        assert!(line(&printed).contains("unknown after "), "{name}: {printed}");
        let (code, printed) = run(dir.path(), name, policy, &["plan", "--net"]);
        assert_eq!(code, Some(2), "{name}: {printed}");
        assert!(!line(&printed).contains("unknown"), "{name}: {printed}");
        assert!(printed.contains("\n    -"), "{name}: the old content is in the diff: {printed}");
    }
    assert!(state() == before, "the machine was touched");
}

#[test]
fn a_plan_of_package_file_and_service_is_right_with_and_without_a_network() {
    if !can_install() || Path::new("/etc/chrony").exists() {
        eprintln!("SKIPPED: needs root and a package 'chrony' that apt can fetch");
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let before = state();
    for (name, policy) in SERVED {
        for verb in [&["plan"][..], &["plan", "--net"]] {
            let (code, printed) = run(dir.path(), name, policy, verb);
            assert_eq!(code, Some(2), "{name} {verb:?}: {printed}");
            assert!(!printed.contains("failed"), "{name} {verb:?}: {printed}");
            let lines: Vec<&str> =
                printed.lines().filter(|line| line.starts_with("would-repair")).collect();
            let at = |piece: &str| {
                let found = lines.iter().position(|line| line.contains(piece));
                found.unwrap_or_else(|| panic!("{name} {verb:?}: no {piece} in {printed}"))
            };
            let (package, file, service) = (at("[chrony] "), at("/chrony.conf]"), lines.len() - 1);
            assert!(package < file && file < service, "{name} {verb:?}: {printed}");
            let net = verb.len() > 1;
            let unknown = "unknown after ";
            assert_eq!(
                lines[package].contains("what it does is unknown"),
                !net,
                "{name}: {printed}"
            );
            assert_eq!(lines[file].contains(unknown), !net, "{name}: {printed}");
            let after_package =
                lines[service].contains(unknown) && lines[service].contains("package");
            assert_eq!(after_package, !net, "{name}: {printed}");
            assert_eq!(printed.contains("\n    -# Welcome"), net, "{name}: {printed}");
        }
    }
    assert!(state() == before, "the machine was touched");
}

/// Runs a verb on a policy; its code and what it printed.
fn run(dir: &Path, name: &str, policy: &str, verb: &[&str]) -> (Option<i32>, String) {
    use std::os::unix::fs::PermissionsExt;
    let file = dir.join(name);
    let methods = if name == "site.cf" { APT } else { "" };
    std::fs::write(&file, format!("{policy}{methods}")).unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_fixpoint"))
        .args(verb)
        .arg(name)
        .current_dir(dir)
        .output()
        .unwrap();
    (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
}
