//! What users of each tool met when they ran their own things: short scripts over the commands of the originals, with the
//! lines and codes that the originals gave.
//!
//! A case has files, in `run` a script of a shell, and in `printed` its two streams and its code, DIR for the directory.
//! `BLESS=DIRECTORY cargo test -p fixpoint --test day_two` records the lines anew with the programs of a directory
//! (`puppet`, `cf-agent`, `chef-client` …); ordinary runs need none of them.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test runs programs from outside"
)]

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use fx_cases::{Case, Given, Giver};

/// Programs that cases call by name.
const TOOLS: [&str; 10] = [
    "cf-agent",
    "cf-promises",
    "chef-apply",
    "chef-client",
    "chef-solo",
    "facter",
    "knife",
    "ohai",
    "puppet",
    "ruby",
];

/// Writes a file of a case: a script can be run, policy is nobody else's to write.
fn put(dir: &Path, name: &str, text: &str) {
    let file = dir.join(name);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, text.replace("DIR", dir.to_str().unwrap())).unwrap();
    let mode = if text.starts_with("#!") { 0o700 } else { 0o600 };
    fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
}

fn give(case: &Case, giver: Giver<'_>) -> Given {
    assert!(!case.about.trim().is_empty(), "a case begins with the sentence it holds");
    let dir = tempfile::Builder::new().prefix("day").tempdir().unwrap();
    let dir = dir.path();
    let at = dir.to_str().unwrap();
    for (name, text) in case.sections().filter(|(name, _)| !["run", "printed"].contains(name)) {
        put(dir, name, text);
    }
    for name in ["home", "tmp", "work/inputs", "work/state", "work/bin", "work/modules/packages"] {
        fs::create_dir_all(dir.join(name)).unwrap();
    }
    for name in ["work", "work/inputs", "work/state", "work/bin", "work/modules", "work/ppkeys"] {
        fs::create_dir_all(dir.join(name)).unwrap();
        fs::set_permissions(dir.join(name), fs::Permissions::from_mode(0o700)).unwrap();
    }
    let own = env!("CARGO_BIN_EXE_fixpoint");
    put(dir, "tools/fixpoint", &format!("#!/bin/sh\nexec {own} \"$@\"\n"));
    for tool in TOOLS {
        let program = match giver {
            Giver::Ours => format!("{own} {tool}"),
            Giver::Original(tools) => tools.join(tool).display().to_string(),
        };
        put(dir, &format!("tools/{tool}"), &format!("#!/bin/sh\nexec {program} \"$@\"\n"));
        // The agent calls the check of its work directory.
        if tool.starts_with("cf-") {
            let program = match giver {
                Giver::Ours => Path::new(own).to_owned(),
                Giver::Original(tools) => fs::canonicalize(tools.join(tool)).unwrap(),
            };
            symlink(program, dir.join("work/bin").join(tool)).unwrap();
        }
    }
    let output = Command::new("/bin/sh")
        .args(["-c", &format!("exec 2>&1\n{}", case.section("run").replace("DIR", at))])
        .current_dir(dir)
        .env_clear()
        .envs([("LANG", "C.UTF-8"), ("TZ", "UTC"), ("NO_COLOR", "1"), ("USER", "root")])
        .env("PATH", format!("{at}/tools:/usr/sbin:/usr/bin:/sbin:/bin"))
        .env("HOME", dir.join("home"))
        .env("TMPDIR", dir.join("tmp"))
        .env("CFENGINE_TEST_OVERRIDE_WORKDIR", dir.join("work"))
        .env("FIXPOINT_STATE", dir.join("state"))
        .env("CHEF_LICENSE", "accept-no-persist")
        .env("D", at)
        .env("P", "--confdir conf --vardir var --color=false")
        .env("K", "--force-formatter --no-color -F doc -l fatal")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).replace(at, "DIR");
    vec![("printed", format!("{text}exit {}\n", output.status.code().unwrap_or(-1)))]
}

fn main() -> ExitCode {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/day_two");
    fx_cases::run_all(&[dir.join("cfengine"), dir.join("chef"), dir.join("puppet")], give)
}
