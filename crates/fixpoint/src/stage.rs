//! The machine, the record and the sources of one run, for a language to work with.
//!
//! They last as long as the process: Ruby code that a policy brings may hold on to them.

use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use fx_engine::{Cancel, Ledger, Run};
use fx_host::OsHost;
use fx_source::SourceMap;

/// What a language is given.
#[derive(Clone)]
pub(crate) struct Stage {
    pub(crate) host: Rc<OsHost>,
    pub(crate) sources: Rc<SourceMap>,
    pub(crate) run: Run<'static>,
    ledger: &'static Rc<Ledger>,
    lasting: &'static Rc<SourceMap>,
}

impl Stage {
    /// This machine with an empty record; the flag is the wish to stop.
    pub(crate) fn new(stop: Arc<AtomicBool>) -> Stage {
        let host = Rc::new(OsHost::cancelled_by(Arc::clone(&stop)));
        let lasting: &'static Rc<SourceMap> = Box::leak(Box::new(Rc::new(SourceMap::new())));
        let ledger: &'static Rc<Ledger> = Box::leak(Box::new(Rc::new(Ledger::new())));
        let run = Run {
            host: &**Box::leak(Box::new(Rc::clone(&host))),
            ledger,
            cancel: Box::leak(Box::new(Cancel::from_flag(stop))),
        };
        Stage { host, sources: Rc::clone(lasting), run, ledger, lasting }
    }

    /// The record of this run.
    pub(crate) fn ledger(&self) -> &Rc<Ledger> {
        self.ledger
    }

    /// The same as Puppet's compiler wants it.
    pub(crate) fn puppet(&self) -> fx_puppet::Machine {
        fx_puppet::Machine::on(Rc::<OsHost>::clone(&self.host), self.run, self.lasting)
    }
}
