//! The seam: the one place where a change is allowed or withheld, made and recorded.
//!
//! Whoever wants an effect says what it is (a [`Change`]) and how it is made (a closure that
//! gets the machine to act on). Nothing else hands out that machine but
//! [`Run::evaluate`], for what evaluation itself does, and [`Run::own_state`].

use std::panic::{AssertUnwindSafe, catch_unwind};

use fx_host::{Act, Look, RecordingHost};

use crate::{Change, Event, Failure, Outcome, Request, Run, StepId};

/// What became of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Done<T = ()> {
    /// It was made, and gave this.
    Made(T),
    /// It is recorded as what would be done.
    Withheld,
}

impl<T> Done<T> {
    /// What making it gave, if it was made.
    pub fn made(self) -> Option<T> {
        match self {
            Done::Made(value) => Some(value),
            Done::Withheld => None,
        }
    }
}

/// An open line of the ledger. Changes go through it.
#[derive(Clone, Copy)]
pub struct Attempt<'a> {
    run: Run<'a>,
    id: StepId,
}

impl<'a> Run<'a> {
    /// The machine, to look at.
    pub fn look(self) -> &'a dyn Look {
        self.host
    }

    /// Opens a line in the ledger.
    pub fn open(self, request: Request) -> Attempt<'a> {
        let id = self.ledger.open(self.host, request);
        Attempt { run: self, id }
    }

    /// The innermost line that is open.
    pub fn current(self) -> Option<Attempt<'a>> {
        self.ledger.current().map(|id| Attempt { run: self, id })
    }

    /// Does what evaluation of policy itself needs, such as a function that runs a command.
    /// Every effect is recorded with its author.
    pub fn evaluate<T>(self, author: &str, work: impl FnOnce(&dyn Act) -> T) -> T {
        let step = self.ledger.current();
        let host = RecordingHost::new(self.host, |record| {
            self.ledger.emit(&Event::Evaluated { author, record: &record, step });
        });
        work(&host)
    }

    /// Keeps our own files: locks, state, caches, reports. Never for what policy asks for.
    pub fn own_state<T>(self, work: impl FnOnce(&dyn Act) -> T) -> T {
        work(self.host)
    }
}

impl<'a> Attempt<'a> {
    /// Its number in the ledger.
    pub fn id(self) -> StepId {
        self.id
    }

    /// The machine, to look at.
    pub fn look(self) -> &'a dyn Look {
        self.run.host
    }

    /// Says that nobody can know beforehand what it does to the rest of the machine. In a
    /// copy, which has no network, services and processes, its changes are then withheld.
    pub fn open_ended(self) {
        self.run.ledger.open_ended(self.id);
    }

    /// Says that it installs software: open-ended but in a copy that can fetch it.
    pub fn installs(self) {
        if !self.run.ledger.copy_has_network() {
            self.open_ended();
        }
    }

    /// Whether its changes are made.
    pub fn makes_changes(self) -> bool {
        self.run.ledger.makes_changes(self.id)
    }

    /// Makes one change, or records that it would be made.
    pub fn change<T, E: Into<Failure>>(
        self,
        change: &Change,
        work: impl FnOnce(&dyn Act) -> Result<T, E>,
    ) -> Result<Done<T>, Failure> {
        self.changes(std::slice::from_ref(change), work)
    }

    /// The same for several properties that one effect changes.
    pub fn changes<T, E: Into<Failure>>(
        self,
        changes: &[Change],
        work: impl FnOnce(&dyn Act) -> Result<T, E>,
    ) -> Result<Done<T>, Failure> {
        let ledger = self.run.ledger;
        if self.run.cancel.is_cancelled() {
            return Err(Failure::Interrupted);
        }
        let withheld = || {
            for change in changes {
                ledger.withheld(self.id, change);
            }
            Ok(Done::Withheld)
        };
        if !self.makes_changes() {
            return withheld();
        }
        let done = guarded(|| work(self.run.host).map_err(Into::into));
        if done.is_err() && ledger.is_unsure(self.id) {
            return withheld();
        }
        for change in changes {
            match &done {
                Ok(_) => ledger.changed(self.id, change),
                Err(failure) => {
                    ledger.emit(&Event::ChangeFailed { step: self.id, change, failure });
                }
            }
        }
        done.map(Done::Made)
    }

    /// Closes the line.
    pub fn close(self, outcome: Outcome) -> StepId {
        self.run.ledger.close(self.run.host, self.id, outcome);
        self.id
    }
}

// A defect in one resource fails that resource, not the run of a root agent.
pub(crate) fn guarded<T>(work: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
        Err(Failure::Internal(text.unwrap_or_else(|| "unknown".to_owned())))
    })
}

#[cfg(test)]
mod tests;
