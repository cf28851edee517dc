//! Locks: one holder, a true record, free at once when the holder is killed.

#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "a test looks at the machine from outside"
)]

use fx_host::{Holder, Lock, Locked};

#[test]
fn a_lock_is_held_once_and_names_its_holder() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("lock");
    let Locked::Taken(lock) = Lock::try_take(&path).unwrap() else { panic!("the lock is free") };
    let Locked::Held(holder) = Lock::try_take(&path).unwrap() else { panic!("the lock is taken") };
    assert_eq!(holder, Holder::me());
    assert!(holder.started > 0 && !holder.boot.is_empty());
    drop(lock);
    assert!(matches!(Lock::try_take(&path).unwrap(), Locked::Taken(_)));
}

#[test]
fn a_killed_holder_frees_the_lock_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("lock");
    let mut child = std::process::Command::new("flock")
        .arg("--no-fork")
        .arg(&path)
        .args(["sleep", "1000"])
        .spawn()
        .unwrap();
    while !matches!(Lock::try_take(&path).unwrap(), Locked::Held(_)) {
        std::thread::yield_now();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(matches!(Lock::try_take(&path).unwrap(), Locked::Taken(_)));
}

#[test]
fn a_link_in_place_of_the_lock_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink("/etc/passwd", dir.path().join("lock")).unwrap();
    assert!(Lock::try_take(&dir.path().join("lock")).is_err());
}
