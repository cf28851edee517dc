//! The throw-away copy of the machine. Needs root and overlayfs; says so where it cannot run.

#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "a test looks at the machine from outside"
)]

use std::path::Path;
use std::time::Duration;

use fx_host::{Exit, OsHost, Sandbox, SandboxOptions, Spec};

fn sandbox(options: &SandboxOptions) -> Option<Sandbox> {
    if !rustix::process::geteuid().is_root() {
        eprintln!("SKIPPED: a sandbox needs root");
        return None;
    }
    Some(Sandbox::new(options).unwrap())
}

fn shell(sandbox: &Sandbox, line: &str) -> String {
    let ended =
        sandbox.run(&OsHost::new(), &Spec { merge_stderr: true, ..Spec::shell(line) }).unwrap();
    format!("{}{:?}", String::from_utf8_lossy(&ended.stdout), ended.exit)
}

#[test]
fn what_happens_inside_stays_inside_and_is_seen_by_the_next_command() {
    let Some(sandbox) = sandbox(&SandboxOptions::default()) else { return };
    let before = std::fs::read("/etc/passwd").unwrap();
    assert_eq!(
        shell(
            &sandbox,
            "echo x > /etc/fx-new && echo evil >> /etc/passwd && rm /etc/hostname; echo done"
        ),
        "done\nCode(0)"
    );
    assert_eq!(
        shell(
            &sandbox,
            "cat /etc/fx-new; tail -1 /etc/passwd; ls /etc/hostname 2>/dev/null; exit 5"
        ),
        "x\nevil\nCode(5)"
    );
    assert!(!Path::new("/etc/fx-new").exists());
    assert_eq!(std::fs::read("/etc/passwd").unwrap(), before);
    let root = sandbox.layers().iter().find(|layer| layer.mount == Path::new("/")).unwrap();
    assert_eq!(std::fs::read(sandbox.upper(root).join("etc/fx-new")).unwrap(), b"x\n");
}

#[test]
fn processes_network_and_devices_are_its_own() {
    let Some(sandbox) = sandbox(&SandboxOptions::default()) else { return };
    assert_eq!(shell(&sandbox, "ls /sys/class/net"), "lo\nCode(0)");
    assert_eq!(
        shell(&sandbox, "ls /proc | grep -c '^[0-9]*$' | (read n; [ $n -lt 8 ] && echo few)"),
        "few\nCode(0)"
    );
    assert_eq!(
        shell(
            &sandbox,
            "echo x > /dev/null && head -c 1 /dev/zero | wc -c; ls /dev/sda /dev/vda 2>/dev/null; hostname changed 2>/dev/null || echo refused"
        ),
        "1\nrefused\nCode(0)"
    );
    assert_ne!(std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap().trim(), "changed");
}

#[test]
fn a_shared_directory_is_the_real_one() {
    let dir = tempfile::tempdir().unwrap();
    let options =
        SandboxOptions { shared: vec![dir.path().to_owned()], ..SandboxOptions::default() };
    let Some(sandbox) = sandbox(&options) else { return };
    shell(&sandbox, &format!("echo real > {}/f", dir.path().display()));
    assert_eq!(std::fs::read_to_string(dir.path().join("f")).unwrap(), "real\n");
}

#[test]
fn limits_and_signals_reach_inside() {
    let Some(sandbox) = sandbox(&SandboxOptions::default()) else { return };
    let host = OsHost::new();
    let ended = sandbox
        .run(&host, &Spec::argv(["sleep", "1000"]).timeout(Duration::from_millis(200)))
        .unwrap();
    assert_eq!(ended.exit, Exit::TimedOut);
    assert_eq!(sandbox.run(&host, &Spec::shell("kill -9 $$")).unwrap().exit, Exit::Signal(9));
    let error = sandbox.run(&host, &Spec::argv(["/no/such"])).unwrap_err();
    assert!(error.is_not_found(), "{error}");
    let gone = sandbox.pid();
    drop(sandbox);
    assert!(!Path::new(&format!("/proc/{gone}")).exists(), "the box ends when dropped");
}

#[test]
fn what_a_box_changed_can_be_told() {
    use fx_host::ChangeKind::{Added, Attributes, Content, Deleted};
    let dir = tempfile::tempdir_in("/var/tmp").unwrap();
    let at = |name: &str| dir.path().join(name);
    for name in ["same", "content", "mode", "gone"] {
        std::fs::write(at(name), "old").unwrap();
    }
    std::fs::create_dir(at("again")).unwrap();
    std::fs::write(at("again/hidden"), "old").unwrap();
    let Some(sandbox) = sandbox(&SandboxOptions::default()) else { return };
    let line = format!(
        "cd {} && echo -n old > same && echo new > content && chmod 600 mode && rm gone && mkdir sub && echo x > sub/new && rm -r again && mkdir again",
        dir.path().display()
    );
    assert_eq!(shell(&sandbox, &line), "Code(0)");
    let found: Vec<_> = sandbox
        .changes()
        .found
        .into_iter()
        .filter_map(|change| {
            Some((change.path.strip_prefix(dir.path()).ok()?.to_str()?.to_owned(), change.kind))
        })
        .collect();
    let expected = [
        ("again/hidden", Deleted),
        ("content", Content),
        ("gone", Deleted),
        ("mode", Attributes),
        ("sub", Added),
        ("sub/new", Added),
    ];
    assert_eq!(found, expected.map(|(path, kind)| (path.to_owned(), kind)));
}

#[test]
fn a_command_starts_in_its_directory_of_the_copy() {
    let Some(sandbox) = sandbox(&SandboxOptions::default()) else { return };
    assert_eq!(shell(&sandbox, "mkdir /srv/fx-only-inside"), "Code(0)");
    let spec = Spec { cwd: Some("/srv/fx-only-inside".into()), ..Spec::shell("pwd") };
    let ended = sandbox.run(&OsHost::new(), &spec).unwrap();
    assert_eq!(String::from_utf8_lossy(&ended.stdout), "/srv/fx-only-inside\n");
}
