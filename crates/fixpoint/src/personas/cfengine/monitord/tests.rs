//! Samples by a clock of our own: a second one comes as soon as it is wanted.

#![allow(clippy::disallowed_methods, reason = "a test looks at the machine from outside")]

use std::cell::{Cell, RefCell};
use std::fs;

use fx_cfengine::Request;
use fx_engine::Level;

use super::*;

const POLICY: &str = r#"
body common control { bundlesequence => { "main" }; }
bundle agent main { }
bundle common where { vars: "file" string => "DIR/count"; }
bundle monitor measured
{
  vars: "words" string => "(\d+)";
  measurements:
    "$(where.file)" handle => "counted", stream_type => "file", data_type => "int",
      history_type => "weekly", match_value => number("$(words)"), units => "pieces";
}
body match_value number(pattern) { select_line_matching => ".*"; extraction_regex => "$(pattern)"; }
"#;

/// A clock that runs from one sample to the next, does something in between, and stops the
/// monitor when nothing is left to be done.
struct Hurried<'a> {
    now: Cell<i64>,
    waits: RefCell<Box<dyn FnMut() -> bool + 'a>>,
    stop: &'a AtomicBool,
}

impl Clock for Hurried<'_> {
    fn now(&self) -> fx_host::Time {
        fx_host::Time::from_secs(self.now.get())
    }

    fn monotonic(&self) -> Duration {
        Duration::from_secs(self.now.get().unsigned_abs())
    }

    fn sleep(&self, duration: Duration) {
        assert_eq!(duration, Duration::from_secs(150));
        self.now.set(self.now.get() + 150);
        if !(self.waits.borrow_mut())() {
            self.stop.store(true, Ordering::Relaxed);
        }
    }
}

/// What a monitor leaves in its directory after each of its samples of these counts.
fn samples<T>(from: i64, counts: &[u32], look: impl Fn(&Path) -> T) -> Vec<T> {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let (work, count) = (dir.join("work"), dir.join("count"));
    for part in ["inputs", "state", "ppkeys", "outputs", "bin"] {
        fs::create_dir_all(work.join(part)).unwrap();
    }
    let policy = work.join("inputs/promises.cf");
    fs::write(&policy, POLICY.replace("DIR", dir.to_str().unwrap())).unwrap();
    let host = OsHost::new();
    let request = Request {
        component: Component::Monitor,
        file: Some(policy.to_str().unwrap().to_owned()),
        workdir: Some(work.to_str().unwrap().to_owned()),
        level: Some(Level::Error),
        no_lock: true,
        ..Request::default()
    };
    let paths = configure(&host, &request).paths;
    let (stop, mut found) = (AtomicBool::new(false), Vec::new());
    let mut coming = counts.iter();
    let mut next = || coming.next().map(|number| fs::write(&count, format!("{number}\n")).unwrap());
    assert!(next().is_some());
    let waits = || {
        found.push(look(&work.join("state")));
        next().is_some()
    };
    let clock = Hurried { now: Cell::new(from), waits: RefCell::new(Box::new(waits)), stop: &stop };
    let done = with_policy(&request, |ctx| {
        let mut monitor = Monitor::new(ctx, &host, &paths, &clock, Log(Level::Error));
        watch(ctx, &mut monitor, &stop);
    });
    assert_eq!(done, Ok(()));
    drop(clock);
    found
}

fn lines(state: &Path, wanted: impl Fn(&str) -> bool) -> Vec<String> {
    let text = fs::read_to_string(state.join("env_data")).unwrap();
    text.lines().filter(|line| wanted(line)).map(str::to_owned).collect()
}

// The original's variables are gone after its first sample, and its counts are zero.
#[test]
fn variables_of_policy_outlive_a_sample() {
    let counted = |state: &Path| lines(state, |line| line.starts_with("value_counted="));
    let found = samples(1_794_882_600, &[3, 5, 8], counted).concat();
    assert_eq!(found, ["value_counted=3.00", "value_counted=5.00", "value_counted=8.00"]);
}

#[test]
fn a_leap_is_a_class_and_is_known_for_a_while() {
    let counts = [5, 6, 5, 7, 6, 5, 6, 7, 5, 6, 5, 6, 200];
    let is_leap = |line: &str| line.starts_with("counted_") && line.ends_with("_ldt");
    let found = samples(1_794_882_600, &counts, |state| {
        let kept = fs::read_to_string(state.join("fx_classes")).unwrap_or_default();
        (lines(state, is_leap), kept.contains("counted_high_ldt"))
    });
    let (last, before) = found.split_last().unwrap();
    assert!(before.iter().all(|(classes, _)| classes.is_empty()), "{before:?}");
    assert_eq!(last.0, ["counted_high_ldt"]);
    assert!(before.iter().all(|(_, is_kept)| !is_kept));
}

#[test]
fn lists_and_long_memory_are_files_of_the_original() {
    // Wednesday, 07:40 in UTC.
    let found = samples(1_794_987_600, &[3, 3], |state| {
        let names = [
            "histograms",
            "static_data",
            "cf_users",
            "cf_incoming.www-alt",
            "cf_outgoing.postgresql",
        ];
        let are_there = names.map(|name| state.join(name).exists());
        let history = Database::read(&OsHost::new(), state.join("history.lmdb"));
        let has_shift = history.get(b"18_Nov_Lcycle_1_Morning\0").map(<[u8]>::len);
        (are_there, has_shift, lines(state, |line| line.starts_with("entropy_misc")))
    });
    let always = vec!["entropy_misc_in_low".to_owned(), "entropy_misc_out_low".to_owned()];
    for sample in found {
        assert_eq!(sample, ([true; 5], Some(8 + 100 * 32), always.clone()));
    }
}

#[test]
fn moments_of_a_week_have_the_names_of_the_original() {
    assert_eq!(moment(1_794_882_600), b"Tue:Hr02:Min30_35\0");
    assert_eq!(moment(0), b"Thu:Hr00:Min00_05\0");
    assert_eq!(moment(3599), b"Thu:Hr00:Min55_00\0");
}

#[test]
fn moments_of_years_have_the_names_of_the_original() {
    assert_eq!(shift(1_794_882_600), b"17_Nov_Lcycle_1_Night\0");
    assert_eq!(shift(1_794_882_600 + 16 * 3600), b"17_Nov_Lcycle_1_Evening\0");
}
