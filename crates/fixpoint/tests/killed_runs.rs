//! What is left on record of a run that is killed: all it did up to the last writing, nothing
//! it did not do, and that it was cut off.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test looks at the machine from outside"
)]

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

fn fixpoint(dir: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fixpoint"));
    command.args(args).current_dir(dir).env("FIXPOINT_STATE", dir.join("state"));
    command.env("CFENGINE_TEST_OVERRIDE_WORKDIR", dir.join("work"));
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

fn made(dir: &Path) -> usize {
    fs::read_dir(dir.join("d")).unwrap().count()
}

/// Waits until something holds, and fails if it never does.
#[track_caller]
fn until(what: &str, holds: impl Fn() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < Duration::from_mins(1), "never: {what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn kill(mut child: Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

fn shown(dir: &Path, run: &str) -> serde_json::Value {
    let output = fixpoint(dir, &["history", "show", run, "--format", "json"])
        .stdout(Stdio::piped())
        .output()
        .unwrap();
    // Before a run has begun there is nothing to show.
    serde_json::from_slice(&output.stdout).unwrap_or_default()
}

/// Files that a run says it made, each of which must be there with its content.
#[track_caller]
fn claimed(dir: &Path, run: &serde_json::Value) -> usize {
    let steps = run["steps"].as_array().unwrap();
    let repaired: Vec<&str> = steps
        .iter()
        .filter(|step| step["outcome"] == "repaired")
        .map(|step| step["resource"].as_str().unwrap())
        .collect();
    for resource in &repaired {
        let name = resource.rsplit('/').next().unwrap().trim_end_matches([']', '"']);
        let content = fs::read(dir.join("d").join(name));
        assert_eq!(content.ok().as_deref(), Some(&b"x"[..]), "{resource} is claimed, not made");
    }
    assert_eq!(run["run"]["repaired"], repaired.len(), "the count is that of the steps");
    repaired.len()
}

fn manifest(dir: &Path, files: usize, end: &str) {
    fs::create_dir_all(dir.join("d")).unwrap();
    let mut text = String::new();
    for at in 0..files {
        writeln!(text, "file {{ '{}/d/f{at}': content => 'x' }}", dir.display()).unwrap();
    }
    fs::write(dir.join("a.pp"), text + end).unwrap();
}

#[test]
fn a_run_killed_in_a_command_lists_all_that_came_before_it() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let last = format!("exec {{ '/bin/sleep 99': require => File['{}/d/f399'] }}", dir.display());
    manifest(dir, 400, &last);
    let child = fixpoint(dir, &["run", "-q", "a.pp"]).spawn().unwrap();
    until("the command starts", || made(dir) == 400);
    // The files are there before the record is written, which comes before the command.
    until("the record is written", || shown(dir, "1")["run"]["repaired"] == 400);
    let run = shown(dir, "1");
    assert_eq!((&run["run"]["under_way"], &run["run"]["cut_off"]), (&true.into(), &false.into()));
    kill(child);
    let run = shown(dir, "1");
    assert_eq!(claimed(dir, &run), 400);
    assert_eq!((&run["run"]["under_way"], &run["run"]["cut_off"]), (&false.into(), &true.into()));
    assert_eq!(run["run"]["exit"], serde_json::Value::Null);
    let cut: Vec<&str> = run["steps"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|step| step["outcome"] == "cut-off")
        .map(|step| step["resource"].as_str().unwrap())
        .collect();
    assert_eq!(cut, ["exec[/bin/sleep 99]"]);
    let text = fixpoint(dir, &["history", "show", "1"]).stdout(Stdio::piped()).output().unwrap();
    let text = String::from_utf8(text.stdout).unwrap();
    assert!(text.contains("the run was cut off"), "{text}");
    assert!(
        text.lines().nth(1).is_some_and(|line| line.contains(" cut     0       400 ")),
        "{text}"
    );
}

#[test]
fn a_run_killed_at_any_moment_claims_nothing_it_did_not_do() {
    for moment in [0, 1, 150, 201, 399, 400, 850, 1_300, 1_999] {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path();
        manifest(dir, 2_000, "");
        let child = fixpoint(dir, &["run", "-q", "a.pp"]).spawn().unwrap();
        until("files are made", || made(dir) >= moment);
        kill(child);
        let found = made(dir);
        // Killed before it began, it is not on record.
        let listed = fixpoint(dir, &["history"]).stdout(Stdio::piped()).output().unwrap();
        if String::from_utf8_lossy(&listed.stdout).contains("no runs yet") {
            assert_eq!(found, 0);
            continue;
        }
        let run = shown(dir, "1");
        let claimed = claimed(dir, &run);
        // The group that was put in place last, and the one before if it was quick, may miss.
        assert!(claimed + 401 >= found, "{found} were made, {claimed} are on record");
    }
}

#[test]
fn a_killed_run_of_cfengine_policy_is_on_record_as_well() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    fs::create_dir_all(dir.join("d")).unwrap();
    let policy = format!(
        "bundle agent main\n{{\n files: \"{0}/d/a\" create => \"true\", edit_defaults => e, edit_line => l;\n \
         commands: \"/bin/sleep 99\";\n}}\n\
         body edit_defaults e {{ empty_file_before_editing => \"true\"; }}\n\
         bundle edit_line l {{ insert_lines: \"x\"; }}\n",
        dir.display()
    );
    fs::write(dir.join("a.cf"), policy).unwrap();
    let child = fixpoint(dir, &["run", "-q", "a.cf"]).spawn().unwrap();
    until("the record is written", || shown(dir, "1")["run"]["repaired"].as_u64() > Some(0));
    kill(child);
    let run = shown(dir, "1");
    assert_eq!(run["run"]["cut_off"], true);
    assert!(dir.join("d/a").exists());
}
