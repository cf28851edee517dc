//! Spec files with what the real RSpec 3.12 said of each example, one file a part of RSpec.
//! `BLESS=/usr/bin/rspec cargo test -p fixpoint --test spec_cases` records the reports anew from the
//! original; ordinary runs need no original. Those of cookbooks want ChefSpec 9.4 with Chef 18.11 there.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::format_push_string,
    reason = "a test runs programs from outside"
)]

use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use fx_cases::{Case, Given, Giver};
use serde_json::Value;

/// The report in lines: how each example ended, its name, and what was wrong.
fn give(case: &Case, giver: Giver<'_>) -> Given {
    assert!(!case.about.trim().is_empty(), "a case begins with what it shows");
    let scratch = tempfile::tempdir().unwrap();
    // A cookbook stands among cookbooks.
    let dir = case.get("cookbook").map_or_else(
        || scratch.path().to_path_buf(),
        |name| scratch.path().join("cookbooks").join(name.trim()),
    );
    let dir = dir.as_path();
    case.lay_out(dir);
    // A module stands among its own fixtures, as rake tasks lay it out.
    if let Some(name) = case.get("module") {
        let modules = dir.join("spec/fixtures/modules");
        std::fs::create_dir_all(&modules).unwrap();
        std::os::unix::fs::symlink(dir, modules.join(name.trim())).unwrap();
    }
    let spec = case.sections().find(|(name, _)| name.ends_with("_spec.rb"));
    let (spec, _) = spec.expect("a case has a spec file");
    let mut command = match giver {
        Giver::Ours => {
            let mut command = Command::new(env!("CARGO_BIN_EXE_fixpoint"));
            command.arg("test");
            command
        }
        Giver::Original(rspec) => Command::new(rspec),
    };
    let args = case.get("args").unwrap_or_default();
    // One of the command line counts for more than one that a project registers.
    if !args.contains("--order") && case.get("order").is_none() {
        command.args(["--order", "defined"]);
    }
    let output = command
        .args(["--format", "json", "--out", "report.json"])
        .args(args.split_whitespace())
        .arg(if args.contains(spec) { "--no-color" } else { spec })
        .current_dir(dir)
        .env("HOME", dir)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let report = std::fs::read(dir.join("report.json"));
    let err = String::from_utf8_lossy(&output.stderr).into_owned();
    let report: Value = serde_json::from_slice(&report.expect(&err)).unwrap();
    let mut text = String::new();
    for example in report["examples"].as_array().unwrap() {
        let word = |name: &str| example[name].as_str().unwrap_or_default().to_owned();
        text.push_str(&format!(
            "{} {} {}:{} {}\n",
            word("status"),
            word("id"),
            word("file_path"),
            example["line_number"],
            word("full_description")
        ));
        let why = example["exception"]["message"].as_str().unwrap_or_default().trim();
        let waits = word("pending_message");
        for line in why.lines().chain(waits.lines()).filter(|line| !line.trim().is_empty()) {
            text.push_str(&format!("    {}\n", line.trim_end()));
        }
    }
    text.push_str(report["summary_line"].as_str().unwrap());
    text.push_str(&format!("\nexit {}\n", output.status.code().unwrap_or(-1)));
    // What a formatter of the project's own wrote.
    match std::fs::read_to_string(dir.join("own.txt")) {
        Ok(own) => vec![("own", own), ("report", text)],
        Err(_) => vec![("report", text)],
    }
}

fn main() -> ExitCode {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/spec_cases");
    fx_cases::run(&dir, give)
}
