//! Mistakes that people make, one a case: `fixpoint check` finds each at its place, with at
//! most two findings, and finds nothing in the corrected text.
//!
//! A case has the files with the mistake, below `corrected/` the file as it should be, in `at`
//! the place of the mistake, and in `found` what the check reports.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test runs the program from outside"
)]

use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::sync::OnceLock;

use fx_cases::{Case, Given, Giver};

const CORRECTED: &str = "corrected/";

/// The findings of a check: the place, the code, and what was likely meant.
fn check(dir: &Path) -> (Vec<String>, i32) {
    let at = fs::canonicalize(dir).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_fixpoint"))
        .args(["check", "--format", "json", "."])
        .current_dir(&at)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let found = text.lines().filter_map(|line| {
        let json: serde_json::Value = serde_json::from_str(line).unwrap();
        let code = json["code"].as_str()?;
        let label = &json["labels"][0];
        let file = label["file"].as_str().unwrap_or_default();
        let file = file.strip_prefix(&format!("{}/", at.display())).unwrap_or(file);
        let help = json["help"].as_str().map(|help| format!(" ({help})")).unwrap_or_default();
        let severity = json["severity"].as_str().unwrap_or_default();
        Some(format!("{file}:{} {severity} {code}{help}", label["line"]))
    });
    (found.collect(), output.status.code().unwrap_or(-1))
}

/// Whether recipes are compiled here: that needs a copy of the machine.
fn compiles() -> bool {
    static HERE: OnceLock<bool> = OnceLock::new();
    *HERE.get_or_init(|| {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("recipes")).unwrap();
        fs::write(dir.path().join("metadata.rb"), "name 'x'\n").unwrap();
        fs::write(dir.path().join("recipes/default.rb"), "no_such_name\n").unwrap();
        !check(dir.path()).0.is_empty()
    })
}

fn lay_out(dir: &Path, name: &str, text: &str) {
    let path = dir.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn give(case: &Case, _: Giver<'_>) -> Given {
    let expected = case.get("found").unwrap_or_default();
    if expected.contains(" chef-") && !compiles() {
        return vec![("found", expected.to_owned())];
    }
    let wrong = tempfile::tempdir().unwrap();
    let right = tempfile::tempdir().unwrap();
    for (name, text) in case.sections().filter(|(name, _)| name.contains('.')) {
        match name.strip_prefix(CORRECTED) {
            Some(name) => lay_out(right.path(), name, text),
            None => {
                lay_out(wrong.path(), name, text);
                lay_out(right.path(), name, text);
            }
        }
    }
    let (found, code) = check(wrong.path());
    let at = format!("{} ", case.section("at").trim());
    assert!(found.iter().any(|one| one.starts_with(&at)), "not found at {at}: {found:#?}");
    assert!(found.len() <= 2, "one mistake, many findings: {found:#?}");
    let errors = found.iter().any(|one| one.contains(" error "));
    assert_eq!(code, i32::from(errors), "the exit code says whether there are errors: {found:#?}");
    let (rest, code) = check(right.path());
    assert!(rest.is_empty() && code == 0, "found in the corrected text: {rest:#?}");
    vec![("found", found.join("\n") + "\n")]
}

fn main() -> ExitCode {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mistakes");
    fx_cases::run_all(&[dir.join("cfengine"), dir.join("chef"), dir.join("puppet")], give)
}
