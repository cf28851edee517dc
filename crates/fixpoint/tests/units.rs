//! The units of the packages: each starts a program of ours with flags that it knows.

#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "a test looks at the machine from outside"
)]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

fn units() -> Vec<PathBuf> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("packaging/systemd");
    let mut units: Vec<PathBuf> =
        std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    units.sort();
    units
}

#[test]
fn each_unit_starts_what_is_there() {
    assert!(units().len() >= 5);
    for unit in units() {
        let text = std::fs::read_to_string(&unit).unwrap();
        let line = text.lines().find_map(|line| line.strip_prefix("ExecStart=")).unwrap();
        let mut words = line.split(' ');
        assert_eq!(words.next(), Some("/usr/bin/fixpoint"), "{}", unit.display());
        let ended = Command::new(env!("CARGO_BIN_EXE_fixpoint"))
            .args(words)
            .arg("--help")
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&ended.stderr);
        assert!(ended.status.success(), "{}: {said}", unit.display());
    }
}

#[test]
fn systemd_takes_each_unit() {
    let Ok(version) = Command::new("systemd-analyze").arg("--version").output() else {
        eprintln!("SKIPPED: systemd-analyze is not on this machine");
        return;
    };
    assert!(version.status.success());
    for unit in units() {
        // The program that is started may not be installed here.
        let text = std::fs::read_to_string(&unit).unwrap();
        let dir = tempfile::tempdir().unwrap();
        let copy = dir.path().join(unit.file_name().unwrap());
        std::fs::write(&copy, text.replace("/usr/bin/fixpoint", env!("CARGO_BIN_EXE_fixpoint")))
            .unwrap();
        let ended = Command::new("systemd-analyze")
            .args(["verify", "--man=no"])
            .arg(&copy)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&ended.stderr);
        let own: Vec<&str> = said
            .lines()
            .filter(|line| line.contains(&*unit.file_name().unwrap().to_string_lossy()))
            .collect();
        assert!(own.is_empty(), "{}: {own:?}", unit.display());
    }
}
