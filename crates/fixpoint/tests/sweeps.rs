//! Faults, kills, full and read-only disks, met by the same policy in three languages: no torn
//! file, no lost original, no false success.
//!
//! `FX_SWEEP=all` asks for every fault and kill instead of a sample, a number for that many.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::disallowed_methods,
    unreachable_pub,
    reason = "a test looks at the machine from outside"
)]

#[path = "sweeps/disks.rs"]
mod disks;
#[path = "sweeps/faults.rs"]
mod faults;
#[path = "sweeps/kills.rs"]
mod kills;
#[path = "sweeps/policy.rs"]
mod policy;
#[path = "sweeps/stage.rs"]
mod stage;
#[path = "../../fx-resources/tests/faults/strace.rs"]
mod strace;

/// Not a sweep: each persona does all of the policy when nothing disturbs it.
#[test]
fn undisturbed_all_is_done() {
    let dir = tempfile::tempdir().unwrap();
    for persona in policy::ALL {
        let stage = stage::Stage::new(dir.path());
        stage.reset();
        let before = std::time::Instant::now();
        stage.converges(persona, "new");
        stage.converges(persona, "again");
        assert_eq!(stage.litter(), [""; 0], "{persona:?}");
        println!("{persona:?} {:?}", before.elapsed());
    }
}
