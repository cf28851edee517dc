//! The machine as evaluation has it: to look at, and for what policy does while its values are
//! computed.

use fx_host::{Act, Look};

use super::Context;

impl<'a> Context<'a> {
    /// The machine, to look at.
    pub fn host(&self) -> &'a dyn Look {
        self.run.look()
    }

    /// Whether commands and the like are reported and not run.
    pub fn withholds(&self) -> bool {
        self.config.dry_run || self.run.ledger.in_copy()
    }

    /// Does what evaluation itself needs, recorded with the function or promise that asks.
    pub fn in_evaluation<T>(&self, what: &str, work: impl FnOnce(&dyn Act) -> T) -> T {
        let place = self.promise_frame().map(|frame| &frame.promise);
        let author = match place {
            Some(promise) => format!("{what} at {}:{}", promise.bundle.file, promise.line),
            None => what.to_owned(),
        };
        self.run.evaluate(&author, work)
    }

    /// Keeps our own files: locks, persistent classes, inventories, logs.
    pub fn own_state<T>(&self, work: impl FnOnce(&dyn Act) -> T) -> T {
        self.run.own_state(work)
    }
}
