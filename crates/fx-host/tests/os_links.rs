//! The safe path layer: which links are followed, and that a race cannot get around it.
//!
//! The cases with foreign owners need root; an ordinary user sees a loud line instead.

#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "a test looks at the machine from outside"
)]

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown, lchown, symlink};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use fx_host::{Edits, Files, HostError, OsHost, WriteOptions};

const STRANGER: u32 = 12_345;
const OTHER: u32 = 23_456;

fn root_or_skip(test: &str) -> bool {
    let root = rustix::process::geteuid().is_root();
    if !root {
        eprintln!("SKIPPED {test}: needs root to make links of other users");
    }
    root
}

fn link(target: &Path, path: &Path, owner: u32) {
    symlink(target, path).unwrap();
    lchown(path, Some(owner), Some(owner)).unwrap();
}

fn write(host: &OsHost, path: &Path) -> Result<(), HostError> {
    host.write(path, b"x", &WriteOptions::default())?;
    host.settle()
}

#[test]
fn the_owner_rule_for_links() {
    if !root_or_skip("the_owner_rule_for_links") {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    let host = OsHost::new();
    for (name, owner) in [("root", 0), ("stranger", STRANGER), ("other", OTHER)] {
        fs::create_dir(at(name)).unwrap();
        chown(at(name), Some(owner), Some(owner)).unwrap();
    }
    // (owner of the link, target, followed?)
    let table = [
        (0, "root", true),
        (0, "stranger", true),
        (STRANGER, "stranger", true),
        (STRANGER, "root", false),
        (STRANGER, "other", false),
        (STRANGER, "nowhere", false),
    ];
    for (owner, target, followed) in table {
        let name = at(&format!("link-{owner}-{target}"));
        link(Path::new(target), &name, owner);
        let result = write(&host, &name.join("f"));
        assert_eq!(result.is_ok(), followed, "link of {owner} to {target}: {result:?}");
        assert_eq!(host.list(&name).is_ok(), followed, "reading obeys the same rule");
    }
    let planted = at("link-12345-root");
    let error = write(&host, &planted.join("f")).unwrap_err();
    assert!(matches!(error, HostError::UnsafePath { .. }));
    assert!(
        error.to_string().contains("user 12345 owns the link but user 0 owns what it points to"),
        "{error}"
    );
    assert!(!at("root/f").exists() || fs::read(at("root/f")).unwrap() == b"x");
}

#[test]
fn a_link_to_a_link_is_judged_at_each_hop() {
    if !root_or_skip("a_link_to_a_link_is_judged_at_each_hop") {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let host = OsHost::new();
    fs::create_dir(dir.path().join("safe")).unwrap();
    link(Path::new("safe"), &dir.path().join("inner"), STRANGER);
    link(Path::new("inner"), &dir.path().join("outer"), 0);
    let error = write(&host, &dir.path().join("outer/f")).unwrap_err();
    assert!(matches!(error, HostError::UnsafePath { .. }), "{error}");
    assert!(host.list(&dir.path().join("safe")).unwrap().is_empty());
}

#[test]
fn a_final_link_is_followed_by_the_same_rule() {
    if !root_or_skip("a_final_link_is_followed_by_the_same_rule") {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let host = OsHost::new();
    let home = dir.path().join("home");
    fs::create_dir(&home).unwrap();
    fs::write(dir.path().join("roots"), "precious").unwrap();
    fs::write(home.join("his"), "his").unwrap();
    for path in [&home, &home.join("his")] {
        chown(path, Some(STRANGER), Some(STRANGER)).unwrap();
    }
    // (owner of the link, where it lies, target, followed to look, followed to change)
    let table = [
        (0, dir.path(), "roots", true, true),
        (0, dir.path(), "home/his", true, true),
        (STRANGER, &*home, "../roots", false, false),
        (STRANGER, &*home, "his", true, true),
        (STRANGER, &*home, "nothing", false, false),
        // He can move it about in his directory, so it is as good as his.
        (0, &*home, "../roots", true, false),
        (0, &*home, "his", true, true),
    ];
    for (owner, place, target, look, change) in table {
        let path = place.join("link");
        link(Path::new(target), &path, owner);
        let told = format!("link of {owner} in {} to {target}", place.display());
        assert_eq!(host.real_path(&path).is_ok(), look, "{told}");
        let to_change = host.real_path_to_change(&path);
        assert_eq!(to_change.is_ok(), change, "{told}: {to_change:?}");
        if let Ok(real) = to_change {
            assert_eq!(real, fs::canonicalize(&path).unwrap(), "{told}");
        }
        fs::remove_file(&path).unwrap();
    }
}

#[test]
fn a_link_of_root_that_a_user_moved_leads_nowhere() {
    if !root_or_skip("a_link_of_root_that_a_user_moved_leads_nowhere") {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let host = OsHost::new();
    let (home, victim) = (dir.path().join("home"), dir.path().join("victim"));
    for path in [&home, &victim] {
        fs::create_dir(path).unwrap();
    }
    chown(&home, Some(STRANGER), Some(STRANGER)).unwrap();
    link(&victim, &home.join("www"), 0);
    fs::rename(home.join("www"), home.join(".ssh")).unwrap();
    let error = write(&host, &home.join(".ssh/authorized_keys")).unwrap_err();
    assert!(
        error.to_string().contains("user 12345 owns the directory of the link but user 0 owns"),
        "{error}"
    );
    for result in [
        host.make_dir(&home.join(".ssh/d"), 0o755),
        host.symlink(Path::new("x"), &home.join(".ssh/l")),
        host.set_owner(&home.join(".ssh/."), Some(STRANGER), None),
    ] {
        assert!(matches!(result, Err(HostError::UnsafePath { .. })), "{result:?}");
    }
    assert!(host.list(&victim).unwrap().is_empty());
}

#[test]
fn a_command_is_not_started_behind_a_strangers_link() {
    if !root_or_skip("a_command_is_not_started_behind_a_strangers_link") {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let host = OsHost::new();
    let (home, victim) = (dir.path().join("home"), dir.path().join("victim"));
    for path in [&home, &victim, &home.join("real")] {
        fs::create_dir(path).unwrap();
    }
    for path in [&home, &home.join("real")] {
        chown(path, Some(STRANGER), Some(STRANGER)).unwrap();
    }
    link(&victim, &home.join("build"), STRANGER);
    link(Path::new("real"), &home.join("his"), STRANGER);
    let run = |cwd: &str, uid: Option<u32>| {
        let cwd = Some(home.join(cwd));
        let spec = fx_host::Spec { cwd, uid, ..fx_host::Spec::argv(["/bin/pwd"]) };
        fx_host::Commands::run(&host, &spec)
    };
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
    for uid in [None, Some(STRANGER)] {
        let error = run("build", uid).unwrap_err();
        assert!(matches!(error, HostError::UnsafePath { .. }), "{error}");
        for name in ["real", "his"] {
            let ended = run(name, uid).unwrap();
            let shown = String::from_utf8_lossy(&ended.stdout).trim().to_owned();
            assert_eq!(Path::new(&shown), fs::canonicalize(home.join("real")).unwrap());
        }
    }
    assert!(run("missing", None).is_err());
}

#[test]
fn a_link_that_was_followed_before_is_judged_anew_each_time() {
    if !root_or_skip("a_link_that_was_followed_before_is_judged_anew_each_time") {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let top = fs::canonicalize(dir.path()).unwrap();
    let host = OsHost::new();
    for name in ["one", "two"] {
        fs::create_dir_all(top.join(name).join("below")).unwrap();
        fs::write(top.join(name).join("below/f"), name).unwrap();
        symlink("f", top.join(name).join("below/g")).unwrap();
    }
    let way = top.join("way");
    let found = || {
        let path = way.join("below/f");
        let read = host.read(&path).map(|bytes| String::from_utf8(bytes).unwrap());
        let listed = host.list(&way.join("below")).map(|entries| entries.len());
        // Every look gives the same answer, and each is made twice.
        assert_eq!(host.stat(&path).is_ok(), read.is_ok());
        assert_eq!(host.lstat(&path).is_ok(), read.is_ok());
        assert_eq!(listed.is_ok_and(|count| count == 2), read.is_ok());
        assert_eq!(host.read(&way.join("below/g")).is_ok(), read.is_ok(), "a link behind a link");
        assert_eq!(host.read(&path).is_ok(), read.is_ok());
        read
    };
    let put = |target: &Path, owner: u32| {
        let _ = fs::remove_file(&way);
        link(target, &way, owner);
    };
    put(Path::new("one"), 0);
    assert_eq!(found().unwrap(), "one");
    put(Path::new("two"), 0);
    assert_eq!(found().unwrap(), "two", "it leads elsewhere now");
    put(&top.join("one"), 0);
    assert_eq!(found().unwrap(), "one", "it is absolute now");
    put(Path::new("one"), STRANGER);
    assert!(matches!(found(), Err(HostError::UnsafePath { .. })), "it is a stranger's now");
    assert!(matches!(write(&host, &way.join("below/f")), Err(HostError::UnsafePath { .. })));
    put(Path::new("one"), 0);
    assert_eq!(found().unwrap(), "one");
    assert!(host.stat(&way.join("below/none")).is_err_and(|error| error.is_not_found()));
    assert!(host.lstat(&way).unwrap().is_symlink());
    assert!(host.lstat(&way.join("below/g")).unwrap().is_symlink());
    assert_eq!(host.real_path(&way.join("../one/below/f")).unwrap(), top.join("one/below/f"));
    fs::remove_file(&way).unwrap();
    assert!(found().is_err_and(|error| error.is_not_found()));
    fs::rename(top.join("two"), &way).unwrap();
    assert_eq!(found().unwrap(), "two", "it is a directory now");
    // The link lies where another directory is now.
    fs::create_dir(top.join("inner")).unwrap();
    link(&top.join("one"), &top.join("inner/way"), 0);
    assert!(host.read(&top.join("inner/way/below/f")).is_ok());
    fs::rename(top.join("inner"), top.join("moved")).unwrap();
    fs::create_dir(top.join("inner")).unwrap();
    link(&top.join("one"), &top.join("inner/way"), STRANGER);
    let refused = host.read(&top.join("inner/way/below/f"));
    assert!(matches!(refused, Err(HostError::UnsafePath { .. })));
}

#[test]
fn no_change_goes_through_a_link_where_others_can_write() {
    let dir = tempfile::tempdir().unwrap();
    let host = OsHost::new();
    let open = dir.path().join("open");
    fs::create_dir(&open).unwrap();
    fs::create_dir(dir.path().join("target")).unwrap();
    symlink("../target", open.join("link")).unwrap();
    fs::set_permissions(&open, fs::Permissions::from_mode(0o777)).unwrap();
    let error = write(&host, &open.join("link/f")).unwrap_err();
    assert!(error.to_string().contains("others can write"), "{error}");
    assert!(host.list(&open.join("link")).is_ok(), "looking is allowed");
    fs::set_permissions(&open, fs::Permissions::from_mode(0o1777)).unwrap();
    write(&host, &open.join("link/f")).unwrap();
}

#[test]
fn endless_links_end() {
    let dir = tempfile::tempdir().unwrap();
    symlink("b", dir.path().join("a")).unwrap();
    symlink("a", dir.path().join("b")).unwrap();
    let error = OsHost::new().read(&dir.path().join("a/f")).unwrap_err();
    assert!(error.to_string().contains("Too many levels of symbolic links"), "{error}");
}

#[test]
fn a_race_between_directory_and_link_never_gets_a_write_outside() {
    if !root_or_skip("a_race_between_directory_and_link_never_gets_a_write_outside") {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let (home, victim) = (dir.path().join("home"), dir.path().join("victim"));
    for path in [&home, &home.join("real"), &victim] {
        fs::create_dir(path).unwrap();
    }
    for path in [&home, &home.join("real")] {
        chown(path, Some(STRANGER), Some(STRANGER)).unwrap();
    }
    link(&victim, &home.join("swap"), STRANGER);
    let stop = Arc::new(AtomicBool::new(false));
    let attacker = std::thread::spawn({
        let (home, stop) = (home.clone(), Arc::clone(&stop));
        move || {
            let dir = rustix::fs::open(&home, rustix::fs::OFlags::PATH, rustix::fs::Mode::empty())
                .unwrap();
            let mut swaps = 0u64;
            while !stop.load(Ordering::Relaxed) {
                rustix::fs::renameat_with(
                    &dir,
                    "real",
                    &dir,
                    "swap",
                    rustix::fs::RenameFlags::EXCHANGE,
                )
                .unwrap();
                swaps += 1;
            }
            swaps
        }
    });
    let host = OsHost::new();
    let attempts: u32 = std::env::var("FX_RACE_ATTEMPTS").map_or(20_000, |n| n.parse().unwrap());
    let (mut written, mut refused) = (0, 0);
    for n in 0..attempts {
        let path = home.join(format!("real/f{}", n % 16));
        let result = match n % 4 {
            0 => host.write(&path, b"x", &WriteOptions::default()).and_then(|()| host.settle()),
            1 => host.make_dir(&path, 0o755),
            2 => host.set_mode(&path, 0o777),
            _ => host.symlink(Path::new("x"), &path),
        };
        if result.is_ok() { written += 1 } else { refused += 1 }
    }
    stop.store(true, Ordering::Relaxed);
    let swaps = attacker.join().unwrap();
    let outside: Vec<_> = fs::read_dir(&victim).unwrap().collect();
    assert!(outside.is_empty(), "{} entries outside after {attempts} attempts", outside.len());
    assert!(
        written > 0 && refused > 0 && swaps > 100,
        "the race was run: {written} {refused} {swaps}"
    );
}
