//! What the Ruby code of modules does to the machine: each effect that no change of a resource
//! accounts for is recorded with its author.
//!
//! Ruby acts through a recorder. While a provider makes a change, its effects are that change.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use fx_engine::{Accounted, Event, Run};
use fx_host::{Host, Record, RecordingHost};

use crate::value::Value;

/// Who acts now, and whether it has to be recorded.
#[derive(Default)]
pub(crate) struct Effects {
    /// Whether a change accounts for them.
    pub(crate) accounted: Accounted,
    /// What is done holds a secret.
    hides: Cell<bool>,
    /// What is evaluated now, the innermost last.
    authors: RefCell<Vec<Rc<str>>>,
}

impl Effects {
    /// Does work whose commands may hold a secret.
    pub(crate) fn hiding<T>(&self, hides: bool, work: impl FnOnce() -> T) -> T {
        let before = self.hides.replace(self.hides.get() || hides);
        let done = work();
        self.hides.set(before);
        done
    }

    /// Does work for which this code is to blame.
    pub(crate) fn author<T>(&self, name: &str, work: impl FnOnce() -> T) -> T {
        self.authors.borrow_mut().push(name.into());
        let done = work();
        self.authors.borrow_mut().pop();
        done
    }

    fn heard(&self, run: Run<'_>, record: &Record) {
        if self.accounted.holds() {
            return;
        }
        let step = run.ledger.current();
        let author = match (self.authors.borrow().last(), step) {
            (Some(author), _) => author.to_string(),
            (None, Some(step)) => run.ledger.step(step).resource.to_string(),
            (None, None) => "code of a module".to_owned(),
        };
        let mut record = record.clone();
        if self.hides.get() {
            record.subject = fx_value::REDACTED.into();
        }
        run.ledger.emit(&Event::Evaluated { author: &author, record: &record, step });
    }
}

/// The machine as Ruby gets it.
pub(crate) fn recorder(
    host: Rc<dyn Host>,
    run: Run<'static>,
    effects: &Rc<Effects>,
) -> RecordingHost<'static> {
    let effects = Rc::clone(effects);
    RecordingHost::shared(host, move |record| effects.heard(run, &record))
}

/// Hides the texts of a secret that policy took out of its cover, in whatever is recorded.
pub fn learn(run: Run<'_>, value: &Value) {
    match value {
        Value::String(text) => run.ledger.secrets().learn(text),
        Value::Sensitive(inner) => learn(run, inner),
        Value::Array(items) => items.iter().for_each(|item| learn(run, item)),
        Value::Hash(map) => map.values().for_each(|item| learn(run, item)),
        _ => {}
    }
}
