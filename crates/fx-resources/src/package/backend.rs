//! The seam between packages and package managers, and the choice of one.
//!
//! A backend reads what is installed, knows its versions, and turns a verb into argument
//! vectors. It never uses a shell.

use std::cmp::Ordering;
use std::path::Path;
use std::rc::Rc;

use fx_engine::Failure;
use fx_host::{Act, Look, Spec};

use super::{apk, apt, dnf, dpkg, gem, package_file, pacman, pip, zypper};
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

/// Whose words a tool is called with, where the originals differ.
#[derive(Clone, Debug, Default)]
pub enum Dialect {
    /// One package in a command, quiet, with what stops a tool from prompting.
    #[default]
    Puppet,
    /// Several packages in a command, with what its resources say beside their names.
    Chef(Settings),
}

/// What resources of Chef say beside the names of packages.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// The program, where it is not the usual one.
    pub program: Option<String>,
    /// Options of the tool itself, before its command.
    pub global_options: Vec<String>,
    /// The release of Debian that versions come from.
    pub default_release: Option<String>,
    /// Configuration files of a package replace those that were changed.
    pub replace_config: bool,
    /// Signatures are not checked.
    pub unchecked: bool,
}

impl Dialect {
    /// What Chef's resources say; nothing for others.
    pub(super) fn settings(&self) -> Settings {
        match self {
            Dialect::Puppet => Settings::default(),
            Dialect::Chef(settings) => settings.clone(),
        }
    }

    /// Whether it is Chef's.
    pub(super) fn is_chef(&self) -> bool {
        matches!(self, Dialect::Chef(_))
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
    /// Puts its questions again.
    Reconfigure,
}

/// A package of an action.
#[derive(Clone, Copy, Debug, Default)]
pub struct Item<'a> {
    /// Its name.
    pub name: &'a str,
    /// In which version.
    pub version: Option<&'a str>,
    /// From which file.
    pub source: Option<&'a Path>,
}

impl Item<'_> {
    /// The file to install from, or the name with its version put behind a separator.
    fn target(&self, separator: &str) -> String {
        match (self.source, self.version) {
            (Some(source), _) => source.to_string_lossy().into_owned(),
            (None, Some(version)) => format!("{}{separator}{version}", self.name),
            (None, None) => self.name.to_owned(),
        }
    }

    /// The same without the version.
    pub(super) fn bare(&self) -> String {
        Item { version: None, ..*self }.target("")
    }
}

/// One thing to do.
#[derive(Clone, Copy, Debug)]
pub struct Action<'a> {
    /// What.
    pub verb: Verb,
    /// With which packages.
    pub items: &'a [Item<'a>],
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

    /// Packages that provide a name which is none of a package itself.
    fn providers(&self, _host: &dyn Look, _name: &str) -> Result<Vec<String>, Failure> {
        Ok(Vec::new())
    }

    /// Whether the tool has to be given leave for an older version.
    fn has_downgrades(&self, _host: &dyn Look) -> Result<bool, Failure> {
        Ok(false)
    }

    /// Name and version of the package in a file.
    fn in_file(&self, _host: &dyn Look, _file: &Path) -> Result<(String, String), Failure> {
        Err(Failure::new(format!("'{}' installs no files", self.name())))
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
    /// The files to install from, or the names with their versions put behind a separator.
    pub(super) fn targets(&self, separator: &str) -> impl Iterator<Item = String> {
        self.items.iter().map(move |item| item.target(separator))
    }

    /// The names alone.
    pub(super) fn names(&self) -> impl Iterator<Item = String> {
        self.items.iter().map(|item| item.name.to_owned())
    }

    /// Whether packages are installed or brought to another version.
    pub(super) fn installs(&self) -> bool {
        matches!(self.verb, Verb::Install | Verb::Upgrade)
    }

    /// Whether packages come from files.
    pub(super) fn has_files(&self) -> bool {
        self.items.iter().any(|item| item.source.is_some())
    }

    /// The failure of a manager that does not know this verb.
    pub(super) fn unsupported(&self, manager: &str) -> Failure {
        let verb = format!("{:?}", self.verb).to_lowercase();
        let names: Vec<String> = self.names().collect();
        Failure::new(format!("'{manager}' cannot {verb} package '{}'", names.join("', '")))
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
    Managers::default().named(name, Dialect::Puppet)
}

/// The managers of a run, which share what they know of the machine.
#[derive(Default)]
pub struct Managers {
    record: Rc<dpkg::Record>,
}

impl Managers {
    /// A manager by the name policy gives it, called in the words of an original.
    pub fn named(&self, name: &str, dialect: Dialect) -> Result<Rc<dyn Backend>, Failure> {
        let record = || Rc::clone(&self.record);
        Ok(match name {
            "dpkg" if dialect.is_chef() => Rc::new(package_file::Deb::new(record())),
            "rpm" if dialect.is_chef() => Rc::new(package_file::Rpm),
            "apt" | "apt-get" | "dpkg" | "apt_get" => Rc::new(apt::Apt::new(record(), dialect)),
            "dnf" => Rc::new(dnf::Dnf::new("dnf", dialect)),
            "yum" | "rpm" => Rc::new(dnf::Dnf::new("yum", dialect)),
            "zypper" => Rc::new(zypper::Zypper::new(dialect)),
            "apk" => Rc::new(apk::Apk),
            "pacman" => Rc::new(pacman::Pacman::new(dialect)),
            "pip3" => Rc::new(pip::Pip::new("pip3")),
            "pip" => Rc::new(pip::Pip::new("pip")),
            "gem" => Rc::new(gem::Gem::new(dialect)),
            _ => return Err(Failure::new(format!("there is no package manager '{name}'"))),
        })
    }
}
