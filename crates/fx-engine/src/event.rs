//! Everything that can happen in a run, as one closed list. Sinks turn events into output.

use std::borrow::Cow;
use std::time::Duration;

use fx_source::Origin;
use fx_value::Value;

use crate::{Change, Failure, Outcome, Step, StepId};

/// How important a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Something failed.
    Error,
    /// Something looks wrong.
    Warning,
    /// The user asked for this message.
    Notice,
    /// Something was done.
    Info,
    /// How it was done.
    Verbose,
    /// Why, in detail.
    Debug,
}

/// One happening, borrowed for the time of the call.
#[derive(Clone, Debug)]
pub enum Event<'a> {
    /// The run begins.
    RunStarted {
        /// What was asked for, such as the policy file.
        target: &'a str,
    },
    /// The run is over; the ledger is closed.
    RunFinished {
        /// How long it took.
        elapsed: Duration,
    },
    /// A source file was loaded.
    SourceLoaded {
        /// Its name.
        name: &'a str,
    },
    /// An attempt begins.
    StepOpened {
        /// The attempt; its outcome is not known yet.
        step: &'a Step,
    },
    /// A change was made.
    ChangeMade {
        /// By which attempt.
        step: StepId,
        /// What changed.
        change: &'a Change,
    },
    /// A change was found and not made.
    ChangeWithheld {
        /// By which attempt.
        step: StepId,
        /// What would change.
        change: &'a Change,
    },
    /// A change was tried and could not be made.
    ChangeFailed {
        /// By which attempt.
        step: StepId,
        /// What was to change.
        change: &'a Change,
        /// Why it did not.
        failure: &'a Failure,
    },
    /// Evaluation of policy itself did something to the machine.
    Evaluated {
        /// The function, fact or file whose code did it.
        author: &'a str,
        /// What it did.
        record: &'a fx_host::Record,
        /// During which attempt.
        step: Option<StepId>,
    },
    /// An attempt ended.
    StepClosed {
        /// The attempt, with its outcome.
        step: &'a Step,
    },
    /// Somebody has something to say.
    Message {
        /// How important.
        level: Level,
        /// What.
        text: &'a str,
        /// About which text of the user's.
        origin: &'a Origin,
        /// During which attempt.
        step: Option<StepId>,
    },
    /// A moment only one language knows: a pass begins, a class is defined, a catalog is ready.
    Note {
        /// Stable code such as `cf.pass`.
        code: &'static str,
        /// Its details.
        fields: &'a [(Cow<'static, str>, Value)],
        /// About which text of the user's.
        origin: &'a Origin,
    },
}

impl Outcome {
    /// The level at which an outcome is worth a line.
    pub fn level(&self) -> Level {
        match self {
            Outcome::Kept | Outcome::Skipped(_) | Outcome::NotReached => Level::Verbose,
            Outcome::Repaired | Outcome::WouldRepair => Level::Info,
            _ => Level::Error,
        }
    }
}
