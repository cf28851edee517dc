//! The agent: an evaluation of policy, and what is remembered while its promises are kept.

use std::ops::{Deref, DerefMut};
use std::rc::Rc;

use fx_cfengine::eval::Context;
use fx_cfengine::eval::promise::Expanded;
use fx_cfengine::outcome::Outcome;
use fx_cfengine::policy::Promise;
use fx_engine::{Purpose, Request, ResourceId};
use fx_source::Origin;

use crate::simulate::Simulation;
use crate::{lock, passes, promise};

/// An evaluation that keeps promises. It is used as the [`Context`] that it holds wherever values
/// are computed.
pub(crate) struct Agent<'a> {
    context: Context<'a>,
    pub(crate) locks: lock::Locks,
    pub(crate) words: passes::Words,
    pub(crate) tally: passes::Tally,
    /// A promise whose banner is not logged yet.
    pub(crate) banner: Option<Rc<Expanded>>,
    pub(crate) packages: promise::packages::State,
    /// What `changes` of files promises remembers.
    pub(crate) changes: promise::files::Memory,
    pub(crate) custom: promise::custom::State,
    /// What edits of files remember.
    pub(crate) edits: promise::files::EditState,
    /// Commands that go on while other promises are kept.
    pub(crate) background: Vec<promise::commands::Background>,
    /// Connections to servers.
    pub(crate) network: crate::network::Network,
    /// Whether fstab has lines that are not mounted yet.
    pub(crate) mount_all: bool,
    /// Changes are made in a layer, and reported at the end.
    pub(crate) simulation: Option<Simulation<'a>>,
}

impl<'a> Deref for Agent<'a> {
    type Target = Context<'a>;

    fn deref(&self) -> &Context<'a> {
        &self.context
    }
}

impl<'a> DerefMut for Agent<'a> {
    fn deref_mut(&mut self) -> &mut Context<'a> {
        &mut self.context
    }
}

impl<'a> Agent<'a> {
    /// An agent that has kept no promise yet.
    pub(crate) fn new(context: Context<'a>) -> Agent<'a> {
        Agent {
            context,
            locks: lock::Locks::default(),
            words: passes::Words::default(),
            tally: passes::Tally::default(),
            banner: None,
            packages: promise::packages::State::default(),
            changes: promise::files::Memory::default(),
            custom: promise::custom::State::default(),
            edits: promise::files::EditState::default(),
            background: Vec::new(),
            network: crate::network::Network::default(),
            mount_all: false,
            simulation: None,
        }
    }

    /// Expands a promise and keeps each iteration; the merged outcome.
    pub(crate) fn expand_promise(
        &mut self,
        promise: &Rc<Promise>,
        keep: &mut dyn FnMut(&mut Agent<'_>, &Rc<Expanded>) -> Outcome,
    ) -> Outcome {
        let begun = self.begin_promise(promise);
        self.record_passed_over();
        let Some(mut turns) = begun else { return Outcome::Skipped };
        let mut result = Outcome::Skipped;
        loop {
            let turn = self.next_turn(&mut turns);
            self.record_passed_over();
            let Some(expanded) = turn else { break };
            let held = self.locks_held();
            let outcome = keep(self, &expanded);
            self.release_locks(held);
            result = result.merge(outcome);
            if !self.end_turn(&turns) {
                break;
            }
        }
        self.end_promise(&turns);
        result
    }

    /// Leaves a step in the ledger for each promise that was passed over.
    fn record_passed_over(&mut self) {
        for passed in std::mem::take(&mut self.passed_over) {
            let promise = &passed.promise;
            let id = ResourceId::new(promise.kind.to_string(), passed.promiser);
            let mut request = Request::new(id, "keep");
            request.phase = format!("pass {}", self.pass).into();
            request.why = format!("bundle {}", promise.bundle.name).into();
            request.purpose = Purpose::Probe;
            if let Some(span) = promise.span {
                request.origin = Origin::at(span);
            }
            self.run.open(request).close(fx_engine::Outcome::Skipped(passed.reason));
        }
    }
}
