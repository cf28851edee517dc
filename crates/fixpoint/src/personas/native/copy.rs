//! The throw-away copy of the machine that the verbs look into, with a recorder in the place
//! of the manager of services.

use std::path::{Path, PathBuf};

use fx_host::{Commands, Files, HostError, ORIGINALS, OsHost, Sandbox, SandboxOptions, Spec};

use crate::personas::stand_in;

/// Makes a copy. What runs on the machine now is known in it.
pub(super) fn make(options: SandboxOptions) -> Result<Sandbox, HostError> {
    let host = OsHost::new();
    let there = |path: &Path| host.stat(path).is_ok();
    // Where no manager runs a service cannot be had, in the copy as on the machine; and inside
    // a copy the recorder is already in place.
    let managed =
        there(Path::new("/run/systemd/system")) && !there(&Path::new(ORIGINALS).join("systemctl"));
    let stand_ins: Vec<PathBuf> = ["/usr/bin/systemctl", "/bin/systemctl"]
        .into_iter()
        .map(PathBuf::from)
        .filter(|path| managed && there(path))
        .take(1)
        .collect();
    let sandbox = Sandbox::new(&SandboxOptions { stand_ins, ..options })?;
    if managed {
        let words = ["systemctl", "list-units", "--state=active", "--plain", "--no-legend"];
        let listed = host.run(&Spec::argv(words)).map(|ended| ended.stdout).unwrap_or_default();
        let names: String = String::from_utf8_lossy(&listed)
            .lines()
            .filter_map(|line| line.split_whitespace().next())
            .map(|name| format!("{name}\n"))
            .collect();
        sandbox.write(&stand_in::running(), names.as_bytes())?;
    }
    Ok(sandbox)
}

/// What was requested of services inside, in order, each said once. The record lies in the copy,
/// where anybody may have put something else in its place.
pub(super) fn services(sandbox: &Sandbox) -> Result<Vec<String>, HostError> {
    let record = sandbox.read(&stand_in::record())?.unwrap_or_default();
    let mut told: Vec<String> = Vec::new();
    for line in String::from_utf8_lossy(&record).lines() {
        let line: String =
            line.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
        if !told.contains(&line) {
            told.push(line);
        }
    }
    Ok(told)
}
