//! Policies of cf-serverd and cf-monitord with the order in which their promises are taken, one file a
//! sentence of CFEngine's page on normal ordering. `BLESS=1` records the outputs anew; what the real
//! daemons make of the same order is compared by `conformance/cfengine_network/interop.sh`.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::format_push_string,
    reason = "a test runs programs from outside"
)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use fx_cases::{Case, Given, Giver};

/// Notes that every run begins with, whatever its bundles are.
const NOISE: [&str; 2] = ["cf.step ", "cf.var "];

fn give(case: &Case, _: Giver<'_>) -> Given {
    assert!(!case.about.trim().is_empty(), "a case begins with the sentence it holds");
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path().to_str().unwrap();
    let file = dir.path().join("case.cf");
    fs::write(&file, case.get("case.cf").unwrap()).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_fixpoint"))
        .args(["explain", "--component", case.get("component").unwrap().trim()])
        .arg(&file)
        .env("NO_COLOR", "1")
        .env("FIXPOINT_STATE", dir.path().join("state"))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).replace(at, "DIR");
    let shown = text.lines().filter(|line| !NOISE.iter().any(|noise| line.contains(noise)));
    let mut order: String = shown.map(|line| format!("{}\n", line.trim_end())).collect();
    order.push_str(&format!("exit {}\n", output.status.code().unwrap_or(-1)));
    vec![("order", order)]
}

fn main() -> ExitCode {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/daemon_cases");
    fx_cases::run(&dir, give)
}
