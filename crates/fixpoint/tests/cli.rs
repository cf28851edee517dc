//! The binary as a user calls it: output, exit codes, bad use.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test runs the program from outside"
)]

use std::fs::File;
use std::process::{Command, Output, Stdio};

fn fixpoint(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fixpoint"));
    command.args(args).env("NO_COLOR", "1").stdin(Stdio::null());
    command
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn ran(args: &[&str]) -> (i32, String, String) {
    let Output { status, stdout, stderr } = fixpoint(args).output().unwrap();
    (status.code().unwrap(), text(&stdout), text(&stderr))
}

#[test]
fn version_is_one_line() {
    assert_eq!(
        ran(&["--version"]),
        (0, format!("fixpoint {}\n", env!("CARGO_PKG_VERSION")), String::new())
    );
}

#[test]
fn bad_use_is_code_64_and_says_what_would_be_right() {
    let (code, out, err) = ran(&["fact"]);
    assert_eq!((code, out.as_str()), (64, ""));
    assert!(err.contains("facts"), "{err}");
    assert_eq!(ran(&[]).0, 64);
}

#[test]
fn every_verb_has_help_with_examples() {
    let (code, top, _) = ran(&["--help"]);
    assert_eq!(code, 0);
    assert!(top.contains("Exit codes:"), "{top}");
    let verbs: Vec<&str> = top
        .lines()
        .skip_while(|line| !line.starts_with("Commands:"))
        .skip(1)
        .take_while(|line| line.starts_with("  "))
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert!(verbs.len() >= 5, "{verbs:?}");
    for verb in verbs {
        let (code, help, _) = ran(&[verb, "--help"]);
        assert!(
            code == 0 && help.contains("Examples:") && help.contains("Usage:"),
            "{verb}: {help}"
        );
    }
}

#[test]
fn facts_come_by_name_and_in_three_forms() {
    let uname = text(&Command::new("uname").arg("-r").output().unwrap().stdout);
    assert_eq!(ran(&["facts", "kernel.release"]), (0, uname, String::new()));
    let (_, json, _) = ran(&["facts", "--format", "json"]);
    let all: serde_json::Value = serde_json::from_str(&json).unwrap();
    for part in ["cpu", "kernel", "memory", "mounts", "network", "os", "uptime"] {
        assert!(!all[part].is_null(), "{part} is known");
    }
    let (_, yaml, _) = ran(&["facts", "--format", "yaml", "kernel"]);
    assert!(yaml.starts_with("kernel:\n  name: Linux\n"), "{yaml}");
    let (code, out, err) = ran(&["facts", "nonsense"]);
    assert_eq!((code, out.as_str()), (1, ""));
    assert!(err.contains("there is no fact 'nonsense'"), "{err}");
}

#[test]
fn a_full_or_closed_output_is_an_error_and_a_gone_reader_is_not() {
    let full = fixpoint(&["facts"]).stdout(File::create("/dev/full").unwrap()).output().unwrap();
    assert_eq!(full.status.code(), Some(1));
    assert!(
        text(&full.stderr).contains("cannot write to standard output: No space left on device"),
        "{}",
        text(&full.stderr)
    );
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let gone = fixpoint(&["facts"]).stdout(writer).output().unwrap();
    assert_eq!((gone.status.code(), text(&gone.stderr).as_str()), (Some(0), ""));
}

#[test]
fn history_of_a_machine_without_runs_is_empty() {
    let dir = tempfile::tempdir().unwrap();
    let output =
        fixpoint(&["history"]).env("FIXPOINT_STATE", dir.path().join("s")).output().unwrap();
    assert_eq!((output.status.code(), text(&output.stdout).as_str()), (Some(0), "no runs yet\n"));
    let output = fixpoint(&["history", "show", "3"])
        .env("FIXPOINT_STATE", dir.path().join("s"))
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("no record of run 3"));
}

#[test]
fn links_answer_as_the_tool_they_are_named_after() {
    let dir = tempfile::tempdir().unwrap();
    let bin = dir.path().join("bin");
    let (code, out, _) = ran(&["link", bin.to_str().unwrap()]);
    assert_eq!(code, 0);
    assert!(out.contains("cf-agent -> "), "{out}");
    assert!(bin.join("cf-promises").is_symlink());
    std::fs::remove_file(bin.join("cf-agent")).unwrap();
    std::fs::write(bin.join("cf-agent"), "the original").unwrap();
    let (code, _, err) = ran(&["link", bin.to_str().unwrap()]);
    assert_eq!(code, 1);
    assert!(err.contains("is taken and left alone"), "{err}");
    assert_eq!(std::fs::read_to_string(bin.join("cf-agent")).unwrap(), "the original");
}

#[test]
fn completions_and_manual_pages_are_made() {
    for shell in ["bash", "zsh", "fish"] {
        let (code, script, _) = ran(&["completions", shell]);
        assert!(code == 0 && script.contains("fixpoint") && script.contains("history"), "{shell}");
    }
    let dir = tempfile::tempdir().unwrap();
    assert_eq!(ran(&["man", dir.path().to_str().unwrap()]).0, 0);
    let page = std::fs::read_to_string(dir.path().join("fixpoint-facts.1")).unwrap();
    assert!(page.contains(".TH fixpoint-facts 1") && page.contains("Examples"), "{page}");
}
