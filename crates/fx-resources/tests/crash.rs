//! What a killed or failing run leaves behind: old files or new ones, never half of one.
//!
//! The tests start this same program again as the victim, once for every kill or fault.
//! FX_KILLS=10000 asks for more than the default.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::disallowed_methods,
    unreachable_pub,
    reason = "a test looks at the machine from outside"
)]

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use fx_engine::{Cancel, Ledger, Request, Resource, Run, step};
use fx_host::{Edits, Lock, Locked, OsHost};
use fx_resources::directory;
use fx_resources::file::{Content, Desired, Ensure, File};
use fx_resources::mode::Mode;

#[path = "faults/strace.rs"]
mod strace;

const ROLE: &str = "FX_CRASH_VICTIM";

/// Content that shows when it is torn: its length and both ends show the version.
fn content(number: usize, version: &str) -> String {
    let body = format!("{version} {number}\n").repeat(50 + number * 7 % 900);
    format!("{body}end {version} {number}\n")
}

/// Every fifth file lies in a directory of its own, which the victim makes.
fn path(dir: &Path, number: usize) -> PathBuf {
    let dir = if number % 5 == 3 { dir.join(format!("d{number:03}")) } else { dir.to_owned() };
    dir.join(format!("f{number:03}"))
}

/// The victim: brings `count` files to a version, and reports each outcome.
#[test]
fn victim() {
    let Ok(role) = std::env::var(ROLE) else { return };
    let mut words = role.split(' ');
    let dir = PathBuf::from(words.next().unwrap());
    let version = words.next().unwrap();
    let count: usize = words.next().unwrap().parse().unwrap();
    // A read-only disk has no room for a lock, and the run goes on without.
    let lock = Lock::try_take(&dir.join("lock"));
    if let Ok(Locked::Held(_)) = lock {
        say("LOCKED");
        return;
    }
    let host = OsHost::new();
    let (ledger, cancel) = (Ledger::new(), Cancel::new());
    let run = Run::new(&host, &ledger, &cancel);
    say("START");
    // A victim to be killed goes back and forth until it is.
    if version == "both" {
        loop {
            for version in ["new", "old"] {
                converge(run, &dir, version, count);
                host.commit().unwrap();
            }
        }
    }
    let mut report = converge(run, &dir, version, count);
    let gone = Desired { path: dir.join("gone"), ensure: Ensure::Absent, ..Desired::default() };
    let mut gone = File::new(gone);
    let stepped = step(run, Request::new(gone.id(), "remove"), &mut gone);
    report.push(format!("REMOVED {}", stepped.outcome.word()));
    let committed = host.commit();
    for line in report {
        say(&line);
    }
    let committed = committed.map_or_else(|error| error.to_string(), |()| "ok".to_owned());
    say(&format!("COMMIT {committed}"));
}

fn converge(run: Run<'_>, dir: &Path, version: &str, count: usize) -> Vec<String> {
    let mut report = Vec::new();
    for number in 0..count {
        let above = path(dir, number).parent().map(Path::to_owned).unwrap_or_default();
        if above != dir {
            let desired = directory::Desired { path: above, ..directory::Desired::default() };
            let mut above = directory::Directory::new(desired);
            step(run, Request::new(above.id(), "set"), &mut above);
        }
        let desired = Desired {
            path: path(dir, number),
            content: Some(Content::bytes(content(number, version))),
            mode: Some(Mode::Exact(0o640)),
            ..Desired::default()
        };
        let mut file = File::new(desired);
        let stepped = step(run, Request::new(file.id(), "set"), &mut file);
        let message = stepped.outcome.failure().map_or_else(String::new, ToString::to_string);
        report.push(format!("REPORT {number} {} {message}", stepped.outcome.word()));
    }
    report
}

/// Prints a line; a fault may hit this write as well, and then it is not said.
fn say(line: &str) {
    let _ = std::io::stdout().write_all(format!("{line}\n").as_bytes());
}

fn victim_command(dir: &Path, version: &str, count: usize) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "victim", "--nocapture"])
        .env(ROLE, format!("{} {version} {count}", dir.display()));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Which version a file has, whole; anything else fails the test.
fn version_of(dir: &Path, number: usize) -> Option<&'static str> {
    let bytes = match fs::read(path(dir, number)) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return None,
        Err(error) => panic!("{error}"),
    };
    let found =
        ["old", "new"].into_iter().find(|version| bytes == content(number, version).as_bytes());
    Some(found.unwrap_or_else(|| panic!("file {number} is torn: {} bytes", bytes.len())))
}

#[test]
fn a_killed_run_leaves_whole_files_and_a_free_lock() {
    const FILES: usize = 30;
    let dir = tempfile::tempdir().unwrap();
    let kills: usize = std::env::var("FX_KILLS").map_or(1000, |kills| kills.parse().unwrap());
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    let mut mixed = 0;
    for round in 0..kills {
        let mut child = victim_command(dir.path(), "both", FILES).spawn().unwrap();
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        while !line.ends_with("START\n") && output.read_line(&mut line).unwrap() > 0 {}
        std::thread::sleep(Duration::from_micros(seed >> 33 & 0x7fff));
        child.kill().unwrap();
        child.wait().unwrap();
        let lock = Lock::try_take(&dir.path().join("lock")).unwrap();
        assert!(matches!(lock, Locked::Taken(_)), "the lock is free at once after kill {round}");
        drop(lock);
        let versions: Vec<_> = (0..FILES).map(|number| version_of(dir.path(), number)).collect();
        mixed += usize::from(versions.iter().any(|found| *found != versions[0]));
    }
    println!("{kills} kills, {mixed} left some files old and some new, 0 torn");
    assert!(mixed > kills / 200, "some kills came while names were given: {mixed}");
    // What named temporary files a kill may leave is bounded by the moment of renaming.
    let litter = fs::read_dir(dir.path())
        .unwrap()
        .filter(|entry| entry.as_ref().unwrap().file_name().to_string_lossy().starts_with(".fx-"))
        .count();
    assert!(litter <= kills / 20 + 1, "{litter} temporary files left");
}

/// Runs the victim on a small file system of its own, in a throw-away copy of the machine;
/// its report, and the sum of all it left there.
fn on_small_disk(prepare: &str, count: usize) -> Option<(Vec<String>, String)> {
    let sandbox = match fx_host::Sandbox::new(&fx_host::SandboxOptions {
        trusted: true,
        ..fx_host::SandboxOptions::default()
    }) {
        Ok(sandbox) => sandbox,
        Err(error) => {
            eprintln!("SKIPPED: {error}");
            return None;
        }
    };
    let program = std::env::current_exe().unwrap();
    let line = format!(
        "mount -t tmpfs -o size=128k tmpfs /mnt && echo -n kept > /mnt/f000 && {prepare}; \
         {ROLE}='/mnt new {count}' {} --exact victim --nocapture; cat /mnt/f000 | head -c 20",
        program.display()
    );
    let ended = sandbox.run(&OsHost::new(), &fx_host::Spec::shell(line)).unwrap();
    let text = String::from_utf8_lossy(&ended.stdout).into_owned();
    let report =
        text.lines().filter_map(|line| line.strip_prefix("REPORT ")).map(str::to_owned).collect();
    Some((report, text))
}

#[test]
fn on_a_full_disk_what_fits_is_done_and_what_does_not_is_named() {
    let Some((report, text)) = on_small_disk("true", 60) else { return };
    let done = report.iter().filter(|line| line.contains(" repaired ")).count();
    let failed: Vec<&String> = report.iter().filter(|line| line.contains(" failed ")).collect();
    assert!(done > 5 && failed.len() > 5 && done + failed.len() == 60, "{text}");
    for line in failed {
        let number: usize = line.split(' ').next().unwrap().parse().unwrap();
        let place = path(Path::new("/mnt"), number);
        let said = line.contains(&place.display().to_string())
            || line.contains(&place.parent().unwrap().display().to_string());
        assert!(said && line.contains("No space left on device"), "{line}");
    }
}

#[test]
fn on_a_read_only_disk_every_item_is_named_and_nothing_is_lost() {
    let prepare = "touch /mnt/lock && mount -o remount,ro /mnt";
    let Some((report, text)) = on_small_disk(prepare, 3) else { return };
    assert_eq!(report.len(), 3, "{text}");
    for (number, line) in report.iter().enumerate() {
        assert!(line.contains(&format!("'/mnt/f{number:03}': Read-only file system")), "{line}");
    }
    assert!(text.trim_end().ends_with("kept"), "{text}");
}

fn lines<'a>(output: &'a Output, head: &str) -> Vec<&'a str> {
    let text = std::str::from_utf8(&output.stdout).unwrap();
    text.lines().filter_map(|line| line.strip_prefix(head)).collect()
}

#[test]
fn every_fault_is_survived_and_reported() {
    const FILES: usize = 8;
    const CALLS: [&str; 12] = [
        "openat", "openat2", "write", "syncfs", "renameat", "linkat", "fchmod", "fchown", "fstat",
        "unlinkat", "mkdirat", "statx",
    ];
    const ERRORS: [&str; 7] = ["EIO", "ENOSPC", "EACCES", "EROFS", "EINTR", "EMFILE", "ENOMEM"];
    if !strace::works("every_fault_is_survived_and_reported") {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let (mut runs, mut faults) = (0, 0);
    for call in CALLS {
        let mut nth = 1;
        loop {
            for number in 0..FILES {
                // Half of the files are there before, half are new.
                let _ = fs::remove_file(path(dir.path(), number));
                if number % 5 == 3 {
                    let _ = fs::remove_dir(path(dir.path(), number).parent().unwrap());
                    continue;
                }
                if number % 2 == 0 {
                    fs::write(path(dir.path(), number), content(number, "old")).unwrap();
                }
            }
            fs::write(dir.path().join("gone"), "x").unwrap();
            let log = dir.path().join("strace.log");
            let error = ERRORS[(nth + runs) % ERRORS.len()];
            let victim = victim_command(dir.path(), "new", FILES);
            let fault = format!("error={error}");
            let output = strace::traced(&victim, &log, call, Some((nth, &fault))).output().unwrap();
            let context = format!("{call} number {nth} fails with {error}");
            judge(dir.path(), FILES, &output, &context);
            runs += 1;
            if !strace::injected(&log) {
                break;
            }
            faults += 1;
            nth += 1;
        }
    }
    println!("{faults} faults in {runs} runs: no panic, no torn file, true reports");
    assert!(faults > 50, "the sweep reached the program: {faults}");
}

/// No panic, no torn file, and what was reported is so.
fn judge(dir: &Path, count: usize, output: &Output, context: &str) {
    let errors = String::from_utf8_lossy(&output.stderr);
    let started = !lines(output, "START").is_empty();
    // Before the victim's own work the test harness itself may be what the fault hits.
    assert!(!started || !errors.contains("panicked"), "{context}: {errors}");
    let versions: Vec<_> = (0..count).map(|number| version_of(dir, number)).collect();
    let committed = lines(output, "COMMIT ");
    if lines(output, "REMOVED ") == ["repaired"] {
        assert!(!dir.join("gone").exists(), "{context}: a removal that was reported was made");
    }
    for report in lines(output, "REPORT ") {
        let mut words = report.splitn(3, ' ');
        let (number, outcome, message) = (
            words.next().unwrap().parse::<usize>().unwrap(),
            words.next().unwrap(),
            words.next().unwrap(),
        );
        if outcome == "repaired" && committed == ["ok"] {
            assert_eq!(
                versions[number],
                Some("new"),
                "{context}: file {number} was reported repaired"
            );
        }
        if outcome != "repaired" && outcome != "kept" {
            assert!(
                message.contains(&dir.display().to_string()),
                "{context}: the message names the item or what it lies in: {message}"
            );
        }
    }
    if let [trouble] = committed[..]
        && trouble != "ok"
    {
        assert!(trouble.contains("cannot"), "{context}: {trouble}");
    }
}
