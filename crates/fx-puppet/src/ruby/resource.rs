//! One resource whose type is written in Ruby, as an object: what applying it may call.

use std::rc::Rc;

use fx_engine::{Failure, Level};
use fx_ruby::value::Value as Rb;

use crate::compile::Resource;
use crate::eval::{Evaluator, Flow, Issue};
use crate::value::{Hash, Value};

/// Something that code of a module logged.
#[derive(Clone, Debug)]
pub struct Said {
    /// How important it is.
    pub level: Level,
    /// Who: its name, and whether that is the path of a resource.
    pub source: Option<(Rc<str>, bool)>,
    /// Its words.
    pub text: String,
}

/// A resource as code of a module declares or changes it.
#[derive(Debug)]
pub struct RubyDeclaration {
    /// Name of its type in lower case.
    pub low: String,
    /// Its title.
    pub title: String,
    pub(super) values: Rc<Hash>,
    /// Names of values that must not be shown.
    pub(super) secret: Vec<String>,
}

impl RubyDeclaration {
    /// The resource as the language would have declared it beside another.
    pub fn beside(&self, parent: &Resource) -> Resource {
        let mut child = Resource::beside(parent, &self.low, &self.title);
        child.tags.extend(parent.tags.iter().cloned());
        self.give(&mut child);
        child
    }

    /// Gives a resource the declared values.
    pub fn give(&self, resource: &mut Resource) {
        for (name, value) in &*self.values {
            resource.set(&crate::eval::interpolated(name), value.clone());
        }
        for name in &self.secret {
            if !resource.sensitive.iter().any(|known| **known == **name) {
                resource.sensitive.push(name.as_str().into());
            }
        }
    }
}

/// A property that is not as it should be.
#[derive(Clone, Debug)]
pub struct RubyChange {
    /// Its name.
    pub property: String,
    /// Its value.
    pub from: String,
    /// The value that it should have.
    pub to: String,
    /// What is logged once it has that value.
    pub message: String,
    /// Both values as messages show them.
    pub shown: (String, String),
    /// The name of the event in the report.
    pub event: String,
    /// Why it could not be found out whether it is as it should be, if so.
    pub failure: Option<String>,
}

/// What came of a step in Ruby, and what was logged meanwhile.
#[derive(Debug)]
pub struct Heard<T> {
    /// What came of it.
    pub result: T,
    /// What was logged.
    pub said: Vec<Said>,
}

/// One resource as an object of Ruby.
pub struct RubyResource {
    evaluator: Rc<Evaluator>,
    object: Rb,
    kind: Rc<str>,
    title: Rc<str>,
    can_refresh: bool,
    /// Whether a value of it is a secret.
    is_secret: bool,
}

impl RubyResource {
    pub(crate) fn make(evaluator: Rc<Evaluator>, resource: &Resource) -> Result<Self, String> {
        let mut params = Hash::default();
        for (name, given) in &resource.attributes {
            if !matches!(given.value, Value::Undef) {
                let value = if resource.sensitive.contains(name) {
                    crate::effects::learn(evaluator.run, &given.value);
                    Value::Sensitive(Rc::new(given.value.clone()))
                } else {
                    given.value.clone()
                };
                params.insert(Value::String(Rc::clone(name)), value);
            }
        }
        let title = Value::String(Rc::clone(&resource.title));
        let (object, can_refresh) = evaluator
            .ruby_resource(&resource.low, &title, &Value::Hash(Rc::new(params)))
            .map_err(Flow::text)?;
        let (kind, title) = (Rc::clone(&resource.low), Rc::clone(&resource.title));
        let is_secret = !resource.sensitive.is_empty();
        Ok(RubyResource { evaluator, object, kind, title, can_refresh, is_secret })
    }

    pub(crate) fn object(&self) -> Rb {
        self.object
    }

    /// Whether it can react to changes elsewhere.
    pub fn can_refresh(&self) -> bool {
        self.can_refresh
    }

    /// Whether its provider may start programs.
    pub fn runs_commands(&self) -> bool {
        self.evaluator.ruby_runs_commands(self.object).unwrap_or(true)
    }

    /// Its name by its type, where that is not its title.
    pub fn own_name(&self) -> Option<Rc<str>> {
        let name = self.evaluator.ruby_title(self.object).ok()?;
        (*name != *self.title).then(|| name.into())
    }

    /// Whether it brings others with it.
    pub fn generates(&self) -> bool {
        self.evaluator.ruby_generates(self.object)
    }

    /// Whether it brings others before the run, and whether when it has its turn.
    pub fn ways_to_generate(&self) -> (bool, bool) {
        self.evaluator.ruby_ways_to_generate(self.object)
    }

    /// What it brings; `whole` once it has had its turn.
    pub fn generated(&self, whole: bool) -> Result<Vec<RubyDeclaration>, String> {
        self.evaluator.ruby_generated(self.object, whole).map_err(Flow::text)
    }

    /// The name of its provider, if it has one.
    pub fn provider(&self) -> String {
        self.evaluator.ruby_provider(self.object)
    }

    /// Whether it reacts to its own changes.
    pub fn refreshes_itself(&self) -> bool {
        self.can_refresh && self.evaluator.ruby_refreshes_itself(self.object)
    }

    /// Gives it its path in the catalog, under which it logs.
    pub fn settle(&self, path: &str) {
        let _failed = self.evaluator.ruby_settle(self.object, path);
    }

    /// Edges its type draws by itself: kind of edge, type and title.
    pub fn autos(&self) -> Vec<(String, String, String)> {
        self.evaluator.ruby_autos(self.object).unwrap_or_default()
    }

    /// Finds the properties that are not as they should be.
    pub fn observe(&self) -> Heard<Result<Vec<RubyChange>, Failure>> {
        let effects = &self.evaluator.machine.effects;
        let look = || self.evaluator.ruby_observe(self.object);
        let heard = self.heard(|| effects.hiding(self.is_secret, look));
        let rows = heard.result.map_err(|flow| self.failure(flow));
        let change =
            |[property, from, to, message, is, should, event, why]: [String; 8]| RubyChange {
                property,
                from,
                to,
                message,
                shown: (is, should),
                event,
                failure: Some(why).filter(|why| !why.is_empty()),
            };
        let result = rows.map(|rows| rows.into_iter().map(change).collect());
        Heard { result, said: heard.said }
    }

    /// Brings a property to the value that it should have. What Ruby does to the machine is
    /// accounted for by the change of the caller, here and in the next two.
    pub fn sync(&self, property: &str) -> Heard<Result<(), String>> {
        let effects = &self.evaluator.machine.effects;
        self.heard(|| {
            effects
                .accounted
                .during(|| self.evaluator.ruby_sync(self.object, property))
                .map_err(Flow::text)
        })
    }

    /// Lets the provider write what it collected.
    pub fn flush(&self) -> Heard<Result<(), String>> {
        let effects = &self.evaluator.machine.effects;
        self.heard(|| {
            effects.accounted.during(|| self.evaluator.ruby_flush(self.object)).map_err(Flow::text)
        })
    }

    /// Lets it react to a change elsewhere.
    pub fn refresh(&self) -> Result<(), Failure> {
        let effects = &self.evaluator.machine.effects;
        let refreshed = effects.accounted.during(|| self.evaluator.ruby_refresh(self.object));
        refreshed.map_err(|flow| self.failure(flow))
    }

    fn heard<T>(&self, step: impl FnOnce() -> T) -> Heard<T> {
        self.evaluator.ruby_listen();
        let result = step();
        Heard { result, said: self.evaluator.ruby_heard() }
    }

    fn failure(&self, flow: Flow) -> Failure {
        match flow.misplaced() {
            Flow::Fail(failure) if failure.issue == Issue::NoProvider => {
                Failure::NoProvider(self.kind.to_string())
            }
            flow => Failure::Raised(flow.text()),
        }
    }
}
