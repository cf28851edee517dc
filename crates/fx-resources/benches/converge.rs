//! Converges many files through the step, against a bare loop that opens, reads and
//! compares the same files. `cargo bench -p fx-resources --bench converge [FILES]`.
//!
//! Both run in one process one after the other, so the ratio holds on a busy machine; the
//! figures are processor time. Exits with 1 if the unchanged run costs over three times
//! the loop.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    clippy::exit,
    reason = "a benchmark talks to people"
)]

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use fx_engine::{Cancel, Ledger, Outcome, Request, Resource, Run, step};
use fx_host::{Edits, OsHost};
use fx_resources::file::{Content, Desired, File};
use fx_resources::{account::Account, mode::Mode};

const ROUNDS: usize = 5;
const LIMIT: f64 = 3.0;

fn main() {
    let count: usize = std::env::args().find_map(|arg| arg.parse().ok()).unwrap_or(10_000);
    let dir = tempfile::Builder::new().prefix("fx-bench").tempdir_in(".").unwrap();
    let files: Vec<(PathBuf, Rc<[u8]>)> = (0..count)
        .map(|n| {
            let sub = dir.path().join(format!("d{:02}", n / 500));
            (
                sub.join(format!("f{n:05}")),
                format!("file {n}\n{}", "content of some length\n".repeat(20)).into_bytes().into(),
            )
        })
        .collect();
    for (path, _) in files.iter().step_by(500) {
        fs::create_dir(path.parent().unwrap()).unwrap();
    }
    let first = processor_time(|| converge(&files, |outcome| *outcome == Outcome::Repaired));
    let (mut unchanged, mut bare) = (f64::MAX, f64::MAX);
    for _ in 0..ROUNDS {
        bare = bare.min(processor_time(|| loop_over(&files)));
        unchanged =
            unchanged.min(processor_time(|| converge(&files, |outcome| *outcome == Outcome::Kept)));
    }
    println!("{count} files, processor time, best of {ROUNDS} but for the first run:");
    println!("  first run, durable at its end  {:>8.1} ms", first * 1e3);
    println!("  unchanged run                  {:>8.1} ms", unchanged * 1e3);
    println!("  bare loop                      {:>8.1} ms", bare * 1e3);
    println!("  unchanged / bare               {:>8.2}  (limit {LIMIT})", unchanged / bare);
    if unchanged / bare > LIMIT {
        std::process::exit(1);
    }
}

/// Brings every file to its state through the step and checks each outcome.
fn converge(files: &[(PathBuf, Rc<[u8]>)], expected: impl Fn(&Outcome) -> bool) {
    let host = OsHost::new();
    let (ledger, cancel) = (Ledger::new(), Cancel::new());
    let run = Run::new(&host, &ledger, &cancel);
    let me = (my_uid(), my_gid());
    for (path, content) in files {
        let desired = Desired {
            path: path.clone(),
            content: Some(Content::Bytes(Rc::clone(content))),
            mode: Some(Mode::Exact(0o640)),
            owner: Some(Account::Id(me.0)),
            group: Some(Account::Id(me.1)),
            ..Desired::default()
        };
        let mut file = File::new(desired);
        let stepped = step(run, Request::new(file.id(), "set"), &mut file);
        assert!(expected(&stepped.outcome), "{}: {:?}", path.display(), stepped.outcome);
    }
    host.commit().unwrap();
}

fn loop_over(files: &[(PathBuf, Rc<[u8]>)]) {
    for (path, content) in files {
        assert!(same(path, content));
    }
}

fn same(path: &Path, content: &[u8]) -> bool {
    let meta = fs::symlink_metadata(path).unwrap();
    fs::read(path).unwrap() == content && meta.mode() & 0o7777 == 0o640
}

fn my_uid() -> u32 {
    fs::metadata("/proc/self").unwrap().uid()
}

fn my_gid() -> u32 {
    fs::metadata("/proc/self").unwrap().gid()
}

/// Seconds of processor time this process used for some work, from the kernel's account.
fn processor_time(work: impl FnOnce()) -> f64 {
    let before = used();
    work();
    used() - before
}

fn used() -> f64 {
    let stat = fs::read_to_string("/proc/self/schedstat").unwrap();
    stat.split(' ').next().unwrap().parse::<f64>().unwrap() / 1e9
}
