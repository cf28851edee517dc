//! Resources whose types are written in Ruby: they are made, looked at and changed there.

use std::rc::Rc;

use fx_engine::{Change, Detail, Failure, Refresh, Resource as Thing, ResourceId, Target};
use fx_host::{Act, Look};
use fx_ruby::value::Value as Rb;

use super::engine_resource::Made;
use crate::compile::Resource;
use crate::eval::{Evaluator, Flow};
use crate::ruby::Told;
use crate::value::{Hash, Value};

/// One resource as an object of Ruby.
pub(super) struct RubyThing {
    evaluator: Rc<Evaluator>,
    object: Rb,
    id: ResourceId,
    can_refresh: bool,
    /// Whether its provider may start programs.
    runs_commands: bool,
    /// Whether a value of it is a secret.
    is_secret: bool,
    /// What it said while it was looked at.
    looked: Vec<Said>,
    /// Values as they are shown, by property.
    shown: Vec<[String; 4]>,
    /// Properties in the order they were brought to their values.
    synced: Vec<Part>,
    /// What came of writing it all.
    flushed: Option<Part>,
}

pub(super) use crate::ruby::Said;

/// One part of what was done: a property, or the end.
#[derive(Default)]
pub(super) struct Part {
    pub(super) property: String,
    pub(super) said: Vec<Said>,
    pub(super) failure: Option<String>,
}

/// Makes the object; what is wrong with the resource otherwise.
pub(super) fn make(evaluator: &Evaluator, resource: &Resource) -> Result<Made, String> {
    let Some(evaluator) = evaluator.this.upgrade() else {
        return Err("the compiler is gone".into());
    };
    let mut params = Hash::default();
    for (name, given) in &resource.attributes {
        if !matches!(given.value, Value::Undef) {
            let value = if resource.sensitive.contains(name) {
                Value::Sensitive(Rc::new(given.value.clone()))
            } else {
                given.value.clone()
            };
            params.insert(Value::String(Rc::clone(name)), value);
        }
    }
    let title = Value::String(Rc::clone(&resource.title));
    let made = evaluator
        .ruby_resource(&resource.low, &title, &Value::Hash(Rc::new(params)))
        .map_err(Flow::text)?;
    let (object, can_refresh) = made;
    let runs_commands = evaluator.ruby_runs_commands(object).unwrap_or(true);
    let id = ResourceId::new(resource.low.to_string(), &*resource.title);
    Ok(Made::Ruby(RubyThing {
        evaluator,
        object,
        id,
        can_refresh,
        runs_commands,
        is_secret: !resource.sensitive.is_empty(),
        looked: Vec::new(),
        shown: Vec::new(),
        synced: Vec::new(),
        flushed: None,
    }))
}

/// A resource that another one brings, as the language would have declared it beside.
fn brought(parent: &Resource, told: &Told) -> Resource {
    let mut child = Resource::new(&told.low, &told.title, parent.span, Rc::clone(&parent.frame));
    child.tags.extend(parent.tags.iter().cloned());
    give(&mut child, told);
    child
}

/// Gives a resource the values that Ruby returns.
pub(super) fn give(resource: &mut Resource, told: &Told) {
    let (span, source) = (resource.span, Rc::clone(&resource.frame.source));
    for (name, value) in &*told.values {
        let name: Rc<str> = crate::eval::interpolated(name).into();
        let given = crate::compile::Attribute::new(value.clone(), span, &source);
        resource.attributes.insert(name, given);
    }
    for name in &told.secret {
        if !resource.sensitive.iter().any(|known| **known == **name) {
            resource.sensitive.push(name.as_str().into());
        }
    }
}

impl RubyThing {
    pub(super) fn object(&self) -> Rb {
        self.object
    }

    pub(super) fn can_refresh(&self) -> bool {
        self.can_refresh
    }

    /// What it calls itself, where that is not its title.
    pub(super) fn told(&self) -> Option<Rc<str>> {
        let told = self.evaluator.ruby_title(self.object).ok()?;
        (*told != *self.id.name).then(|| told.into())
    }

    /// Whether it brings others with it.
    pub(super) fn generates(&self) -> bool {
        self.evaluator.ruby_generates(self.object)
    }

    /// What it brings; `whole` once its turn has come.
    pub(super) fn generated(
        &self,
        parent: &Resource,
        whole: bool,
    ) -> Result<Vec<Resource>, String> {
        let told = self.evaluator.ruby_generated(self.object, whole);
        let told = told.map_err(Flow::text)?;
        Ok(told.iter().map(|told| brought(parent, told)).collect())
    }

    /// The name of its provider, if it has one.
    pub(super) fn provider(&self) -> String {
        self.evaluator.ruby_provider(self.object)
    }

    /// Whether it reacts to its own changes.
    pub(super) fn refreshes_itself(&self) -> bool {
        self.can_refresh && self.evaluator.ruby_refreshes_itself(self.object)
    }

    /// What was said while it was looked at.
    pub(super) fn looked(&mut self) -> Vec<Said> {
        std::mem::take(&mut self.looked)
    }

    /// What was done, in its order, the end last.
    pub(super) fn done(&mut self) -> (Vec<Part>, Option<Part>) {
        (std::mem::take(&mut self.synced), self.flushed.take())
    }

    /// The two values of a property as they are shown.
    pub(super) fn shown(&self, property: &str) -> Option<(&str, &str)> {
        let row = self.shown.iter().find(|[name, ..]| name == property)?;
        Some((&row[1], &row[2]))
    }

    /// The name of the event that a change of a property is.
    pub(super) fn event(&self, property: &str) -> Option<String> {
        let row = self.shown.iter().find(|[name, ..]| name == property)?;
        Some(row[3].clone())
    }

    /// Tells it where it stands in the catalog.
    pub(super) fn settle(&self, path: &str) {
        let _untold = self.evaluator.ruby_settle(self.object, path);
    }

    /// Does something and keeps what is said meanwhile.
    fn part(&self, property: &str, act: impl FnOnce() -> crate::eval::Evaluated<()>) -> Part {
        self.evaluator.ruby_listen();
        let failure = act().err().map(Flow::text);
        Part { property: property.to_owned(), said: self.evaluator.ruby_heard(), failure }
    }

    fn failure(&self, flow: Flow) -> Failure {
        match flow.misplaced() {
            Flow::Fail(failure) if failure.issue == crate::eval::Issue::NoProvider => {
                Failure::NoProvider(self.id.kind.to_string())
            }
            flow => Failure::Raised(flow.text()),
        }
    }

    /// Edges its type draws by itself: kind of edge, type and title.
    pub(super) fn autos(&self) -> Vec<(String, String, String)> {
        self.evaluator.ruby_autos(self.object).unwrap_or_default()
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
        self.evaluator.ruby_listen();
        let effects = Rc::clone(&self.evaluator.machine.effects);
        let rows = effects.hiding(self.is_secret, || self.evaluator.ruby_observe(self.object));
        self.looked = self.evaluator.ruby_heard();
        let rows = rows.map_err(|flow| self.failure(flow))?;
        self.shown.clear();
        Ok(rows
            .into_iter()
            .map(|row| {
                let [property, from, to, message, is, should, event] = row;
                self.shown.push([property.clone(), is, should, event]);
                let change = Change::of(self.target(), property, from.as_str(), to.as_str());
                change.detail(Detail::Text(message))
            })
            .collect())
    }

    fn open_ended(&self) -> bool {
        self.runs_commands
    }

    fn apply(&mut self, _act: &dyn Act, changes: &[Change]) -> Result<(), Failure> {
        // Ruby has a machine of its own to act on; what it does there is this change.
        let effects = Rc::clone(&self.evaluator.machine.effects);
        effects.accounted(|| self.sync(changes))
    }
}

impl RubyThing {
    fn sync(&mut self, changes: &[Change]) -> Result<(), Failure> {
        for change in changes {
            let name = change.property.to_string();
            let part = self.part(&name, || self.evaluator.ruby_sync(self.object, &name));
            self.synced.push(part);
        }
        if self.synced.iter().any(|part| part.failure.is_none()) {
            self.flushed = Some(self.part("", || self.evaluator.ruby_flush(self.object)));
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
        let effects = Rc::clone(&self.evaluator.machine.effects);
        let refreshed = effects.accounted(|| self.evaluator.ruby_refresh(self.object));
        refreshed.map_err(|flow| self.failure(flow))
    }
}
