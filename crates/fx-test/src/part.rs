//! A run in parts: each has some of the spec files and a machine of its own on a thread of its own. One more
//! machine tells what happens, in the order in which one process would have run.

use std::cell::RefCell;
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender};

use fx_ruby::value::NIL;
use fx_ruby::{Args, HostObject, R, Value, Vm};

/// How a part and whoever tells reach each other: events one way, one answer the other.
pub(crate) struct Link {
    pub(crate) events: Sender<String>,
    pub(crate) answer: Receiver<String>,
}

/// The other ends of all links.
pub(crate) struct Ends {
    pub(crate) events: Vec<Receiver<String>>,
    pub(crate) answers: Vec<Sender<String>>,
}

/// Which of them a machine is.
pub(crate) enum Role {
    /// There is one machine.
    Whole,
    Part(Link),
    Teller(Ends),
}

/// What Ruby reaches as `FxPart`.
pub(crate) struct Part {
    role: RefCell<Role>,
    stop: Arc<AtomicBool>,
    /// What runs now, for people at a terminal.
    status: Option<Status>,
}

/// Says what runs now, or that nothing does.
pub type Status = Box<dyn Fn(Option<String>)>;

impl Part {
    pub(crate) fn new(role: Role, stop: Arc<AtomicBool>, status: Option<Status>) -> Part {
        Part { role: RefCell::new(role), stop, status }
    }

    fn tell(&self, event: String) {
        if let Role::Part(link) = &*self.role.borrow() {
            // Whoever told went away: it has said why, and this part is only waited for.
            drop(link.events.send(event));
        }
    }
}

/// Methods of `FxPart`, by their numbers.
pub(crate) const METHODS: [&str; 10] =
    ["part?", "teller?", "stopped?", "stop", "tell", "go", "count", "next", "answer", "status"];

impl HostObject for Part {
    fn name(&self) -> &'static str {
        "FxPart"
    }

    fn call(&self, vm: &mut Vm, number: u32, args: Args) -> R {
        Ok(match METHODS[number as usize] {
            "part?" => Value::bool(matches!(&*self.role.borrow(), Role::Part(_))),
            "teller?" => Value::bool(matches!(&*self.role.borrow(), Role::Teller(_))),
            "stopped?" => Value::bool(self.stop.load(Ordering::Relaxed)),
            "stop" => {
                self.stop.store(true, Ordering::Relaxed);
                NIL
            }
            "tell" => {
                // What was printed before comes before.
                vm.flush_output();
                let event = vm.arg(args, 0);
                let event = vm.to_s(event)?;
                self.tell(event);
                NIL
            }
            "go" => match &*self.role.borrow() {
                Role::Part(link) => text(vm, link.answer.recv().ok()),
                _ => NIL,
            },
            "count" => match &*self.role.borrow() {
                Role::Teller(ends) => vm.int(ends.events.len() as i64),
                _ => vm.int(0),
            },
            "next" => {
                let at = vm.arg(args, 0).fixnum().unwrap_or(0) as usize;
                vm.flush_output();
                let event = match &*self.role.borrow() {
                    Role::Teller(ends) => ends.events.get(at).and_then(|one| one.recv().ok()),
                    _ => None,
                };
                text(vm, event)
            }
            "answer" => {
                let at = vm.arg(args, 0).fixnum().unwrap_or(0) as usize;
                let answer = vm.arg(args, 1);
                let answer = vm.to_s(answer)?;
                if let Role::Teller(ends) = &*self.role.borrow()
                    && let Some(one) = ends.answers.get(at)
                {
                    // A part that ended early says so by the end of its events.
                    drop(one.send(answer));
                }
                NIL
            }
            _ => {
                if let Some(status) = &self.status {
                    let shown = vm.arg(args, 0);
                    status(if shown.is_nil() { None } else { Some(vm.to_s(shown)?) });
                }
                NIL
            }
        })
    }

    /// It keeps no value of Ruby.
    fn trace(&self, _: &mut dyn FnMut(Value)) {}
}

fn text(vm: &mut Vm, event: Option<String>) -> Value {
    event.map_or(NIL, |event| vm.str(event))
}

/// What a part prints, as events among its others.
pub(crate) struct Printed {
    pub(crate) events: Sender<String>,
}

impl Write for Printed {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let event = serde_json::json!({ "text": String::from_utf8_lossy(bytes) }).to_string();
        // As with `tell`.
        drop(self.events.send(event));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Says that a part is at its end, however it came there.
pub(crate) struct Ending {
    pub(crate) events: Sender<String>,
}

impl Drop for Ending {
    fn drop(&mut self) {
        drop(self.events.send("{\"end\":true}".to_owned()));
    }
}
