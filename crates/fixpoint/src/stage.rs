//! The machine, the record and the sources of one run, for a language to work with.
//!
//! They last as long as the process: Ruby code that a policy brings may hold on to them.

use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use fx_engine::{Cancel, Ledger, Run};
use fx_host::{Host, LeftOut, LookingHost, OsHost, WatchingHost};
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
    /// The same where some of what it sees is not the machine's.
    watching: Option<&'static Rc<WatchingHost>>,
}

impl Stage {
    /// This machine with an empty record; the flag is the wish to stop.
    pub(crate) fn new(stop: Arc<AtomicBool>) -> Stage {
        let host = Rc::new(OsHost::cancelled_by(Arc::clone(&stop)));
        let lasting: &'static Rc<SourceMap> = Box::leak(Box::new(Rc::new(SourceMap::new())));
        let ledger: &'static Rc<Ledger> = Box::leak(Box::new(Rc::new(Ledger::new())));
        let lasting_host: &'static Rc<OsHost> = Box::leak(Box::new(Rc::clone(&host)));
        let run = Run::new(&**lasting_host, ledger, Box::leak(Box::new(Cancel::from_flag(stop))));
        Stage {
            host,
            sources: Rc::clone(lasting),
            run,
            ledger,
            lasting,
            looking: None,
            watching: None,
        }
    }

    /// The same, for policy that is looked at and not acted on.
    pub(crate) fn looking(stop: Arc<AtomicBool>) -> Stage {
        let mut stage = Stage::new(stop);
        let looking: &'static Rc<LookingHost> =
            Box::leak(Box::new(Rc::new(LookingHost::new(Rc::<OsHost>::clone(&stage.host)))));
        stage.run = Run::new(&**looking, stage.run.ledger, stage.run.cancel);
        stage.looking = Some(looking);
        stage
    }

    /// The same in a copy that lacks these trees: what is about one is not certain.
    pub(crate) fn watching(&self, trees: Vec<LeftOut>) -> Stage {
        let reason = |tree: &LeftOut| {
            format!("'{}' is not in the copy: {}", tree.path.display(), tree.reason)
        };
        let named = trees.iter().map(|tree| (tree.path.clone(), reason(tree).into())).collect();
        self.ledger.set_left_out(named);
        // Everybody looks into the trees that a copy has of its own, and they are known by the
        // names of steps. The others are few and mostly none.
        let mounts: Vec<LeftOut> = trees.into_iter().filter(|tree| !tree.own).collect();
        let mut stage = self.clone();
        if !mounts.is_empty() {
            let ledger = self.ledger;
            let watching: &'static Rc<WatchingHost> = Box::leak(Box::new(Rc::new(
                WatchingHost::new(Rc::<OsHost>::clone(&self.host), mounts, move |tree| {
                    ledger.looked_at_left_out(&reason(tree));
                }),
            )));
            stage.run = Run::new(&**watching, stage.run.ledger, stage.run.cancel);
            stage.watching = Some(watching);
        }
        stage
    }

    /// The machine as policy gets it.
    pub(crate) fn policy_host(&self) -> Rc<dyn Host> {
        match (self.looking, self.watching) {
            (Some(looking), _) => Rc::<LookingHost>::clone(looking),
            (_, Some(watching)) => Rc::<WatchingHost>::clone(watching),
            _ => Rc::<OsHost>::clone(&self.host),
        }
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
        fx_puppet::Machine::on(self.policy_host(), self.run, self.lasting)
    }
}
