//! The trap of two passes: code that reads at compile time what a resource declared before
//! it will change only at converge time.
//!
//! Reads of recipe code are noted with their place; at the end they are compared with the
//! resources declared before them.

use std::cell::RefCell;
use std::rc::Rc;

use fx_ruby::value::NIL;
use fx_ruby::{Args, Hooks, R, Vm};

use crate::machine::{Machine, Method, text};

pub(crate) const METHODS: &[(&str, Method)] = &[("declared", declared)];

/// Something recipe code looked at while it was compiled.
struct Read {
    what: String,
    place: Option<(u32, u32)>,
}

/// A resource that manages a path, and how many reads came before it.
struct Managed {
    path: String,
    resource: String,
    place: String,
    reads_before: usize,
}

/// What was read and declared so far.
#[derive(Default)]
pub(crate) struct Reads {
    reads: Vec<Read>,
    managed: Vec<Managed>,
}

impl Reads {
    /// Commands are noted as a whole.
    pub(crate) fn command(&mut self, _: &Vm, _: &str) {}
}

/// Hooks that note reads into the shared list.
pub(crate) fn hooks(reads: &Rc<RefCell<Reads>>) -> Hooks {
    let reads = Rc::clone(reads);
    Hooks {
        on_file: Some(Box::new(move |phase, path| {
            if phase == "compile" {
                let what = String::from_utf8_lossy(path).into_owned();
                reads.borrow_mut().reads.push(Read { what, place: None });
            }
        })),
        ..Hooks::default()
    }
}

/// `FX.declared(resource, path, place)`: a resource that will manage a path.
fn declared(machine: &Machine, vm: &mut Vm, a: Args) -> R {
    let resource = text(vm, a, 0)?.unwrap_or_default();
    let path = text(vm, a, 1)?.unwrap_or_default();
    let place = text(vm, a, 2)?.unwrap_or_default();
    let mut reads = machine.traps.borrow_mut();
    let reads_before = reads.reads.len();
    reads.managed.push(Managed { path, resource, place, reads_before });
    Ok(NIL)
}

/// Writes what was found to the output.
pub(crate) fn tell(machine: &Machine, vm: &mut Vm) {
    let mut told = Vec::new();
    let reads = machine.traps.borrow();
    for managed in &reads.managed {
        for read in &reads.reads[managed.reads_before.min(reads.reads.len())..] {
            if read.what != managed.path {
                continue;
            }
            let place = read.place.map_or_else(String::new, |(file, pos)| {
                format!("{}:{}", vm.path_of(file), vm.line_of(file, pos))
            });
            told.push(format!(
                "warning: {place} reads '{}' while the recipe is compiled, before {} ({}) has changed it\n  help: put the test into `only_if`, `not_if` or `lazy`: they run at converge time\n",
                read.what, managed.resource, managed.place
            ));
        }
    }
    drop(reads);
    for text in told {
        drop(vm.err.write_all(text.as_bytes()));
    }
}
