//! A service: running or not, started at boot or not, masked; and its restart
//! when something it depends on has changed.

pub mod backend;
pub mod boot;
pub mod systemd;
mod sysv;

use std::rc::Rc;

use fx_engine::{Change, Failure, Refresh, Resource, ResourceId, Target};
use fx_host::{Act, Look, Program};

use crate::exec::Rules;
use crate::{command, wanted};
use backend::{Backend, Verb};

pub use backend::{detect, named};

/// What a service should be. Properties that are `None` are not looked at.
#[derive(Clone, Debug, Default)]
pub struct Desired {
    /// Its name.
    pub name: String,
    /// Whether it should be running.
    pub running: Option<bool>,
    /// Whether it should start at boot.
    pub enabled: Option<Enabled>,
    /// Commands that policy gives instead of the manager's own.
    pub commands: Commands,
    /// One that the manager does not know counts as stopped: an earlier step of a rehearsal may bring it, and to start it
    /// fails by itself where nothing did.
    pub unknown_is_stopped: bool,
}

/// Whether a service starts at boot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Enabled {
    /// It does.
    Yes,
    /// It does not.
    No,
    /// It cannot be started at all.
    Masked,
    /// The manager decides: the unit cannot be enabled, as it has no install section, or
    /// it is made by another.
    Static,
}

impl Enabled {
    /// What reports call it.
    pub fn word(self) -> &'static str {
        match self {
            Enabled::Yes => "true",
            Enabled::No => "false",
            Enabled::Masked => "mask",
            Enabled::Static => "static",
        }
    }
}

/// Commands that policy gives instead of the manager's own.
#[derive(Clone, Debug, Default)]
#[expect(missing_docs, reason = "the names say it")]
pub struct Commands {
    pub start: Option<Program>,
    pub stop: Option<Program>,
    pub restart: Option<Program>,
    pub status: Option<Program>,
    /// One of them holds a secret.
    pub sensitive: bool,
}

impl Commands {
    fn rules(&self) -> Rules {
        Rules { sensitive: self.sensitive, ..Rules::default() }
    }
}

/// A service with its desired state.
pub struct Service {
    /// What it should be.
    pub desired: Desired,
    backend: Rc<dyn Backend>,
    seen: Option<backend::State>,
    /// What policy's own command says of it.
    runs: Option<bool>,
}

impl Service {
    /// A service that should be like this, by this manager.
    pub fn new(desired: Desired, backend: Rc<dyn Backend>) -> Service {
        Service { desired, backend, seen: None, runs: None }
    }

    /// Name of the manager.
    pub fn manager(&self) -> &'static str {
        self.backend.name()
    }

    /// What is known of it now.
    pub fn state(&self, host: &dyn Look) -> Result<backend::State, Failure> {
        command::check_name("service", &self.desired.name)?;
        self.backend.check_name(&self.desired.name)?;
        let mut state = self.backend.state(host, &self.desired.name)?;
        state.running = self.runs.unwrap_or(state.running);
        Ok(state)
    }

    /// Does it, by policy's own command where there is one.
    pub fn act(&self, host: &dyn Act, verb: Verb) -> Result<(), Failure> {
        let commands = &self.desired.commands;
        let own = match verb {
            Verb::Start => &commands.start,
            Verb::Stop => &commands.stop,
            Verb::Restart => &commands.restart,
            _ => &None,
        };
        match own {
            Some(program) => {
                let spec = commands.rules().spec(host, program)?;
                command::succeed(host, &spec).map(drop)
            }
            None => self.backend.act(host, &self.desired.name, verb),
        }
    }
}

impl Resource for Service {
    fn id(&self) -> ResourceId {
        ResourceId::new("service", self.desired.name.as_str())
    }

    fn target(&self) -> Target {
        Target::service(&self.desired.name)
    }

    fn open_ended(&self) -> bool {
        true
    }

    fn ask_guards(&mut self, act: &dyn Act) -> Result<(), Failure> {
        if let Some(status) = &self.desired.commands.status {
            let spec = self.desired.commands.rules().spec(act, status)?;
            self.runs = Some(command::ask_guard(act, &spec)?.exit.success());
        }
        Ok(())
    }

    fn observe(&mut self, host: &dyn Look) -> Result<Vec<Change>, Failure> {
        self.seen = None;
        let desired = &self.desired;
        let state = self.state(host)?;
        let asks_to_be_there =
            desired.running == Some(true) || desired.enabled == Some(Enabled::Yes);
        let must_be_known = asks_to_be_there && !desired.unknown_is_stopped;
        if !state.known && must_be_known && desired.commands.start.is_none() {
            return Err(Failure::NoService(desired.name.clone()));
        }
        let mut changes = Vec::new();
        if let Some(running) = desired.running
            && running != state.running
        {
            let word = |running| if running { "running" } else { "stopped" };
            changes.push(Change::of(self.target(), "ensure", word(state.running), word(running)));
        }
        // Nothing can be done about a unit that cannot be enabled, and one that is masked or
        // not there does not start at boot.
        let settled = match (desired.enabled, state.enabled) {
            (Some(Enabled::Yes | Enabled::No), Enabled::Static) => true,
            (Some(Enabled::No), Enabled::Masked) => true,
            (Some(Enabled::No), _) => !state.known,
            _ => false,
        };
        if let Some(enabled) = desired.enabled
            && enabled != state.enabled
            && !settled
        {
            if enabled == Enabled::Static {
                let text = format!("service '{}' cannot be made static", desired.name);
                return Err(Failure::new(text));
            }
            changes.push(Change::of(self.target(), "enable", state.enabled.word(), enabled.word()));
        }
        self.seen = Some(state);
        Ok(changes)
    }

    fn apply(&mut self, host: &dyn Act, changes: &[Change]) -> Result<(), Failure> {
        let Some(state) = self.seen.take() else {
            return Err(Failure::new("service was not observed before it was applied"));
        };
        let desired = &self.desired;
        // A masked unit cannot be started, and a running one is stopped before it is masked.
        let running = desired.running.filter(|_| wanted(changes, "ensure"));
        if running == Some(false) {
            self.act(host, Verb::Stop)?;
        }
        if let Some(enabled) = desired.enabled.filter(|_| wanted(changes, "enable")) {
            if state.enabled == Enabled::Masked {
                self.act(host, Verb::Unmask)?;
            }
            match enabled {
                Enabled::Yes => self.act(host, Verb::Enable)?,
                Enabled::No => self.act(host, Verb::Disable)?,
                Enabled::Masked => self.act(host, Verb::Mask)?,
                Enabled::Static => {}
            }
        }
        if running == Some(true) {
            self.act(host, Verb::Start)?;
        }
        Ok(())
    }
}

impl Refresh for Service {
    /// Restarts it if it runs; one that does not run has nothing to forget.
    fn refresh(&mut self, host: &dyn Act) -> Result<(), Failure> {
        self.ask_guards(host)?;
        if !self.state(host)?.running {
            return Ok(());
        }
        self.act(host, Verb::Restart)
    }
}

#[cfg(test)]
mod tests;
