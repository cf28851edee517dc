//! A package: installed, in this version or the newest, absent, purged, held back.
//!
//! The calls of a package manager are in the backends behind one seam; this
//! file decides what is out of order. Repositories and their refresh are not its work.

mod apk;
mod apt;
pub mod backend;
mod dnf;
mod dpkg;
mod gem;
mod package_file;
mod pacman;
mod pip;
mod rpm;
pub mod tools;
pub mod version;
mod zypper;

use std::path::PathBuf;
use std::rc::Rc;

use fx_engine::{Change, Failure, Resource, ResourceId, Target};
use fx_host::{Act, Look};

use crate::command;
use crate::wanted;
use backend::{Action, Backend, Item, Verb};

pub use backend::{detect, named};

/// What a package should be.
#[derive(Clone, Debug, Default)]
pub struct Desired {
    /// Its name, with `:architecture` where the manager has that.
    pub name: String,
    /// Whether and in which version it should be installed.
    pub ensure: Ensure,
    /// Whether it should be held at its version; not looked at, where not given.
    pub hold: Option<bool>,
    /// A package file to install from.
    pub source: Option<PathBuf>,
    /// Further options for the manager, before the name.
    pub options: Vec<String>,
    /// Lets a given version replace a newer one.
    pub allow_downgrade: bool,
}

/// Whether and in which version a package should be installed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Ensure {
    /// In whatever version.
    #[default]
    Installed,
    /// In this version.
    Version(String),
    /// In the newest version that can be had.
    Latest,
    /// Not installed; its configuration may stay.
    Absent,
    /// Not installed, and nothing left of it.
    Purged,
}

/// A package with its desired state.
pub struct Package {
    /// What it should be.
    pub desired: Desired,
    backend: Rc<dyn Backend>,
    step: Option<Step>,
}

// What `observe` decided.
struct Step {
    verb: Option<Verb>,
    version: Option<String>,
    downgrade: bool,
    held: bool,
}

impl Package {
    /// A package that should be like this, by this manager.
    pub fn new(desired: Desired, backend: Rc<dyn Backend>) -> Package {
        Package { desired, backend, step: None }
    }

    fn decide(&self, host: &dyn Look) -> Result<(Step, Vec<Change>), Failure> {
        let (desired, backend) = (&self.desired, &*self.backend);
        command::check_name("package", &desired.name)?;
        backend.check_name(&desired.name)?;
        let state = backend.installed(host, &desired.name)?;
        let installed = state.newest(|a, b| backend.compare(a, b));
        let from = match &installed {
            Some(version) => version.clone(),
            None if state.residual => "config-files".to_owned(),
            None => "absent".to_owned(),
        };
        let mut step = Step { verb: None, version: None, downgrade: false, held: false };
        let mut changes = Vec::new();
        match &desired.ensure {
            Ensure::Installed => {
                if installed.is_none() {
                    step.verb = Some(Verb::Install);
                    changes.push(Change::of(self.target(), "ensure", from, "present"));
                }
            }
            Ensure::Version(version) => {
                command::check_name("version", version)?;
                let good = |found: &String| backend.satisfies(found, version);
                if !state.versions.iter().any(good) {
                    step.verb = Some(Verb::Install);
                    step.downgrade = installed
                        .as_ref()
                        .is_some_and(|found| backend.compare(found, version).is_gt());
                    step.version = Some(version.clone());
                    if step.downgrade && !desired.allow_downgrade {
                        return Err(Failure::new(format!(
                            "package '{}' has version {from}, newer than {version}, and a \
                             downgrade is not allowed",
                            desired.name
                        )));
                    }
                    changes.push(Change::of(self.target(), "ensure", from, version.as_str()));
                }
            }
            Ensure::Latest => match (installed, backend.candidate(host, &desired.name)?) {
                (None, None) => {
                    let text = format!("package '{}' has no version to install", desired.name);
                    return Err(Failure::new(text));
                }
                (Some(found), Some(newest)) if !backend.compare(&found, &newest).is_lt() => {}
                (Some(_), None) => {}
                (found, Some(newest)) => {
                    step.verb = Some(found.map_or(Verb::Install, |_| Verb::Upgrade));
                    changes.push(Change::of(self.target(), "ensure", from, newest.as_str()));
                    step.version = Some(newest);
                }
            },
            Ensure::Absent if installed.is_some() => {
                step.verb = Some(Verb::Remove);
                changes.push(Change::of(self.target(), "ensure", from, "absent"));
            }
            Ensure::Purged if installed.is_some() || state.residual => {
                step.verb = Some(Verb::Purge);
                changes.push(Change::of(self.target(), "ensure", from, "purged"));
            }
            Ensure::Absent | Ensure::Purged => {}
        }
        let stays = !matches!(desired.ensure, Ensure::Absent | Ensure::Purged);
        if let Some(hold) = desired.hold.filter(|_| stays) {
            step.held = backend.held(host, &desired.name)?;
            if step.held != hold {
                changes.push(Change::of(self.target(), "hold", step.held, hold));
            }
        }
        Ok((step, changes))
    }
}

impl Resource for Package {
    fn id(&self) -> ResourceId {
        ResourceId::new("package", self.desired.name.as_str())
    }

    fn target(&self) -> Target {
        Target::package(&self.desired.name)
    }

    fn installs(&self) -> bool {
        true
    }

    fn observe(&mut self, host: &dyn Look) -> Result<Vec<Change>, Failure> {
        self.step = None;
        let (step, changes) = self.decide(host)?;
        self.step = Some(step);
        Ok(changes)
    }

    fn apply(&mut self, host: &dyn Act, changes: &[Change]) -> Result<(), Failure> {
        let Some(step) = self.step.take() else {
            return Err(Failure::new("package was not observed before it was applied"));
        };
        let desired = &self.desired;
        let items = [Item {
            name: &desired.name,
            version: step.version.as_deref(),
            source: desired.source.as_deref(),
        }];
        let action = |verb| Action {
            verb,
            items: &items,
            options: &desired.options,
            downgrade: step.downgrade,
            held: step.held,
        };
        if let Some(verb) = step.verb.filter(|_| wanted(changes, "ensure")) {
            self.backend.act(host, &action(verb))?;
        }
        // Installing over a held package lets it go, so the hold is set again.
        let lost = step.held && step.verb.is_some() && desired.hold == Some(true);
        if wanted(changes, "hold") || lost {
            let verb = if desired.hold == Some(true) { Verb::Hold } else { Verb::Unhold };
            self.backend.act(host, &action(verb))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
