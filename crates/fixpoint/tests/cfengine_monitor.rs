//! cf-monitord takes a sample, and cf-agent knows of it.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test looks at the machine from outside"
)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const PROGRAM: &str = env!("CARGO_BIN_EXE_fixpoint");
const PATIENCE: Duration = Duration::from_mins(1);

const POLICY: &str = r#"
body common control { bundlesequence => { "main" }; }
body monitor control { forgetrate => "0.7"; }
bundle agent main
{
  reports:
    "scalar $(mon.value_scalar) $(mon.av_scalar), text $(mon.text), list $(mon.list)";
    "weekly $(mon.value_weekly), grown $(mon.value_grown)";
    weekly_high:: "weekly_high";
}
bundle monitor measured
{
  measurements:
    "/bin/echo 7" handle => "scalar", stream_type => "pipe", data_type => "int",
      history_type => "scalar", match_value => number;
    "/bin/echo word" handle => "text", stream_type => "pipe", data_type => "string",
      history_type => "static", match_value => all;
    "DIR/log" handle => "list", stream_type => "file", data_type => "slist",
      history_type => "static", match_value => all;
    "/bin/echo 4" handle => "weekly", stream_type => "pipe", data_type => "int",
      history_type => "weekly", match_value => number, units => "pieces";
    "DIR/log" handle => "grown", stream_type => "file", data_type => "counter",
      history_type => "scalar", match_value => growing;
}
body match_value number { select_line_matching => ".*"; extraction_regex => "(\d+)"; }
body match_value all { select_line_matching => ".*"; extraction_regex => "(.*)"; }
body match_value growing
{
  select_line_matching => ".*";
  extraction_regex => "(\d+)";
  track_growing_file => "true";
}
"#;

fn tool(dir: &Path, name: &str, args: &[&str]) -> Command {
    let mut command = Command::new(PROGRAM);
    command.arg0(name).args(args).env("CFENGINE_TEST_OVERRIDE_WORKDIR", dir.join("work"));
    command.stdin(Stdio::null());
    command
}

struct Monitor(Child);

impl Drop for Monitor {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

/// Runs a monitor until it has left its first sample.
fn sample(dir: &Path) {
    let left = dir.join("work/state/env_data");
    let _missing = fs::remove_file(&left);
    let _monitor =
        Monitor(tool(dir, "cf-monitord", &["-F"]).stdout(Stdio::null()).spawn().unwrap());
    let began = Instant::now();
    while !left.exists() {
        assert!(began.elapsed() < PATIENCE, "no sample");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn report(dir: &Path) -> String {
    let output = tool(dir, "cf-agent", &["-K"]).output().unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn what_the_monitor_measures_the_agent_knows() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    for part in ["inputs", "state", "ppkeys", "outputs", "bin"] {
        fs::create_dir_all(dir.join("work").join(part)).unwrap();
    }
    let file = dir.join("work/inputs/promises.cf");
    fs::write(&file, POLICY.replace("DIR", dir.to_str().unwrap())).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    fs::write(dir.join("log"), "1\n2\n").unwrap();
    sample(dir);
    assert_eq!(
        report(dir),
        "R: scalar 7 7.00, text word, list 1\n\
         R: scalar 7 7.00, text word, list 2\n\
         R: weekly 4.00, grown 2\n\
         R: weekly_high\n"
    );
    let slots = fs::read_to_string(dir.join("work/state/ts_key")).unwrap();
    assert!(slots.contains("81,weekly,User defined measure,pieces,0.000,100.000,1\n"), "{slots}");
    // What was read of a growing file is not read again.
    fs::write(dir.join("log"), "1\n2\n3\n").unwrap();
    sample(dir);
    let second = report(dir);
    assert!(second.contains("grown 1\n"), "{second}");
}
