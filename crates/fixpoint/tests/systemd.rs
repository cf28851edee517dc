//! Services, timers, sockets, mounts and users against a real systemd, which is the first process
//! of a throw-away copy of this machine: its own mount, process, network, host name, ipc and
//! control group namespaces, without the right to set the clock. Each language converges, has
//! nothing to do the second time, and takes all of it away again. Needs root and systemd, and says
//! so where it has them not.

#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "a test runs the program from outside"
)]

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// A copy of the machine in which systemd runs.
struct Booted {
    dir: tempfile::TempDir,
    outer: Child,
    /// Its first process, as seen from here.
    first: u32,
}

/// How long it may take to boot: the machine may be busy.
const PATIENCE: Duration = Duration::from_secs(90);

impl Booted {
    fn new() -> Option<Booted> {
        if let Err(why) = possible() {
            eprintln!("SKIPPED: no systemd is booted here: {why}");
            return None;
        }
        let dir = tempfile::tempdir().unwrap();
        let outer = Command::new("unshare")
            .args(["--mount", "--propagation", "private", "sh"])
            .arg(here("outer.sh"))
            .arg(dir.path())
            .arg(env!("CARGO_BIN_EXE_fixpoint"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(std::fs::File::create(dir.path().join("errors")).unwrap())
            .spawn()
            .unwrap();
        let mut booted = Booted { dir, outer, first: 0 };
        let end = Instant::now() + PATIENCE;
        loop {
            let errors = || std::fs::read_to_string(booted.dir.path().join("errors"));
            assert!(Instant::now() < end, "systemd did not boot: {:?}", errors());
            let ended = booted.outer.try_wait().unwrap();
            assert!(ended.is_none(), "systemd could not be started: {:?}", errors());
            booted.find_first();
            if booted.first != 0 {
                let output = booted.run(&["systemctl", "is-system-running"]);
                let state = String::from_utf8_lossy(&output.stdout).trim().to_owned();
                if matches!(state.as_str(), "running" | "degraded") {
                    return Some(booted);
                }
            }
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// The process two below the outer one that is called systemd.
    fn find_first(&mut self) {
        let children = |pid: u32| {
            let list = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"));
            list.unwrap_or_default().split_whitespace().filter_map(|pid| pid.parse().ok()).collect()
        };
        let shell: Vec<u32> = children(self.outer.id());
        for pid in shell.into_iter().flat_map(|pid| -> Vec<u32> { children(pid) }) {
            if std::fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|c| c == "systemd\n")
            {
                self.first = pid;
            }
        }
    }

    /// Runs a program inside.
    fn run(&self, args: &[&str]) -> Output {
        let first = self.first.to_string();
        Command::new("nsenter")
            .args(["--target", &first, "--mount", "--pid", "--uts", "--ipc", "--net", "--cgroup"])
            .args([format!("--root=/proc/{first}/root").as_str(), "--wd=/", "--"])
            .args(args)
            .stdin(Stdio::null())
            .output()
            .unwrap()
    }

    /// Puts a file of this directory's policies inside.
    fn put(&self, name: &str, to: &str) {
        let target = PathBuf::from(format!("/proc/{}/root{to}", self.first));
        std::fs::create_dir_all(target.parent().unwrap()).unwrap();
        std::fs::copy(here(name), &target).unwrap();
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(&target, PermissionsExt::from_mode(0o600)).unwrap();
    }

    /// What is true of the service, timer, socket, mount and user: `active enabled` and the like.
    fn state(&self) -> Vec<String> {
        let word =
            |args: &[&str]| String::from_utf8_lossy(&self.run(args).stdout).trim().to_owned();
        let mut state = Vec::new();
        for unit in ["fxdemo.service", "fxdemo.timer", "fxdemo.socket"] {
            let active = word(&["systemctl", "is-active", unit]);
            let enabled = word(&["systemctl", "is-enabled", unit]);
            state.push(format!("{unit} {active} {enabled}"));
        }
        state.push(format!("mount {}", word(&["findmnt", "-no", "FSTYPE", "/srv/fxdemo"])));
        state.push(format!("user {}", word(&["sh", "-c", "getent passwd fxdemo | cut -d: -f7"])));
        state
    }
}

impl Drop for Booted {
    fn drop(&mut self) {
        if self.first != 0 {
            let _ = Command::new("kill").args(["-9", &self.first.to_string()]).status();
        } else {
            let _ = self.outer.kill();
        }
        let _ = self.outer.wait();
    }
}

fn here(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/systemd").join(name)
}

fn possible() -> Result<(), String> {
    let root = std::fs::metadata("/proc/self").map(|m| std::os::unix::fs::MetadataExt::uid(&m));
    if root.unwrap_or(1) != 0 {
        return Err("it needs root".to_owned());
    }
    if !Path::new("/lib/systemd/systemd").exists() {
        return Err("systemd is not installed".to_owned());
    }
    for tool in ["unshare", "nsenter", "setpriv"] {
        if Command::new(tool).arg("--version").output().is_err() {
            return Err(format!("{tool} is not installed"));
        }
    }
    let probe = "d=$(mktemp -d) && mount -t cgroup2 none $d && mkdir $d/fixpoint-probe && rmdir $d/fixpoint-probe && umount $d && rmdir $d && unshare --cgroup true";
    let allowed = Command::new("unshare")
        .args(["--mount", "--propagation", "private", "sh", "-c", probe])
        .output()
        .is_ok_and(|output| output.status.success());
    if allowed { Ok(()) } else { Err("control groups cannot be made".to_owned()) }
}

const UP: [&str; 5] = [
    "fxdemo.service active enabled",
    "fxdemo.timer active enabled",
    "fxdemo.socket active enabled",
    "mount tmpfs",
    "user /bin/false",
];
const DOWN: [&str; 5] = [
    "fxdemo.service inactive disabled",
    "fxdemo.timer inactive disabled",
    "fxdemo.socket inactive disabled",
    "mount ",
    "user ",
];

/// Converges with a policy; twice, and the second time there is nothing to do.
fn converge(booted: &Booted, policy: &str, expected: [&str; 5]) {
    let target = format!("/root/{policy}");
    booted.put(policy, &target);
    for (round, done) in ["first", "second"].iter().zip([false, true]) {
        let output = booted.run(&["/usr/local/bin/fixpoint", "run", &target]);
        let text = format!(
            "{}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
        assert_eq!(output.status.code(), Some(0), "{policy}, {round}: {text}");
        assert_eq!(booted.state(), expected, "{policy}, {round}: {text}");
        assert_eq!(text.contains(" 0 repaired"), done, "{policy}, {round}: {text}");
    }
}

fn check(extension: &str) {
    let Some(booted) = Booted::new() else { return };
    converge(&booted, &format!("site.{extension}"), UP);
    converge(&booted, &format!("end.{extension}"), DOWN);
}

#[test]
fn cfengine() {
    check("cf");
}

#[test]
fn puppet() {
    check("pp");
}

#[test]
fn chef() {
    check("rb");
}
