//! Kills at every change and at random moments. What is left is whole, and the record claims
//! nothing that is not there.

use std::os::unix::process::ExitStatusExt;
use std::process::Output;
use std::time::{Duration, Instant};

use super::faults::{Findings, sampled, spots};
use super::policy::{self, Persona};
use super::stage::Stage;
use super::strace;

/// Calls that change something that others can see.
const CALLS: [&str; 10] = [
    "write",
    "pwrite64",
    "renameat",
    "linkat",
    "unlinkat",
    "symlinkat",
    "mkdirat",
    "fchmod",
    "ftruncate",
    "fallocate",
];

/// Kills of a sample, for each persona.
const SAMPLE: usize = 6;

#[test]
fn a_kill_at_any_change_leaves_whole_files_and_a_true_record() {
    if !strace::works("a_kill_at_any_change_leaves_whole_files_and_a_true_record") {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let (mut kills, mut findings) = (0, Findings::default());
    for (at, persona) in policy::ALL.into_iter().enumerate() {
        let stage = Stage::new(dir.path());
        let spots = spots(&stage, persona, &CALLS);
        for (call, nth) in sampled(&spots, SAMPLE, at) {
            findings.of(|| {
                stage.reset();
                let log = stage.dir.join("strace.log");
                let fault = Some((nth, "signal=SIGKILL"));
                let victim = persona.command(&stage);
                let output = strace::traced(&victim, &log, call, fault).output().unwrap();
                kills += usize::from(output.status.signal() == Some(9));
                after_kill(&stage, persona, &output, &format!("killed at {call} number {nth}"));
            });
        }
    }
    println!("{kills} kills: no torn file, no lost original, no false claim");
    findings.none();
    assert!(kills > 20, "the kills reached the program: {kills}");
}

#[test]
fn a_kill_at_any_moment_leaves_whole_files_and_a_true_record() {
    let dir = tempfile::tempdir().unwrap();
    let mut findings = Findings::default();
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    let mut kills = 0;
    for persona in policy::ALL {
        let stage = Stage::new(dir.path());
        stage.reset();
        let before = Instant::now();
        stage.converges(persona, "measured");
        let whole = before.elapsed().as_micros() as u64;
        let moments: Vec<u64> = (0..400).collect();
        for _ in sampled(&moments, 5, 0) {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let moment = Duration::from_micros((seed >> 33) % whole);
            findings.of(|| {
                stage.reset();
                let mut child = persona.command(&stage).spawn().unwrap();
                std::thread::sleep(moment);
                child.kill().unwrap();
                let output = child.wait_with_output().unwrap();
                kills += usize::from(output.status.signal() == Some(9));
                after_kill(&stage, persona, &output, &format!("killed after {moment:?}"));
            });
        }
    }
    println!("{kills} kills: no torn file, no lost original, no false claim");
    findings.none();
    assert!(kills > 5, "the kills reached the program: {kills}");
}

#[track_caller]
fn after_kill(stage: &Stage, persona: Persona, output: &Output, context: &str) {
    stage.judge(persona, output, context);
    stage.check_record(persona, context);
    // A name that replaces another is a name of its own for a moment.
    let litter = stage.litter();
    assert!(litter.iter().all(|name| name.starts_with(".fx-")) && litter.len() < 2, "{litter:?}");
    stage.converges(persona, context);
}
