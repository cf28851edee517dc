//! Why it is a promise's turn, and a step in the record for promises that a daemon takes down.

use std::rc::Rc;

use fx_engine::{Cause, Outcome, Request, ResourceId, Why};
use fx_source::Origin;

use crate::eval::Context;
use crate::eval::promise::Expanded;
use crate::policy::{Bundle, Promise};

/// The bundle and the classes that led to a promise.
pub fn why_of(promise: &Promise) -> Why {
    let name = &promise.bundle.name;
    if &*promise.guard == "any" {
        return Why::from(format!("bundle {name}"));
    }
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    let classes = promise.guard.split(|c| !is_part(c)).filter(|class| !class.is_empty());
    Why::from(format!("bundle {name} {}::", promise.guard))
        .caused_by(classes.map(|class| Cause::Condition(class.into())))
}

impl Context<'_> {
    /// Shows, where an order is explained, that a section of a daemon's bundle has its turn.
    pub(crate) fn note_section(&self, bundle: &Bundle, kind: &str) {
        if self.config.trace && bundle.section(kind).is_some() {
            let fields = [
                ("bundle".into(), fx_value::Value::from(&*bundle.head.name)),
                ("kind".into(), fx_value::Value::from(kind)),
            ];
            self.run.ledger.note("cf.section", &fields, &Origin::default());
        }
    }

    /// Shows, where an order is explained, that a daemon took a promise down. A daemon keeps no
    /// record of this: it runs for months.
    pub(crate) fn note_taken(&self, phase: &'static str, expanded: &Rc<Expanded>) {
        if !self.config.trace {
            return;
        }
        let promise = &expanded.promise;
        let id = ResourceId::new(promise.kind.to_string(), Rc::clone(&expanded.promiser));
        let mut request = Request::new(id, "take down");
        request.phase = phase.into();
        request.why = why_of(promise);
        request.origin = promise.span.map_or_else(Origin::default, Origin::at);
        self.run.open(request).close(Outcome::Kept);
    }
}
