//! One attempt on one resource, and the record of all attempts. Middle of the line.
//!
//! Owns the step, its mode and outcome, the changes, the ledger, the closed list of
//! events, and cooperative cancel. It knows no language word and no output format: who is
//! next, when values are computed and what an outcome causes belong to the languages.

#![forbid(unsafe_code)]

mod accounted;
mod attempt;
mod cancel;
mod change;
mod event;
mod failure;
mod ledger;
mod mode;
mod outcome;
mod resource;
mod secrets;
mod sink;
mod step;
mod target;
mod trace;
mod why;
#[cfg(test)]
mod tests;

use fx_host::Host;

pub use accounted::Accounted;
pub use attempt::{Attempt, Done};
pub use cancel::Cancel;
pub use change::{Change, Detail};
pub use event::{Event, Level};
pub use failure::{Failure, FailureKind, NoProgram};
pub use ledger::{Certainty, Counts, Ledger, Step, StepId};
pub use mode::{Mode, Purpose};
pub use outcome::Outcome;
pub use resource::{Refresh, Resource, ResourceId};
pub use secrets::Secrets;
pub use sink::Sink;
pub use step::{Request, Stepped, step};
pub use target::{Target, TargetKind};
pub use trace::{Trace, trace_line};
pub use why::{Cause, Why};

/// What every driver is given: the machine, the record, and the wish to stop.
#[derive(Clone, Copy)]
pub struct Run<'a> {
    /// The machine. Private: who acts on it goes through a change, an evaluation or our own state.
    host: &'a dyn Host,
    /// The record of this run.
    pub ledger: &'a Ledger,
    /// Set when the user or a signal asks to stop.
    pub cancel: &'a Cancel,
}

impl<'a> Run<'a> {
    /// A run on this machine, with this record.
    pub fn new(host: &'a dyn Host, ledger: &'a Ledger, cancel: &'a Cancel) -> Run<'a> {
        Run { host, ledger, cancel }
    }
}
