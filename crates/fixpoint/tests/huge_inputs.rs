//! Inputs and outputs without measure: refused at once or cut, in memory that does not grow.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test looks at the machine from outside"
)]

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// Runs with an address space of 2 GB, so that what is read whole fails.
fn call(dir: &Path, args: &[&str]) -> Output {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", "ulimit -v 2000000; exec \"$@\"", "sh", env!("CARGO_BIN_EXE_fixpoint")]);
    command.args(args).current_dir(dir).env("FIXPOINT_STATE", dir.join("state"));
    command.env("CFENGINE_TEST_OVERRIDE_WORKDIR", dir.join("work"));
    command.stdin(Stdio::null()).output().unwrap()
}

fn said(output: &Output) -> String {
    let bytes = [&*output.stdout, &*output.stderr].concat();
    String::from_utf8_lossy(&bytes).into_owned()
}

fn sparse(path: &Path) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::File::create(path).unwrap().set_len(1 << 42).unwrap();
}

#[track_caller]
fn refused(dir: &Path, args: &[&str]) {
    let output = call(dir, args);
    let text = said(&output);
    assert!(matches!(output.status.code(), Some(1..=9)), "{args:?}: {:?}: {text}", output.status);
    assert!(text.contains("is larger than"), "{args:?}: {text}");
}

#[test]
fn sparse_policy_and_data_are_refused_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    for name in ["a.pp", "a.cf", "b/def.json", "env/data/common.yaml"] {
        sparse(&dir.join(name));
    }
    refused(dir, &["puppet", "apply", "a.pp"]);
    refused(dir, &["run", "a.pp"]);
    refused(dir, &["check", "a.pp"]);
    let policy = dir.join("a.cf");
    refused(dir, &["cf-agent", "-K", "-f", policy.to_str().unwrap()]);
    refused(dir, &["cf-promises", "-f", policy.to_str().unwrap()]);
    let beside = dir.join("b/b.cf");
    fs::write(&beside, "bundle agent main { reports: \"x\"; }\n").unwrap();
    refused(dir, &["cf-agent", "-K", "-f", beside.to_str().unwrap()]);
    fs::create_dir_all(dir.join("env/manifests")).unwrap();
    fs::write(dir.join("env/manifests/site.pp"), "notice(lookup('k'))\n").unwrap();
    let hiera = "version: 5\ndefaults: {datadir: data, data_hash: yaml_data}\n\
                 hierarchy: [{name: c, path: common.yaml}]\n";
    fs::write(dir.join("env/hiera.yaml"), hiera).unwrap();
    refused(dir, &["run", "env"]);
}

#[test]
fn aliases_without_measure_are_an_error_with_file_and_line() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    fs::create_dir_all(dir.join("env/manifests")).unwrap();
    fs::create_dir_all(dir.join("env/data")).unwrap();
    fs::write(dir.join("env/manifests/site.pp"), "notice(lookup('i').length)\n").unwrap();
    let hiera = "version: 5\ndefaults: {datadir: data, data_hash: yaml_data}\n\
                 hierarchy: [{name: c, path: common.yaml}]\n";
    fs::write(dir.join("env/hiera.yaml"), hiera).unwrap();
    let mut text = String::from("a: &a [x,x,x,x,x,x,x,x,x,x]\n");
    for (from, to) in "abcdefgh".chars().zip("bcdefghi".chars()) {
        let list = vec![format!("*{from}"); 10].join(",");
        writeln!(text, "{to}: &{to} [{list}]").unwrap();
    }
    fs::write(dir.join("env/data/common.yaml"), text).unwrap();
    let output = call(dir, &["run", "env"]);
    let text = said(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("data/common.yaml): aliases stand for more than"), "{text}");
    assert!(text.contains("at line 7"), "{text}");
}

#[test]
fn output_of_a_command_is_cut_with_a_mark() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let exec = "exec { '/bin/sh -c \"yes | head -c 4000000\"': logoutput => true }\n";
    fs::write(dir.join("a.pp"), exec).unwrap();
    let args = ["puppet", "apply", "--confdir", "conf", "--vardir", "var"];
    let report = ["--lastrunreport", "report.yaml", "a.pp"];
    let output = call(dir, &[&args[..], &report].concat());
    let text = said(&output);
    assert!(output.status.success(), "{}", &text[text.len().saturating_sub(500)..]);
    assert!(text.contains("/returns: [1990000 more lines are not shown]"));
    assert_eq!(text.matches("/returns: y\n").count(), 10_000);
    let report = fs::read_to_string(dir.join("report.yaml")).unwrap();
    assert!(report.contains("1990000 more lines are not shown"));
    assert!(report.len() < 10_000_000, "{}", report.len());
}

#[test]
fn what_a_check_of_a_directory_cannot_read_is_an_error_beside_others() {
    let kinds = [("manifests", "pp", "notify { 'a': "), ("policy", "cf", "bundle agent a {")];
    for (folder, ending, broken) in kinds {
        let dir = tempfile::tempdir().unwrap();
        let inner = dir.path().join(folder);
        fs::create_dir(&inner).unwrap();
        fs::write(inner.join(format!("broken.{ending}")), broken).unwrap();
        let huge = fs::File::create(inner.join(format!("huge.{ending}"))).unwrap();
        huge.set_len(20 << 30).unwrap();
        let pipe = inner.join(format!("pipe.{ending}"));
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let output = Command::new(env!("CARGO_BIN_EXE_fixpoint"))
            .arg("check")
            .arg(if ending == "cf" { &inner } else { dir.path() })
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{text}");
        for expected in ["broken.", "is larger than", "is no regular file"] {
            assert_eq!(text.matches(expected).count(), 1, "{ending}, {expected}: {text}");
        }
    }
}
