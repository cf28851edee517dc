//! What a thing on the machine must offer to be brought to a desired state, and its laws.
//!
//! Laws, tested for every resource from one table: `observe` changes nothing; after
//! `apply`, `observe` finds no change; a rehearsal leaves the machine identical; sensitive
//! values never appear in a change.

use std::borrow::Cow;
use std::rc::Rc;

use fx_host::{Act, Look};

use crate::{Change, Failure, Target};

/// Kind and name of a resource, as traces and reports show it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ResourceId {
    /// `file`, `package`, or what the language calls it.
    pub kind: Cow<'static, str>,
    /// Path, package name, title.
    pub name: Rc<str>,
}

impl ResourceId {
    /// A resource of this kind and name.
    pub fn new(kind: impl Into<Cow<'static, str>>, name: impl Into<Rc<str>>) -> ResourceId {
        ResourceId { kind: kind.into(), name: name.into() }
    }
}

impl std::fmt::Display for ResourceId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // A name may be that of a file somebody else made.
        write!(f, "{}[{}]", self.kind, fx_source::visible_name(&self.name))
    }
}

/// A desired state of one thing.
pub trait Resource {
    /// Kind and name.
    fn id(&self) -> ResourceId;

    /// The thing that its changes are about.
    fn target(&self) -> Target;

    /// Runs the commands that policy itself names to find out whether it has to be done at
    /// all, and keeps their answers for `observe`.
    fn ask_guards(&mut self, _act: &dyn Act) -> Result<(), Failure> {
        Ok(())
    }

    /// Compares the machine with the desired state. Changes nothing. May keep what it saw
    /// for `apply`.
    fn observe(&mut self, host: &dyn Look) -> Result<Vec<Change>, Failure>;

    /// Whether `apply` runs something whose effects on the rest of the machine nobody can
    /// know beforehand, such as a command.
    fn open_ended(&self) -> bool {
        false
    }

    /// Whether `apply` installs software: what that does is not known beforehand either, but a
    /// copy of the machine with a network can do it.
    fn installs(&self) -> bool {
        false
    }

    /// Makes exactly these changes, which the last `observe` returned.
    fn apply(&mut self, host: &dyn Act, changes: &[Change]) -> Result<(), Failure>;
}

/// A resource that can also react to a change of something it depends on.
pub trait Refresh: Resource {
    /// Restarts, reloads or runs again.
    fn refresh(&mut self, host: &dyn Act) -> Result<(), Failure>;
}
