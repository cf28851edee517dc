//! The store on a real disk: what is remembered, who may read it, what breakage does.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test looks at the machine from outside"
)]

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use fx_host::{OsHost, Time};
use fx_store::{ChangeRecord, Fate, RunInfo, StepRecord, Store, StoreError};

fn open(dir: &Path) -> Store {
    let opened = Store::open(&OsHost::new(), dir).unwrap();
    assert_eq!(opened.moved_aside, None);
    opened.store
}

fn at(secs: i64) -> Time {
    Time::from_secs(secs)
}

#[test]
fn a_run_is_remembered_with_its_steps() {
    let dir = tempfile::tempdir().unwrap();
    let state = dir.path().join("a/b/state");
    let store = open(&state);
    let info = RunInfo { started: at(100), target: "site.cf".into(), verb: "run".into() };
    let id = store.begin_run(&info).unwrap();
    assert_eq!(store.run(id).unwrap().unwrap().exit, None, "a killed run stays open");
    let mut record = store.run(id).unwrap().unwrap();
    (record.exit, record.elapsed_ms, record.repaired) = (Some(0), Some(12), 1);
    let step = StepRecord {
        number: 1,
        resource: "file[/x]".into(),
        outcome: "repaired".into(),
        changed: "content,mode".into(),
        ..StepRecord::default()
    };
    let begun = StepRecord { outcome: fx_store::UNDER_WAY.into(), ..step.clone() };
    store.put_step(id, &begun).unwrap();
    store
        .together(|| {
            store.put_step(id, &step)?;
            store.update_run(&record)
        })
        .unwrap();
    drop(store);
    let store = open(&state);
    assert_eq!(store.runs(10).unwrap(), [record]);
    assert_eq!(store.steps(id).unwrap(), [step]);
    assert_eq!(fs::metadata(&state).unwrap().mode() & 0o777, 0o700, "state is private");
}

#[test]
fn only_the_latest_runs_are_kept() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    for n in 0..210 {
        let id = store
            .begin_run(&RunInfo { started: at(n), target: "t".into(), verb: "run".into() })
            .unwrap();
        let record = store.run(id).unwrap().unwrap();
        store.put_step(id, &StepRecord { number: 1, ..StepRecord::default() }).unwrap();
        store.update_run(&record).unwrap();
        store.forget_old_runs().unwrap();
    }
    let runs = store.runs(1000).unwrap();
    assert_eq!((runs.len(), runs[0].id, runs[199].id), (200, 210, 11));
    assert!(store.steps(10).unwrap().is_empty(), "their steps go with them");
}

#[test]
fn changes_come_back_as_they_were_written_whatever_their_names() {
    let store = Store::in_memory().unwrap();
    let info = RunInfo { started: at(1), target: "t".into(), verb: "run".into() };
    let run = store.begin_run(&info).unwrap();
    let change = |step, fate, name: &[u8]| ChangeRecord {
        step,
        fate,
        kind: "file".into(),
        name: name.to_vec(),
        property: "mode".into(),
        from: "\"0644\"".into(),
        to: "null".into(),
    };
    let first = [change(1, Fate::Made, b"/a\xff"), change(1, Fate::Failed, "/ä\n".as_bytes())];
    let second = [change(2, Fate::Withheld, b"")];
    store.put_changes(run, &second).unwrap();
    store.put_changes(run, &first).unwrap();
    assert_eq!(store.changes(run).unwrap(), [first.as_slice(), second.as_slice()].concat());
    assert!(store.changes(run + 1).unwrap().is_empty());
}

#[test]
fn the_last_baseline_of_a_property_counts() {
    let store = Store::in_memory().unwrap();
    store.set_baseline("file[/x]", "mode", "0644").unwrap();
    store.set_baseline("file[/x]", "mode", "0600").unwrap();
    assert_eq!(store.baseline("file[/x]", "mode").unwrap().as_deref(), Some("0600"));
    assert_eq!(store.baseline("file[/x]", "owner").unwrap(), None);
}

#[test]
fn a_broken_store_is_moved_aside_and_the_work_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("state.db");
    drop(open(dir.path()));
    let good = fs::read(&file).unwrap();
    let mut seed = 1u64;
    let mut moved = 0;
    for round in 0..60 {
        let mut bytes = good.clone();
        match round % 3 {
            0 => bytes.truncate(bytes.len() * round / 60),
            1 => bytes[..100].fill(round as u8),
            _ => {
                for _ in 0..200 {
                    seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    let place = (seed >> 33) as usize % bytes.len();
                    bytes[place] ^= 1 << (seed >> 20 & 7);
                }
            }
        }
        for old in fs::read_dir(dir.path()).unwrap() {
            fs::remove_file(old.unwrap().path()).unwrap();
        }
        fs::write(&file, bytes).unwrap();
        let opened = Store::open(&OsHost::new(), dir.path()).unwrap();
        moved += usize::from(opened.moved_aside.is_some());
        if let Some(aside) = &opened.moved_aside {
            assert!(aside.exists());
        }
        let info = RunInfo { started: at(1), target: "t".into(), verb: "run".into() };
        // Damage that shows only in use must be an error, never a panic.
        let _ = opened.store.begin_run(&info);
    }
    assert!(moved > 20, "{moved} broken stores were found");
}

#[test]
fn a_newer_store_is_refused_and_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    drop(open(dir.path()));
    let db = rusqlite::Connection::open(dir.path().join("state.db")).unwrap();
    db.pragma_update(None, "user_version", 99).unwrap();
    drop(db);
    let error = Store::open(&OsHost::new(), dir.path()).err().unwrap();
    assert!(matches!(error, StoreError::Newer { found: 99, .. }), "{error}");
}

#[test]
fn programs_that_make_the_store_at_the_same_time_share_it() {
    for _ in 0..20 {
        let dir = tempfile::tempdir().unwrap();
        let info = RunInfo { started: at(1), target: "t".into(), verb: "run".into() };
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| open(dir.path()).begin_run(&info).unwrap());
            }
        });
        assert_eq!(open(dir.path()).runs(10).unwrap().len(), 4);
    }
}
