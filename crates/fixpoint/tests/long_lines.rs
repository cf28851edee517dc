//! Errors far to the right of a line, and texts that begin with a letter of several bytes.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test runs the program from outside"
)]

use std::path::Path;
use std::process::{Command, Output};

fn call(dir: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fixpoint"));
    command.args(args).current_dir(dir).env("FIXPOINT_STATE", dir.join("state"));
    command.env("CFENGINE_TEST_OVERRIDE_WORKDIR", dir.join("work"));
    command.output().unwrap()
}

#[track_caller]
fn judged(dir: &Path, args: &[&str], words: &str) {
    let output = call(dir, args);
    let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(!text.contains("panicked"), "{args:?}: {}", &text[text.len().saturating_sub(300)..]);
    assert!(matches!(output.status.code(), Some(1..=9)), "{args:?}: {:?}", output.status);
    assert!(text.contains(words), "{args:?} does not say '{words}'");
}

#[test]
fn an_error_behind_column_65535_is_shown_in_every_language_and_format() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    for length in [65_530, 70_000, 3_000_000] {
        let long = "a".repeat(length);
        let cf = format!("bundle agent main\n{{\nvars: \"x\" string => \"{long}\" ];\n}}\n");
        std::fs::write(dir.join("a.cf"), cf).unwrap();
        std::fs::write(dir.join("a.pp"), format!("$x = '{long}' ]\n")).unwrap();
        std::fs::write(dir.join("a.rb"), format!("log '{long}' ]\n")).unwrap();
        std::fs::write(dir.join("a.epp"), format!("<% $x = '{long}' ] %>\n")).unwrap();
        let name = dir.join("a.cf");
        let name = name.to_str().unwrap();
        judged(dir, &["cf-agent", "-K", "-f", name], &format!("a.cf:3:{}", length + 25));
        judged(dir, &["cf-promises", "-f", name], "syntax error");
        judged(dir, &["puppet", "apply", "a.pp"], &format!("column: {}", length + 9));
        judged(dir, &["puppet", "parser", "validate", "a.pp"], "Syntax error");
        judged(dir, &["puppet", "epp", "validate", "a.epp"], "yntax error");
        judged(dir, &["chef-apply", "a.rb"], "a.rb");
        judged(dir, &["ruby", "a.rb"], "a.rb");
        for file in ["a.cf", "a.pp", "a.rb"] {
            for format in ["text", "json", "sarif"] {
                judged(dir, &["check", "--format", format, file], file);
            }
        }
    }
}

#[test]
fn a_title_that_begins_with_a_letter_of_several_bytes_is_reported() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    std::fs::write(dir.join("a.pp"), "notify { '→ hello': message => '€5' }\n").unwrap();
    let args = ["puppet", "apply", "--confdir", "conf", "--vardir", "var", "--lastrunreport"];
    let output = call(dir, &[&args[..], &["report.yaml", "a.pp"]].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let report = std::fs::read_to_string(dir.join("report.yaml")).unwrap();
    assert!(report.contains("Notify[→ hello]"), "{report}");
    let found = call(dir, &["puppet", "lookup", "--default", "€5 off", "k"]);
    assert_eq!(String::from_utf8_lossy(&found.stdout), "--- \"€5 off\"\n");
}
