//! What the real tools of a Debian machine say about packages, users and groups we changed.
//!
//! These change the machine, so they run inside a throw-away copy of it, which needs root;
//! without it they are left out. Run by hand with `FIXPOINT_THROWAWAY=1` and `--ignored`,
//! and only inside such a copy.

#![expect(clippy::disallowed_methods, reason = "the test looks at the machine by itself")]
#![expect(clippy::unwrap_used, reason = "a panic is a failed test")]

use std::path::Path;
use std::process::Command;
use std::rc::Rc;

use fx_engine::{Cancel, Ledger, Outcome, Request, Resource, Run, step};
use fx_host::{Edits, OsHost, Queries, Sandbox, SandboxOptions, Spec};
use fx_resources::account::Account;
use fx_resources::group::{self, Membership};
use fx_resources::package::{self, Ensure};
use fx_resources::user::{self, Expiry, Password};

fn assert_throw_away() {
    let told = std::env::var("FIXPOINT_THROWAWAY").is_ok();
    assert!(told, "set FIXPOINT_THROWAWAY=1, and only inside a throw-away copy of a machine");
}

#[test]
fn the_real_tools_agree_in_a_throw_away_copy() {
    let host = OsHost::new();
    let tools = ["apt-get", "apt-mark", "dpkg-deb", "useradd", "chage", "gpasswd", "grpck"];
    if tools.iter().any(|tool| host.find_program(tool).is_none()) {
        return;
    }
    let Ok(sandbox) = Sandbox::new(&SandboxOptions::default()) else { return };
    let program = std::env::current_exe().unwrap();
    let argv = [program.as_os_str(), "--ignored".as_ref(), "--test-threads=1".as_ref()];
    let spec = Spec::argv(argv).env("FIXPOINT_THROWAWAY", "1");
    let ended = sandbox.run(&host, &spec).unwrap();
    assert!(ended.exit.success(), "{}", String::from_utf8_lossy(&ended.stdout));
}

fn take_step(resource: &mut dyn Resource) -> Outcome {
    let host = OsHost::new();
    let (ledger, cancel) = (Ledger::new(), Cancel::new());
    let run = Run::new(&host, &ledger, &cancel);
    let stepped = step(run, Request::new(resource.id(), "make"), resource);
    host.commit().unwrap();
    stepped.outcome
}

#[track_caller]
fn converge<R: Resource>(make: impl Fn() -> R) {
    assert_eq!(take_step(&mut make()), Outcome::Repaired);
    assert_eq!(take_step(&mut make()), Outcome::Kept);
}

fn shell(line: &str) -> String {
    let output = Command::new("/bin/sh").args(["-c", line]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{line}: {text}");
    text.trim_end().to_owned()
}

// A repository of one package in two versions, and nothing else.
fn repository() {
    shell(
        "set -e; rm -rf /srv/repo; mkdir -p /srv/repo; cd /srv/repo
         for version in 1.0-1 2.0-1; do
           mkdir -p tree/DEBIAN tree/etc
           printf 'Package: fx-probe\\nVersion: %s\\nArchitecture: all\\nMaintainer: x <x@x>\\n\
Description: probe\\n' $version > tree/DEBIAN/control
           echo /etc/fx-probe.conf > tree/DEBIAN/conffiles
           echo $version > tree/etc/fx-probe.conf
           dpkg-deb -b tree fx-probe_$version.deb > /dev/null
           rm -r tree
         done
         for deb in *.deb; do
           dpkg-deb -f $deb
           echo \"Filename: ./$deb\"
           echo \"Size: $(stat -c %s $deb)\"
           echo \"SHA256: $(sha256sum $deb | cut -d' ' -f1)\"
           echo
         done > Packages
         rm -f /etc/apt/sources.list /etc/apt/sources.list.d/*
         echo 'deb [trusted=yes] file:/srv/repo ./' > /etc/apt/sources.list
         apt-get -q update",
    );
}

#[test]
#[ignore = "changes the machine; see the first lines of this file"]
fn packages_are_really_installed_held_changed_and_purged() {
    assert_throw_away();
    repository();
    let backend = package::detect(&OsHost::new()).unwrap();
    let probe = |ensure: Ensure, hold| {
        let backend = Rc::clone(&backend);
        move || {
            let desired = package::Desired {
                name: "fx-probe".into(),
                ensure: ensure.clone(),
                hold,
                allow_downgrade: true,
                ..package::Desired::default()
            };
            package::Package::new(desired, Rc::clone(&backend))
        }
    };
    let version = |text: &str| Ensure::Version(text.into());
    let installed = || shell("dpkg-query -W -f '${Version} ${Status}' fx-probe");
    converge(probe(version("1.0-1"), None));
    assert_eq!(installed(), "1.0-1 install ok installed");
    converge(probe(Ensure::Latest, None));
    assert_eq!(installed(), "2.0-1 install ok installed");
    converge(probe(Ensure::Installed, Some(true)));
    assert_eq!(shell("apt-mark showhold"), "fx-probe");
    converge(probe(version("1.0-1"), Some(true)));
    assert_eq!(installed(), "1.0-1 hold ok installed");
    converge(probe(Ensure::Installed, Some(false)));
    assert_eq!(shell("apt-mark showhold"), "");
    converge(probe(Ensure::Absent, None));
    assert_eq!(installed(), "1.0-1 deinstall ok config-files");
    converge(probe(Ensure::Purged, None));
    assert!(!Path::new("/etc/fx-probe.conf").exists());
    let source = || {
        let desired = package::Desired {
            name: "fx-probe".into(),
            source: Some("/srv/repo/fx-probe_2.0-1.deb".into()),
            ..package::Desired::default()
        };
        package::Package::new(desired, Rc::clone(&backend))
    };
    converge(source);
    let missing = package::Desired { name: "fx-nonesuch".into(), ..package::Desired::default() };
    let outcome = take_step(&mut package::Package::new(missing, Rc::clone(&backend)));
    let failure = outcome.failure().unwrap();
    assert!(failure.output().as_ref().unwrap().contains("Unable to locate package"), "{failure:?}");
}

#[test]
#[ignore = "changes the machine; see the first lines of this file"]
fn accounts_are_as_the_tools_see_them() {
    assert_throw_away();
    shell("groupadd -g 4000 fx-ops; groupadd -g 4001 fx-web");
    let (name, uid) = ("fxa", 5001);
    let user = |desired: user::Desired| {
        move || {
            let desired = user::Desired { name: name.into(), ..desired.clone() };
            user::User::new(desired)
        }
    };
    converge(user(user::Desired {
        uid: Some(uid),
        comment: Some("Probe".into()),
        shell: Some("/bin/bash".into()),
        home: Some(format!("/home/{name}").into()),
        password: Some(Password::hash("$6$salt$hash")),
        groups: Some(vec!["fx-web".into(), "fx-ops".into()]),
        max_age: Some(90),
        expiry: Some(Expiry::Day(30_000)),
        manage_home: true,
        ..user::Desired::default()
    }));
    let row = shell(&format!("getent passwd {name}"));
    assert_eq!(row, format!("{name}:x:{uid}:{uid}:Probe:/home/{name}:/bin/bash"));
    assert_eq!(shell(&format!("id -Gn {name}")), format!("{name} fx-ops fx-web"));
    let shadow = shell(&format!("getent shadow {name}"));
    assert!(shadow.starts_with(&format!("{name}:$6$salt$hash:")), "{shadow}");
    assert!(shadow.ends_with(":0:90:7::30000:"), "{shadow}");
    let home = shell(&format!("stat -c %U:%G /home/{name} /home/{name}/.profile"));
    assert_eq!(home, format!("{name}:{name}\n{name}:{name}"));
    converge(user(user::Desired {
        gid: Some(Account::parse("fx-web")),
        groups: Some(vec!["fx-ops".into()]),
        membership: Membership::Inclusive,
        home: Some(format!("/srv/{name}").into()),
        expiry: Some(Expiry::Never),
        manage_home: true,
        ..user::Desired::default()
    }));
    assert_eq!(shell(&format!("id -Gn {name}")), "fx-web fx-ops");
    assert!(Path::new(&format!("/srv/{name}/.profile")).exists());
    let absent = user::Desired { absent: true, manage_home: true, ..user::Desired::default() };
    converge(user(absent));
    assert!(!Path::new(&format!("/srv/{name}")).exists());
    converge(|| {
        let desired = group::Desired {
            name: format!("{name}-group"),
            gid: Some(uid + 1),
            ..group::Desired::default()
        };
        group::Group::new(desired)
    });
    let row = shell(&format!("getent group {name}-group"));
    assert_eq!(row, format!("{name}-group:x:{}:", uid + 1));
    let check = Command::new("grpck").arg("-r").output().unwrap();
    assert!(check.status.success(), "{}", String::from_utf8_lossy(&check.stdout));
}
