//! The units of the packages are ones that systemd understands.

#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "a test looks at the machine from outside"
)]

use std::fs;
use std::path::Path;
use std::process::Command;

#[test]
fn systemd_understands_the_units() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["fixpoint-serve.service", "fixpoint-agent.service"] {
        let unit = Path::new(env!("CARGO_MANIFEST_DIR")).join("packaging").join(name);
        // The program is where this test has it.
        let text = fs::read_to_string(unit).unwrap();
        assert!(text.contains("ExecStart=/usr/bin/fixpoint "), "{name}");
        let text = text.replace("/usr/bin/fixpoint", env!("CARGO_BIN_EXE_fixpoint"));
        let copy = dir.path().join(name);
        fs::write(&copy, text).unwrap();
        let Ok(checked) = Command::new("systemd-analyze").arg("verify").arg(&copy).output() else {
            eprintln!("SKIPPED: there is no systemd-analyze on this machine");
            return;
        };
        let said = String::from_utf8_lossy(&checked.stderr).into_owned();
        let about: Vec<&str> = said.lines().filter(|line| line.contains(name)).collect();
        assert!(checked.status.success() && about.is_empty(), "{said}");
    }
}
