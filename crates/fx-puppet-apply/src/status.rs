//! What is kept of a run until its end: what became of each resource, and its events.

use std::borrow::Cow;
use std::rc::Rc;

use fx_puppet::Resource;

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
    /// Its changes as the report has them.
    pub(super) events: Vec<Event>,
    /// The provider in Ruby that acted.
    pub(super) provider: Option<String>,
    /// Seconds it took.
    pub(super) took: f64,
}

impl Status {
    /// Whether something else than the agent had changed it.
    pub(super) fn is_corrective(&self) -> bool {
        self.events.iter().any(|event| event.is_corrective)
    }
}

/// A generated resource, and what became of it. There may be very many: of each
/// only what the report needs is kept.
#[derive(Debug)]
pub(super) struct Generated {
    pub(super) common: Rc<Common>,
    pub(super) title: Rc<str>,
    pub(super) status: Status,
}

/// What generated resources have in common.
#[derive(Debug)]
pub(super) struct Common {
    pub(super) kind: Rc<str>,
    pub(super) low: Rc<str>,
    /// The path of what contains them.
    pub(super) base: Rc<str>,
    pub(super) tags: Rc<[Rc<str>]>,
}

impl Common {
    /// Whether a resource of the same base has the rest in common as well.
    pub(super) fn is_of(&self, resource: &Resource) -> bool {
        self.low == resource.low && self.tags.iter().eq(&resource.tags)
    }
}

impl Generated {
    /// `File[/x]`
    pub(super) fn reference(&self) -> String {
        format!("{}[{}]", self.common.kind, self.title)
    }

    /// `/Stage[main]/Main/File[/x]`
    pub(super) fn path(&self) -> String {
        format!("{}/{}", self.common.base, self.reference())
    }
}

/// How an event of the report ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EventStatus {
    Success,
    Noop,
    Failure,
    Audit,
}

impl EventStatus {
    /// The word of the report.
    pub(super) fn word(self) -> &'static str {
        match self {
            EventStatus::Success => "success",
            EventStatus::Noop => "noop",
            EventStatus::Failure => "failure",
            EventStatus::Audit => "audit",
        }
    }
}

/// A change as the report has it.
#[derive(Clone, Debug)]
pub(super) struct Event {
    /// Empty where it is about the resource as a whole.
    pub(super) property: Cow<'static, str>,
    pub(super) from: String,
    pub(super) to: String,
    /// The desired value as names, where it is a list of them.
    pub(super) to_names: Option<Vec<String>>,
    /// The codes that a command may end with.
    pub(super) codes: Option<Vec<i32>>,
    pub(super) status: EventStatus,
    pub(super) message: Rc<str>,
    /// Its values must not be shown.
    pub(super) is_secret: bool,
    /// Its name, where the type gives one.
    pub(super) name: Option<String>,
    /// What an audited property was before.
    pub(super) was: Option<String>,
    /// Something else than the agent had changed the property.
    pub(super) is_corrective: bool,
}

impl Event {
    /// What happened to a resource and to no property of it.
    pub(super) fn of_resource(status: EventStatus, message: Rc<str>) -> Event {
        Event {
            property: Cow::Borrowed(""),
            from: String::new(),
            to: String::new(),
            to_names: None,
            codes: None,
            status,
            message,
            is_secret: false,
            name: None,
            was: None,
            is_corrective: false,
        }
    }
}
