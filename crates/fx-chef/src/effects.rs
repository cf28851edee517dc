//! What Ruby code does to the machine: each effect that no change of a resource accounts for
//! is reported with its author.
//!
//! The virtual machine acts through a recorder. While a change is made, its effects are that
//! change, and while our own files are kept they are nobody's: both are not reported.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use fx_engine::{Accounted, Event, Ledger};
use fx_host::{Host, Record, RecordingHost};
use fx_ruby::{Args, R, Value, Vm};

use crate::machine::{Machine, Method};

pub(crate) const METHODS: &[(&str, Method)] = &[("own_state", own_state), ("secret", secret)];

/// Who acts now, and whether it has to be reported.
#[derive(Default)]
pub(crate) struct Effects {
    /// Whether they are accounted for by a change, or are those of our own files.
    pub(crate) accounted: Accounted,
    /// The files of policy that are being evaluated, the innermost last.
    files: RefCell<Vec<Rc<str>>>,
    /// The line that acts, where it is known.
    line: RefCell<Option<String>>,
    /// Whether what acts holds a secret.
    secret: Cell<bool>,
}

impl Effects {
    /// Evaluates a file of policy.
    pub(crate) fn file<T>(&self, path: &str, work: impl FnOnce() -> T) -> T {
        self.files.borrow_mut().push(Rc::from(path));
        let done = work();
        self.files.borrow_mut().pop();
        done
    }

    /// Does what this line of policy asks for.
    pub(crate) fn at_line<T>(&self, line: Option<String>, work: impl FnOnce() -> T) -> T {
        let outer = self.line.replace(line);
        let done = work();
        self.line.replace(outer);
        done
    }

    /// Whoever acts now: the resource whose action is under way, else the line or the file that
    /// is evaluated.
    fn author(&self, ledger: &Ledger) -> String {
        if let Some(id) = ledger.current() {
            return ledger.step(id).resource.to_string();
        }
        if let Some(line) = &*self.line.borrow() {
            return format!("recipe {line}");
        }
        match self.files.borrow().last() {
            Some(file) => format!("recipe {file}"),
            None => "client".to_owned(),
        }
    }

    fn heard(&self, ledger: &Ledger, mut record: Record) {
        if !self.accounted.holds() {
            if !record.operation.changes_files() {
                // Where a file is is no secret; a command or an address may hold one.
                let subject = record.subject.to_string_lossy();
                let shown = if self.secret.get() {
                    fx_value::REDACTED.into()
                } else {
                    crate::masking::mask(&subject).into_owned()
                };
                record.subject = shown.into();
            }
            let record = &record;
            let (author, step) = (self.author(ledger), ledger.current());
            ledger.emit(&Event::Evaluated { author: &author, record, step });
        }
    }
}

/// The machine as Ruby gets it.
pub(crate) fn recorder(
    host: Rc<dyn Host>,
    ledger: &Rc<Ledger>,
    effects: &Rc<Effects>,
) -> RecordingHost<'static> {
    let (ledger, effects) = (Rc::clone(ledger), Rc::clone(effects));
    RecordingHost::shared(host, move |record| effects.heard(&ledger, record))
}

/// `FX.own_state { … }`: keeps files of the client itself, such as its lock and its cache.
fn own_state(machine: &Machine, vm: &mut Vm, a: Args) -> R {
    machine.effects.accounted.during(|| vm.open_host(a, |open| open.yield0(a.block)))
}

/// `FX.secret(whether)`: what acts from now on holds a secret, or does not. Gives what was before.
fn secret(machine: &Machine, vm: &mut Vm, a: Args) -> R {
    let secret = vm.arg(a, 0).truthy();
    Ok(Value::bool(machine.effects.secret.replace(secret)))
}
