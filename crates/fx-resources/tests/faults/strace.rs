//! Faults and kills at a chosen system call, by strace, for the tests of this and other crates.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

/// Whether strace is here and may trace; says loudly what is skipped otherwise.
pub fn works(test: &str) -> bool {
    let works = Command::new("strace")
        .args(["-o", "/dev/null", "true"])
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success());
    if !works {
        eprintln!("SKIPPED {test}: strace is not here or may not trace");
    }
    works
}

/// The same command under strace: the n-th call of a thread gets what `fault` says, such as
/// `error=EIO` or `signal=SIGKILL`. Without a fault the calls are only noted in the log.
pub fn traced(victim: &Command, log: &Path, calls: &str, fault: Option<(usize, &str)>) -> Command {
    let mut command = Command::new("strace");
    command.args(["-f", "-y", "-o"]).arg(log).args(["-e", &format!("trace={calls}")]);
    if let Some((nth, fault)) = fault {
        command.args(["-e", &format!("inject={calls}:{fault}:when={nth}")]);
    }
    command.arg("--").arg(victim.get_program()).args(victim.get_args());
    for (name, value) in victim.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    if let Some(dir) = victim.get_current_dir() {
        command.current_dir(dir);
    }
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Whether a fault was met.
pub fn injected(log: &Path) -> bool {
    fs::read_to_string(log).unwrap_or_default().contains("(INJECTED)")
}
