//! What a user set on his file beforehand does not survive its becoming somebody else's.
//!
//! All of it needs root; an ordinary user sees a loud line instead.

#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "a test looks at the machine from outside"
)]

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use fx_host::{Edits, Files, OsHost, Spec, WriteOptions};

const USER: u32 = 12_345;
const ACCESS: &str = "system.posix_acl_access";
const DEFAULT: &str = "system.posix_acl_default";

/// A directory of the user, if this process may make one.
fn home(test: &str) -> Option<tempfile::TempDir> {
    if !rustix::process::geteuid().is_root() {
        eprintln!("SKIPPED {test}: needs root to make files of other users");
        return None;
    }
    let dir = tempfile::tempdir().unwrap();
    chown(dir.path(), Some(USER), Some(USER)).unwrap();
    Some(dir)
}

/// An ACL that lets the user read and write, whoever owns the file.
fn acl() -> Vec<u8> {
    let entry = |tag: u16, bits: u16, id: u32| {
        [&tag.to_le_bytes()[..], &bits.to_le_bytes(), &id.to_le_bytes()].concat()
    };
    let nobody = u32::MAX;
    [
        2u32.to_le_bytes().to_vec(),
        entry(1, 6, nobody),
        entry(2, 6, USER),
        entry(4, 4, nobody),
        entry(16, 6, nobody),
        entry(32, 0, nobody),
    ]
    .concat()
}

fn users_file(dir: &Path, mode: u32) -> PathBuf {
    let path = dir.join("f");
    fs::write(&path, "x").unwrap();
    chown(&path, Some(USER), Some(USER)).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    path
}

fn bits(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().mode() & 0o7777
}

fn can_read(path: &Path) -> bool {
    let spec = Spec {
        uid: Some(USER),
        gid: Some(USER),
        ..Spec::argv(["cat".into(), path.display().to_string()])
    };
    fx_host::Commands::run(&OsHost::new(), &spec).unwrap().exit.success()
}

/// (owner and group of the result, mode asked for, bits of the result)
#[test]
fn set_id_bits_stay_only_with_their_owner_or_by_wish() {
    let Some(dir) = home("set_id_bits_stay_only_with_their_owner_or_by_wish") else { return };
    let host = OsHost::new();
    let table = [
        (None, None, None, 0o6755),
        (Some(USER), Some(USER), None, 0o6755),
        (Some(0), None, None, 0o755),
        (None, Some(0), None, 0o755),
        (Some(0), Some(0), None, 0o755),
        (Some(0), Some(0), Some(0o4711), 0o4711),
    ];
    for (uid, gid, mode, expected) in table {
        let path = users_file(dir.path(), 0o6755);
        host.write(&path, b"new", &WriteOptions { uid, gid, mode, mtime: None }).unwrap();
        host.settle().unwrap();
        assert_eq!(bits(&path), expected, "replaced with {uid:?}:{gid:?} {mode:?}");
    }
    for (mode, expected) in [(0o6755, 0o755), (0o2644, 0o644), (0o4700, 0o700)] {
        let path = users_file(dir.path(), mode);
        host.set_owner(&path, Some(0), Some(0)).unwrap();
        assert_eq!(bits(&path), expected, "handed over with {mode:o}");
    }
}

#[test]
fn an_acl_does_not_open_a_file_to_its_former_owner() {
    let Some(dir) = home("an_acl_does_not_open_a_file_to_its_former_owner") else { return };
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let host = OsHost::new();
    let to_root = WriteOptions { uid: Some(0), gid: Some(0), mode: Some(0o640), mtime: None };
    let path = users_file(dir.path(), 0o600);
    if host.set_xattr(&path, ACCESS, Some(&acl())).is_err() {
        eprintln!("SKIPPED an_acl_does_not_open_a_file_to_its_former_owner: no ACLs here");
        return;
    }
    assert!(can_read(&path), "the ACL works before");

    host.write(&path, b"secret", &to_root).unwrap();
    host.settle().unwrap();
    assert_eq!(host.xattr(&path, ACCESS).unwrap(), None, "replaced");
    assert!(!can_read(&path), "replaced");

    let path = users_file(dir.path(), 0o600);
    host.set_xattr(&path, ACCESS, Some(&acl())).unwrap();
    host.set_owner(&path, Some(0), Some(0)).unwrap();
    host.set_mode(&path, 0o640).unwrap();
    assert!(!can_read(&path), "handed over where it lies");

    // What a user's directory gives to new files counts for files of that user alone.
    host.set_xattr(dir.path(), DEFAULT, Some(&acl())).unwrap();
    let path = dir.path().join("new");
    host.write(&path, b"secret", &to_root).unwrap();
    host.settle().unwrap();
    assert!(!can_read(&path), "new in a directory with a default ACL");
    let own = dir.path().join("own");
    let to_user = WriteOptions { uid: Some(USER), gid: Some(0), mode: Some(0o640), mtime: None };
    host.write(&own, b"his", &to_user).unwrap();
    host.settle().unwrap();
    assert!(host.xattr(&own, ACCESS).unwrap().is_some(), "his own file keeps it");

    let inner = dir.path().join("dir");
    fs::create_dir(&inner).unwrap();
    chown(&inner, Some(USER), Some(USER)).unwrap();
    host.set_xattr(&inner, DEFAULT, Some(&acl())).unwrap();
    host.set_owner(&inner, Some(0), Some(0)).unwrap();
    assert_eq!(host.xattr(&inner, DEFAULT).unwrap(), None, "a directory handed over");
}

#[test]
fn an_acl_stays_with_a_file_that_stays_its_owners() {
    let Some(dir) = home("an_acl_stays_with_a_file_that_stays_its_owners") else { return };
    let host = OsHost::new();
    let path = users_file(dir.path(), 0o600);
    if host.set_xattr(&path, ACCESS, Some(&acl())).is_err() {
        return;
    }
    host.write(&path, b"new", &WriteOptions::default()).unwrap();
    host.settle().unwrap();
    assert_eq!(host.xattr(&path, ACCESS).unwrap(), Some(acl()));
}

#[test]
fn content_is_not_poured_into_a_pipe_of_somebody_else() {
    let Some(dir) = home("content_is_not_poured_into_a_pipe_of_somebody_else") else { return };
    let host = OsHost::new();
    let path = dir.path().join("pipe");
    host.make_fifo(&path, 0o600).unwrap();
    chown(&path, Some(USER), Some(USER)).unwrap();
    // Held open for reading and writing, so that opening it for writing succeeds.
    let _reader = fs::OpenOptions::new().read(true).write(true).open(&path).unwrap();
    let error = host.write(&path, b"secret", &WriteOptions::default()).unwrap_err();
    assert!(error.to_string().contains("it is a pipe of user 12345"), "{error}");

    chown(&path, Some(0), Some(0)).unwrap();
    let error = host.write(&path, b"secret", &WriteOptions::default()).unwrap_err();
    assert!(error.to_string().contains("in a directory of user 12345"), "{error}");

    chown(dir.path(), Some(0), Some(0)).unwrap();
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o1777)).unwrap();
    let error = host.write(&path, b"secret", &WriteOptions::default()).unwrap_err();
    assert!(error.to_string().contains("in a directory that others can write"), "{error}");

    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
    host.write(&path, b"text", &WriteOptions::default()).unwrap();
}

#[test]
fn a_reader_that_does_not_read_holds_nobody_up() {
    let dir = tempfile::tempdir().unwrap();
    let host = OsHost::new();
    let path = dir.path().join("pipe");
    host.make_fifo(&path, 0o600).unwrap();
    let _reader = fs::OpenOptions::new().read(true).write(true).open(&path).unwrap();
    let began = Instant::now();
    let error = host.write(&path, &vec![b'x'; 200_000], &WriteOptions::default()).unwrap_err();
    assert!(error.to_string().contains("nobody read it for 5 seconds"), "{error}");
    assert!(began.elapsed() < Duration::from_secs(20));
}
