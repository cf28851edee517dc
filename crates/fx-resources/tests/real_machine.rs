//! The laws on a real machine as root: accounts, packages, cron, hosts, keys and kernel
//! settings, in a throw-away copy of the machine. Says loudly where it cannot run.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "a test looks at the machine from outside"
)]

use std::fmt::Write;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use fx_engine::{Cancel, Ledger, Mode, Outcome, Request, Resource, Run, step};
use fx_host::{Edits, OsHost, Sandbox, SandboxOptions, Spec};
use fx_resources::account::Account;
use fx_resources::{cron, group, host_entry, mount, package, ssh_key, user};

const ROLE: &str = "FX_INSIDE_THE_BOX";

#[test]
fn the_laws_hold_on_a_throw_away_copy_of_this_machine() {
    let sandbox = match Sandbox::new(&SandboxOptions {
        net: std::env::var("FX_NET").is_ok(),
        trusted: true,
        ..SandboxOptions::default()
    }) {
        Ok(sandbox) => sandbox,
        Err(error) => {
            eprintln!("SKIPPED the_laws_hold_on_a_throw_away_copy_of_this_machine: {error}");
            return;
        }
    };
    let before = snapshot(&["/etc"]);
    let program = std::env::current_exe().unwrap();
    let spec = Spec::argv([
        program.as_os_str(),
        "--exact".as_ref(),
        "inside".as_ref(),
        "--nocapture".as_ref(),
    ])
    .env(ROLE, "1");
    let ended = sandbox.run(&OsHost::new(), &Spec { merge_stderr: true, ..spec }).unwrap();
    let text = String::from_utf8_lossy(&ended.stdout).into_owned();
    assert!(ended.exit.success(), "{text}");
    let held = text.matches("HELD ").count();
    assert!(held >= 10, "{text}");
    println!("{held} resources held the laws; skipped: {}", text.matches("SKIPPED").count());
    assert_eq!(snapshot(&["/etc"]), before, "the machine outside is untouched");
}

/// All that the resources below may touch: path, mode, owner, content.
fn snapshot(tops: &[&str]) -> String {
    let mut out = String::new();
    let mut todo: Vec<PathBuf> = tops.iter().map(PathBuf::from).collect();
    while let Some(path) = todo.pop() {
        let Ok(meta) = fs::symlink_metadata(&path) else { continue };
        let _ = write!(out, "{} {:o} {}:{}", path.display(), meta.mode(), meta.uid(), meta.gid());
        if meta.is_dir() {
            let mut names: Vec<PathBuf> =
                fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()).collect();
            names.sort();
            todo.extend(names.into_iter().rev());
        } else if meta.is_file() {
            let _ = write!(out, " {}", fs::read(&path).unwrap_or_default().escape_ascii());
        }
        out.push('\n');
    }
    out
}

const WATCHED: [&str; 5] = ["/etc", "/home", "/var/spool/cron", "/var/lib/dpkg", "/srv"];

#[test]
fn inside() {
    if std::env::var(ROLE).is_err() {
        return;
    }
    let has = |program: &str| fx_host::Queries::find_program(&OsHost::new(), program).is_some();
    if has("useradd") {
        accounts();
    } else {
        eprintln!("SKIPPED useradd is not here");
    }
    text_files();
    if has("dpkg-deb") {
        packages();
    } else {
        eprintln!("SKIPPED dpkg is not here");
    }
}

/// Each law for one wish, on the machine as it is now.
fn hold(name: &str, make: &dyn Fn() -> Box<dyn Resource>) {
    let host = OsHost::new();
    let take = |mode| {
        let (ledger, cancel) = (Ledger::new(), Cancel::new());
        let mut resource = make();
        let mut request = Request::new(resource.id(), "make");
        request.mode = mode;
        let stepped = step(Run::new(&host, &ledger, &cancel), request, resource.as_mut());
        host.commit().unwrap();
        stepped.outcome
    };
    let before = snapshot(&WATCHED);
    assert_eq!(take(Mode::Rehearse), Outcome::WouldRepair, "{name}: rehearsal");
    assert!(snapshot(&WATCHED) == before, "{name}: a rehearsal changed the machine");
    assert_eq!(take(Mode::Apply), Outcome::Repaired, "{name}: first");
    assert_eq!(take(Mode::Apply), Outcome::Kept, "{name}: second");
    println!("HELD {name}");
}

fn accounts() {
    let group_name = "fxgroup".to_owned();
    let wish =
        group::Desired { name: group_name.clone(), gid: Some(7001), ..group::Desired::default() };
    hold("group", &|| Box::new(group::Group::new(wish.clone())));
    let wish = user::Desired {
        name: "fxuser".into(),
        uid: Some(7011),
        gid: Some(Account::parse(&group_name)),
        comment: Some("made by a test".into()),
        home: Some("/home/fxuser".into()),
        shell: Some("/bin/sh".into()),
        manage_home: true,
        ..user::Desired::default()
    };
    hold("user", &|| Box::new(user::User::new(wish.clone())));
    assert!(Path::new("/home/fxuser").is_dir(), "a managed home is made");
    let shell = user::Desired { shell: Some("/bin/false".into()), ..wish.clone() };
    hold("user's shell", &|| Box::new(user::User::new(shell.clone())));
    let gone = user::Desired { absent: true, ..wish.clone() };
    hold("no user", &|| Box::new(user::User::new(gone.clone())));
    let gone =
        group::Desired { name: group_name.clone(), absent: true, ..group::Desired::default() };
    hold("no group", &|| Box::new(group::Group::new(gone.clone())));
}

fn text_files() {
    hold("host entry", &|| {
        let desired = host_entry::Desired {
            name: "fx.example".into(),
            ip: Some("192.0.2.7".parse().unwrap()),
            aliases: Some(vec!["fx".into()]),
            ..host_entry::Desired::default()
        };
        Box::new(host_entry::HostEntry::new(desired))
    });
    hold("ssh key", &|| {
        let desired = ssh_key::Desired {
            name: "a@b".into(),
            user: "root".into(),
            target: Some("/srv/keys".into()),
            kind: "ssh-ed25519".into(),
            key: "AAAAC3NzaC1lZDI1NTE5AAAAIJ".into(),
            ..ssh_key::Desired::default()
        };
        Box::new(ssh_key::SshKey::new(desired))
    });
    hold("cron file", &|| {
        let desired = cron::Desired {
            name: "fx job".into(),
            target: cron::Table::File {
                path: "/etc/cron.d/fx".into(),
                user: "root".into(),
                mode: None,
            },
            command: "/bin/true".into(),
            ..cron::Desired::default()
        };
        Box::new(cron::Cron::new(desired))
    });
    fs::create_dir_all("/srv/fx").unwrap();
    hold("mount", &|| {
        let desired = mount::Desired {
            path: "/srv/fx".into(),
            ensure: mount::Ensure::Mounted,
            device: Some("tmpfs".into()),
            fstype: Some("tmpfs".into()),
            options: Some("size=64k".into()),
            ..mount::Desired::default()
        };
        Box::new(mount::Mount::new(desired))
    });
}

fn packages() {
    let root = Path::new("/srv/deb");
    for version in ["1.0-1", "2.0~rc1-1"] {
        let tree = root.join(version);
        fs::create_dir_all(tree.join("DEBIAN")).unwrap();
        fs::create_dir_all(tree.join("usr/share/fx-probe")).unwrap();
        fs::write(tree.join("usr/share/fx-probe/file"), version).unwrap();
        let control = format!(
            "Package: fx-probe\nVersion: {version}\nArchitecture: all\nMaintainer: nobody <a@b>\nDescription: a probe\n"
        );
        fs::write(tree.join("DEBIAN/control"), control).unwrap();
        let built = std::process::Command::new("dpkg-deb")
            .args(["--build", "--root-owner-group"])
            .arg(&tree)
            .arg(root.join(format!("{version}.deb")))
            .output()
            .unwrap();
        assert!(built.status.success(), "{built:?}");
    }
    let with = |ensure: package::Ensure, version: &str, hold: Option<bool>| {
        let source = Some(root.join(format!("{version}.deb"))).filter(|_| !version.is_empty());
        let desired = package::Desired {
            name: "fx-probe".into(),
            ensure,
            hold,
            source,
            ..package::Desired::default()
        };
        Box::new(package::Package::new(desired, package::named("apt").unwrap()))
            as Box<dyn Resource>
    };
    hold("package from a file", &|| with(package::Ensure::Installed, "1.0-1", None));
    hold("package of a version", &|| {
        with(package::Ensure::Version("2.0~rc1-1".into()), "2.0~rc1-1", None)
    });
    hold("package on hold", &|| with(package::Ensure::Installed, "", Some(true)));
    hold("package off hold", &|| with(package::Ensure::Installed, "", Some(false)));
    hold("no package", &|| with(package::Ensure::Purged, "", None));
    if std::env::var("FX_NET").is_err() {
        println!("FX_NET=1 also installs a package of the distribution");
        return;
    }
    let hello = |ensure: package::Ensure| {
        let desired =
            package::Desired { name: "hello".into(), ensure, ..package::Desired::default() };
        Box::new(package::Package::new(desired, package::named("apt").unwrap()))
            as Box<dyn Resource>
    };
    hold("package of the distribution", &|| hello(package::Ensure::Latest));
    hold("no package of the distribution", &|| hello(package::Ensure::Absent));
}
