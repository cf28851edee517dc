//! The append-only record of a run: every step in order, with parent, reason and outcome.
//!
//! The truth all reports are views of. Steps are opened and closed, never removed or
//! edited; what is open nests what comes after.

use std::borrow::Cow;
use std::cell::{Cell, Ref, RefCell};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use fx_host::Clock;
use fx_source::Origin;
use fx_value::Value;

use crate::{Change, Event, Level, Mode, Outcome, Purpose, ResourceId, Sink, Why, step::Request};

/// Number of a step in its ledger, from one, in the order of opening.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StepId(u32);

impl StepId {
    /// Sequence number, from one.
    pub fn number(self) -> u32 {
        self.0
    }
}

/// One line of the ledger.
#[derive(Clone, Debug)]
pub struct Step {
    /// Sequence number.
    pub id: StepId,
    /// The step that was open when this one was opened.
    pub parent: Option<StepId>,
    /// How many steps were open above it.
    pub depth: u32,
    /// Phase or pass of the language, such as `pass 1`.
    pub phase: Rc<str>,
    /// What was attempted.
    pub resource: ResourceId,
    /// The action of the language, such as `create`.
    pub action: Cow<'static, str>,
    /// Why it was its turn.
    pub why: Why,
    /// Where it was declared.
    pub origin: Origin,
    /// Whether it was allowed to change anything.
    pub mode: Mode,
    /// Whether it counts.
    pub purpose: Purpose,
    /// Whether nobody can know beforehand what it does to the rest of the machine.
    pub open_ended: bool,
    /// Why what it looks at is not to be seen in a copy of the machine.
    pub not_seen: Option<Rc<str>>,
    /// Whether that is a place which the copy does not have as the machine has it.
    pub left_out: bool,
    /// A guard or a function was not called before this one, for want of a copy to do it in.
    pub guard_not_run: bool,
    /// The first step with unforeseeable effects that was withheld before this one: what is
    /// said of this one may turn out otherwise.
    pub after: Option<StepId>,
    /// Names of the properties that changed or would.
    pub changed: Vec<Cow<'static, str>>,
    /// How it ended; `NotReached` while it is open.
    pub outcome: Outcome,
    /// Whether it was closed.
    pub closed: bool,
    /// Time from opening to closing.
    pub elapsed: Duration,
}

/// The record. Shared by reference; no borrow of it is held while other code runs.
#[derive(Default)]
pub struct Ledger {
    steps: RefCell<Vec<Step>>,
    open: RefCell<Vec<StepId>>,
    opened_at: RefCell<Vec<Duration>>,
    sinks: RefCell<Vec<Rc<dyn Sink>>>,
    /// The first withheld step whose effects nobody knows.
    unknown: Cell<Option<StepId>>,
    counts: Cell<Counts>,
    guard_not_run: Cell<bool>,
    /// Whether the run goes on in a throw-away copy of the machine.
    in_copy: Cell<bool>,
    /// Whether that copy has a network.
    copy_has_network: Cell<bool>,
    /// Trees that the copy does not have as the machine has them, and why.
    left_out: RefCell<Vec<(PathBuf, Rc<str>)>>,
    /// Why nothing is certain: such a tree was looked at before there was a step.
    astray: RefCell<Option<Rc<str>>>,
}

/// How many counted steps ended in which way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are those of the outcomes")]
pub struct Counts {
    pub kept: u32,
    pub repaired: u32,
    pub would_repair: u32,
    pub failed: u32,
    pub skipped: u32,
}

impl Counts {
    /// Counts a step that has ended, if it counts.
    pub fn add(&mut self, step: &Step) {
        if step.purpose == Purpose::Probe {
            return;
        }
        match step.outcome {
            Outcome::Kept => self.kept += 1,
            Outcome::Repaired => self.repaired += 1,
            Outcome::WouldRepair => self.would_repair += 1,
            Outcome::Skipped(_) | Outcome::NotReached => self.skipped += 1,
            _ => self.failed += 1,
        }
    }
}

impl Step {
    /// How sure a preview is of this step.
    pub fn certainty(&self) -> Certainty {
        let withheld = self.open_ended && self.outcome == Outcome::WouldRepair;
        if self.after.is_some() || self.not_seen.is_some() || withheld {
            Certainty::Unknown
        } else if self.guard_not_run {
            Certainty::GuardNotRun
        } else {
            Certainty::Certain
        }
    }
}

/// How far what a preview says can be relied on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Certainty {
    /// A run does exactly this, if nobody else touches the machine.
    Certain,
    /// It rests on a guard or function that was not called.
    GuardNotRun,
    /// It runs something whose effects nobody knows, or comes after such a step.
    Unknown,
}

impl Certainty {
    /// The word in reports.
    pub fn word(self) -> &'static str {
        match self {
            Certainty::Certain => "certain",
            Certainty::GuardNotRun => "guard not run",
            Certainty::Unknown => "unknown",
        }
    }
}

impl Ledger {
    /// An empty record that nobody watches.
    pub fn new() -> Ledger {
        Ledger::default()
    }

    /// Says that the run goes on in a throw-away copy of the machine, so that later steps
    /// see what earlier ones did. What is done there is reported as what would be done; what has
    /// open-ended effects is withheld even there, because the copy has no network, no
    /// services and no processes of the machine.
    pub fn set_in_copy(&self) {
        self.in_copy.set(true);
    }

    /// Says that the copy has a network: packages are installed in it, and later steps see them.
    pub fn set_copy_has_network(&self) {
        self.copy_has_network.set(true);
    }

    /// Whether the run goes on in a copy that has a network.
    pub fn copy_has_network(&self) -> bool {
        self.in_copy() && self.copy_has_network.get()
    }

    /// Whether the run goes on in a copy.
    pub fn in_copy(&self) -> bool {
        self.in_copy.get()
    }

    /// Adds a watcher; it sees events from now on.
    pub fn watch(&self, sink: Rc<dyn Sink>) {
        self.sinks.borrow_mut().push(sink);
    }

    /// Tells all watchers.
    pub fn emit(&self, event: &Event<'_>) {
        self.each_sink(|sink| sink.event(event));
    }

    /// Has all watchers show what they hold back.
    pub fn flush(&self) {
        self.each_sink(|sink| sink.flush());
    }

    fn each_sink(&self, call: impl Fn(&dyn Sink)) {
        // Indexed, not borrowed across the call, so a sink may be added meanwhile.
        let mut index = 0;
        loop {
            let Some(sink) = self.sinks.borrow().get(index).map(Rc::clone) else { break };
            call(&*sink);
            index += 1;
        }
    }

    /// Says something outside or inside the current step. An error of a step that rests on
    /// something withheld is none of a run.
    pub fn message(&self, level: Level, text: &str, origin: &Origin) {
        let step = self.current();
        let unsure = level == Level::Error && step.is_some_and(|step| self.is_unsure(step));
        let level = if unsure { Level::Verbose } else { level };
        self.emit(&Event::Message { level, text, origin, step });
    }

    /// Notes a moment of a language.
    pub fn note(&self, code: &'static str, fields: &[(Cow<'static, str>, Value)], origin: &Origin) {
        self.emit(&Event::Note { code, fields, origin });
    }

    /// Opens a step; steps opened before it is closed are its children.
    pub fn open(&self, clock: &dyn Clock, request: Request) -> StepId {
        let mut open = self.open.borrow_mut();
        let mut steps = self.steps.borrow_mut();
        let id = StepId(steps.len() as u32 + 1);
        let step = Step {
            id,
            parent: open.last().copied(),
            depth: open.len() as u32,
            phase: request.phase,
            resource: request.resource,
            action: request.action,
            why: request.why,
            origin: request.origin,
            mode: request.mode,
            purpose: request.purpose,
            open_ended: false,
            not_seen: None,
            left_out: false,
            guard_not_run: self.guard_not_run.get(),
            after: self.unknown.get(),
            changed: Vec::new(),
            outcome: Outcome::NotReached,
            closed: false,
            elapsed: Duration::ZERO,
        };
        let step = self.located(step);
        open.push(id);
        self.opened_at.borrow_mut().push(clock.monotonic());
        steps.push(step);
        drop((open, steps));
        self.emit_step(id, |step| Event::StepOpened { step });
        id
    }

    /// Says that an open step runs something whose effects nobody can know beforehand.
    /// If it is withheld, what is said of later steps is no longer certain.
    pub fn open_ended(&self, id: StepId) {
        self.steps.borrow_mut()[id.0 as usize - 1].open_ended = true;
    }

    /// Whether an open step makes its changes: it may, and in a copy their effects are known.
    pub fn makes_changes(&self, id: StepId) -> bool {
        let step = &self.steps.borrow()[id.0 as usize - 1];
        step.mode == Mode::Apply && !(step.open_ended && self.in_copy())
    }

    /// Whether what an open step rests on was withheld, before it or inside it, so that its
    /// failure in the copy says nothing about a run: the directory that a package brings is not
    /// there.
    pub fn is_unsure(&self, id: StepId) -> bool {
        let after = self.steps.borrow()[id.0 as usize - 1].after.or(self.unknown.get());
        self.in_copy() && after.is_some()
    }

    /// Says that what an open step looks at is not in the copy, such as processes.
    pub fn not_seen(&self, id: StepId) {
        let reason = Rc::from("not to be seen in a copy");
        self.steps.borrow_mut()[id.0 as usize - 1].not_seen = Some(reason);
    }

    /// Names trees that the copy does not have as the machine has them, each with the reason.
    /// Nothing is certain of a step that is about one, nor of what comes after it.
    pub fn set_left_out(&self, trees: Vec<(PathBuf, Rc<str>)>) {
        *self.left_out.borrow_mut() = trees;
    }

    /// Says that such a tree was looked at, by the step that is open or before all others.
    pub fn looked_at_left_out(&self, reason: &str) {
        match self.current() {
            Some(id) => {
                let step = &mut self.steps.borrow_mut()[id.0 as usize - 1];
                step.not_seen.get_or_insert_with(|| Rc::from(reason));
                step.left_out = true;
            }
            None => {
                self.astray.borrow_mut().get_or_insert_with(|| Rc::from(reason));
            }
        }
    }

    /// A new step with what is known of the place it is about.
    fn located(&self, mut step: Step) -> Step {
        let trees = self.left_out.borrow();
        let path = Path::new(&*step.resource.name);
        let tree = trees.iter().find(|(tree, _)| path.is_absolute() && path.starts_with(tree));
        let reason = tree.map(|(_, reason)| Rc::clone(reason)).or(self.astray.borrow().clone());
        if reason.is_some() {
            step.left_out = tree.is_some();
            step.not_seen = reason;
        }
        step
    }

    /// Says that a guard or function was not called: what is said of the step that is open
    /// and of later ones may rest on a wrong answer.
    pub fn guard_not_run(&self) {
        self.guard_not_run.set(true);
        if let Some(id) = self.current() {
            self.steps.borrow_mut()[id.0 as usize - 1].guard_not_run = true;
        }
    }

    /// Whether that was ever said.
    pub fn has_guard_not_run(&self) -> bool {
        self.guard_not_run.get()
    }

    /// Records a change made by an open step.
    pub fn changed(&self, id: StepId, change: &Change) {
        if self.in_copy() {
            return self.withheld(id, change);
        }
        self.mark(id, change);
        self.emit(&Event::ChangeMade { step: id, change });
    }

    /// Records a change an open step found and did not make.
    pub fn withheld(&self, id: StepId, change: &Change) {
        self.mark(id, change);
        self.emit(&Event::ChangeWithheld { step: id, change });
    }

    fn mark(&self, id: StepId, change: &Change) {
        let changed = &mut self.steps.borrow_mut()[id.0 as usize - 1].changed;
        if !changed.contains(&change.property) {
            changed.push(change.property.clone());
        }
    }

    /// Takes a step that is still open out of the counts: it turned out to repeat another.
    pub fn uncount(&self, id: StepId) {
        self.steps.borrow_mut()[id.0 as usize - 1].purpose = Purpose::Probe;
    }

    /// Closes a step. Steps left open inside it are closed with the same outcome, so a
    /// caught panic or an early return cannot unbalance the record.
    pub fn close(&self, clock: &dyn Clock, id: StepId, outcome: Outcome) {
        let outcome = match outcome {
            Outcome::Repaired if self.in_copy() => Outcome::WouldRepair,
            failed if failed.is_failure() && self.is_unsure(id) => Outcome::WouldRepair,
            outcome => {
                if outcome == Outcome::WouldRepair {
                    self.steps.borrow_mut()[id.0 as usize - 1].mode = Mode::Rehearse;
                }
                outcome
            }
        };
        loop {
            let Some(top) = self.open.borrow_mut().pop() else { return };
            let began = self.opened_at.borrow_mut().pop().unwrap_or_default();
            {
                let mut steps = self.steps.borrow_mut();
                let step = &mut steps[top.0 as usize - 1];
                step.elapsed = clock.monotonic().saturating_sub(began);
                step.outcome = outcome.clone();
                step.closed = true;
                // What holds a withheld step is itself not certain to end like this.
                step.after =
                    step.after.or_else(|| self.unknown.get().filter(|unknown| *unknown > top));
                self.count(step);
                if step.left_out || step.open_ended && step.outcome == Outcome::WouldRepair {
                    self.unknown.set(self.unknown.get().or(Some(top)));
                }
            }
            self.emit_step(top, |step| Event::StepClosed { step });
            if top == id {
                return;
            }
        }
    }

    fn count(&self, step: &Step) {
        let mut counts = self.counts.get();
        counts.add(step);
        self.counts.set(counts);
    }

    fn emit_step(&self, id: StepId, event: impl for<'a> Fn(&'a Step) -> Event<'a>) {
        if self.sinks.borrow().is_empty() {
            return;
        }
        let step = self.steps.borrow()[id.0 as usize - 1].clone();
        self.emit(&event(&step));
    }

    /// The innermost open step.
    pub fn current(&self) -> Option<StepId> {
        self.open.borrow().last().copied()
    }

    /// How many counted steps ended in which way so far.
    pub fn counts(&self) -> Counts {
        self.counts.get()
    }

    /// All steps in order. Do not open or close a step while holding this.
    pub fn steps(&self) -> Ref<'_, [Step]> {
        Ref::map(self.steps.borrow(), Vec::as_slice)
    }

    /// One step, as it is now.
    pub fn step(&self, id: StepId) -> Step {
        self.steps.borrow()[id.0 as usize - 1].clone()
    }
}
