//! The trap of two passes: code that reads at compile time what a resource declared before
//! it will change only at converge time.
//!
//! Reads of recipe code are noted with their place and with what was there; at the end they
//! are compared with the resources declared before them. A resource that does not say which
//! paths it manages, such as a command or a package, is found out when it changes one. Reads
//! made while a resource acts do not count: what runs at compile time on purpose sees the
//! machine as it is then. Resources that are only there to be notified do not count either.

use std::cell::RefCell;
use std::fmt::Write as _;
use std::path::Path;
use std::rc::Rc;

use fx_engine::Level;
use fx_host::{Host, Meta};
use fx_ruby::value::NIL;
use fx_ruby::{Args, Hooks, R, Vm};
use fx_source::{Diagnostic, Origin, Span};

use crate::machine::{Machine, Method, text};

pub(crate) const METHODS: &[(&str, Method)] = &[("declared", declared)];

/// Reads that are looked at again after each command: the first tell, and all would cost.
const MOST: usize = 200;

/// Something recipe code looked at while it was compiled.
struct Read {
    what: What,
    place: (u32, u32),
    /// What was at the path then.
    state: State,
    /// Whether a resource has been found to change it.
    told: bool,
}

/// As much of a file as shows that it was changed.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
struct State(Option<(u64, u64, fx_host::Time)>);

impl State {
    fn of(host: &dyn Host, path: &str) -> State {
        let meta: Option<Meta> = host.stat_opt(Path::new(path)).ok().flatten();
        State(meta.map(|meta| (meta.ino, meta.size, meta.mtime)))
    }
}

#[derive(PartialEq, Eq)]
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
    /// What lies below the path is managed too.
    whole: bool,
}

impl Managed {
    fn covers(&self, path: &str) -> bool {
        let below = |rest: &str| rest.is_empty() || (self.whole && rest.starts_with('/'));
        path.strip_prefix(self.path.as_str()).is_some_and(below)
    }
}

/// What was read and declared so far.
#[derive(Default)]
pub(crate) struct Reads {
    noted: Vec<Read>,
    managed: Vec<Managed>,
    /// How many resources are acting just now.
    acting: u32,
    /// Changes seen while resources acted: the read, and the resource with its place.
    seen: Vec<(usize, String, String)>,
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
        self.note(What::Command(line.to_owned()), place, State::default());
    }

    fn note(&mut self, what: What, place: (u32, u32), state: State) {
        let again = self.noted.last().is_some_and(|last| last.place == place && last.what == what);
        if self.acting == 0 && place != (0, 0) && !again {
            self.noted.push(Read { what, place, state, told: false });
        }
    }

    /// A resource has changed something in the second pass: which of the paths that recipes
    /// looked at are different now.
    pub(crate) fn changed(&mut self, host: &dyn Host, resource: &str, place: &str) {
        for (index, read) in self.noted.iter_mut().enumerate().take(MOST) {
            if let What::Path(path) = &read.what
                && !read.told
                && State::of(host, path) != read.state
            {
                read.told = true;
                self.seen.push((index, resource.to_owned(), place.to_owned()));
            }
        }
    }
}

/// Hooks that note reads into the shared list.
pub(crate) fn hooks(reads: &Rc<RefCell<Reads>>, host: Rc<dyn Host>) -> Hooks {
    let (files, commands) = (Rc::clone(reads), Rc::clone(reads));
    Hooks {
        on_file: Some(Box::new(move |phase, path, place| {
            if phase == "compile"
                && let Ok(mut reads) = files.try_borrow_mut()
            {
                let path = String::from_utf8_lossy(path).into_owned();
                if reads.acting == 0 && place != (0, 0) {
                    let state = State::of(&*host, &path);
                    reads.note(What::Path(path), place, state);
                }
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

/// `FX.declared(resource, path, place, and what is below)`: a resource that will manage a path.
fn declared(machine: &Machine, vm: &mut Vm, a: Args) -> R {
    if vm.hooks.phase != "compile" {
        return Ok(NIL);
    }
    let resource = text(vm, a, 0)?.unwrap_or_default();
    let path = text(vm, a, 1)?.unwrap_or_default();
    let mut place = text(vm, a, 2)?.unwrap_or_default();
    if let Some(end) = place.find(":in ") {
        place.truncate(end);
    }
    let whole = vm.opt(a, 3).is_some_and(fx_ruby::Value::truthy);
    let mut reads = machine.traps.borrow_mut();
    let reads_before = reads.noted.len();
    reads.managed.push(Managed { path, resource, place, reads_before, whole });
    Ok(NIL)
}

/// Whether a command names a path as one of its words.
fn names(line: &str, path: &str) -> bool {
    line.split(|ch: char| ch.is_whitespace() || "'\"`;|&<>()=".contains(ch))
        .any(|word| word == path)
}

/// Resources that will act only when they are notified.
fn quiet(machine: &Machine, resource: &str) -> bool {
    let rows = machine.rows.borrow();
    let mut own = rows.all.iter().filter(|row| row.resource == resource).peekable();
    own.peek().is_some() && own.all(|row| row.action == "nothing")
}

/// What was read too early: the read, how, the path, and the resource with its place.
fn pairs(machine: &Machine, vm: &Vm) -> Vec<(String, &'static str, String, String, String)> {
    let reads = machine.traps.borrow();
    let place = |read: &Read| {
        let (file, pos) = read.place;
        (vm.path_of(file), vm.line_of(file, pos))
    };
    let mut found = Vec::new();
    let mut add = |read: &Read, how, path: &str, resource: &str, at: &str| {
        let (file, line) = place(read);
        let pair =
            (format!("{file}:{line}"), how, path.to_owned(), resource.to_owned(), at.to_owned());
        let known = |old: &(String, _, String, _, _)| old.0 == pair.0 && old.2 == pair.2;
        if !found.iter().any(known) {
            found.push(pair);
        }
    };
    for managed in reads.managed.iter().filter(|managed| !quiet(machine, &managed.resource)) {
        for read in reads.noted.iter().skip(managed.reads_before) {
            match &read.what {
                What::Path(path) if managed.covers(path) => {
                    add(read, "looks at", path, &managed.resource, &managed.place);
                }
                What::Command(line) if names(line, &managed.path) => {
                    add(
                        read,
                        "runs a command on",
                        &managed.path,
                        &managed.resource,
                        &managed.place,
                    );
                }
                _ => {}
            }
        }
    }
    for (index, resource, at) in &reads.seen {
        let read = &reads.noted[*index];
        let (file, line) = place(read);
        // Only what stands before the read in the same file is surely meant to come first.
        let at = at.split_once(":in ").map_or(at.as_str(), |(at, _)| at);
        let before = at.rsplit_once(':').is_some_and(|(path, number)| {
            *path == *file && number.parse::<i32>().is_ok_and(|number| number < line)
        });
        if let What::Path(path) = &read.what
            && before
        {
            add(read, "looks at", path, resource, at);
        }
    }
    found
}

/// Tells what was found: to the ledger, and in full to the error output, or as JSON lines to
/// the output when that was asked for.
pub(crate) fn tell(machine: &Machine, vm: &mut Vm) {
    let mut found: Vec<(Diagnostic, Option<Span>)> = Vec::new();
    for (place, how, path, resource, managed) in pairs(machine, vm) {
        let at = machine.span(vm, &place);
        let message = format!(
            "{place} {how} '{path}' while the recipe is compiled, before {resource} has been converged"
        );
        let mut told = Diagnostic::warning("chef-two-passes", message);
        if let Some(at) = at {
            told = told.label(at, "this runs in the first pass, with the machine as it was");
        }
        if let Some(at) = machine.span(vm, &managed) {
            told = told.label(at, "this acts in the second pass");
        }
        told = told.help(
            "put the test into `only_if { … }` or `not_if { … }`, or the value into `lazy { … }`: they run in the second pass",
        );
        found.push((told, at));
    }
    for (told, at) in &found {
        let origin = at.map_or_else(Origin::default, Origin::at);
        machine.ledger.message(Level::Warning, &told.message, &origin);
    }
    let as_json = machine.request.options.contains_key("findings");
    for (told, _) in &found {
        if as_json {
            let labels: Vec<_> = told
                .labels
                .iter()
                .map(|label| {
                    let at = machine.sources.location(label.span);
                    serde_json::json!({"file": *at.file, "line": at.line, "text": label.text})
                })
                .collect();
            let line = serde_json::json!({"finding": told.code, "message": told.message, "help": told.help, "labels": labels});
            drop(vm.out.write_all(format!("{line}\n").as_bytes()));
        } else {
            let shown = excerpt(machine, told);
            drop(vm.err.write_all(shown.as_bytes()));
        }
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
