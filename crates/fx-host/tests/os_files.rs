//! The real machine's files: staging, replacement, and what survives it.

#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "a test looks at the machine from outside"
)]

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use fx_host::{Edits, Files, Kind, OsHost, WriteOptions};

fn scratch() -> (tempfile::TempDir, OsHost) {
    (tempfile::tempdir().unwrap(), OsHost::new())
}

fn names(dir: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(dir).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_written_file_is_seen_by_us_at_once_and_by_others_after_settling() {
    let (dir, host) = scratch();
    let path = dir.path().join("a");
    host.write(&path, b"new", &WriteOptions { mode: Some(0o640), ..WriteOptions::default() })
        .unwrap();
    assert_eq!(host.read(&path).unwrap(), b"new");
    assert_eq!(host.lstat(&path).unwrap().mode, 0o640);
    assert!(names(dir.path()).is_empty(), "nobody sees the name before the content is on disk");
    host.settle().unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"new");
    assert_eq!(names(dir.path()), ["a"]);
}

#[test]
fn replacing_keeps_mode_owner_and_attributes() {
    let (dir, host) = scratch();
    let path = dir.path().join("a");
    fs::write(&path, "old").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o4751)).unwrap();
    host.set_xattr(&path, "user.note", Some(b"kept")).unwrap();
    let before = fs::metadata(&path).unwrap();
    host.write(&path, b"new", &WriteOptions::default()).unwrap();
    host.commit().unwrap();
    let after = fs::metadata(&path).unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"new");
    assert_eq!(
        (after.mode(), after.uid(), after.gid()),
        (before.mode(), before.uid(), before.gid())
    );
    assert_eq!(host.xattr(&path, "user.note").unwrap().as_deref(), Some(&b"kept"[..]));
    assert_ne!(after.ino(), before.ino(), "a reader of the old file keeps the old file");
}

#[test]
fn a_new_file_is_private_unless_told_otherwise() {
    let (dir, host) = scratch();
    host.write(&dir.path().join("a"), b"x", &WriteOptions::default()).unwrap();
    host.settle().unwrap();
    assert_eq!(fs::metadata(dir.path().join("a")).unwrap().mode() & 0o7777, 0o600);
}

#[test]
fn changes_to_a_waiting_file_are_changes_to_the_file() {
    let (dir, host) = scratch();
    let (path, other) = (dir.path().join("a"), dir.path().join("b"));
    host.write(&path, b"one", &WriteOptions::default()).unwrap();
    host.set_mode(&path, 0o604).unwrap();
    host.write(&path, b"two", &WriteOptions::default()).unwrap();
    assert_eq!(host.lstat(&path).unwrap().mode, 0o604, "the second write keeps what the first had");
    host.rename(&path, &other).unwrap();
    assert_eq!(host.read(&other).unwrap(), b"two");
    assert!(!host.exists(&path).unwrap());
    host.write(&path, b"three", &WriteOptions::default()).unwrap();
    host.remove_file(&path).unwrap();
    host.settle().unwrap();
    assert_eq!(names(dir.path()), ["b"]);
}

#[test]
fn a_waiting_file_is_found_by_every_path_that_leads_to_it() {
    let (dir, host) = scratch();
    fs::create_dir(dir.path().join("real")).unwrap();
    symlink("real", dir.path().join("alias")).unwrap();
    host.write(&dir.path().join("alias/f"), b"x", &WriteOptions::default()).unwrap();
    assert_eq!(host.read(&dir.path().join("real/f")).unwrap(), b"x");
    assert_eq!(host.list(&dir.path().join("real")).unwrap().len(), 1);
}

#[test]
fn a_final_link_is_replaced_not_followed() {
    let (dir, host) = scratch();
    fs::write(dir.path().join("target"), "safe").unwrap();
    symlink("target", dir.path().join("link")).unwrap();
    host.write(&dir.path().join("link"), b"new", &WriteOptions::default()).unwrap();
    host.settle().unwrap();
    assert_eq!(fs::read(dir.path().join("target")).unwrap(), b"safe");
    assert!(fs::symlink_metadata(dir.path().join("link")).unwrap().is_file());
}

#[test]
fn names_and_contents_may_be_any_bytes() {
    use std::os::unix::ffi::OsStrExt;
    let (dir, host) = scratch();
    let path = dir.path().join(std::ffi::OsStr::from_bytes(b"\xff\xfe name"));
    host.write(&path, b"\x00\xff\n", &WriteOptions::default()).unwrap();
    assert_eq!(host.list(dir.path()).unwrap()[0].name.as_bytes(), b"\xff\xfe name");
    assert_eq!(host.read(&path).unwrap(), b"\x00\xff\n");
}

#[test]
fn exact_modes_whatever_the_mask() {
    let (dir, host) = scratch();
    host.make_dir(&dir.path().join("d"), 0o1777).unwrap();
    host.make_fifo(&dir.path().join("p"), 0o666).unwrap();
    assert_eq!(host.lstat(&dir.path().join("d")).unwrap().mode, 0o1777);
    assert_eq!(host.lstat(&dir.path().join("p")).unwrap().mode, 0o666);
    assert!(
        host.read(&dir.path().join("p")).unwrap().is_empty(),
        "a pipe without a writer does not block"
    );
}

#[test]
fn many_files_settle_in_groups_and_leave_nothing_behind() {
    let (dir, host) = scratch();
    for n in 0..450 {
        host.write(&dir.path().join(format!("f{n:03}")), b"x", &WriteOptions::default()).unwrap();
    }
    assert_eq!(names(dir.path()).len(), 400, "two full groups are in place, the third waits");
    host.commit().unwrap();
    let names = names(dir.path());
    assert_eq!(names.len(), 450);
    assert!(names.iter().all(|name| name.starts_with('f')));
}

#[test]
fn errors_name_what_was_tried_and_on_what() {
    let (dir, host) = scratch();
    fs::create_dir(dir.path().join("d")).unwrap();
    let missing: PathBuf = dir.path().join("nowhere/f");
    let error = host.write(&missing, b"", &WriteOptions::default()).unwrap_err();
    assert!(error.is_not_found());
    assert_eq!(
        error.to_string(),
        format!("cannot change '{}': No such file or directory", missing.display())
    );
    let error = host.write(&dir.path().join("d"), b"", &WriteOptions::default()).unwrap_err();
    assert!(error.to_string().ends_with("Is a directory"), "{error}");
    assert!(host.stat_opt(&dir.path().join("d/x/y")).unwrap().is_none());
}

#[test]
fn a_file_that_waits_is_rewritten_and_keeps_its_mode() {
    let (dir, host) = scratch();
    let path = dir.path().join("a");
    let options = WriteOptions { mode: Some(0o4751), ..WriteOptions::default() };
    host.write(&path, b"a longer text", &options).unwrap();
    host.write(&path, b"short", &WriteOptions::default()).unwrap();
    assert_eq!(host.read(&path).unwrap(), b"short");
    assert_eq!(host.stat(&path).unwrap().size, 5);
    assert!(names(dir.path()).is_empty());
    host.commit().unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"short");
    assert_eq!(fs::metadata(&path).unwrap().mode() & 0o7777, 0o4751);
}

#[test]
fn while_files_wait_others_are_seen_as_they_are() {
    let (dir, host) = scratch();
    let path = |name: &str| dir.path().join(name);
    fs::write(path("there"), "x").unwrap();
    fs::create_dir(path("d")).unwrap();
    symlink("d", path("link")).unwrap();
    host.write(&path("d/new"), b"new", &WriteOptions::default()).unwrap();
    assert_eq!(host.read(&path("there")).unwrap(), b"x");
    assert!(host.lstat_opt(&path("missing")).unwrap().is_none());
    assert_eq!(host.read(&path("link/new")).unwrap(), b"new", "by another path");
    host.write(&path("link/other"), b"o", &WriteOptions::default()).unwrap();
    host.remove_file(&path("link")).unwrap();
    assert!(host.lstat_opt(&path("link/other")).unwrap().is_none());
    assert_eq!(host.read(&path("d/other")).unwrap(), b"o");
}

#[test]
fn a_pipe_or_device_is_written_into_and_never_replaced() {
    let (dir, host) = scratch();
    let pipe = dir.path().join("pipe");
    host.make_fifo(&pipe, 0o600).unwrap();
    let options = WriteOptions { mode: Some(0o644), ..WriteOptions::default() };
    assert!(host.write(&pipe, b"lost", &options).is_err(), "nobody reads it");
    // Open for both, a pipe has a reader before anybody writes.
    let mut reader = fs::File::options().read(true).write(true).open(&pipe).unwrap();
    host.write(&pipe, b"taken", &options).unwrap();
    let mut taken = [0; 5];
    std::io::Read::read_exact(&mut reader, &mut taken).unwrap();
    assert_eq!(&taken, b"taken");
    let meta = host.lstat(&pipe).unwrap();
    assert_eq!((meta.kind, meta.mode & 0o777), (Kind::Fifo, 0o600));
}

#[test]
fn blocks_of_zeros_are_not_written() {
    let dir = tempfile::tempdir().expect("a scratch directory");
    let host = OsHost::new();
    let file = dir.path().join("image");
    let mut content = vec![0; 1 << 20];
    content[4095] = 1;
    content[500_000] = 2;
    content.extend_from_slice(b"end");
    host.write(&file, &content, &WriteOptions::default()).expect("written");
    host.commit().expect("committed");
    assert_eq!(fs::read(&file).expect("read"), content);
    let whole = vec![0; 8192];
    let empty = dir.path().join("empty");
    host.write(&empty, &whole, &WriteOptions::default()).expect("written");
    host.commit().expect("committed");
    assert_eq!(fs::read(&empty).expect("read"), whole);
    // A file system without holes is free to fill them.
    let blocks = fs::metadata(&file).expect("there").blocks();
    assert!(blocks * 512 <= content.len() as u64 + 4096, "{blocks} blocks");
}

#[test]
fn content_in_pieces_replaces_a_file_as_a_whole_does() {
    let (dir, host) = scratch();
    let path = dir.path().join("a");
    fs::write(&path, "old").unwrap();
    let options = WriteOptions { mode: Some(0o640), ..WriteOptions::default() };
    let pieces = |out: &mut dyn std::io::Write| (0..50_000).try_for_each(|n| writeln!(out, "{n}"));
    host.write_pieces(&path, &pieces, &options).unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"old", "the name waits for the content");
    host.settle().unwrap();
    let whole: String = (0..50_000).map(|n| format!("{n}\n")).collect();
    assert!(fs::read(&path).unwrap() == whole.as_bytes());
    assert_eq!(fs::metadata(&path).unwrap().mode() & 0o7777, 0o640);
    let broken = |out: &mut dyn std::io::Write| {
        out.write_all(b"half")?;
        Err(std::io::Error::other("no more"))
    };
    host.write_pieces(&path, &broken, &options).unwrap_err();
    host.settle().unwrap();
    assert!(fs::read(&path).unwrap() == whole.as_bytes());
    assert_eq!(names(dir.path()), ["a"]);
}

#[test]
fn a_listing_tells_what_the_names_stand_for() {
    let (dir, host) = scratch();
    fs::create_dir(dir.path().join("d")).unwrap();
    symlink("d", dir.path().join("l")).unwrap();
    host.write(&dir.path().join("f"), b"x", &WriteOptions::default()).unwrap();
    for entry in host.list(dir.path()).unwrap() {
        let is = host.lstat(&dir.path().join(&entry.name)).unwrap().kind;
        // A file system need not say.
        assert_eq!(entry.kind.unwrap_or(is), is, "{:?}", entry.name);
    }
}

#[test]
fn names_in_a_held_directory_are_what_their_paths_are() {
    let (dir, host) = scratch();
    let top = dir.path().canonicalize().unwrap().join("top");
    fs::create_dir(&top).unwrap();
    fs::write(top.join("file"), "there").unwrap();
    symlink("file", top.join("link")).unwrap();
    symlink(&top, dir.path().join("way")).unwrap();
    host.write(&top.join("waits"), b"waiting", &WriteOptions::default()).unwrap();
    for way in [top.clone(), dir.path().join("way")] {
        let held = host.directory(&way).unwrap();
        let kind = |name: &str| held.lstat_opt(name.as_ref()).unwrap().map(|meta| meta.kind);
        assert_eq!(kind("file"), Some(Kind::File));
        assert_eq!(kind("link"), Some(Kind::Symlink));
        assert_eq!(kind("waits"), Some(Kind::File), "what we wrote and nobody else sees yet");
        assert_eq!(kind("none"), None);
        for (name, expected) in [("file", "there"), ("link", "there"), ("waits", "waiting")] {
            let content = std::io::read_to_string(held.open(name.as_ref()).unwrap()).unwrap();
            assert_eq!(content, expected, "{name}");
        }
        assert!(held.open("none".as_ref()).is_err_and(|error| error.is_not_found()));
    }
    assert!(host.directory(&top.join("file")).is_err());
    assert!(host.directory(&top.join("none")).is_err_and(|error| error.is_not_found()));
}

#[test]
fn files_beside_one_that_waits_land_where_their_paths_lead() {
    let (dir, host) = scratch();
    let top = dir.path().canonicalize().unwrap();
    for name in ["one", "two", "one/deep"] {
        fs::create_dir(top.join(name)).unwrap();
    }
    let (keep, write) = (WriteOptions::default(), |path: &str, text: &str| {
        host.write(&top.join(path), text.as_bytes(), &WriteOptions::default()).unwrap();
    });
    write("one/a", "1");
    write("one/b", "2");
    write("two/a", "3");
    write("one/deep/a", "4");
    write("one/deep/../c", "5");
    write("one/a", "6");
    host.write(&top.join("one/b"), b"7", &WriteOptions { mode: Some(0o644), ..keep }).unwrap();
    // What is written to a directory of another name after that has moved is there, too.
    host.rename(&top.join("two"), &top.join("three")).unwrap();
    fs::create_dir(top.join("two")).unwrap();
    write("two/b", "8");
    host.commit().unwrap();
    let found = ["one/a", "one/b", "one/c", "one/deep/a", "three/a", "two/b"]
        .map(|path| fs::read_to_string(top.join(path)).unwrap());
    assert_eq!(found, ["6", "7", "5", "4", "3", "8"]);
    assert_eq!(names(&top.join("one")), ["a", "b", "c", "deep"]);
    assert_eq!(names(&top.join("two")), ["b"]);
}
