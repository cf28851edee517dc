//! Disks that are full or read-only, in a throw-away copy of the machine.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use fx_host::{OsHost, Sandbox, SandboxOptions, Spec};

use super::faults::{Findings, sampled};
use super::policy::{self, Persona};
use super::stage::{ITEMS, Stage, text_of};

/// Set where this program runs inside a copy of the machine, to what it is to do there.
const ROLE: &str = "FX_SWEEP_INSIDE";

/// Room left on the disk, in KiB.
const ROOM: [u64; 12] = [0, 4, 8, 12, 16, 24, 32, 48, 64, 96, 128, 256];

#[test]
fn on_a_full_disk_originals_stay_whole_and_failures_are_named() {
    in_a_copy("full");
}

#[test]
fn with_its_own_state_on_the_full_disk_too() {
    in_a_copy("full with state");
}

#[test]
fn on_a_read_only_disk_the_rest_is_done_and_failures_are_named() {
    in_a_copy("read-only");
}

#[track_caller]
fn in_a_copy(role: &str) {
    let options = SandboxOptions { trusted: true, ..SandboxOptions::default() };
    let sandbox = match Sandbox::new(&options) {
        Ok(sandbox) => sandbox,
        Err(error) => {
            eprintln!("SKIPPED disks, {role}: {error}");
            return;
        }
    };
    let program = std::env::current_exe().unwrap();
    let wish = std::env::var("FX_SWEEP").map(|wish| format!("FX_SWEEP={wish}")).unwrap_or_default();
    let line = format!(
        "{wish} {ROLE}='{role}' {} --exact disks::inside --nocapture 2>&1",
        program.display()
    );
    let ended = sandbox.run(&OsHost::new(), &Spec::shell(line)).unwrap();
    let text = String::from_utf8_lossy(&ended.stdout);
    assert!(text.contains("DONE "), "{text}");
    println!("{}", text.lines().find(|line| line.contains("DONE ")).unwrap());
}

/// What runs inside the copy.
#[test]
fn inside() {
    let Ok(role) = std::env::var(ROLE) else { return };
    let dir = tempfile::tempdir().unwrap();
    let disk = dir.path().join("disk");
    fs::create_dir(&disk).unwrap();
    mount(&["-t", "tmpfs", "-o", "size=8m,mode=755", "tmpfs"], &disk);
    let mut findings = Findings::default();
    let mut runs = 0;
    let own = if role == "full with state" { disk.join("own") } else { dir.path().join("own") };
    let stage = Stage::with(dir.path(), disk.join("m"), own);
    for (at, persona) in policy::ALL.into_iter().enumerate() {
        if role == "read-only" {
            findings.of(|| read_only(&stage, &disk, persona));
            runs += 1;
            continue;
        }
        for room in sampled(&ROOM, 4, at) {
            findings.of(|| full(&stage, &disk, persona, room));
            runs += 1;
        }
    }
    findings.none();
    println!("DONE {runs} runs, {role}");
}

#[track_caller]
fn mount(args: &[&str], at: &Path) {
    let status = Command::new("mount").args(args).arg(at).status().unwrap();
    assert!(status.success(), "mount {args:?}");
}

fn ballast(disk: &Path) -> PathBuf {
    disk.join("ballast")
}

/// Fills the disk but for this room; everything is in whole pages of 4 KiB.
fn fill(disk: &Path, room: u64) {
    let space = rustix::fs::statvfs(disk).unwrap();
    let free = space.f_bavail * space.f_frsize;
    fs::write(ballast(disk), vec![0; (free - room * 1024) as usize]).unwrap();
}

fn full(stage: &Stage, disk: &Path, persona: Persona, room: u64) {
    let _ = fs::remove_file(ballast(disk));
    stage.reset();
    fill(disk, room);
    let context = format!("{room} KiB left");
    let output = persona.command(stage).output().unwrap();
    let missing = stage.judge(persona, &output, &context);
    let text = text_of(&output);
    if room == 0 {
        assert!(missing.contains(&"replaced"), "{persona:?}: the disk is full: {missing:?}");
    }
    if !missing.is_empty() {
        // A run that cannot keep its own files ends before the first item, and names those.
        let names = |path: &Path| text.contains(&*path.to_string_lossy());
        let own = [stage.own.clone(), stage.dir.join(".chef")];
        let named = missing.iter().any(|item| names(&stage.item(item)))
            || missing.len() == ITEMS.len() && own.iter().any(|own| names(own));
        let told = text.to_lowercase().contains("no space left on device");
        assert!(named && told, "{persona:?}, {context}: {missing:?} is not named: {text}");
    }
    assert_eq!(stage.litter(), [""; 0], "{persona:?}, {context}");
    fs::remove_file(ballast(disk)).unwrap();
    stage.converges(persona, &context);
}

fn read_only(stage: &Stage, disk: &Path, persona: Persona) {
    stage.reset();
    mount(&["-o", "remount,ro"], disk);
    let before = Instant::now();
    let output = persona.command(stage).output().unwrap();
    let took = before.elapsed();
    mount(&["-o", "remount,rw"], disk);
    assert!(took < Duration::from_secs(20), "{persona:?}: it took {took:?}");
    let text = text_of(&output);
    let missing = stage.judge(persona, &output, "read-only");
    // Chef ends a run at the first resource that fails.
    let chef = matches!(persona, Persona::ChefClient | Persona::RunChef);
    assert_eq!(missing.contains(&"elsewhere"), chef, "{persona:?}: {missing:?} {text}");
    for item in missing.iter().filter(|_| !chef) {
        let parent = stage.item(item).parent().unwrap().display().to_string();
        assert!(text.contains(&parent), "{persona:?}: '{item}' is not named: {text}");
    }
    assert!(text.contains("Read-only file system"), "{persona:?}: {text}");
    stage.converges(persona, "writable again");
}
