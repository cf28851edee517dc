//! The trap of two passes: code that reads at compile time what a resource declared before
//! it will change only at converge time.
//!
//! Reads of recipe code are noted with their place; at the end they are compared with the
//! resources declared before them. Reads made while a resource acts do not count: what runs
//! at compile time on purpose sees the machine as it is then.

use std::cell::RefCell;
use std::fmt::Write as _;
use std::rc::Rc;

use fx_engine::Level;
use fx_ruby::value::NIL;
use fx_ruby::{Args, Hooks, R, Vm};
use fx_source::{Diagnostic, Origin, Span};

use crate::machine::{Machine, Method, text};

pub(crate) const METHODS: &[(&str, Method)] = &[("declared", declared)];

/// Something recipe code looked at while it was compiled.
struct Read {
    what: What,
    place: (u32, u32),
}

enum What {
    Path(String),
    Command(String),
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
    noted: Vec<Read>,
    managed: Vec<Managed>,
    /// How many resources are acting just now.
    acting: u32,
}

impl Reads {
    /// A resource acts. One that acts while recipes are compiled is no trap: what comes
    /// after it sees what it did.
    pub(crate) fn enter(&mut self, resource: &str) {
        self.acting += 1;
        self.managed.retain(|managed| managed.resource != resource);
    }

    pub(crate) fn leave(&mut self) {
        self.acting = self.acting.saturating_sub(1);
    }

    /// A command that recipe code runs.
    pub(crate) fn command(&mut self, line: &str, place: (u32, u32)) {
        self.note(What::Command(line.to_owned()), place);
    }

    fn note(&mut self, what: What, place: (u32, u32)) {
        // Before anything is declared nothing can be too early.
        if self.acting == 0 && !self.managed.is_empty() && place != (0, 0) {
            self.noted.push(Read { what, place });
        }
    }
}

/// Hooks that note reads into the shared list.
pub(crate) fn hooks(reads: &Rc<RefCell<Reads>>) -> Hooks {
    let (files, commands) = (Rc::clone(reads), Rc::clone(reads));
    Hooks {
        on_file: Some(Box::new(move |phase, path, place| {
            if phase == "compile"
                && let Ok(mut reads) = files.try_borrow_mut()
            {
                let path = String::from_utf8_lossy(path).into_owned();
                reads.note(What::Path(path), place);
            }
        })),
        on_command: Some(Box::new(move |phase, line, place| {
            if phase == "compile"
                && let Ok(mut reads) = commands.try_borrow_mut()
            {
                reads.command(line, place);
            }
        })),
        ..Hooks::default()
    }
}

/// `FX.declared(resource, path, place)`: a resource that will manage a path.
fn declared(machine: &Machine, vm: &mut Vm, a: Args) -> R {
    if vm.hooks.phase != "compile" {
        return Ok(NIL);
    }
    let resource = text(vm, a, 0)?.unwrap_or_default();
    let path = text(vm, a, 1)?.unwrap_or_default();
    let place = text(vm, a, 2)?.unwrap_or_default();
    let mut reads = machine.traps.borrow_mut();
    let reads_before = reads.noted.len();
    reads.managed.push(Managed { path, resource, place, reads_before });
    Ok(NIL)
}

/// Whether a command names a path as one of its words.
fn names(line: &str, path: &str) -> bool {
    line.split(|ch: char| ch.is_whitespace() || "'\"`;|&<>()=".contains(ch))
        .any(|word| word == path)
}

/// Tells what was found: to the ledger, and in full to the error output.
pub(crate) fn tell(machine: &Machine, vm: &mut Vm) {
    let mut found: Vec<(Diagnostic, Option<Span>)> = Vec::new();
    {
        let reads = machine.traps.borrow();
        let mut seen: Vec<(&str, (u32, u32))> = Vec::new();
        for managed in &reads.managed {
            for read in reads.noted.iter().skip(managed.reads_before) {
                let how = match &read.what {
                    What::Path(path) if *path == managed.path => "looks at",
                    What::Command(line) if names(line, &managed.path) => "runs a command on",
                    _ => continue,
                };
                if seen.contains(&(&managed.path, read.place)) {
                    continue;
                }
                seen.push((&managed.path, read.place));
                let (file, pos) = read.place;
                let place = format!("{}:{}", vm.path_of(file), vm.line_of(file, pos));
                let at = machine.span(vm, &place);
                let message = format!(
                    "{place} {how} '{}' while the recipe is compiled, before {} has been converged",
                    managed.path, managed.resource
                );
                let mut told = Diagnostic::warning("chef-two-passes", message);
                if let Some(at) = at {
                    told =
                        told.label(at, "this runs in the first pass, with the machine as it was");
                }
                if let Some(at) = machine.span(vm, &managed.place) {
                    told = told.label(at, "this acts in the second pass");
                }
                told = told.help(
                    "put the test into `only_if { … }` or `not_if { … }`, or the value into `lazy { … }`: they run in the second pass",
                );
                found.push((told, at));
            }
        }
    }
    for (told, at) in &found {
        let origin = at.map_or_else(Origin::default, Origin::at);
        machine.ledger.message(Level::Warning, &told.message, &origin);
    }
    for (told, _) in &found {
        let shown = excerpt(machine, told);
        drop(vm.err.write_all(shown.as_bytes()));
    }
}

/// A finding with its lines, in the form of Chef's own excerpts of recipes.
fn excerpt(machine: &Machine, told: &Diagnostic) -> String {
    let mut out = format!("warning[{}]: {}\n", told.code, told.message);
    for label in &told.labels {
        let at = machine.sources.location(label.span);
        let text = machine.sources.text(label.span);
        let _ = writeln!(out, "  {}:{}: {}", at.file, at.line, label.text);
        let _ = writeln!(out, "{:>4}>> {text}", at.line);
    }
    if let Some(help) = &told.help {
        let _ = writeln!(out, "  help: {help}");
    }
    out
}
