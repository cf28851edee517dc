//! Whole policies with the output the real cf-agent gave, one file a behaviour.
//!
//! A case begins with the sentence it holds: one of CFEngine's pages on normal ordering or on
//! bodies, or our own. `BLESS=/usr/bin/cf-agent cargo test -p fixpoint --test cfengine_cases`
//! records the outputs anew from the original; ordinary runs need no original.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test runs programs from outside"
)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use fx_cases::{Case, Given, Giver};

/// Sections that are not files of the policy.
const OURS: [&str; 3] = ["tool", "args", "output"];

/// What the agent prints and how it ends, with the scratch directory written as DIR.
fn give(case: &Case, giver: Giver<'_>) -> Given {
    assert!(!case.about.trim().is_empty(), "a case begins with the sentence it holds");
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path().to_str().unwrap();
    for (name, text) in case.sections().filter(|(name, _)| !OURS.contains(name)) {
        let file = dir.path().join(name);
        fs::write(&file, text.replace("DIR", at)).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    }
    let work = dir.path().join("work");
    for sub in ["inputs", "state", "bin", "modules", "outputs", "ppkeys"] {
        fs::create_dir_all(work.join(sub)).unwrap();
        fs::set_permissions(work.join(sub), fs::Permissions::from_mode(0o700)).unwrap();
    }
    // The original has a program for each tool; ours looks at the name it is called by.
    let program = |tool: &str| match giver {
        Giver::Ours => PathBuf::from(env!("CARGO_BIN_EXE_fixpoint")),
        Giver::Original(agent) => agent.with_file_name(tool),
    };
    for tool in ["cf-promises", "cf-agent"] {
        std::os::unix::fs::symlink(program(tool), work.join("bin").join(tool)).unwrap();
    }
    let tool = case.get("tool").unwrap_or("cf-agent").trim();
    let args = case.get("args").unwrap_or_default();
    let args = args.split_whitespace().map(|arg| arg.replace("DIR", at));
    let output = Command::new(work.join("bin").join(tool))
        .args(["-f", &format!("{at}/case.cf")])
        .args(args)
        .env("CFENGINE_TEST_OVERRIDE_WORKDIR", &work)
        .env("USER", "root")
        .env("TZ", "UTC")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.push_str(&String::from_utf8_lossy(&output.stderr));
    let code = output.status.code().unwrap_or(-1);
    vec![("output", format!("{}exit {code}\n", text.replace(at, "DIR")))]
}

fn main() -> ExitCode {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cfengine_cases");
    fx_cases::run(&dir, give)
}
