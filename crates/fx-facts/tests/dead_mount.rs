//! A file system that never answers costs the shared limit once and is reported.
//!
//! A FUSE mount without a server is the dead mount; it lives in a throw-away copy of the
//! machine, in which this test runs itself again. Says loudly where it cannot run.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::disallowed_methods,
    clippy::exit,
    reason = "a test looks at the machine from outside"
)]

use std::time::{Duration, Instant};

use fx_facts::Facts;
use fx_host::{OsHost, Sandbox, SandboxOptions, Spec};

const ROLE: &str = "FX_DEAD_MOUNT";

#[test]
fn a_dead_mount_costs_five_seconds_and_is_reported() {
    let sandbox = match Sandbox::new(&SandboxOptions { trusted: true, ..SandboxOptions::default() })
    {
        Ok(sandbox) => sandbox,
        Err(error) => {
            eprintln!("SKIPPED a_dead_mount_costs_five_seconds_and_is_reported: {error}");
            return;
        }
    };
    let program = std::env::current_exe().unwrap();
    let argv = [program.as_os_str(), "--exact".as_ref(), "inside".as_ref(), "--nocapture".as_ref()];
    let spec = Spec::argv(argv).env(ROLE, "1").timeout(Duration::from_mins(1));
    let ended = sandbox.run(&OsHost::new(), &Spec { merge_stderr: true, ..spec }).unwrap();
    let text = String::from_utf8_lossy(&ended.stdout).into_owned();
    assert!(ended.exit.success(), "{text}");
    if text.contains("SKIPPED") {
        eprintln!("{text}");
    }
}

#[test]
fn inside() {
    if std::env::var(ROLE).is_err() {
        return;
    }
    let places = ["/mnt/dead1", "/mnt/dead2"];
    let held: Vec<_> = places.into_iter().map(mount_without_server).collect();
    if held.iter().any(Option::is_none) {
        println!("SKIPPED the kernel mounts no FUSE here");
        return;
    }
    let host = OsHost::new();
    let facts = Facts::new(&host);
    let began = Instant::now();
    let mounts = facts.mounts();
    let took = began.elapsed();
    assert!(took >= Duration::from_secs(4) && took < Duration::from_secs(8), "{took:?}");
    let root = mounts.iter().find(|mount| mount.path.as_os_str() == "/").unwrap();
    assert!(root.space.is_some(), "the others answered");
    let problems = facts.problems().into_iter().map(|problem| problem.message);
    let expected = places.map(|place| format!("'{place}' did not answer in time"));
    assert_eq!(problems.collect::<Vec<_>>(), expected);
    println!("two dead mounts: {took:?}");
    // The threads left behind hang for ever; only the end of the process frees them.
    std::process::exit(0);
}

/// The open device that keeps the mount waiting.
fn mount_without_server(at: &str) -> Option<std::fs::File> {
    use std::os::fd::AsRawFd;
    std::fs::create_dir_all(at).unwrap();
    let _ = std::process::Command::new("mknod").args(["/dev/fuse", "c", "10", "229"]).output();
    let device = std::fs::File::options().read(true).write(true).open("/dev/fuse").ok()?;
    let options = format!("fd={},rootmode=40000,user_id=0,group_id=0", device.as_raw_fd());
    let options = std::ffi::CString::new(options).unwrap();
    let flags = rustix::mount::MountFlags::empty();
    rustix::mount::mount("fx", at, "fuse", flags, Some(options.as_c_str())).ok()?;
    Some(device)
}
