//! Nothing inside a box has a right that reaches the machine, nothing of a box outlives who
//! made it, and reading a box from outside follows nothing that was put there.

#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a test looks at the machine from outside"
)]

use std::os::fd::AsRawFd;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use fx_host::{Exit, OsHost, Sandbox, SandboxOptions, Spec};

fn sandbox(options: &SandboxOptions) -> Option<Sandbox> {
    if !rustix::process::geteuid().is_root() {
        eprintln!("SKIPPED: a sandbox needs root");
        return None;
    }
    Some(Sandbox::new(options).unwrap())
}

fn shell(sandbox: &Sandbox, line: &str) -> String {
    let ended =
        sandbox.run(&OsHost::new(), &Spec { merge_stderr: true, ..Spec::shell(line) }).unwrap();
    format!("{}{:?}", String::from_utf8_lossy(&ended.stdout), ended.exit)
}

/// The capabilities by their bits: files, users, own processes, set-up of file capabilities.
const KEPT: u64 = 0x8004_83fb;
/// Ports, interfaces and packets of a network of its own.
const NET: u64 = 0x3400;

#[test]
fn capabilities_are_few_for_the_first_process_and_for_all_that_enter() {
    for net in [false, true] {
        let Some(sandbox) = sandbox(&SandboxOptions { net, ..SandboxOptions::default() }) else {
            return;
        };
        let kept = (if net { KEPT } else { KEPT | NET }) & ours("CapBnd") & !0b100;
        let none = 0_u64;
        for pid in ["self", "1"] {
            let told = shell(&sandbox, &format!("grep ^Cap /proc/{pid}/status"));
            let expected = format!(
                "CapInh:\t{none:016x}\nCapPrm:\t{kept:016x}\nCapEff:\t{kept:016x}\nCapBnd:\t{kept:016x}\nCapAmb:\t{none:016x}\nCode(0)"
            );
            assert_eq!(told, expected, "net {net}, process {pid}");
        }
        assert_eq!(shell(&sandbox, "grep ^Seccomp: /proc/1/status"), "Seccomp:\t2\nCode(0)");
        assert_eq!(shell(&sandbox, "grep ^Seccomp: /proc/self/status"), "Seccomp:\t2\nCode(0)");
    }
}

fn ours(name: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(":\t"));
    u64::from_str_radix(line.unwrap().trim(), 16).unwrap()
}

/// What must fail inside. Each line would work for root on the machine.
const REFUSED: &[&str] = &[
    "read v < /proc/sys/vm/swappiness; echo $v > /proc/sys/vm/swappiness",
    "read v < /proc/sys/net/ipv4/ip_forward; echo $v > /proc/sys/net/ipv4/ip_forward",
    "echo h > /proc/sysrq-trigger",
    "echo 0 > /sys/kernel/mm/ksm/run",
    "mknod /tmp/n b 7 0",
    "mknod /tmp/n c 1 3",
    "mount -t proc proc /mnt",
    "mount -t tmpfs tmpfs /mnt",
    "mount -o remount,rw /proc",
    "mount -o remount,rw /sys",
    "mount --bind /proc /mnt",
    "umount /proc/kcore",
    "umount -l /sys",
    "chmod 600 /dev/null",
    "chown 1 /dev/zero",
    "unshare -U true",
    "unshare -m true",
    "nsenter -t 1 -m true",
    "dmesg -n 4",
    "chmod 666 /proc/self/fd/0",
    "chown 0 /proc/self/fd/0",
    "readlink /proc/1/fd/0",
    "readlink /proc/1/root",
    "test -s /proc/kcore",
];

#[test]
fn what_would_reach_the_machine_is_refused() {
    let Some(sandbox) = sandbox(&SandboxOptions::default()) else { return };
    for line in REFUSED {
        let told = shell(&sandbox, &format!("({line}) >/dev/null 2>&1 && echo DONE || echo no"));
        assert_eq!(told, "no\nCode(0)", "{line}");
    }
}

#[test]
fn a_device_of_the_machine_s_disk_is_no_device_inside() {
    let dir = tempfile::tempdir_in("/var/tmp").unwrap();
    let node = dir.path().join("null");
    let made = Command::new("mknod").arg(&node).args(["c", "1", "3"]).status();
    if !made.is_ok_and(|status| status.success()) {
        eprintln!("SKIPPED a_device_of_the_machine_s_disk_is_no_device_inside: no mknod here");
        return;
    }
    let Some(sandbox) = sandbox(&SandboxOptions::default()) else { return };
    let line = format!("(echo x > {0}) 2>/dev/null && echo DONE; cat {0}", node.display());
    assert!(shell(&sandbox, &line).ends_with("Permission denied\nCode(1)"));
}

#[test]
fn what_a_package_does_still_works() {
    let Some(sandbox) = sandbox(&SandboxOptions::default()) else { return };
    let line = "cd /srv && cp /bin/true t && chown 12345:54321 t && chmod 6755 t && stat -c '%u %g %a' t \
        && chattr -V +i t >/dev/null 2>&1; echo x > /dev/null && su -s /bin/sh nobody -c 'id -un' && chroot / true && echo all";
    assert_eq!(shell(&sandbox, line), "12345 54321 6755\nnobody\nall\nCode(0)");
}

#[test]
fn descriptors_of_the_caller_do_not_go_in() {
    let Some(sandbox) = sandbox(&SandboxOptions::default()) else { return };
    let mode = rustix::fs::Mode::empty();
    // Without the mark that closes it: whoever starts it hands it on.
    let left = rustix::fs::open("/", rustix::fs::OFlags::RDONLY, mode).unwrap();
    assert!(left.as_raw_fd() > 2);
    assert_eq!(shell(&sandbox, "ls /proc/self/fd | tr '\\n' ' '"), "0 1 2 3 Code(0)");
}

#[test]
fn reading_a_box_follows_no_link_and_waits_for_no_pipe() {
    let Some(sandbox) = sandbox(&SandboxOptions::default()) else { return };
    let line = "mkdir -p /srv/fx/real && echo text > /srv/fx/real/f && cd /srv/fx && ln -s real link \
        && ln -s /etc/passwd leaf && mkfifo pipe && truncate -s 8T huge && echo made";
    assert_eq!(shell(&sandbox, line), "made\nCode(0)");
    let read = |path: &str| sandbox.read(Path::new(path));
    assert_eq!(read("/srv/fx/real/f").unwrap().unwrap(), b"text\n");
    assert_eq!(read("/srv/fx/none").unwrap(), None);
    for path in ["/srv/fx/leaf", "/srv/fx/link/f", "/srv/fx/pipe", "/srv/fx/huge", "/srv/fx"] {
        assert!(read(path).is_err(), "{path}");
    }
    assert!(sandbox.write(Path::new("/srv/fx/leaf"), b"x").is_err());
    assert!(sandbox.write(Path::new("/srv/fx/link/new"), b"x").is_err());
}

#[test]
fn changes_are_told_of_deep_trees_pipes_and_huge_files() {
    let dir = tempfile::tempdir_in("/var/tmp").unwrap();
    let at = dir.path().display();
    for (name, size) in [("sparse", 8_u64 << 40), ("same", 2 << 40)] {
        std::fs::File::create(dir.path().join(name)).unwrap().set_len(size).unwrap();
    }
    std::os::unix::fs::symlink("/etc", dir.path().join("etc")).unwrap();
    let Some(sandbox) = sandbox(&SandboxOptions::default()) else { return };
    // A directory where the machine has a link; a tree deeper than any path; what is not read.
    let line = format!(
        "cd {at} && rm etc && mkdir etc && echo mine > etc/passwd && mkfifo pipe && echo x >> sparse && chmod 600 same; \
         mkdir deep && cd deep && n=$(printf '%0200d' 0) && i=0 && \
         while [ $i -lt 300 ]; do mkdir $n && cd -P ./$n 2>/dev/null || break; i=$((i+1)); done; echo $i"
    );
    let told = shell(&sandbox, &line);
    assert!(told.ends_with("Code(0)"), "{told}");
    let began = Instant::now();
    let changes = sandbox.changes();
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
    let find = |name: &str| {
        let path = dir.path().join(name);
        changes.found.iter().find(|change| change.path == path).cloned()
    };
    use fx_host::ChangeKind::{Added, Attributes, Content};
    for (name, kind) in [
        ("etc", Content),
        ("etc/passwd", Added),
        ("pipe", Added),
        ("sparse", Content),
        ("same", Attributes),
    ] {
        assert_eq!(find(name).map(|change| change.kind), Some(kind), "{name}");
    }
    assert_eq!(
        sandbox.contents(&find("etc/passwd").unwrap(), 99),
        Some((Vec::new(), b"mine\n".to_vec()))
    );
    assert_eq!(sandbox.contents(&find("pipe").unwrap(), 99), None);
    assert_eq!(sandbox.contents(&find("sparse").unwrap(), 99), None);
    assert!(
        changes.not_read.iter().any(|path| path.starts_with(dir.path().join("deep"))),
        "{}",
        changes.not_read.len()
    );
}

#[test]
fn many_processes_are_stopped_by_the_limit() {
    let options = SandboxOptions { processes: Some(40), ..SandboxOptions::default() };
    let Some(sandbox) = sandbox(&options) else { return };
    if !sandbox.is_limited() {
        eprintln!("SKIPPED many_processes_are_stopped_by_the_limit: no control group to write");
        return;
    }
    let line = "i=0; while [ $i -lt 200 ]; do sleep 60 & i=$((i+1)); done; echo all";
    let told = shell(&sandbox, line);
    assert!(!told.contains("all"), "{told}");
    // And the box is as good as ever once they are gone.
    assert_eq!(shell(&sandbox, "kill -9 -1; true"), "Code(0)");
    let free = |_| shell(&sandbox, "echo fine") == "fine\nCode(0)";
    assert!((0..100).any(free), "there is room again");
}

const ROLE: &str = "FX_SANDBOX_ROLE";
const MARK: &str = "FX_SANDBOX_MARK";

/// Makes a box and stays in it, to be killed at any moment.
#[test]
fn victim() {
    if std::env::var(ROLE).is_err() {
        return;
    }
    let sandbox = Sandbox::new(&SandboxOptions::default()).unwrap();
    loop {
        let spec = Spec::shell("sleep 1000 & setsid sleep 1000 & wait");
        let exit = sandbox.run(&OsHost::new(), &spec).unwrap().exit;
        assert_eq!(exit, Exit::Code(0));
    }
}

/// Processes whose environment holds the mark.
fn marked(mark: &str) -> Vec<i32> {
    let word = format!("{MARK}={mark}");
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let Ok(pid) = entry.file_name().to_string_lossy().parse::<i32>() else { continue };
        let environ = std::fs::read(entry.path().join("environ")).unwrap_or_default();
        if environ.split(|byte| *byte == 0).any(|one| one == word.as_bytes()) {
            found.push(pid);
        }
    }
    found
}

#[test]
fn killed_at_any_moment_nothing_is_left() {
    if !rustix::process::geteuid().is_root() {
        eprintln!("SKIPPED killed_at_any_moment_nothing_is_left: a sandbox needs root");
        return;
    }
    let kills: u32 = std::env::var("FX_KILLS").map_or(200, |text| text.parse().unwrap());
    let mark = std::process::id().to_string();
    let mut seed = 1_u64;
    let mut at_work = 0;
    for _ in 0..kills {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "victim", "--nocapture"])
            .envs([(ROLE, "1"), (MARK, &*mark)])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // The moment is what is varied; nothing is waited for.
        std::thread::sleep(Duration::from_micros((seed >> 33) % 25_000));
        at_work += u32::from(marked(&mark).len() > 2);
        child.kill().unwrap();
        child.wait().unwrap();
    }
    assert!(at_work > 0, "some were killed when the box stood");
    let deadline = Instant::now() + Duration::from_secs(10);
    let mut left = marked(&mark);
    while !left.is_empty() && Instant::now() < deadline {
        std::thread::yield_now();
        left = marked(&mark);
    }
    for pid in &left {
        eprintln!(
            "left: {pid} {}",
            std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default()
        );
    }
    assert_eq!(left, Vec::<i32>::new(), "after {kills} kills");
}
