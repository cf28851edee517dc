//! Flags, subcommands and actions that a tool does not know are refused as the original refuses
//! them: the same code and the same line, on the same stream. Lines and streams were recorded from
//! cf-agent 3.21, puppet 7.23, facter 4.3, ohai 16 and ruby 3.1; what stands before a message of
//! a stack trace is left out.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test runs the program from outside"
)]

use std::process::{Command, Stdio};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stream {
    Output,
    Error,
}
use Stream::{Error, Output};

/// Asserts the code, and a line of one stream. Where the line has a `*`, anything may be there.
fn check(line: &str, code: i32, stream: Stream, expected: &str) {
    let dir = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_fixpoint"))
        .args(line.split_whitespace())
        .current_dir(dir.path())
        .env("HOME", dir.path())
        .env("NO_COLOR", "1")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let [stdout, stderr] =
        [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text).into_owned());
    let printed = format!("{line}\n{stdout}{stderr}");
    assert_eq!(output.status.code(), Some(code), "{printed}");
    let text = if stream == Output { &stdout } else { &stderr };
    let (start, end) = expected.split_once('*').unwrap_or((expected, ""));
    let is_it = |line: &str| {
        if expected.contains('*') {
            line.starts_with(start) && line.ends_with(end)
        } else {
            line == expected
        }
    };
    assert!(text.lines().any(is_it), "no '{expected}' on {stream:?}: {printed}");
}

/// Tools of CFEngine, which use getopt(3).
const OF_CFENGINE: [&str; 9] = [
    "cf-agent",
    "cf-promises",
    "cf-key",
    "cf-serverd",
    "cf-execd",
    "cf-monitord",
    "cf-runagent",
    "cf-net",
    "cf-check",
];

#[test]
fn tools_of_cfengine_refuse_flags_they_do_not_know() {
    for tool in OF_CFENGINE {
        check(
            &format!("{tool} --nonsense"),
            1,
            Error,
            &format!("{tool}: unrecognized option '--nonsense'"),
        );
        check(&format!("{tool} -Q"), 1, Error, &format!("{tool}: invalid option -- 'Q'"));
    }
    for tool in ["cf-agent", "cf-promises"] {
        let usage = format!("Usage: {tool} [OPTIONS] [FILE]");
        check(&format!("{tool} --nonsense"), 1, Output, &usage);
        check(
            &format!("{tool} --file"),
            1,
            Error,
            &format!("{tool}: option '--file' requires an argument"),
        );
        check(
            &format!("{tool} -f"),
            1,
            Error,
            &format!("{tool}: option requires an argument -- 'f'"),
        );
        check(&format!("{tool} --log-level=frob"), 1, Error, "Invalid log level: 'frob'");
    }
    check("cf-secret -Q", 1, Output, "   error: Unknown option '-Q'");
    check("cf-net frob", 1, Output, "   error: 'FROB' is not a valid cf-net command");
    check(
        "cf-promises -s frob",
        1,
        Output,
        "   error: Invalid syntax description output format: 'frob'. Possible values are 'none', 'json'",
    );
}

#[test]
fn tools_of_chef_refuse_flags_they_do_not_know() {
    for tool in ["chef-client", "chef-solo", "chef-apply", "ohai"] {
        for flag in ["--nonsense", "-Q"] {
            let message = format!("{tool}: invalid option: {flag} (OptionParser::InvalidOption)");
            check(&format!("{tool} {flag}"), 1, Error, &message);
        }
        let message = format!("{tool}: missing argument: -L (OptionParser::MissingArgument)");
        check(&format!("{tool} -L"), 1, Error, &message);
    }
}

/// Subcommands of `puppet` that are here.
const OF_PUPPET: [&str; 15] = [
    "agent",
    "apply",
    "catalog",
    "config",
    "describe",
    "epp",
    "facts",
    "filebucket",
    "generate",
    "help",
    "lookup",
    "module",
    "parser",
    "resource",
    "ssl",
];

#[test]
fn subcommands_of_puppet_refuse_flags_they_do_not_know() {
    for sub in OF_PUPPET {
        for flag in ["--nonsense", "-Q", "--nonsense=1"] {
            let message =
                format!("Error: Could not parse application options: invalid option: {flag}");
            check(&format!("puppet {sub} {flag}"), 1, Error, &message);
        }
    }
    for flag in ["--nonsense", "-Q"] {
        let message = format!("Error: Could not parse application options: invalid option: {flag}");
        check(&format!("puppet {flag}"), 1, Output, &message);
    }
}

#[test]
fn actions_of_puppet_s_subcommands_that_are_not_there_are_refused() {
    for sub in ["catalog", "config", "epp", "generate", "module", "parser"] {
        let message = format!("Error: '{sub}' has no 'frob' action.  See `puppet help {sub}`.");
        check(&format!("puppet {sub} frob"), 1, Error, &message);
    }
    for (line, stream, message) in [
        ("puppet frob", Output, "Error: Unknown Puppet subcommand 'frob'"),
        ("puppet frob", Output, "See 'puppet help' for help on available puppet subcommands"),
        ("puppet help frob", Error, "Error: Could not load help for the face frob."),
        (
            "puppet help module frob",
            Error,
            "Detail: \"Unable to load action frob from Puppet::Face[:module, 1.0.0]\"",
        ),
        (
            "puppet help apply frob",
            Error,
            "Error: The legacy subcommand 'apply' does not support supplying an action",
        ),
        (
            "puppet module install",
            Error,
            "Error: puppet module install takes 1 argument, but you gave 0",
        ),
        ("puppet module install", Error, "Error: Try 'puppet help module install' for usage"),
        ("puppet config set a", Error, "Error: Try 'puppet help config set' for usage"),
        (
            "puppet apply -e",
            Error,
            "Error: Could not parse application options: missing argument: -e",
        ),
    ] {
        check(line, 1, stream, message);
    }
}

#[test]
fn facter_ruby_and_puppetserver_refuse_what_they_do_not_know() {
    for flag in ["--nonsense", "-Q"] {
        let message = format!("*unrecognised option '{flag}'\u{1b}[0m ");
        check(&format!("facter {flag}"), 1, Error, &message);
        check(&format!("facter {flag}"), 1, Output, "Usage");
        let message = format!("ruby: invalid option {flag}  (-h will show valid options)*");
        check(&format!("ruby {flag}"), 1, Error, &message);
        check(&format!("puppetserver ca {flag}"), 1, Error, &format!("Unknown action: {flag}"));
    }
}

#[test]
fn our_own_verbs_refuse_with_the_code_for_bad_use() {
    let message = "error: unexpected argument '--nonsense' found";
    for verb in
        ["check", "compile", "explain", "facts", "history", "link", "plan", "run", "serve", "try"]
    {
        check(&format!("{verb} --nonsense"), 64, Error, message);
    }
    check("frob", 64, Error, "error: unrecognized subcommand 'frob'");
}
