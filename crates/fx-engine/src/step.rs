//! The step: open, observe, apply or withhold, close. The one way resources are acted on.

use std::borrow::Cow;
use std::rc::Rc;

use fx_source::Origin;

use crate::attempt::guarded;
use crate::{
    Attempt, Change, Done, Mode, Outcome, Purpose, Resource, ResourceId, Run, StepId, Why,
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
    pub why: Why,
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
            why: Why::default(),
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

/// Attempts to bring one resource to its desired state, and records it: a small function over
/// the seam, for languages that observe first and apply afterwards.
pub fn step(run: Run<'_>, request: Request, resource: &mut dyn Resource) -> Stepped {
    let attempt = run.open(request);
    if resource.open_ended() {
        attempt.open_ended();
    }
    if resource.installs() {
        attempt.installs();
    }
    let (outcome, changes) = if run.cancel.is_cancelled() {
        (Outcome::NotReached, Vec::new())
    } else {
        converge(run, attempt, resource)
    };
    let id = attempt.close(outcome.clone());
    Stepped { id, outcome, changes }
}

fn converge(
    run: Run<'_>,
    attempt: Attempt<'_>,
    resource: &mut dyn Resource,
) -> (Outcome, Vec<Change>) {
    let observed = guarded(|| {
        let author = resource.id().to_string();
        run.evaluate(&author, |act| resource.ask_guards(act))?;
        resource.observe(run.look())
    });
    let changes = match observed {
        Ok(changes) => changes,
        Err(_) if run.ledger.is_unsure(attempt.id()) => return (Outcome::WouldRepair, Vec::new()),
        Err(failure) => return (failure.into(), Vec::new()),
    };
    if changes.is_empty() {
        return (Outcome::Kept, changes);
    }
    let outcome = match attempt.changes(&changes, |act| resource.apply(act, &changes)) {
        Ok(Done::Made(())) => Outcome::Repaired,
        Ok(Done::Withheld) => Outcome::WouldRepair,
        Err(failure) => failure.into(),
    };
    (outcome, changes)
}
