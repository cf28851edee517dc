//! Locks of cf-agent: agents that run at the same time, times that are wrong, agents killed.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test looks at the machine from outside"
)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

struct Scratch(tempfile::TempDir);

impl Scratch {
    fn new() -> Scratch {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("work/state")).unwrap();
        Scratch(dir)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// A policy with commands that each add a line to `log` and do something after.
    fn policy(&self, after: &str, names: &[&str]) {
        let log = self.path("log");
        let command = |name: &&str| {
            let line = format!("echo {name} >> {}; {after}", log.display());
            format!("  \"/bin/sh -c '{line}'\" handle => \"{name}\";\n")
        };
        let commands: String = names.iter().map(command).collect();
        let text = format!("bundle agent main\n{{\n commands:\n{commands}");
        fs::write(self.path("a.cf"), text + "}\n").unwrap();
    }

    fn agent(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fixpoint"));
        command.arg("cf-agent").args(args).arg("-f").arg(self.path("a.cf"));
        command.env("CFENGINE_TEST_OVERRIDE_WORKDIR", self.path("work"));
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command
    }

    fn start(&self) -> Child {
        self.agent(&[]).spawn().unwrap()
    }

    fn run(&self) {
        assert!(self.agent(&[]).status().unwrap().success());
    }

    fn log(&self) -> Vec<String> {
        let text = fs::read_to_string(self.path("log")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    fn locks(&self) -> PathBuf {
        self.path("work/state/fx_locks")
    }
}

#[track_caller]
fn until(what: &str, holds: impl Fn() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < Duration::from_mins(1), "never: {what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Changes the time of each lock.
fn shift(file: &Path, time: &str) {
    let text = fs::read_to_string(file).unwrap();
    let lines = text.lines().filter(|line| !line.is_empty());
    let shifted = lines.map(|line| format!("{} {time}\n", line.rsplit_once(' ').unwrap().0));
    fs::write(file, shifted.collect::<String>()).unwrap();
}

#[test]
fn of_agents_at_the_same_time_one_runs_a_command() {
    let scratch = Scratch::new();
    scratch.policy("sleep 1", &["a"]);
    let agents: Vec<Child> = (0..4).map(|_| scratch.start()).collect();
    for mut agent in agents {
        assert!(agent.wait().unwrap().success());
    }
    assert_eq!(scratch.log(), ["a"]);
    // With nothing to wait for, one waits for the other nevertheless.
    let text = fs::read_to_string(scratch.path("a.cf")).unwrap();
    let always = "action => now;\n}\nbody action now { ifelapsed => \"0\"; }\n";
    fs::write(scratch.path("a.cf"), text.replace("handle => \"a\";\n}\n", always)).unwrap();
    let mut first = scratch.start();
    until("the command runs", || scratch.log().len() == 2);
    scratch.run();
    assert_eq!(scratch.log().len(), 2, "it was being acted on");
    assert!(first.wait().unwrap().success());
    scratch.run();
    assert_eq!(scratch.log().len(), 3, "it was free again");
}

#[test]
fn a_time_in_the_future_keeps_nothing_from_being_done() {
    let scratch = Scratch::new();
    scratch.policy("true", &["a", "b"]);
    scratch.run();
    scratch.run();
    assert_eq!(scratch.log(), ["a", "b"], "a minute has not passed");
    shift(&scratch.locks(), "3000000000");
    scratch.run();
    assert_eq!(scratch.log(), ["a", "b", "a", "b"]);
    scratch.run();
    assert_eq!(scratch.log().len(), 4, "the time is right again");
    let text = fs::read_to_string(scratch.locks()).unwrap();
    assert!(!text.contains("3000000000"), "{text}");
}

#[test]
fn a_killed_agent_holds_nothing_and_loses_no_lock_of_others() {
    let scratch = Scratch::new();
    scratch.policy("test -e hold && exec sleep 60; true", &["a", "b"]);
    scratch.run();
    shift(&scratch.locks(), "1000000000");
    let hold = scratch.path("a.cf");
    let text = fs::read_to_string(&hold).unwrap();
    fs::write(&hold, text.replace("test -e hold", "test -e /")).unwrap();
    let mut agent = scratch.start();
    until("the command runs", || scratch.log().len() == 3);
    agent.kill().unwrap();
    agent.wait().unwrap();
    fs::write(&hold, text).unwrap();
    let lines = fs::read_to_string(scratch.locks()).unwrap();
    assert!(lines.contains(':'), "it was noted as running: {lines}");
    shift(&scratch.locks(), "1000000000");
    scratch.run();
    assert_eq!(scratch.log()[3..], ["a", "b"], "who is dead holds nothing");
    let lines = fs::read_to_string(scratch.locks()).unwrap();
    assert!(!lines.contains(':'), "nothing is left of it: {lines}");
}

#[test]
fn an_agent_that_hangs_is_ended_after_its_time() {
    let scratch = Scratch::new();
    // The first run hangs; the second finds a file and does not.
    let after = format!("[ -e {0} ] || {{ : > {0}; sleep 60; }}", scratch.path("second").display());
    scratch.policy(&after, &["slow"]);
    let mut hanging = scratch.start();
    until("the command to begin", || scratch.path("second").exists());
    scratch.run();
    assert_eq!(scratch.log().len(), 1, "the promise is being acted on");
    // As if it had begun three hours ago.
    let text = fs::read_to_string(scratch.locks()).unwrap();
    let now = text.split_whitespace().last().unwrap().parse::<i64>().unwrap();
    let long_ago = (now - 3 * 3600).to_string();
    shift(&scratch.locks(), &long_ago);
    assert!(scratch.agent(&["-n"]).status().unwrap().success());
    assert!(hanging.try_wait().unwrap().is_none(), "a dry run ends nobody");
    shift(&scratch.locks(), &long_ago);
    scratch.run();
    assert!(hanging.wait().is_ok());
    assert_eq!(scratch.log().len(), 2);
}

#[test]
fn a_damaged_file_of_locks_is_read_as_far_as_it_goes() {
    let scratch = Scratch::new();
    scratch.policy("true", &["a"]);
    scratch.run();
    let good = fs::read_to_string(scratch.locks()).unwrap();
    let damaged =
        format!("zz\n{}\n\0\0\n12 1:2\n34 9:x 5\nffff 99999999999999999999\n", good.trim());
    fs::write(scratch.locks(), damaged).unwrap();
    scratch.run();
    assert_eq!(scratch.log(), ["a"], "the good line still counts");
    // One that nobody could have written is not read at all.
    fs::File::create(scratch.locks()).unwrap().set_len(1 << 40).unwrap();
    scratch.run();
    assert_eq!(scratch.log(), ["a", "a"]);
    assert!(fs::metadata(scratch.locks()).unwrap().len() < 1000, "it is written anew");
}
