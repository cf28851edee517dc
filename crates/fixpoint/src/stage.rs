//! The machine, the record and the sources of one run, for a language to work with.
//!
//! They last as long as the process: Ruby code that a policy brings may hold on to them.

use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use fx_engine::{Cancel, Ledger, Run};
use fx_host::{Host, LookingHost, OsHost};
use fx_source::SourceMap;

/// What a language is given.
#[derive(Clone)]
pub(crate) struct Stage {
    pub(crate) host: Rc<OsHost>,
    pub(crate) sources: Rc<SourceMap>,
    pub(crate) run: Run<'static>,
    ledger: &'static Rc<Ledger>,
    lasting: &'static Rc<SourceMap>,
    /// What policy gets of the machine where it may only look.
    looking: Option<&'static Rc<LookingHost>>,
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
        Stage { host, sources: Rc::clone(lasting), run, ledger, lasting, looking: None }
    }

    /// The same, for policy that is looked at and not acted on.
    pub(crate) fn looking(stop: Arc<AtomicBool>) -> Stage {
        let mut stage = Stage::new(stop);
        let looking: &'static Rc<LookingHost> =
            Box::leak(Box::new(Rc::new(LookingHost::new(Rc::<OsHost>::clone(&stage.host)))));
        stage.run.host = &**looking;
        stage.looking = Some(looking);
        stage
    }

    /// The first thing that policy wanted to do and may not.
    pub(crate) fn refused(&self) -> Option<String> {
        self.looking.and_then(|host| host.refused())
    }

    /// The record of this run.
    pub(crate) fn ledger(&self) -> &Rc<Ledger> {
        self.ledger
    }

    /// The same as Puppet's compiler wants it.
    pub(crate) fn puppet(&self) -> fx_puppet::Machine {
        let host: Rc<dyn Host> = match self.looking {
            Some(looking) => Rc::<LookingHost>::clone(looking),
            None => Rc::<OsHost>::clone(&self.host),
        };
        fx_puppet::Machine::on(host, self.run, self.lasting)
    }
}
