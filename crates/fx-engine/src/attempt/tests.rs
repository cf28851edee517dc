//! The seam, seen from a driver: what is made, withheld, failed, and what is recorded of it.

use std::cell::RefCell;
use std::path::Path;
use std::rc::Rc;

use fx_host::{Exit, FaultOn, Files, MemoryHost, Spec, WriteOptions};

use super::Done;
use crate::{
    Cancel, Change, Event, Failure, Ledger, Mode, Outcome, Request, ResourceId, Run, Sink, Target,
};

/// The kernel's number for a file system that is mounted read-only.
const EROFS: i32 = 30;

/// Writes down what the ledger says of changes, a line each.
#[derive(Default)]
struct Heard(RefCell<Vec<String>>);

impl Sink for Heard {
    fn event(&self, event: &Event<'_>) {
        let show = |change: &Change| {
            format!("{} {}: {} -> {}", change.target, change.property, change.from, change.to)
        };
        let line = match event {
            Event::ChangeMade { change, .. } => format!("made {}", show(change)),
            Event::ChangeWithheld { change, .. } => format!("withheld {}", show(change)),
            Event::ChangeFailed { change, failure, .. } => {
                format!("failed {}: {failure}", show(change))
            }
            Event::Evaluated { author, record, .. } => format!("{author}: {record}"),
            _ => return,
        };
        self.0.borrow_mut().push(line);
    }
}

struct World {
    host: MemoryHost,
    ledger: Ledger,
    cancel: Cancel,
    heard: Rc<Heard>,
}

impl World {
    fn new() -> World {
        let (ledger, heard) = (Ledger::new(), Rc::<Heard>::default());
        ledger.watch(Rc::<Heard>::clone(&heard));
        let host = MemoryHost::linux();
        host.put("/etc/motd", "hello");
        World { host, ledger, cancel: Cancel::new(), heard }
    }

    fn run(&self) -> Run<'_> {
        Run::new(&self.host, &self.ledger, &self.cancel)
    }

    fn request(mode: Mode) -> Request {
        let mut request = Request::new(ResourceId::new("file", "/etc/motd"), "set");
        request.mode = mode;
        request
    }

    fn heard(&self) -> Vec<String> {
        self.heard.0.take()
    }

    fn mode(&self) -> u32 {
        self.host.stat(Path::new("/etc/motd")).unwrap().mode
    }
}

fn mode() -> Change {
    Change::of(Target::file("/etc/motd"), "mode", "0644", "0600")
}

fn set_mode(act: &dyn super::Act) -> fx_host::Result<()> {
    act.set_mode(Path::new("/etc/motd"), 0o600)
}

#[test]
fn a_change_is_made_and_recorded_where_the_attempt_may_change() {
    let world = World::new();
    let attempt = world.run().open(World::request(Mode::Apply));
    assert_eq!(attempt.change(&mode(), set_mode), Ok(Done::Made(())));
    let id = attempt.close(Outcome::Repaired);
    assert_eq!(world.mode(), 0o600);
    assert_eq!(world.heard(), ["made file[/etc/motd] mode: 0644 -> 0600"]);
    assert_eq!(world.ledger.step(id).changed, ["mode"]);
}

#[test]
fn a_rehearsal_records_what_it_withholds_and_never_calls_the_work() {
    let world = World::new();
    let attempt = world.run().open(World::request(Mode::Rehearse));
    let done = attempt.change(&mode(), |_| -> Result<(), Failure> { panic!("called") });
    assert_eq!(done, Ok(Done::Withheld));
    assert_eq!(world.heard(), ["withheld file[/etc/motd] mode: 0644 -> 0600"]);
}

#[test]
fn in_a_copy_a_change_is_made_and_reported_as_pending_unless_its_effects_are_unknown() {
    let world = World::new();
    world.ledger.set_in_copy();
    let attempt = world.run().open(World::request(Mode::Apply));
    assert_eq!(attempt.change(&mode(), set_mode), Ok(Done::Made(())));
    assert_eq!(world.mode(), 0o600);
    assert_eq!(world.heard(), ["withheld file[/etc/motd] mode: 0644 -> 0600"]);
    let command = Change::of(Target::command("make"), "run", false, true);
    let attempt = world.run().open(World::request(Mode::Apply));
    attempt.open_ended();
    let done = attempt.change(&command, |_| -> Result<(), Failure> { panic!("called") });
    assert_eq!(done, Ok(Done::Withheld));
}

#[test]
fn a_refusal_of_the_machine_is_a_failure_with_its_cause_and_no_change() {
    let world = World::new();
    world.host.fail_from(FaultOn::Changes, 1, EROFS);
    let attempt = world.run().open(World::request(Mode::Apply));
    let failure = attempt.change(&mode(), set_mode).unwrap_err();
    assert!(matches!(&failure, Failure::Host(error) if error.errno() == Some(EROFS)));
    let id = attempt.close(failure.into());
    assert!(world.ledger.step(id).changed.is_empty());
    let expected = "failed file[/etc/motd] mode: 0644 -> 0600: \
                    cannot set mode of '/etc/motd': Read-only file system";
    assert_eq!(world.heard(), [expected]);
}

#[test]
fn a_panic_is_a_failure_of_ours_and_the_run_goes_on() {
    let world = World::new();
    let attempt = world.run().open(World::request(Mode::Apply));
    let failure = attempt.change(&mode(), |_| -> Result<(), Failure> { panic!("oh") }).unwrap_err();
    assert_eq!(failure, Failure::Internal("oh".to_owned()));
}

#[test]
fn after_a_wish_to_stop_nothing_is_changed_any_more() {
    let world = World::new();
    let attempt = world.run().open(World::request(Mode::Apply));
    world.cancel.cancel();
    assert_eq!(attempt.change(&mode(), set_mode), Err(Failure::Interrupted));
    assert_eq!(world.mode(), 0o644);
}

#[test]
fn what_evaluation_does_is_recorded_with_its_author() {
    let world = World::new();
    world.host.on(["date"], fx_host::Reply::prints("now\n"));
    let ended = world.run().evaluate("execresult at /p.cf:3", |act| {
        act.write(Path::new("/etc/cache"), b"x", &WriteOptions::default()).unwrap();
        act.run(&Spec::argv(["date"])).unwrap()
    });
    assert_eq!(ended.exit, Exit::Code(0));
    let expected = ["execresult at /p.cf:3: write /etc/cache", "execresult at /p.cf:3: run date"];
    assert_eq!(world.heard(), expected);
}

#[test]
fn every_kind_of_failure_has_its_outcome_and_its_words() {
    let command = |exit| Failure::Command { command: "make".into(), exit, output: "bad".into() };
    let table = [
        (command(Exit::Code(2)), "failed", "'make' returned 2"),
        (command(Exit::TimedOut), "timed-out", "'make' ran into its time limit"),
        (command(Exit::Cancelled), "interrupted", "'make' was interrupted"),
        (Failure::NoUser("web".into()), "failed", "could not find user web"),
        (Failure::Interrupted, "interrupted", "the run was told to stop"),
        (Failure::Internal("oh".into()), "failed", "internal error: oh"),
        (
            Failure::RefusedContent {
                path: "/etc/sudoers".into(),
                check: Box::new(command(Exit::Code(1))),
            },
            "failed",
            "new content of '/etc/sudoers' was refused: 'make' returned 1",
        ),
    ];
    for (failure, outcome, words) in table {
        assert_eq!(failure.to_string(), words);
        assert_eq!(Outcome::from(failure).word(), outcome, "{words}");
    }
}

#[test]
fn in_a_copy_a_failure_after_something_withheld_is_unknown_and_no_failure() {
    let world = World::new();
    world.ledger.set_in_copy();
    let package = world.run().open(World::request(Mode::Apply));
    package.open_ended();
    let install = Change::of(Target::package("web"), "ensure", "absent", "1.0");
    package.change(&install, |_| -> Result<(), Failure> { panic!("called") }).unwrap();
    package.close(Outcome::WouldRepair);
    world.heard();
    world.host.fail_from(FaultOn::Changes, 1, EROFS);
    let file = world.run().open(World::request(Mode::Apply));
    assert_eq!(file.change(&mode(), set_mode), Ok(Done::Withheld));
    let id = file.close(Outcome::Failed(Failure::new("no such directory")));
    assert_eq!(world.heard(), ["withheld file[/etc/motd] mode: 0644 -> 0600"]);
    let step = world.ledger.step(id);
    assert_eq!((step.outcome.word(), step.certainty().word()), ("would-repair", "unknown"));
    assert_eq!(world.ledger.counts().failed, 0);
}
