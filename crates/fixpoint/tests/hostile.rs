//! Hostile actions inside `try`, and the machine compared before and after each.
//!
//! The machine is itself a copy, one that allows mounts and copies inside, so that an action
//! which works hurts nobody: its layers then show every file that was changed.

#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a test runs the program and looks at the machine from outside"
)]

#[path = "hostile/actions.rs"]
mod actions;
#[path = "hostile/actor.rs"]
mod actor;

use std::collections::BTreeMap;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use actions::{ACTIONS, Expect};
use fx_host::{OsHost, Sandbox, SandboxOptions, Spec};

const PROGRAM: &str = env!("CARGO_BIN_EXE_fixpoint");
const ROLE: &str = "FX_HOSTILE_ROLE";
const PLACE: &str = "/srv/fx-machine";

#[test]
fn nothing_hostile_inside_a_try_reaches_the_machine() {
    assert!(ACTIONS.len() >= 60);
    let options = SandboxOptions { trusted: true, ..SandboxOptions::default() };
    let around = match Sandbox::new(&options) {
        Ok(around) => around,
        Err(error) => {
            eprintln!("SKIPPED nothing_hostile_inside_a_try_reaches_the_machine: {error}");
            return;
        }
    };
    let program = std::env::current_exe().unwrap();
    let spec = Spec::argv([
        program.as_os_str(),
        "--exact".as_ref(),
        "machine".as_ref(),
        "--nocapture".as_ref(),
    ]);
    let spec = Spec { merge_stderr: true, ..spec.env(ROLE, "machine") };
    let ended = around.run(&OsHost::new(), &spec).unwrap();
    let told = String::from_utf8_lossy(&ended.stdout).into_owned();
    eprintln!("{}", told.lines().filter(|line| line.contains("SKIPPED")).collect::<String>());
    assert!(ended.exit.success() && told.contains("all actions done"), "{told}");
    // Every file system of the machine: nothing but what the machine itself put there.
    let changed: Vec<PathBuf> = around
        .changes()
        .found
        .into_iter()
        .map(|change| change.path)
        .filter(|path| !path.starts_with(PLACE))
        .collect();
    assert_eq!(changed, Vec::<PathBuf>::new());
}

/// The helper for single system calls.
#[test]
fn actor() {
    let Ok(role) = std::env::var(ROLE) else { return };
    let Some(act) = role.strip_prefix("act:") else { return };
    let (name, argument) = act.split_once(' ').unwrap_or((act, ""));
    assert!(actor::act(name, argument), "refused");
}

/// The machine, inside the copy around it.
#[test]
fn machine() {
    if !std::env::var(ROLE).is_ok_and(|role| role == "machine") {
        return;
    }
    // The clock is only tried because it cannot be set even from here.
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let bounding = status.lines().find_map(|line| line.strip_prefix("CapBnd:\t")).unwrap();
    let bounding = u64::from_str_radix(bounding.trim(), 16).unwrap();
    assert_eq!(bounding & (1 << 25 | 1 << 22 | 1 << 16), 0, "time, boot and modules are dropped");
    let at = |name: &str| Path::new(PLACE).join(name);
    std::fs::create_dir_all(at("scratch")).unwrap();
    std::fs::create_dir_all(at("state")).unwrap();
    std::fs::write(at("scratch/file"), "precious").unwrap();
    let socket = UnixListener::bind(at("socket")).unwrap();
    let hidden =
        UnixListener::bind_addr(&SocketAddr::from_abstract_name("fx-machine").unwrap()).unwrap();
    for listener in [&socket, &hidden] {
        listener.set_nonblocking(true).unwrap();
    }
    for (name, words) in [("device", ["c", "1", "8"].as_slice()), ("pipe", &["p"])] {
        let made = Command::new("mknod").arg(at(name)).args(words).status().unwrap();
        assert!(made.success());
    }
    let pipe = {
        use rustix::fs::{Mode, OFlags};
        rustix::fs::open(at("pipe"), OFlags::RDWR | OFlags::NONBLOCK, Mode::empty()).unwrap()
    };
    let mut bystander = Command::new("sleep").arg("1000").stdin(Stdio::null()).spawn().unwrap();
    let restless = restless(bystander.id());
    let offset = clock_offset();
    for (name, expect, line) in ACTIONS {
        let before = snapshot(bystander.id(), &restless);
        let told = tried(name, line);
        assert!(told.contains("/srv/fx-ran"), "{name} was not run: {told}");
        if *expect == Expect::Fails {
            assert!(!told.contains("/srv/fx-won"), "{name} succeeded: {told}");
        }
        let after = snapshot(bystander.id(), &restless);
        for (key, value) in &before {
            let same = after.get(key) == Some(value);
            // Settings are the kernel's, not those of the copy around this machine.
            if let (false, Some(path)) = (same, key.strip_prefix("setting ")) {
                std::fs::write(path, value).unwrap();
            }
            assert!(same, "{name}: {key} was {value:?}, is {:?}", after.get(key));
        }
        let new: Vec<&String> = after.keys().filter(|key| !before.contains_key(*key)).collect();
        assert_eq!(new, Vec::<&String>::new(), "{name}");
        assert!((clock_offset() - offset).abs() < 500, "{name}: the clock was set");
        assert!(bystander.try_wait().unwrap().is_none(), "{name}: the bystander lives");
        assert!(socket.accept().is_err() && hidden.accept().is_err(), "{name}: nobody called");
        assert!(rustix::io::read(&pipe, &mut [0; 9]).is_err(), "{name}: the pipe is empty");
    }
    bystander.kill().unwrap();
    bystander.wait().unwrap();
    println!("all actions done");
}

/// Runs one action in a try and returns what it says.
fn tried(name: &str, line: &str) -> String {
    let (net, script) = (name.starts_with("net:"), Path::new(PLACE).join("action"));
    let helper = std::env::current_exe().unwrap();
    let text = format!(
        "T() {{ {ROLE}=\"act:$*\" {} --exact actor --nocapture; }}\n: > /srv/fx-ran\n( {} ) && : > /srv/fx-won\n",
        helper.display(),
        line.replace("$T", "T")
    );
    std::fs::write(&script, text).unwrap();
    let policy = Path::new(PLACE).join("site.cf");
    // In a session of its own: an action that ends its group shall not end the run.
    let command = format!("/usr/bin/setsid -w /bin/sh {}", script.display());
    std::fs::write(&policy, format!("bundle agent main\n{{\n commands: \"{command}\";\n}}\n"))
        .unwrap();
    let mut try_it = Command::new(PROGRAM);
    try_it.args(["try", "--runs", "1", "--max-processes", "500"]).env_remove(ROLE);
    if net {
        try_it.arg("--net");
    }
    let output = try_it
        .arg(&policy)
        .env("FIXPOINT_STATE", Path::new(PLACE).join("state"))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    format!("{}{}", text(&output.stdout), text(&output.stderr))
}

/// What changes by itself, seen by looking twice.
fn restless(bystander: u32) -> Vec<String> {
    let first = snapshot(bystander, &[]);
    tried("nothing", "true");
    let second = snapshot(bystander, &[]);
    let mut found: Vec<String> = first
        .iter()
        .filter(|(key, value)| second.get(*key) != Some(value))
        .map(|(key, _)| key.clone())
        .collect();
    found.extend(second.keys().filter(|key| !first.contains_key(*key)).cloned());
    // Counters that need not have moved between two looks.
    for counter in [
        "fs/dentry-state",
        "fs/file-nr",
        "fs/inode-nr",
        "fs/inode-state",
        "kernel/ns_last_pid",
        "kernel/pty/nr",
    ] {
        found.push(format!("setting /proc/sys/{counter}"));
    }
    assert!(found.len() < 60, "{found:?}");
    found
}

/// The machine as it is now, but for files outside the scratch: settings, mounts, devices,
/// processes, sockets, modules.
fn snapshot(bystander: u32, without: &[String]) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    settings(Path::new("/proc/sys"), &mut found);
    for file in ["mountinfo", "cgroup"] {
        let text = std::fs::read_to_string(format!("/proc/self/{file}")).unwrap();
        found.insert(format!("own {file}"), text);
    }
    for file in [
        "/proc/sysvipc/shm",
        "/proc/sysvipc/msg",
        "/proc/sysvipc/sem",
        "/proc/net/route",
        "/proc/swaps",
        "/proc/net/ip_tables_names",
    ] {
        found.insert(file.to_owned(), std::fs::read_to_string(file).unwrap_or_default());
    }
    let first = |line: &str| line.split(' ').next().unwrap_or_default().to_owned();
    let modules = std::fs::read_to_string("/proc/modules").unwrap_or_default();
    found.insert("modules".into(), modules.lines().map(first).collect::<Vec<_>>().join(" "));
    let sockets = std::fs::read_to_string("/proc/net/unix").unwrap();
    let named = sockets.lines().filter_map(|line| line.split_whitespace().nth(7));
    found.insert("sockets".into(), named.collect::<Vec<_>>().join(" "));
    tree(Path::new("/dev"), &mut found);
    tree(&Path::new(PLACE).join("scratch"), &mut found);
    found.insert(
        "content".into(),
        std::fs::read_to_string(Path::new(PLACE).join("scratch/file")).unwrap_or_default(),
    );
    let mut running: Vec<String> = std::fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter(|entry| entry.file_name().to_string_lossy().parse::<u32>().is_ok())
        .map(|entry| std::fs::read_to_string(entry.path().join("comm")).unwrap_or_default())
        .collect();
    running.sort();
    found.insert("processes".into(), running.join(""));
    for file in ["oom_score_adj", "limits", "cgroup"] {
        let text = std::fs::read_to_string(format!("/proc/{bystander}/{file}")).unwrap_or_default();
        found.insert(format!("bystander {file}"), text);
    }
    let stat = std::fs::read_to_string(format!("/proc/{bystander}/stat")).unwrap_or_default();
    found.insert("bystander nice".into(), stat.split(' ').nth(18).unwrap_or_default().to_owned());
    for key in without {
        found.remove(key);
    }
    found
}

/// How far the clock is from the time since the start, in milliseconds.
fn clock_offset() -> i64 {
    let clock = |id| {
        let time = rustix::time::clock_gettime(id);
        time.tv_sec * 1000 + time.tv_nsec / 1_000_000
    };
    clock(rustix::time::ClockId::Realtime) - clock(rustix::time::ClockId::Boottime)
}

fn settings(dir: &Path, found: &mut BTreeMap<String, String>) {
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        // Counters of all that runs here.
        if path.ends_with("fs/quota") || path.ends_with("kernel/random") {
            continue;
        }
        if path.is_dir() {
            settings(&path, found);
        } else if let Ok(bytes) = std::fs::read(&path) {
            let text = String::from_utf8_lossy(&bytes).into_owned();
            found.insert(format!("setting {}", path.display()), text);
        }
    }
}

fn tree(dir: &Path, found: &mut BTreeMap<String, String>) {
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        let Ok(meta) = std::fs::symlink_metadata(entry.path()) else { continue };
        let told = format!("{:o} {}:{} {}", meta.mode(), meta.uid(), meta.gid(), meta.rdev());
        found.insert(format!("file {}", entry.path().display()), told);
        if meta.is_dir() {
            tree(&entry.path(), found);
        }
    }
}
