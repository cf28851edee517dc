//! The step and its record: what is opened is closed, in order, whatever a resource does.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use fx_host::{Act, Look, MemoryHost};
use fx_source::{Origin, SourceMap, Span};

use crate::{
    Cancel, Change, Counts, Event, Failure, FailureKind, Ledger, Level, Mode, Outcome, Purpose,
    Request, Resource, ResourceId, Run, Sink, StepId, Stepped, Target, step,
};

/// A resource that finds and does what it is given.
struct Fake {
    name: &'static str,
    found: Result<Vec<Change>, Failure>,
    applies: fn(&dyn Act) -> Result<(), Failure>,
    applied: u32,
    open_ended: bool,
}

impl Fake {
    fn new(name: &'static str, changes: usize) -> Fake {
        let change = |n: usize| {
            Change::of(Target::file("/x"), ["content", "mode", "owner"][n], "old", "new")
        };
        Fake {
            name,
            found: Ok((0..changes).map(change).collect()),
            applies: |_| Ok(()),
            applied: 0,
            open_ended: false,
        }
    }
}

impl Resource for Fake {
    fn id(&self) -> ResourceId {
        ResourceId::new("fake", self.name)
    }

    fn target(&self) -> Target {
        Target::other("fake", self.name)
    }

    fn observe(&mut self, _: &dyn Look) -> Result<Vec<Change>, Failure> {
        self.found.clone()
    }

    fn open_ended(&self) -> bool {
        self.open_ended
    }

    fn apply(&mut self, host: &dyn Act, _: &[Change]) -> Result<(), Failure> {
        self.applied += 1;
        (self.applies)(host)
    }
}

struct World {
    host: MemoryHost,
    ledger: Ledger,
    cancel: Cancel,
}

impl World {
    fn new() -> World {
        World { host: MemoryHost::new(), ledger: Ledger::new(), cancel: Cancel::new() }
    }

    fn run(&self) -> Run<'_> {
        Run::new(&self.host, &self.ledger, &self.cancel)
    }

    fn step(&self, mode: Mode, fake: &mut Fake) -> Stepped {
        let mut request = Request::new(fake.id(), "make");
        request.mode = mode;
        step(self.run(), request, fake)
    }
}

#[test]
fn the_outcome_follows_from_what_is_found_and_what_is_allowed() {
    let fails: fn(&dyn Act) -> Result<(), Failure> = |_| Err(Failure::new("no"));
    let denied: fn(&dyn Act) -> Result<(), Failure> =
        |_| Err(Failure::Hidden { kind: FailureKind::Denied, message: "no".into() });
    let late: fn(&dyn Act) -> Result<(), Failure> =
        |_| Err(Failure::Hidden { kind: FailureKind::TimedOut, message: "no".into() });
    let stopped: fn(&dyn Act) -> Result<(), Failure> =
        |_| Err(Failure::Hidden { kind: FailureKind::Interrupted, message: "no".into() });
    let good: fn(&dyn Act) -> Result<(), Failure> = |_| Ok(());
    let table = [
        (Mode::Apply, 0, good, "kept", 0),
        (Mode::Rehearse, 0, good, "kept", 0),
        (Mode::Apply, 2, good, "repaired", 1),
        (Mode::Rehearse, 2, good, "would-repair", 0),
        (Mode::Apply, 1, fails, "failed", 1),
        (Mode::Apply, 1, denied, "denied", 1),
        (Mode::Apply, 1, late, "timed-out", 1),
        (Mode::Apply, 1, stopped, "interrupted", 1),
    ];
    for (mode, changes, applies, expected, applied) in table {
        let world = World::new();
        let mut fake = Fake { applies, ..Fake::new("x", changes) };
        let stepped = world.step(mode, &mut fake);
        assert_eq!(
            (stepped.outcome.word(), fake.applied),
            (expected, applied),
            "{mode:?} with {changes}"
        );
        assert_eq!(
            world.ledger.step(stepped.id).outcome,
            stepped.outcome,
            "the record says the same"
        );
    }
}

#[test]
fn in_a_copy_what_is_known_is_done_and_told_as_pending_and_commands_are_withheld() {
    let world = World::new();
    world.ledger.set_in_copy();
    let mut file = Fake::new("file", 1);
    let stepped = world.step(Mode::Apply, &mut file);
    assert_eq!(
        (stepped.outcome, file.applied),
        (Outcome::Repaired, 1),
        "the driver goes on from it"
    );
    let mut command = Fake { open_ended: true, ..Fake::new("command", 1) };
    let ran = world.step(Mode::Apply, &mut command);
    assert_eq!((ran.outcome, command.applied), (Outcome::WouldRepair, 0));
    let mut later = Fake::new("later", 1);
    world.step(Mode::Apply, &mut later);
    let told: Vec<(&str, &str)> = world
        .ledger
        .steps()
        .iter()
        .map(|step| (step.outcome.word(), step.certainty().word()))
        .collect();
    let expected =
        [("would-repair", "certain"), ("would-repair", "unknown"), ("would-repair", "unknown")];
    assert_eq!(told, expected);
    assert_eq!((world.ledger.counts().repaired, world.ledger.counts().would_repair), (0, 3));
}

#[test]
fn what_holds_a_withheld_command_is_not_certain_either() {
    let world = World::new();
    world.ledger.set_in_copy();
    let outer = world.ledger.open(&world.host, Request::new(ResourceId::new("custom", "x"), "go"));
    let mut command = Fake { open_ended: true, ..Fake::new("command", 1) };
    world.step(Mode::Apply, &mut command);
    world.ledger.close(&world.host, outer, Outcome::Repaired);
    assert_eq!(world.ledger.step(outer).certainty().word(), "unknown");
}

#[test]
fn what_rests_on_a_guard_that_was_not_run_is_marked() {
    let world = World::new();
    let mut first = Fake::new("first", 1);
    world.step(Mode::Rehearse, &mut first);
    world.ledger.guard_not_run();
    let mut second = Fake::new("second", 1);
    world.step(Mode::Rehearse, &mut second);
    let told: Vec<&str> = world.ledger.steps().iter().map(|step| step.certainty().word()).collect();
    assert_eq!(told, ["certain", "guard not run"]);
}

#[test]
fn trouble_while_looking_is_a_failure_and_nothing_is_applied() {
    let world = World::new();
    let mut fake = Fake { found: Err(Failure::new("unreadable")), ..Fake::new("x", 0) };
    assert_eq!(
        world.step(Mode::Apply, &mut fake).outcome,
        Outcome::Failed(Failure::new("unreadable"))
    );
    assert_eq!(fake.applied, 0);
}

#[test]
fn a_defect_in_one_resource_fails_that_resource_alone() {
    let world = World::new();
    let mut bad = Fake { applies: |_| panic!("index out of bounds"), ..Fake::new("bad", 1) };
    let stepped = world.step(Mode::Apply, &mut bad);
    let failure = stepped.outcome.failure().unwrap();
    assert_eq!(
        (failure.kind(), failure.to_string().as_str()),
        (FailureKind::Internal, "internal error: index out of bounds")
    );
    assert_eq!(world.step(Mode::Apply, &mut Fake::new("good", 1)).outcome, Outcome::Repaired);
    assert!(world.ledger.current().is_none(), "nothing is left open");
}

#[test]
fn after_the_wish_to_stop_nothing_more_is_reached() {
    let world = World::new();
    world.cancel.cancel();
    let mut fake = Fake::new("x", 1);
    assert_eq!(world.step(Mode::Apply, &mut fake).outcome, Outcome::NotReached);
    assert_eq!(fake.applied, 0);
}

#[test]
fn steps_nest_and_are_counted_once() {
    let world = World::new();
    let open = |name: &'static str, purpose| {
        let mut request = Request::new(ResourceId::new("outer", name), "run");
        request.purpose = purpose;
        world.ledger.open(&world.host, request)
    };
    let outer = open("a", Purpose::Act);
    let inner = world.step(Mode::Apply, &mut Fake::new("b", 1));
    let probe = open("c", Purpose::Probe);
    world.ledger.close(&world.host, probe, Outcome::WouldRepair);
    world.host.advance(Duration::from_secs(3));
    world.ledger.close(&world.host, outer, Outcome::Repaired);
    let steps = world.ledger.steps();
    let shape: Vec<_> = steps
        .iter()
        .map(|step| (step.id.number(), step.parent.map(StepId::number), step.depth))
        .collect();
    assert_eq!(shape, [(1, None, 0), (2, Some(1), 1), (3, Some(1), 1)]);
    for child in [inner.id, probe] {
        assert_eq!(world.ledger.step(child).parent, Some(outer));
    }
    assert_eq!(steps[0].elapsed, Duration::from_secs(3));
    assert_eq!(
        world.ledger.counts(),
        Counts { repaired: 2, ..Counts::default() },
        "a probe does not count"
    );
}

#[test]
fn closing_an_outer_step_closes_what_was_left_open_inside() {
    let world = World::new();
    let outer = world.ledger.open(&world.host, Request::new(ResourceId::new("outer", "a"), "run"));
    world.ledger.open(&world.host, Request::new(ResourceId::new("inner", "b"), "run"));
    world.ledger.close(&world.host, outer, Outcome::Interrupted);
    assert!(
        world.ledger.steps().iter().all(|step| step.closed && step.outcome == Outcome::Interrupted)
    );
}

#[derive(Default)]
struct Heard(RefCell<Vec<String>>);

impl Sink for Heard {
    fn event(&self, event: &Event<'_>) {
        self.0.borrow_mut().push(match event {
            Event::StepOpened { step } => format!("open {}", step.resource),
            Event::ChangeMade { change, .. } => format!("made {}", change.property),
            Event::ChangeWithheld { change, .. } => format!("withheld {}", change.property),
            Event::StepClosed { step } => {
                format!("close {} {}", step.resource, step.outcome.word())
            }
            Event::Message { text, step, .. } => {
                format!("message {text} in {:?}", step.map(StepId::number))
            }
            Event::Note { code, .. } => format!("note {code}"),
            _ => "other".to_owned(),
        });
    }
}

#[test]
fn watchers_hear_everything_in_order() {
    let world = World::new();
    let heard = Rc::new(Heard::default());
    world.ledger.watch(Rc::<Heard>::clone(&heard));
    world.ledger.message(Level::Info, "hello", &Origin::default());
    world.step(Mode::Apply, &mut Fake::new("x", 2));
    world.ledger.note("lang.moment", &[], &Origin::default());
    world.step(Mode::Rehearse, &mut Fake::new("y", 1));
    assert_eq!(
        *heard.0.borrow(),
        [
            "message hello in None",
            "open fake[x]",
            "made content",
            "made mode",
            "close fake[x] repaired",
            "note lang.moment",
            "open fake[y]",
            "withheld content",
            "close fake[y] would-repair"
        ]
    );
}

#[test]
fn the_trace_has_one_line_a_step_and_no_times() {
    let world = World::new();
    let map = SourceMap::new();
    let file = map.add("site.x", b"one\ntwo\n".as_slice());
    let mut request = Request::new(ResourceId::new("group", "a"), "run");
    request.phase = "pass 1".into();
    request.why = "first in order".into();
    request.origin = Origin::at(Span::new(file, 4, 7));
    let outer = world.ledger.open(&world.host, request);
    world.step(Mode::Apply, &mut Fake::new("b", 2));
    world.step(
        Mode::Apply,
        &mut Fake { found: Err(Failure::new("no such thing")), ..Fake::new("c", 0) },
    );
    world.ledger.close(&world.host, outer, Outcome::Repaired);
    let skipped =
        world.ledger.open(&world.host, Request::new(ResourceId::new("fake", "d"), "make"));
    world.ledger.close(&world.host, skipped, Outcome::Skipped("not asked for".into()));
    let expected = [
        "  1 [pass 1] group[a] run repaired <- first in order @ site.x:2",
        "  2   fake[b] make repaired {content,mode}",
        "  3   fake[c] make failed (no such thing)",
        "  4 fake[d] make skipped (not asked for)",
    ];
    assert_eq!(world.ledger.trace(&map).lines().collect::<Vec<_>>(), expected);
}
