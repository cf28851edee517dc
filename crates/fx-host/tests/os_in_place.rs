//! Files changed where they are: inode and names stay, links are judged, every error is heard,
//! and a layer over the machine keeps all of it to itself.

#![expect(clippy::disallowed_methods, reason = "tests lay out and run their own files")]

use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;

use fx_host::{
    Access, Edits, FaultOn, Files, Host, HostError, LockWish, MemoryHost, Opening, Operation,
    OsHost, OverlayHost, WriteOptions,
};

fn writes(mode: u32) -> Opening {
    Opening { create: Some(mode), ..Opening::of(Access::Write) }
}

#[test]
fn the_same_file_is_written_on_every_machine() {
    let dir = tempfile::tempdir().unwrap();
    let (os, memory) = (OsHost::new(), MemoryHost::new());
    memory.put_dir(dir.path(), 0o755);
    let hosts: [&dyn Host; 2] = [&os, &memory];
    for host in hosts {
        let (path, second) = (dir.path().join("a"), dir.path().join("second"));
        host.write(&path, b"a long first content", &WriteOptions::default()).unwrap();
        host.settle().unwrap();
        host.hard_link(&path, &second).unwrap();
        let file = host.open_in_place(&path, &writes(0o644)).unwrap();
        file.rewrite(b"short").unwrap();
        assert_eq!(host.read(&second).unwrap(), b"short");
        file.write_at(b"X", 7).unwrap();
        assert_eq!(host.read(&second).unwrap(), b"short\0\0X");
        file.append(b"!").unwrap_or_else(|error| panic!("{error}"));
        file.set_len(2).unwrap();
        assert_eq!(host.read(&second).unwrap(), b"sh");
        file.set_mode(0o604).unwrap();
        file.sync().unwrap();
        assert_eq!(host.stat(&second).unwrap().mode, 0o604);
        assert_eq!(file.meta().unwrap().nlink, 2);
        let made = host.open_in_place(&dir.path().join("new"), &writes(0o640)).unwrap();
        assert_eq!(made.meta().unwrap().mode, 0o640);
        let exclusive = Opening { exclusive: true, ..writes(0o600) };
        let error = host.open_in_place(&path, &exclusive).err().unwrap();
        assert_eq!(error.errno(), Some(libc::EEXIST));
        assert!(file.lock(LockWish::Exclusive { wait: false }).unwrap());
    }
}

#[test]
fn a_file_that_waits_for_its_name_is_in_place_before_it_is_opened() {
    let dir = tempfile::tempdir().unwrap();
    let host = OsHost::new();
    let path = dir.path().join("a");
    host.write(&path, b"staged", &WriteOptions::default()).unwrap();
    let opening = Opening { append: true, ..writes(0o644) };
    host.open_in_place(&path, &opening).unwrap().append(b" and more").unwrap();
    host.commit().unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), b"staged and more");
}

#[test]
fn a_strangers_link_is_refused_and_ours_is_followed() {
    let dir = tempfile::tempdir().unwrap();
    let (path, link) = (dir.path().join("a"), dir.path().join("link"));
    std::fs::write(&path, "ours").unwrap();
    symlink(&path, &link).unwrap();
    let host = OsHost::new();
    for access in [Access::Write, Access::ReadWrite, Access::Attributes] {
        host.open_in_place(&link, &Opening::of(access)).unwrap();
    }
    if std::os::unix::fs::lchown(&link, Some(1001), Some(1001)).is_err() {
        eprintln!("SKIPPED the second half: needs root");
        return;
    }
    for access in [Access::Write, Access::ReadWrite, Access::Attributes] {
        let error = host.open_in_place(&link, &Opening::of(access)).err().unwrap();
        assert!(matches!(error, HostError::UnsafePath { .. }), "{access:?}: {error}");
    }
    // Links in a directory that others can write are refused whoever owns them.
    std::fs::set_permissions(dir.path(), PermissionsExt::from_mode(0o777)).unwrap();
    std::os::unix::fs::lchown(&link, Some(0), Some(0)).unwrap();
    let error = host.open_in_place(&link, &writes(0o644)).err().unwrap();
    assert!(matches!(error, HostError::UnsafePath { .. }), "{error}");
}

#[test]
fn a_layer_keeps_changes_in_place_to_itself() {
    let dir = tempfile::tempdir().unwrap();
    let (path, upper) = (dir.path().join("a"), dir.path().join("upper"));
    std::fs::write(&path, "as it was").unwrap();
    std::fs::create_dir(&upper).unwrap();
    let before = std::fs::metadata(&path).unwrap();
    let os = OsHost::new();
    let layer = OverlayHost::new(&os, upper);
    let file = layer.open_in_place(&path, &Opening::of(Access::ReadWrite)).unwrap();
    file.rewrite(b"other").unwrap();
    file.set_mode(0o777).unwrap();
    layer.open_in_place(&dir.path().join("new"), &writes(0o644)).unwrap().append(b"x").unwrap();
    layer.open_in_place(Path::new("/dev/null"), &writes(0o644)).unwrap().append(b"x").unwrap();
    assert_eq!(layer.read(&path).unwrap(), b"other");
    assert_eq!(std::fs::read(&path).unwrap(), b"as it was");
    let after = std::fs::metadata(&path).unwrap();
    assert_eq!(
        (before.mode(), before.ino(), before.ctime_nsec()),
        (after.mode(), after.ino(), after.ctime_nsec())
    );
    assert!(!dir.path().join("new").exists());
}

#[test]
fn refusals_of_the_fake_machine_reach_the_caller() {
    let host = MemoryHost::new();
    host.put("/a", "old");
    let file = host.open_in_place(Path::new("/a"), &writes(0o644)).unwrap();
    host.fail_nth(FaultOn::Operation(Operation::Write), 1, libc::EDQUOT);
    assert_eq!(file.rewrite(b"new").unwrap_err().errno(), Some(libc::EDQUOT));
    assert_eq!(host.read(Path::new("/a")).unwrap(), b"old");
    host.remove_file(Path::new("/a")).unwrap();
    file.append(b"x").unwrap();
    assert!(!host.exists(Path::new("/a")).unwrap());
}
