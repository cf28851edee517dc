//! `cargo xtask conformance SUITE DIR`: holds the results of a public suite against what
//! `conformance/SUITE.toml` expects, in both directions: a case that began to fail is an error,
//! and so is one that began to pass and is still listed as failing.
//!
//! Nothing of a suite is in the repository. DIR holds what its runner left: `SUITE.log`, whose
//! last line is `NAME: P passed, F failed, S skipped`, and `SUITE.failed`, a name a line.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

pub(crate) fn run() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(2).collect();
    let [suite, dir] = &args[..] else {
        bail!("usage: cargo xtask conformance SUITE DIR\nsuites: {}", suites()?.join(", "));
    };
    let expected = Expected::read(suite)?;
    let dir = PathBuf::from(dir);
    let read = |name: String| {
        std::fs::read_to_string(dir.join(&name)).with_context(|| format!("no {name} in DIR"))
    };
    let results = Results::read(&read(format!("{suite}.log"))?, &read(format!("{suite}.failed"))?)?;
    let problems = judge(&expected, &results);
    for problem in &problems {
        println!("{problem}");
    }
    println!("{suite}: {} passed, {} expected to fail", results.passed, expected.failing.len());
    if problems.is_empty() { Ok(()) } else { bail!("{} differences", problems.len()) }
}

fn dir() -> PathBuf {
    crate::tidy::root().join("conformance")
}

/// Names of the suites that are pinned.
fn suites() -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(dir())? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "toml") {
            names.extend(path.file_stem().map(|stem| stem.to_string_lossy().into_owned()));
        }
    }
    names.sort();
    Ok(names)
}

/// What a suite is expected to give.
struct Expected {
    passed: u64,
    failing: BTreeSet<String>,
}

impl Expected {
    fn read(suite: &str) -> Result<Expected> {
        let path = dir().join(Path::new(suite).with_extension("toml"));
        let text = std::fs::read_to_string(&path)
            .with_context(|| format!("{} pins no such suite", path.display()))?;
        Expected::parse(&text).with_context(|| path.display().to_string())
    }

    fn parse(text: &str) -> Result<Expected> {
        let table: toml::Table = text.parse()?;
        let passed = table.get("passed").and_then(toml::Value::as_integer);
        let failing = table.get("failing").and_then(toml::Value::as_array);
        let names = failing.context("`failing` is a list of names")?.iter();
        Ok(Expected {
            passed: passed.context("`passed` is a number")?.try_into()?,
            failing: names.filter_map(toml::Value::as_str).map(str::to_owned).collect(),
        })
    }
}

/// What a runner left.
struct Results {
    passed: u64,
    failed: BTreeSet<String>,
}

impl Results {
    fn read(log: &str, failed: &str) -> Result<Results> {
        let last = log.lines().rev().find(|line| line.contains(" passed, "));
        let last = last.context("the log has no line with its counts")?;
        let counts = last.rsplit(": ").next().unwrap_or(last);
        let passed = counts.split(' ').next().unwrap_or_default();
        Ok(Results {
            passed: passed.parse().with_context(|| format!("not a count: {last}"))?,
            failed: failed.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect(),
        })
    }
}

fn judge(expected: &Expected, results: &Results) -> Vec<String> {
    let worse = results.failed.difference(&expected.failing);
    let better = expected.failing.difference(&results.failed);
    let mut problems: Vec<String> = worse.map(|name| format!("fails now: {name}")).collect();
    problems.extend(better.map(|name| format!("passes now, take it off the list: {name}")));
    if results.passed != expected.passed {
        problems.push(format!("{} passed, expected {}", results.passed, expected.passed));
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pinned_suite_can_be_read() {
        let names = suites().unwrap();
        assert!(!names.is_empty());
        for name in names {
            Expected::read(&name).unwrap();
        }
    }

    #[test]
    fn a_surprise_in_either_direction_is_a_difference() {
        let expected = Expected::parse("passed = 2\nfailing = ['a', 'b']").unwrap();
        let results = |log: &str, failed: &str| Results::read(log, failed).unwrap();
        assert!(
            judge(&expected, &results("x\nS: 2 passed, 2 failed, 0 skipped\n", "a\nb\n"))
                .is_empty()
        );
        let surprise = judge(&expected, &results("S: 3 passed, 1 failed, 0 skipped", "c\nb\n"));
        let words = ["fails now: c", "passes now, take it off the list: a", "3 passed, expected 2"];
        assert_eq!(surprise, words);
        assert!(Results::read("nothing", "").is_err());
    }
}
