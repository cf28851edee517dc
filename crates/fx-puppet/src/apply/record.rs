//! What is kept of a run until its end: what became of each resource, its events, and what
//! was said. Nothing is done here.

use std::rc::Rc;

use fx_engine::Level;

use crate::compile::Resource;

/// What became of a resource.
#[derive(Clone, Debug, Default)]
pub(super) struct Status {
    pub(super) changed: bool,
    pub(super) failed: bool,
    pub(super) skipped: bool,
    /// Refreshed, or tried to be.
    pub(super) restarted: bool,
    pub(super) out_of_sync: usize,
    pub(super) changes: usize,
    pub(super) noop: usize,
    pub(super) failed_to_restart: bool,
    /// Changes as they are reported: property, from, to, whether withheld.
    pub(super) events: Vec<Event>,
    /// The provider in Ruby that acted.
    pub(super) provider: Option<String>,
    /// Seconds it took.
    pub(super) took: f64,
}

/// A resource that came up on the way, and what became of it. There may be very many: of each
/// only what the report tells is kept.
#[derive(Debug)]
pub(super) struct Generated {
    pub(super) kin: Rc<Kin>,
    pub(super) title: Rc<str>,
    pub(super) status: Status,
}

/// What resources that came up on the way have in common.
#[derive(Debug)]
pub(super) struct Kin {
    pub(super) kind: Rc<str>,
    pub(super) low: Rc<str>,
    /// The path of what contains them.
    pub(super) base: Rc<str>,
    pub(super) tags: Rc<[Rc<str>]>,
}

impl Kin {
    /// Whether a resource of the same base has the rest in common as well.
    pub(super) fn is_of(&self, resource: &Resource) -> bool {
        self.low == resource.low && self.tags.iter().eq(&resource.tags)
    }
}

impl Generated {
    /// `File[/x]`
    pub(super) fn reference(&self) -> String {
        format!("{}[{}]", self.kin.kind, self.title)
    }

    /// `/Stage[main]/Main/File[/x]`
    pub(super) fn path(&self) -> String {
        format!("{}/{}", self.kin.base, self.reference())
    }
}

/// A change as the report tells it.
#[derive(Clone, Debug)]
pub(super) struct Event {
    pub(super) property: String,
    pub(super) from: String,
    pub(super) to: String,
    pub(super) status: &'static str,
    pub(super) message: String,
    /// Its values must not be told.
    pub(super) is_secret: bool,
    /// Its name, where the type gives one.
    pub(super) name: Option<String>,
    /// What an audited property was before.
    pub(super) was: Option<String>,
}

impl Event {
    /// A failure that is no property's.
    pub(super) fn of_resource(message: String) -> Event {
        let (property, from, to) = (String::new(), String::new(), String::new());
        Event {
            property,
            from,
            to,
            status: "failure",
            message,
            is_secret: false,
            name: None,
            was: None,
        }
    }
}

/// Something that was said.
#[derive(Clone, Debug)]
pub(super) struct Log {
    pub(super) level: Level,
    pub(super) text: String,
    pub(super) time: fx_host::Time,
    /// The resource it is said of, where it is.
    pub(super) place: Option<Rc<Place>>,
    /// The property that says it itself.
    pub(super) tag: Option<&'static str>,
    /// A word for what is worse than an error.
    pub(super) word: Option<&'static str>,
    /// Who said it, where that was a resource.
    pub(super) source: Option<String>,
}

impl Log {
    /// Something that is said of no resource.
    pub(super) fn plain(host: &dyn fx_host::Host, level: Level, text: String) -> Log {
        Log { level, text, time: host.now(), place: None, tag: None, word: None, source: None }
    }
}

/// Where a resource is declared, and its tags.
#[derive(Debug)]
pub(super) struct Place {
    /// File and line.
    pub(super) place: Option<(String, u32)>,
    pub(super) tags: Rc<[Rc<str>]>,
}
