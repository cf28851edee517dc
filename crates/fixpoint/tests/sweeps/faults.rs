//! The n-th call of one kind fails, for every kind that changes files.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::policy::Persona;
use super::stage::Stage;
use super::strace;

const CALLS: [&str; 22] = [
    "openat",
    "openat2",
    "write",
    "pwrite64",
    "writev",
    "fsync",
    "fdatasync",
    "syncfs",
    "rename",
    "renameat",
    "renameat2",
    "linkat",
    "fchmod",
    "fchmodat",
    "chmod",
    "fchown",
    "fchownat",
    "mkdirat",
    "unlinkat",
    "symlinkat",
    "ftruncate",
    "fallocate",
];
const ERRORS: [&str; 5] = ["ENOSPC", "EIO", "EACCES", "EROFS", "EMFILE"];

/// Faults of a sample, for each persona.
const SAMPLE: usize = 14;

/// Where a call may be hit: its name, and which of its kind it is in its thread.
pub(crate) type Spot = (&'static str, usize);

/// The calls of an undisturbed run, those on what the policy manages first.
pub(crate) fn spots(stage: &Stage, persona: Persona, calls: &[&'static str]) -> Vec<Spot> {
    stage.reset();
    let log = stage.dir.join("strace.log");
    let output =
        strace::traced(&persona.command(stage), &log, &calls.join(","), None).output().unwrap();
    let missing = stage.judge(persona, &output, "traced");
    assert!(missing.is_empty(), "{persona:?}: {missing:?} {output:?}");
    spots_in(&log, &stage.managed, calls)
}

fn spots_in(log: &Path, managed: &Path, calls: &[&'static str]) -> Vec<Spot> {
    let managed = managed.display().to_string();
    let mut counts: BTreeMap<(String, &str), usize> = BTreeMap::new();
    let (mut near, mut far) = (Vec::new(), Vec::new());
    for line in String::from_utf8_lossy(&fs::read(log).unwrap()).lines() {
        let Some((thread, rest)) = line.split_once(' ') else { continue };
        let rest = rest.trim_start();
        let Some(call) = calls
            .iter()
            .find(|call| rest.strip_prefix(**call).is_some_and(|rest| rest.starts_with('(')))
        else {
            continue;
        };
        let nth = counts.entry((thread.to_owned(), *call)).or_default();
        *nth += 1;
        let spot = (*call, *nth);
        let list = if rest.contains(&managed) { &mut near } else { &mut far };
        if !list.contains(&spot) {
            list.push(spot);
        }
    }
    near.extend(far);
    near
}

/// Every k-th of them, so that `most` are left, or as many as the environment asks for.
pub(crate) fn sampled<T: Copy>(all: &[T], most: usize, offset: usize) -> Vec<T> {
    let most = match std::env::var("FX_SWEEP") {
        Ok(wish) if wish == "all" => all.len(),
        Ok(wish) => wish.parse().unwrap(),
        Err(_) => most,
    };
    let step = all.len().div_ceil(most).max(1);
    all.iter().copied().skip(offset % step).step_by(step).collect()
}

/// Collects what goes wrong, so that a sweep shows all of it.
#[derive(Default)]
pub(crate) struct Findings(Vec<String>);

impl Findings {
    pub(crate) fn of(&mut self, check: impl FnOnce()) {
        if let Err(panic) = std::panic::catch_unwind(std::panic::AssertUnwindSafe(check)) {
            let text = panic.downcast_ref::<String>().cloned();
            self.0.push(text.unwrap_or_else(|| "a check failed".to_owned()));
        }
    }

    #[track_caller]
    pub(crate) fn none(self) {
        assert!(self.0.is_empty(), "{} findings:\n{}", self.0.len(), self.0.join("\n\n"));
    }
}

/// Languages are swept beside each other: all faults of one take half an hour.
#[test]
fn every_fault_of_cfengine_leaves_whole_files_and_a_true_answer() {
    sweep([Persona::CfAgent, Persona::RunCfengine]);
}

#[test]
fn every_fault_of_puppet_leaves_whole_files_and_a_true_answer() {
    sweep([Persona::PuppetApply, Persona::RunPuppet]);
}

#[test]
fn every_fault_of_chef_leaves_whole_files_and_a_true_answer() {
    sweep([Persona::ChefClient, Persona::RunChef]);
}

fn sweep(personas: [Persona; 2]) {
    if !strace::works("every_fault_leaves_whole_files_and_a_true_answer") {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let (mut faults, mut findings) = (0, Findings::default());
    for (at, persona) in personas.into_iter().enumerate() {
        let stage = Stage::new(dir.path());
        let spots = spots(&stage, persona, &CALLS);
        let all: Vec<(Spot, &str)> =
            spots.iter().flat_map(|spot| ERRORS.map(|error| (*spot, error))).collect();
        for (spot, error) in sampled(&all, SAMPLE, at) {
            findings.of(|| faults += usize::from(one_fault(&stage, persona, spot, error)));
        }
    }
    println!("{personas:?}, {faults} faults: no torn file, no lost original, no false success");
    findings.none();
    assert!(faults > 20, "the sweep reached the program: {faults}");
}

/// Whether the fault was met.
fn one_fault(stage: &Stage, persona: Persona, (call, nth): Spot, error: &str) -> bool {
    let context = format!("{call} number {nth} fails with {error}");
    stage.reset();
    let log = stage.dir.join("strace.log");
    let fault = format!("error={error}");
    let victim = persona.command(stage);
    let output = strace::traced(&victim, &log, call, Some((nth, &fault))).output().unwrap();
    stage.judge(persona, &output, &context);
    stage.check_record(persona, &context);
    // A name that could not be removed is what the fault was about.
    if call != "unlinkat" {
        assert_eq!(stage.litter(), [""; 0], "{persona:?}, {context}");
    }
    let met = strace::injected(&log);
    stage.converges(persona, &context);
    met
}
