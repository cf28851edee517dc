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
use fx_host::{Look, Meta};
use fx_ruby::value::NIL;
use fx_ruby::{Args, Hooks, R, Vm};
use fx_source::{Diagnostic, Origin, Span};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::machine::{Machine, Method, text};

pub(crate) const METHODS: &[(&str, Method)] = &[("declared", declared)];

/// Reads that are looked at again after each command: the first are enough, and all would cost.
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
    fn of(host: &dyn Look, path: &str) -> State {
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
    /// It acted while recipes were compiled.
    acted: bool,
}

/// What was read and declared so far.
#[derive(Default)]
pub(crate) struct Reads {
    noted: Vec<Read>,
    managed: Vec<Managed>,
    /// Which of them are of a resource and did not act yet; as many of them as are named here.
    /// There may be very many resources, of which mostly none acts while recipes are compiled.
    waiting: FxHashMap<String, Vec<usize>>,
    named: usize,
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
        for (index, managed) in self.managed.iter().enumerate().skip(self.named) {
            self.waiting.entry(managed.resource.clone()).or_default().push(index);
        }
        self.named = self.managed.len();
        for index in self.waiting.remove(resource).unwrap_or_default() {
            self.managed[index].acted = true;
        }
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
    pub(crate) fn changed(&mut self, host: &dyn Look, resource: &str, place: &str) {
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
pub(crate) fn hooks(reads: &Rc<RefCell<Reads>>, host: Rc<dyn Look>) -> Hooks {
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
    reads.managed.push(Managed { path, resource, place, reads_before, whole, acted: false });
    Ok(NIL)
}

/// The words of a command, as far as they can be paths.
fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|ch: char| ch.is_whitespace() || "'\"`;|&<>()=".contains(ch))
}

/// Resources that will act only when they are notified: whether so, by name.
fn quiet<'a>(actions: impl Iterator<Item = (&'a str, &'a str)>) -> FxHashMap<&'a str, bool> {
    let mut quiet = FxHashMap::default();
    for (resource, action) in actions {
        *quiet.entry(resource).or_insert(true) &= action == "nothing";
    }
    quiet
}

/// The first resource that manages a path, for itself and with what is below it.
#[derive(Clone, Copy, Default)]
struct First {
    itself: Option<usize>,
    whole: Option<usize>,
}

impl Reads {
    /// Which reads are of paths that a resource declared before manages: the resource, the
    /// read, how, and the path. Of each read and path the first resource counts.
    fn early(&self, quiet: &FxHashMap<&str, bool>) -> Vec<(usize, usize, &'static str, &str)> {
        let mut first: FxHashMap<&str, First> = FxHashMap::default();
        for (index, managed) in self.managed.iter().enumerate() {
            if managed.acted || quiet.get(&*managed.resource) == Some(&true) {
                continue;
            }
            let known = first.entry(&managed.path).or_default();
            known.itself.get_or_insert(index);
            if managed.whole {
                known.whole.get_or_insert(index);
            }
        }
        let mut found = Vec::new();
        if first.is_empty() {
            return found;
        }
        let known = |path: &str| first.get(path).copied().unwrap_or_default();
        for (number, read) in self.noted.iter().enumerate() {
            // Resources are in the order they were declared in, and so are their reads.
            let before = |index: &usize| self.managed[*index].reads_before <= number;
            match &read.what {
                What::Path(path) => {
                    let above =
                        path.match_indices('/').filter_map(|(at, _)| known(&path[..at]).whole);
                    let index = above.chain(known(path).itself).filter(before).min();
                    found.extend(index.map(|index| (index, number, "looks at", path.as_str())));
                }
                What::Command(line) => {
                    found.extend(words(line).filter_map(|word| {
                        let index = known(word).itself.filter(before)?;
                        Some((index, number, "runs a command on", word))
                    }));
                }
            }
        }
        found.sort_by_key(|(index, number, ..)| (*index, *number));
        found
    }
}

/// What was read too early: the read, how, the path, and the resource with its place.
fn pairs(machine: &Machine, vm: &Vm) -> Vec<(String, &'static str, String, String, String)> {
    let reads = machine.traps.borrow();
    if reads.noted.is_empty() {
        return Vec::new();
    }
    let place = |read: &Read| {
        let (file, pos) = read.place;
        (vm.path_of(file), vm.line_of(file, pos))
    };
    let mut known = FxHashSet::default();
    let mut found = Vec::new();
    let mut add = |read: &Read, how, path: &str, resource: &str, at: &str| {
        let (file, line) = place(read);
        let pair =
            (format!("{file}:{line}"), how, path.to_owned(), resource.to_owned(), at.to_owned());
        if known.insert((pair.0.clone(), pair.2.clone())) {
            found.push(pair);
        }
    };
    let rows = machine.rows.borrow();
    let quiet = quiet(rows.all.iter().map(|row| (&*row.resource, &*row.action)));
    for (index, number, how, path) in reads.early(&quiet) {
        let managed = &reads.managed[index];
        add(&reads.noted[number], how, path, &managed.resource, &managed.place);
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

#[cfg(test)]
mod tests {
    use super::*;

    fn manage(reads: &mut Reads, path: &str, whole: bool) {
        let (resource, place) = (format!("file[{path}]"), "r.rb:1".to_owned());
        let (path, reads_before) = (path.to_owned(), reads.noted.len());
        reads.managed.push(Managed { path, resource, place, reads_before, whole, acted: false });
    }

    fn read(reads: &mut Reads, what: What) {
        let line = reads.noted.len() as u32 + 1;
        reads.note(what, (1, line), State::default());
    }

    #[test]
    fn the_first_resource_that_will_act_and_was_declared_before_counts() {
        let path = |path: &str| What::Path(path.to_owned());
        let mut reads = Reads::default();
        manage(&mut reads, "/done", false);
        reads.enter("file[/done]");
        reads.leave();
        manage(&mut reads, "/quiet", false);
        manage(&mut reads, "/tree", true);
        manage(&mut reads, "/tree/a", false);
        manage(&mut reads, "/flat", false);
        for one in ["/done", "/quiet", "/tree/a", "/treetop", "/flat/x", "/flat", "/late"] {
            read(&mut reads, path(one));
        }
        read(&mut reads, What::Command("cat '/flat' /tree/b >/tree".to_owned()));
        manage(&mut reads, "/late", false);
        let quiet = quiet([("file[/quiet]", "nothing"), ("file[/flat]", "create")].into_iter());
        let found = reads.early(&quiet);
        let shown: Vec<String> = found
            .iter()
            .map(|(index, _, how, path)| {
                format!("{how} {path}: {}", reads.managed[*index].resource)
            })
            .collect();
        assert_eq!(
            shown,
            [
                "looks at /tree/a: file[/tree]",
                "runs a command on /tree: file[/tree]",
                "looks at /flat: file[/flat]",
                "runs a command on /flat: file[/flat]",
            ]
        );
    }

    /// Processor time of this thread in ticks of the clock.
    #[expect(clippy::disallowed_methods, reason = "a test measures itself")]
    fn spent() -> u64 {
        let text = std::fs::read_to_string("/proc/thread-self/stat").unwrap();
        let fields: Vec<&str> = text.rsplit_once(')').unwrap().1.split_whitespace().collect();
        fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
    }

    /// A recipe that looks at each of its files before it declares it.
    fn cost(count: usize) -> u64 {
        let before = spent();
        let mut reads = Reads::default();
        for number in 0..count {
            let path = format!("/srv/x/{number}");
            read(&mut reads, What::Path(path.clone()));
            manage(&mut reads, &path, false);
            if number % 2 == 0 {
                reads.enter(&format!("file[{path}]"));
                reads.leave();
            }
        }
        let names: Vec<&str> = reads.managed.iter().map(|one| &*one.resource).collect();
        let quiet = quiet(names.into_iter().map(|name| (name, "create")));
        assert_eq!(reads.early(&quiet).len(), 0);
        spent() - before
    }

    #[test]
    fn four_times_the_resources_and_reads_cost_at_most_six_times_as_much() {
        let mut told = Vec::new();
        for _ in 0..3 {
            let (one, four) = (cost(25_000), cost(100_000));
            if four <= 6 * one.max(5) {
                return;
            }
            told.push((one, four));
        }
        panic!("ticks for 25,000 and 100,000 resources: {told:?}");
    }
}
