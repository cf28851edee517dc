//! The step: open, observe, apply or withhold, close. The one way resources are acted on.

use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

use fx_source::Origin;

use crate::{
    Change, Failure, FailureKind, Mode, Outcome, Purpose, Resource, ResourceId, Run, StepId,
};

/// What the driver knows about a step before it is taken.
#[derive(Clone, Debug)]
pub struct Request {
    /// Phase or pass of the language.
    pub phase: Rc<str>,
    /// What is attempted.
    pub resource: ResourceId,
    /// The action of the language.
    pub action: Cow<'static, str>,
    /// Why it is its turn.
    pub why: Rc<str>,
    /// Where it was declared.
    pub origin: Origin,
    /// Whether it may change anything.
    pub mode: Mode,
    /// Whether it counts.
    pub purpose: Purpose,
}

impl Request {
    /// A step in apply mode for its own sake.
    pub fn new(resource: ResourceId, action: impl Into<Cow<'static, str>>) -> Request {
        Request {
            phase: Rc::from(""),
            resource,
            action: action.into(),
            why: Rc::from(""),
            origin: Origin::default(),
            mode: Mode::Apply,
            purpose: Purpose::Act,
        }
    }
}

/// What a driver gets back to draw its own consequences from.
#[derive(Clone, Debug)]
pub struct Stepped {
    /// The line in the ledger.
    pub id: StepId,
    /// How it ended.
    pub outcome: Outcome,
    /// What changed or would.
    pub changes: Vec<Change>,
}

/// Attempts to bring one resource to its desired state, and records it.
pub fn step(run: Run<'_>, request: Request, resource: &mut dyn Resource) -> Stepped {
    let mut mode = request.mode;
    let id = run.ledger.open(run.host, request);
    if resource.open_ended() {
        run.ledger.open_ended(id);
        if run.ledger.in_copy() {
            mode = Mode::Rehearse;
        }
    }
    let (outcome, changes) = if run.cancel.is_cancelled() {
        (Outcome::NotReached, Vec::new())
    } else {
        attempt(run, id, mode, resource)
    };
    run.ledger.close(run.host, id, outcome.clone());
    Stepped { id, outcome, changes }
}

fn attempt(
    run: Run<'_>,
    id: StepId,
    mode: Mode,
    resource: &mut dyn Resource,
) -> (Outcome, Vec<Change>) {
    let changes = match guarded(|| resource.observe(run.host)) {
        Ok(changes) => changes,
        Err(failure) => return (failure.into(), Vec::new()),
    };
    if changes.is_empty() {
        return (Outcome::Kept, changes);
    }
    if mode == Mode::Rehearse {
        for change in &changes {
            run.ledger.withheld(id, change);
        }
        return (Outcome::WouldRepair, changes);
    }
    match guarded(|| resource.apply(run.host, &changes)) {
        Ok(()) => {
            for change in &changes {
                run.ledger.changed(id, change);
            }
            (Outcome::Repaired, changes)
        }
        Err(failure) => (failure.into(), changes),
    }
}

// A defect in one resource fails that resource, not the run of a root agent.
fn guarded<T>(work: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
        let text = text.unwrap_or_else(|| "unknown".to_owned());
        Err(Failure::of(FailureKind::Internal, format!("internal error: {text}")))
    })
}
