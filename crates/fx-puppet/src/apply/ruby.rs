//! Resources whose types are written in Ruby: they are made, looked at and changed there.

use std::rc::Rc;

use fx_engine::{Change, Detail, Failure, Refresh, Resource as Thing, ResourceId};
use fx_host::Host;
use fx_ruby::value::Value as Rb;

use super::things::Made;
use crate::compile::Resource;
use crate::eval::Evaluator;
use crate::value::{Hash, Value};

/// One resource as an object of Ruby.
pub(super) struct RubyThing {
    evaluator: Rc<Evaluator>,
    object: Rb,
    id: ResourceId,
    can_refresh: bool,
    /// Whether its provider may start programs.
    runs_commands: bool,
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
        .map_err(crate::eval::Flow::text)?;
    let (object, can_refresh) = made;
    let runs_commands = evaluator.ruby_runs_commands(object).unwrap_or(true);
    let id = ResourceId::new(resource.low.to_string(), &*resource.title);
    Ok(Made::Ruby(RubyThing { evaluator, object, id, can_refresh, runs_commands }))
}

impl RubyThing {
    pub(super) fn object(&self) -> Rb {
        self.object
    }

    pub(super) fn can_refresh(&self) -> bool {
        self.can_refresh
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

    fn observe(&mut self, _host: &dyn Host) -> Result<Vec<Change>, Failure> {
        let rows =
            self.evaluator.ruby_observe(self.object).map_err(|flow| Failure::new(flow.text()))?;
        Ok(rows
            .into_iter()
            .map(|row| {
                let [property, from, to, message] = row;
                let change = Change::new(property, from.as_str(), to.as_str());
                change.detail(Detail::Text(message))
            })
            .collect())
    }

    fn open_ended(&self) -> bool {
        self.runs_commands
    }

    fn apply(&mut self, _host: &dyn Host, changes: &[Change]) -> Result<(), Failure> {
        let names = changes.iter().map(|change| change.property.to_string()).collect::<Vec<_>>();
        self.evaluator.ruby_apply(self.object, &names).map_err(|flow| Failure::new(flow.text()))
    }
}

impl Refresh for RubyThing {
    fn refresh(&mut self, _host: &dyn Host) -> Result<(), Failure> {
        self.evaluator.ruby_refresh(self.object).map_err(|flow| Failure::new(flow.text()))
    }
}
