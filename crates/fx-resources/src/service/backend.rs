//! The seam between services and service managers, and the choice of one.

use std::path::Path;
use std::rc::Rc;

use fx_engine::Failure;
use fx_host::{Act, Look};

use super::{Enabled, systemd, sysv};

/// What is known of a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct State {
    /// Whether the manager knows it at all.
    pub known: bool,
    /// Whether it runs.
    pub running: bool,
    /// Whether it starts at boot.
    pub enabled: Enabled,
}

/// What to do with a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Verb {
    Start,
    Stop,
    Restart,
    Enable,
    Disable,
    Mask,
    Unmask,
}

impl Verb {
    /// The word managers use.
    pub fn word(self) -> &'static str {
        match self {
            Verb::Start => "start",
            Verb::Stop => "stop",
            Verb::Restart => "restart",
            Verb::Enable => "enable",
            Verb::Disable => "disable",
            Verb::Mask => "mask",
            Verb::Unmask => "unmask",
        }
    }
}

/// A service manager.
pub trait Backend {
    /// What policy calls it.
    fn name(&self) -> &'static str;
    /// What is known of a service.
    fn state(&self, host: &dyn Look, service: &str) -> Result<State, Failure>;
    /// Does it.
    fn act(&self, host: &dyn Act, service: &str, verb: Verb) -> Result<(), Failure>;
    /// Refuses names this manager would read as something else.
    fn check_name(&self, _service: &str) -> Result<(), Failure> {
        Ok(())
    }
}

/// The manager that runs this machine.
pub fn detect(host: &dyn Look) -> Result<Rc<dyn Backend>, Failure> {
    let is_dir =
        |path: &str| host.stat_opt(Path::new(path)).map(|meta| meta.is_some_and(|m| m.is_dir()));
    // As sd_booted does: the directory is there if and only if systemd is process 1.
    if is_dir("/run/systemd/system")? {
        return named("systemd");
    }
    if is_dir("/etc/init.d")? {
        return named("sysv");
    }
    Err(Failure::new(
        "no service manager was found: neither '/run/systemd/system' nor \
                      '/etc/init.d' is there",
    ))
}

/// A manager by the name policy gives it.
pub fn named(name: &str) -> Result<Rc<dyn Backend>, Failure> {
    Ok(match name {
        "systemd" => Rc::new(systemd::Systemd),
        "sysv" | "init" | "debian" | "redhat" => Rc::new(sysv::Sysv),
        _ => return Err(Failure::new(format!("there is no service manager '{name}'"))),
    })
}
