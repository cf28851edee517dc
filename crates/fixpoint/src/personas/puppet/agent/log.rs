//! What an agent logs before there is a catalog: shown at once, and kept for the report.

use std::cell::RefCell;

use fx_engine::{Level, Run};
use fx_source::Origin;

pub(in crate::personas::puppet) struct Log<'a> {
    pub(in crate::personas::puppet) run: Run<'a>,
    kept: RefCell<Vec<(Level, String)>>,
}

impl<'a> Log<'a> {
    pub(in crate::personas::puppet) fn new(run: Run<'a>) -> Log<'a> {
        Log { run, kept: RefCell::default() }
    }

    pub(in crate::personas::puppet) fn say(&self, level: Level, text: &str) {
        self.run.ledger.message(level, text, &Origin::default());
        self.kept.borrow_mut().push((level, text.to_owned()));
    }

    /// All that was logged so far.
    pub(in crate::personas::puppet) fn take(&self) -> Vec<(Level, String)> {
        self.kept.take()
    }
}
