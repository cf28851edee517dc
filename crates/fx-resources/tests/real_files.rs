//! The laws of files, directories, links and commands on the real file system, in a
//! directory of their own. What needs root is left to the throw-away copy of a machine.

#![expect(clippy::disallowed_methods, reason = "the test looks at the machine by itself")]
#![expect(clippy::unwrap_used, reason = "a panic is a failed test")]

use std::fmt::Write;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use fx_engine::{Cancel, Ledger, Mode as StepMode, Outcome, Request, Resource, Run, step};
use fx_host::{Edits, Files, OsHost, Program};
use fx_resources::acl::{self, Acl, Who};
use fx_resources::file::{Backup, Content, Ensure, Links, Obstruction};
use fx_resources::mode::Mode;
use fx_resources::{directory, exec, file, link};

// Everything in a tree with kind, mode, size, time and content, links not followed.
fn snapshot(top: &Path) -> String {
    let mut out = String::new();
    let mut todo = vec![top.to_owned()];
    while let Some(path) = todo.pop() {
        let meta = fs::symlink_metadata(&path).unwrap();
        let name = path.strip_prefix(top).unwrap().display();
        let mode = meta.permissions().mode();
        let _ = write!(out, "{name} {mode:o} {}:{}", meta.uid(), meta.gid());
        if meta.is_dir() {
            let mut names: Vec<PathBuf> =
                fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()).collect();
            names.sort();
            todo.extend(names.into_iter().rev());
        } else if meta.is_symlink() {
            let _ = write!(out, " -> {}", fs::read_link(&path).unwrap().display());
        } else {
            let content = fs::read(&path).unwrap();
            let _ = write!(out, " {} @{}", content.escape_ascii(), meta.mtime_nsec());
        }
        out.push('\n');
    }
    out
}

type Make = Box<dyn Fn(&Path) -> Box<dyn Resource>>;

fn make<R: Resource + 'static>(work: impl Fn(&Path) -> R + 'static) -> Make {
    Box::new(move |dir| Box::new(work(dir)))
}

fn cases() -> Vec<(&'static str, Make)> {
    vec![
        (
            "new file",
            make(|dir| {
                file::File::new(file::Desired {
                    path: dir.join("new"),
                    content: Some(Content::bytes(b"text\xff")),
                    mode: Some(Mode::Exact(0o6751)),
                    ..file::Desired::default()
                })
            }),
        ),
        (
            "changed file with backup",
            make(|dir| {
                file::File::new(file::Desired {
                    path: dir.join("file"),
                    content: Some(Content::bytes("new")),
                    mode: Some(Mode::parse("g+w,o=").expect("a mode")),
                    backup: Backup::Suffix(".cfsaved".into()),
                    ..file::Desired::default()
                })
            }),
        ),
        (
            "file behind a link",
            make(|dir| {
                file::File::new(file::Desired {
                    path: dir.join("link"),
                    content: Some(Content::bytes("new")),
                    links: Links::Follow,
                    ..file::Desired::default()
                })
            }),
        ),
        (
            "copied file",
            make(|dir| {
                file::File::new(file::Desired {
                    path: dir.join("copy"),
                    content: Some(Content::copy(dir.join("file"))),
                    ..file::Desired::default()
                })
            }),
        ),
        (
            "file in place of a tree",
            make(|dir| {
                file::File::new(file::Desired {
                    path: dir.join("tree"),
                    content: Some(Content::bytes("flat")),
                    obstruction: Obstruction::Remove,
                    ..file::Desired::default()
                })
            }),
        ),
        (
            "removed file",
            make(|dir| {
                file::File::new(file::Desired {
                    path: dir.join("file"),
                    ensure: Ensure::Absent,
                    ..file::Desired::default()
                })
            }),
        ),
        (
            "new directory",
            make(|dir| {
                directory::Directory::new(directory::Desired {
                    path: dir.join("c"),
                    mode: Some(Mode::Exact(0o1770)),
                    ..directory::Desired::default()
                })
            }),
        ),
        (
            "removed tree",
            make(|dir| {
                directory::Directory::new(directory::Desired {
                    path: dir.join("tree"),
                    ensure: Ensure::Absent,
                    recursive_removal: true,
                    ..directory::Desired::default()
                })
            }),
        ),
        (
            "link with another target",
            make(|dir| {
                link::Link::new(link::Desired {
                    path: dir.join("link"),
                    target: "tree/other".into(),
                    ..link::Desired::default()
                })
            }),
        ),
        (
            "command",
            make(|dir| {
                exec::Exec::new(exec::Desired {
                    command: Some(Program::Shell("umask; printf %s \"$WORD\" > made".into())),
                    rules: exec::Rules {
                        cwd: Some(dir.to_owned()),
                        env: vec![("WORD".into(), Some("text".into()))],
                        umask: Some(0o077),
                        ..exec::Rules::default()
                    },
                    unless: vec![exec::Guard::new(Program::Argv(vec![
                        "test".into(),
                        "-s".into(),
                        "made".into(),
                    ]))],
                    ..exec::Desired::default()
                })
            }),
        ),
    ]
}

fn machine() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    fs::write(at("file"), "old").unwrap();
    fs::create_dir_all(at("tree/sub")).unwrap();
    fs::write(at("tree/sub/keep"), "x").unwrap();
    fs::write(at("tree/sub/stray"), "x").unwrap();
    std::os::unix::fs::symlink("sub/keep", at("tree/inner")).unwrap();
    std::os::unix::fs::symlink("file", at("link")).unwrap();
    dir
}

fn take_step(resource: &mut dyn Resource, mode: StepMode) -> Outcome {
    let host = OsHost::new();
    let (ledger, cancel) = (Ledger::new(), Cancel::new());
    let run = Run::new(&host, &ledger, &cancel);
    let mut request = Request::new(resource.id(), "make");
    request.mode = mode;
    let stepped = step(run, request, resource);
    host.commit().unwrap();
    stepped.outcome
}

#[test]
fn the_laws_hold_on_the_real_file_system() {
    for (name, make) in cases() {
        let dir = machine();
        let before = snapshot(dir.path());
        let rehearsed = take_step(make(dir.path()).as_mut(), StepMode::Rehearse);
        assert_eq!(rehearsed, Outcome::WouldRepair, "{name}");
        assert_eq!(snapshot(dir.path()), before, "{name}: a rehearsal changes nothing");
        let applied = take_step(make(dir.path()).as_mut(), StepMode::Apply);
        assert_eq!(applied, Outcome::Repaired, "{name}");
        let after = snapshot(dir.path());
        assert_ne!(after, before, "{name}");
        let again = take_step(make(dir.path()).as_mut(), StepMode::Apply);
        assert_eq!(again, Outcome::Kept, "{name}: {after}");
        assert_eq!(snapshot(dir.path()), after, "{name}: the second time changes nothing");
        assert!(!after.contains(".fx-"), "{name}: temporary names are gone");
    }
}

#[test]
fn results_are_as_asked_for() {
    let look = |wanted: &str| {
        let (_, make) = cases().into_iter().find(|(name, _)| *name == wanted).unwrap();
        let dir = machine();
        take_step(make(dir.path()).as_mut(), StepMode::Apply);
        dir
    };
    let dir = look("new file");
    let meta = fs::metadata(dir.path().join("new")).unwrap();
    assert_eq!(meta.mode() & 0o7777, 0o6751);
    let dir = look("changed file with backup");
    assert_eq!(fs::read(dir.path().join("file.cfsaved")).unwrap(), b"old");
    assert_eq!(fs::read(dir.path().join("file")).unwrap(), b"new");
    let dir = look("file behind a link");
    assert_eq!(fs::read(dir.path().join("file")).unwrap(), b"new");
    assert!(fs::symlink_metadata(dir.path().join("link")).unwrap().is_symlink());
    let dir = look("command");
    let meta = fs::metadata(dir.path().join("made")).unwrap();
    assert_eq!((meta.mode() & 0o777, meta.len()), (0o600, 4));
}

#[test]
fn a_full_or_closed_place_fails_that_item_alone() {
    let dir = machine();
    let path = dir.path().join("file/below");
    let mut below = file::File::new(file::Desired { path, ..file::Desired::default() });
    let outcome = take_step(&mut below, StepMode::Apply);
    let failure = outcome.failure().expect("a file has nothing below it");
    assert!(failure.to_string().contains("file/below"), "{failure}");
    let path = PathBuf::from("/proc/fixpoint-cannot-write-here");
    let mut closed = file::File::new(file::Desired { path, ..file::Desired::default() });
    assert!(take_step(&mut closed, StepMode::Apply).is_failure());
    assert_eq!(fs::read(dir.path().join("file")).unwrap(), b"old");
}

#[test]
fn access_lists_are_kept_by_the_kernel() {
    let dir = machine();
    let tree = dir.path().join("tree");
    let mode = || fs::metadata(&tree).unwrap().mode() & 0o777;
    let mut list = Acl::from_mode(mode());
    list.set(Who::User(4242), 7);
    list.fit_mask();
    let host = OsHost::new();
    let written = host.set_xattr(&tree, acl::ACCESS, Some(&list.encode()));
    if written.is_err_and(|error| error.to_string().contains("not supported")) {
        return;
    }
    assert_eq!(mode() & 0o070, 0o070, "the mask shows as the group's bits");
    let found = host.xattr(&tree, acl::ACCESS).unwrap().expect("the list is there");
    assert_eq!(Acl::decode(&found), Some(list));
}
