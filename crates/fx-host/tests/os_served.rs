//! Files that are given to others: a group of requests walks to a directory once, and no link leads
//! a request elsewhere.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test looks at the machine from outside"
)]

use std::fs;
use std::io::Read;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use fx_host::{Edits, Kind, OsHost, Served};

/// A directory `data` with a file, and one beside it that nobody is to have.
fn scratch() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let top = dir.path().canonicalize().unwrap();
    for (name, text) in [("data/a", "open"), ("data/sub/b", "open"), ("other/secret", "secret")] {
        let path = top.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    (dir, top)
}

fn content(served: &mut Served, path: &Path) -> Option<String> {
    let (mut file, meta) = served.open_plain(path)?;
    let mut text = String::new();
    file.read_to_string(&mut text).unwrap();
    assert_eq!(meta.size, text.len() as u64);
    Some(text)
}

#[test]
fn a_path_without_links_is_its_own_name() {
    let (_dir, top) = scratch();
    let mut served = Served::default();
    for name in ["data/a", "data/sub/b", "data/a"] {
        let path = top.join(name);
        let (resolved, meta) = served.find(&path).unwrap();
        assert_eq!((resolved, meta.kind), (path.clone(), Kind::File));
        assert_eq!(content(&mut served, &path).as_deref(), Some("open"));
    }
    let (resolved, meta) = served.find(&top.join("data/sub")).unwrap();
    assert_eq!((resolved, meta.kind), (top.join("data/sub"), Kind::Directory));
    assert!(served.find(&top.join("data/none")).is_err());
    assert!(content(&mut served, &top.join("data/none")).is_none());
}

#[test]
fn a_link_is_resolved_before_it_is_judged_and_never_opened() {
    let (_dir, top) = scratch();
    symlink(top.join("other"), top.join("data/way")).unwrap();
    symlink(top.join("other/secret"), top.join("data/link")).unwrap();
    symlink("nowhere", top.join("data/dead")).unwrap();
    let mut served = Served::default();
    let secret = top.join("other/secret");
    for name in
        ["data/link", "data/way/secret", "data/../other/secret", "data//link", "data/./link"]
    {
        let path = top.join(name);
        assert_eq!(served.find(&path).unwrap().0, secret, "{name}");
        assert!(served.open_plain(&path).is_none(), "{name}");
    }
    let (resolved, meta) = served.find(&top.join("data/dead")).unwrap();
    assert_eq!((resolved, meta.kind), (top.join("data/dead"), Kind::Symlink));
    for name in ["data/dead", "data/a/", "data/sub/..", "relative"] {
        let path = if name == "relative" { PathBuf::from(name) } else { top.join(name) };
        assert!(served.open_plain(&path).is_none(), "{name}");
    }
}

#[test]
fn a_directory_that_becomes_a_link_leads_nowhere_in_the_next_group() {
    let (_dir, top) = scratch();
    let path = top.join("data/sub/secret");
    let mut served = Served::default();
    assert_eq!(content(&mut served, &top.join("data/sub/b")).as_deref(), Some("open"));
    fs::rename(top.join("data/sub"), top.join("data/away")).unwrap();
    symlink(top.join("other"), top.join("data/sub")).unwrap();
    // This group walked there before; what it holds is the directory that was judged.
    assert!(served.open_plain(&path).is_none());
    let mut served = Served::default();
    assert!(served.open_plain(&path).is_none());
    assert_eq!(served.find(&path).unwrap().0, top.join("other/secret"));
}

#[test]
fn a_pipe_keeps_nobody_waiting() {
    let (_dir, top) = scratch();
    OsHost::new().make_fifo(&top.join("data/pipe"), 0o600).unwrap();
    let (_, meta) = Served::default().open_plain(&top.join("data/pipe")).unwrap();
    assert_eq!(meta.kind, Kind::Fifo);
}
