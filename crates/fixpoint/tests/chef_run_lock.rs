//! Runs of chef-client exclude each other by a lock file, as the original's do.

#![expect(clippy::disallowed_methods, reason = "tests lay out and run their own files")]

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::{lchown, symlink};
use std::path::Path;
use std::process::{Child, Command, Stdio};

fn stage(recipe: &str) -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a scratch directory");
    fs::create_dir_all(dir.path().join("cookbooks/t/recipes")).expect("a cookbook");
    fs::write(dir.path().join("cookbooks/t/metadata.rb"), "name 't'\n").expect("its metadata");
    fs::write(dir.path().join("cookbooks/t/recipes/default.rb"), recipe).expect("its recipe");
    dir
}

fn client(dir: &Path, more: &[&str]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fixpoint"));
    command.args(["chef-client", "-z", "-o", "t"]).args(more).current_dir(dir).env("HOME", dir);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts")
}

fn output(mut child: Child) -> (Option<i32>, String) {
    let mut text = String::new();
    child.stdout.take().expect("it is piped").read_to_string(&mut text).expect("text");
    (child.wait().expect("it ends").code(), text)
}

const LOCK: &str = ".chef/local-mode-cache/cache/chef-client-running.pid";
/// Goes on when the test says so.
const WAITS: &str = "puts 'at work'; $stdout.flush; sleep 0.02 until File.exist?('go')";

#[test]
fn the_second_run_waits_for_the_first() {
    let dir = stage("");
    let recipe = dir.path().join("cookbooks/t/recipes/default.rb");
    let go = dir.path().join("go");
    fs::write(&recipe, WAITS.replace("'go'", &format!("'{}'", go.display()))).expect("a recipe");
    let mut first = client(dir.path(), &[]);
    let mut lines = BufReader::new(first.stdout.take().expect("it is piped")).lines();
    assert!(lines.any(|line| line.is_ok_and(|line| line.contains("at work"))), "it runs");
    let pid = fs::read_to_string(dir.path().join(LOCK)).expect("the lock file");
    assert_eq!(pid, first.id().to_string());

    let (code, text) = output(client(dir.path(), &["--run-lock-timeout", "0"]));
    let told = format!("Unable to acquire lock. Waited 0 seconds for {pid} to release.");
    assert!(code == Some(1) && text.contains(&told), "{code:?} {text}");
    let (code, text) = output(client(dir.path(), &["--run-lock-timeout", "1"]));
    assert!(code == Some(1) && text.contains("Waited 1 seconds"), "{code:?} {text}");

    let mut second = client(dir.path(), &[]);
    let mut waiting = BufReader::new(second.stdout.take().expect("it is piped")).lines();
    let told =
        format!("Chef Infra Client {pid} is running, will wait for it to finish and then run.");
    assert!(waiting.any(|line| line.is_ok_and(|line| line.contains(&told))), "it waits");
    fs::write(&go, "").expect("the sign");
    for _rest in lines.by_ref() {}
    assert_eq!(first.wait().expect("it ends").code(), Some(0));
    for _rest in waiting.by_ref() {}
    assert_eq!(second.wait().expect("it ends").code(), Some(0));
}

#[test]
fn a_killed_run_frees_the_lock() {
    let dir = stage("puts 'at work'; $stdout.flush; sleep 60");
    let mut first = client(dir.path(), &[]);
    let mut lines = BufReader::new(first.stdout.take().expect("it is piped")).lines();
    assert!(lines.any(|line| line.is_ok_and(|line| line.contains("at work"))), "it runs");
    first.kill().expect("it can be killed");
    first.wait().expect("it ends");
    fs::write(dir.path().join("cookbooks/t/recipes/default.rb"), "log 'x'\n").expect("a recipe");
    let (code, text) = output(client(dir.path(), &["--run-lock-timeout", "0"]));
    assert_eq!(code, Some(0), "{text}");
}

#[test]
fn a_planted_lock_file_is_not_followed() {
    let dir = stage("log 'x'\n");
    let (target, link) = (dir.path().join("precious"), dir.path().join("lock"));
    fs::write(&target, "precious").expect("a file");
    symlink(&target, &link).expect("a link");
    if lchown(&link, Some(1_234_567), None).is_err() {
        // Without root nobody else's link can be made; ours is followed, as with the original.
        return;
    }
    let (code, text) = output(client(dir.path(), &["--lockfile", &link.to_string_lossy()]));
    assert_eq!(code, Some(1), "{text}");
    assert_eq!(fs::read_to_string(&target).expect("it is there"), "precious", "{text}");
}
