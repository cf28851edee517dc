//! The seam between packages and package managers, and the choice of one.
//!
//! A backend reads what is installed, knows its versions, and turns a verb into argument
//! vectors. It never uses a shell.

use std::cmp::Ordering;
use std::path::Path;
use std::rc::Rc;

use fx_engine::Failure;
use fx_host::{Act, Look, Spec};

use super::{apk, apt, dnf, gem, pacman, pip, zypper};
use crate::command;

/// What is known of a package on the machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// Installed versions; more than one where the manager allows it.
    pub versions: Vec<String>,
    /// Removed, with configuration left behind.
    pub residual: bool,
}

impl State {
    /// Nothing installed and nothing left.
    pub fn absent() -> State {
        State::default()
    }

    /// Installed in one version.
    pub fn version(version: impl Into<String>) -> State {
        State { versions: vec![version.into()], residual: false }
    }

    /// The newest installed version.
    pub fn newest(&self, compare: impl Fn(&str, &str) -> Ordering) -> Option<String> {
        self.versions.iter().max_by(|a, b| compare(a, b)).cloned()
    }
}

/// What to do with a package.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// Installs it, or another version of it.
    Install,
    /// Brings an installed one to a newer version.
    Upgrade,
    /// Removes it.
    Remove,
    /// Removes it with its configuration.
    Purge,
    /// Keeps it at its version.
    Hold,
    /// Lets it move again.
    Unhold,
}

/// One thing to do.
#[derive(Clone, Copy, Debug)]
pub struct Action<'a> {
    /// What.
    pub verb: Verb,
    /// With which package.
    pub name: &'a str,
    /// In which version.
    pub version: Option<&'a str>,
    /// From which file.
    pub source: Option<&'a Path>,
    /// Further options of the manager.
    pub options: &'a [String],
    /// An older version replaces a newer one.
    pub downgrade: bool,
    /// It is held now, and policy says that this does not stand in the way.
    pub held: bool,
}

/// A package manager.
pub trait Backend {
    /// What policy calls it.
    fn name(&self) -> &'static str;
    /// What is installed.
    fn installed(&self, host: &dyn Look, name: &str) -> Result<State, Failure>;
    /// The newest version that can be had; `None` when there is none to be had.
    fn candidate(&self, host: &dyn Look, name: &str) -> Result<Option<String>, Failure>;
    /// Which of two versions is newer.
    fn compare(&self, a: &str, b: &str) -> Ordering;
    /// The commands that do it, in order.
    fn commands(&self, action: &Action<'_>) -> Result<Vec<Spec>, Failure>;

    /// Whether an installed version is the one policy means.
    fn satisfies(&self, installed: &str, wanted: &str) -> bool {
        installed == wanted
    }

    /// Whether it is held at its version.
    fn held(&self, _host: &dyn Look, _name: &str) -> Result<bool, Failure> {
        Err(Failure::new(format!("'{}' cannot hold packages", self.name())))
    }

    /// Refuses names this manager would read as something else.
    fn check_name(&self, _name: &str) -> Result<(), Failure> {
        Ok(())
    }

    /// Does it.
    fn act(&self, host: &dyn Act, action: &Action<'_>) -> Result<(), Failure> {
        for spec in self.commands(action)? {
            command::succeed(host, &spec)?;
        }
        Ok(())
    }
}

impl Action<'_> {
    /// The file to install from, or the name with its version put behind a separator.
    pub(super) fn target(&self, separator: &str) -> String {
        match (self.source, self.version) {
            (Some(source), _) => source.to_string_lossy().into_owned(),
            (None, Some(version)) => format!("{}{separator}{version}", self.name),
            (None, None) => self.name.to_owned(),
        }
    }

    /// The failure of a manager that does not know this verb.
    pub(super) fn unsupported(&self, manager: &str) -> Failure {
        let verb = format!("{:?}", self.verb).to_lowercase();
        Failure::new(format!("'{manager}' cannot {verb} package '{}'", self.name))
    }
}

/// The manager of the machine's own packages, by what is there.
pub fn detect(host: &dyn Look) -> Result<Rc<dyn Backend>, Failure> {
    let managers = ["apt-get", "dnf", "yum", "zypper", "apk", "pacman"];
    match managers.into_iter().find(|program| host.find_program(program).is_some()) {
        Some(program) => named(program),
        None => Err(Failure::new(
            "no package manager was found on this machine: 'apt-get', \
                                  'dnf', 'yum', 'zypper', 'apk' and 'pacman' are missing",
        )),
    }
}

/// A manager by the name policy gives it.
pub fn named(name: &str) -> Result<Rc<dyn Backend>, Failure> {
    Ok(match name {
        "apt" | "apt-get" | "dpkg" | "apt_get" => Rc::new(apt::Apt::default()),
        "dnf" => Rc::new(dnf::Dnf::new("dnf")),
        "yum" | "rpm" => Rc::new(dnf::Dnf::new("yum")),
        "zypper" => Rc::new(zypper::Zypper),
        "apk" => Rc::new(apk::Apk),
        "pacman" => Rc::new(pacman::Pacman),
        "pip3" => Rc::new(pip::Pip::new("pip3")),
        "pip" => Rc::new(pip::Pip::new("pip")),
        "gem" => Rc::new(gem::Gem),
        _ => return Err(Failure::new(format!("there is no package manager '{name}'"))),
    })
}
