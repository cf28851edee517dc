//! Resources whose types are written in Ruby: each change is made there and recorded here.

use fx_engine::{Change, Detail, Failure, Refresh, Resource as Thing, ResourceId, Target};
use fx_host::{Act, Look};
use fx_puppet::{Compiled, Heard, Resource, RubyChange, RubyResource, Said};

use super::engine_resource::Made;

/// One resource, and what its turn came to.
pub(super) struct RubyThing {
    pub(super) object: RubyResource,
    id: ResourceId,
    /// Whether its provider may start programs.
    runs_commands: bool,
    /// What it logged while it was looked at.
    looked: Vec<Said>,
    /// Properties that were found to be wrong.
    found: Vec<RubyChange>,
    /// Properties in the order they were brought to their values.
    synced: Vec<Part>,
    /// What came of writing it all.
    flushed: Option<Part>,
}

/// One part of what was done: a property, or the end.
#[derive(Default)]
pub(super) struct Part {
    pub(super) property: String,
    pub(super) said: Vec<Said>,
    pub(super) failure: Option<String>,
}

impl Part {
    fn new(property: &str, heard: Heard<Result<(), String>>) -> Part {
        Part { property: property.to_owned(), said: heard.said, failure: heard.result.err() }
    }
}

/// Makes the object; what is wrong with the resource otherwise.
pub(super) fn make(compiled: &Compiled, resource: &Resource) -> Result<Made, String> {
    let object = compiled.ruby_resource(resource)?;
    Ok(Made::Ruby(RubyThing {
        runs_commands: object.runs_commands(),
        object,
        id: ResourceId::new(resource.low.to_string(), &*resource.title),
        looked: Vec::new(),
        found: Vec::new(),
        synced: Vec::new(),
        flushed: None,
    }))
}

impl RubyThing {
    /// What it brings; `whole` once it has had its turn.
    pub(super) fn generated(
        &self,
        parent: &Resource,
        whole: bool,
    ) -> Result<Vec<Resource>, String> {
        let declared = self.object.generated(whole)?;
        Ok(declared.iter().map(|declared| declared.beside(parent)).collect())
    }

    /// What was logged while it was looked at.
    pub(super) fn looked(&mut self) -> Vec<Said> {
        std::mem::take(&mut self.looked)
    }

    /// What was done, in its order, the end last.
    pub(super) fn done(&mut self) -> (Vec<Part>, Option<Part>) {
        (std::mem::take(&mut self.synced), self.flushed.take())
    }

    fn change(&self, found: &RubyChange) -> Change {
        let (from, to) = (found.from.as_str(), found.to.as_str());
        let change = Change::of(self.target(), found.property.clone(), from, to);
        change.detail(Detail::Text(found.message.clone()))
    }

    /// The property of which it could not be found out whether it is as it should be, if there is one.
    pub(super) fn misjudged(&self) -> Option<Change> {
        let found = self.found.iter().find(|found| found.failure.is_some())?;
        Some(self.change(found))
    }

    fn found(&self, property: &str) -> Option<&RubyChange> {
        self.found.iter().find(|change| change.property == property)
    }

    /// The two values of a property as they are shown.
    pub(super) fn shown(&self, property: &str) -> Option<(&str, &str)> {
        self.found(property).map(|change| (&*change.shown.0, &*change.shown.1))
    }

    /// The name of the event that a change of a property is.
    pub(super) fn event(&self, property: &str) -> Option<String> {
        self.found(property).map(|change| change.event.clone())
    }
}

impl Thing for RubyThing {
    fn id(&self) -> ResourceId {
        self.id.clone()
    }

    fn target(&self) -> Target {
        super::engine_resource::target_of(&self.id)
    }

    fn observe(&mut self, _host: &dyn Look) -> Result<Vec<Change>, Failure> {
        let heard = self.object.observe();
        self.looked = heard.said;
        self.found = heard.result?;
        match self.found.iter().find_map(|found| found.failure.clone()) {
            Some(why) => Err(Failure::Raised(why)),
            None => Ok(self.found.iter().map(|found| self.change(found)).collect()),
        }
    }

    fn open_ended(&self) -> bool {
        self.runs_commands
    }

    fn apply(&mut self, _act: &dyn Act, changes: &[Change]) -> Result<(), Failure> {
        // Ruby has a machine of its own to act on; what it does there is this change.
        for change in changes {
            let part = Part::new(&change.property, self.object.sync(&change.property));
            self.synced.push(part);
        }
        if self.synced.iter().any(|part| part.failure.is_none()) {
            self.flushed = Some(Part::new("", self.object.flush()));
        }
        let mut parts = self.synced.iter().chain(&self.flushed);
        match parts.find_map(|part| part.failure.clone()) {
            Some(message) => Err(Failure::Raised(message)),
            None => Ok(()),
        }
    }
}

impl Refresh for RubyThing {
    fn refresh(&mut self, _act: &dyn Act) -> Result<(), Failure> {
        self.object.refresh()
    }
}
