//! The object Ruby knows as `FX`: its methods by number, and the run around them.
//!
//! Methods live in the files of their families; this one makes the virtual machine, binds
//! the object and runs the client.

use std::cell::{Cell, RefCell};
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::{Arc, Mutex, OnceLock};

use fx_engine::{Cancel, Failure, Ledger, Run};
use fx_host::{Host, Look};
use fx_ruby::object::c;
use fx_ruby::value::NIL;
use fx_ruby::{Args, Hooks, HostObject, Limits, Options, R, Res, Value, Vm};
use fx_source::{Diagnostic, FileId, SourceMap, Span};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::actions::Rows;
use crate::effects::Effects;
use crate::event::Event;
use crate::formatter::{Console, Output, Style};
use crate::log::Log;
use crate::{
    accounts, actions, change, crontabs, effects, erubis, file_provider, files, log, merge, mounts,
    network, own_files, packages, prelude, progress, property, schema, services, shell, trap,
};

/// What was asked for.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// Options as the Ruby side reads them: config, json, run_list and so on.
    pub options: serde_json::Map<String, serde_json::Value>,
    /// Where the rows go, as JSON lines.
    pub report: Option<PathBuf>,
    /// Where automatic attributes come from instead of the machine.
    pub facts: Option<PathBuf>,
    /// Directory names are resolved from.
    pub cwd: PathBuf,
    /// Where the client puts what it reads about runs in intervals instead of running; without it
    /// there is one run.
    pub schedule: Option<Arc<Mutex<Option<Schedule>>>>,
    /// Where the client puts what keeps recipes from being compiled, with its place.
    pub refused: Option<Arc<OnceLock<Diagnostic>>>,
    /// Bounds of its Ruby code.
    pub limits: Limits,
}

/// Runs in intervals, as the configuration asks for them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Schedule {
    /// Seconds between runs, and at most how many more, by chance.
    pub interval: u64,
    pub splay: u64,
    /// Whether it goes into the background, and how many seconds before the first run.
    pub in_background: bool,
    pub first: Option<u64>,
    pub pid_file: PathBuf,
}

/// State of one run that Ruby reaches through `FX`.
pub struct Machine {
    host: Rc<dyn Host>,
    pub(crate) effects: Rc<Effects>,
    pub(crate) ledger: Rc<Ledger>,
    pub(crate) cancel: Cancel,
    pub(crate) sources: Rc<SourceMap>,
    pub(crate) request: Request,
    pub(crate) rows: RefCell<Rows>,
    out: Output,
    pub(crate) console: RefCell<Console>,
    pub(crate) log: RefCell<Log>,
    pub(crate) traps: Rc<RefCell<trap::Reads>>,
    /// Class numbers of ImmutableMash and ImmutableArray once they are known.
    pub(crate) immutable: Cell<(u32, u32)>,
    pub(crate) code: Cell<Option<u8>>,
    /// Properties that are read and set without Ruby, by their number.
    pub(crate) properties: RefCell<property::Table>,
    /// Files of the run that are in the source map already, with their places among Ruby's.
    pub(crate) mapped: RefCell<FxHashMap<String, (FileId, usize)>>,
    /// Files of cookbooks that nobody else can write, so that they are not judged again.
    pub(crate) trusted: RefCell<FxHashSet<PathBuf>>,
    /// Package managers, with what they know of the machine.
    pub(crate) managers: fx_resources::package::backend::Managers,
    /// Connections to the server, if there is one.
    pub(crate) network: network::Network,
}

impl Machine {
    /// A run that nothing has happened in.
    pub(crate) fn new(
        host: Rc<dyn Host>,
        (ledger, effects): (Rc<Ledger>, Rc<Effects>),
        cancel: Cancel,
        sources: Rc<SourceMap>,
        request: Request,
        out: Output,
        traps: Rc<RefCell<trap::Reads>>,
    ) -> Rc<Machine> {
        Rc::new(Machine {
            host,
            effects,
            ledger,
            cancel,
            sources,
            request,
            rows: RefCell::default(),
            console: RefCell::new(Console::new(out.clone(), Style::default())),
            out,
            log: RefCell::default(),
            traps,
            immutable: Cell::new((0, 0)),
            code: Cell::new(None),
            properties: RefCell::default(),
            mapped: RefCell::default(),
            trusted: RefCell::default(),
            managers: fx_resources::package::backend::Managers::default(),
            network: network::Network::default(),
        })
    }

    /// The machine with the record of this run.
    pub(crate) fn run(&self) -> Run<'_> {
        Run::new(&*self.host, &self.ledger, &self.cancel)
    }

    /// The machine, to look at.
    pub(crate) fn look(&self) -> &dyn Look {
        &*self.host
    }

    /// Shows an event.
    pub(crate) fn emit(&self, event: &Event<'_>) {
        self.console.borrow_mut().event(event);
    }

    /// Takes another formatter.
    pub(crate) fn set_style(&self, style: Style) {
        *self.console.borrow_mut() = Console::new(self.out.clone(), style);
    }

    /// The line at `path:line` as a span of the source map.
    pub(crate) fn span(&self, vm: &Vm, place: &str) -> Option<Span> {
        let place = place.split_once(":in ").map_or(place, |(place, _)| place);
        let (path, line) = place.rsplit_once(':')?;
        let line: usize = line.parse().ok()?;
        let known = self.mapped.borrow().get(path).copied();
        let (id, at) = match known {
            Some(known) => known,
            None => {
                let at = vm.files.iter().rposition(|file| *file.path == *path)?;
                let id = self.sources.add(path, vm.files[at].text.to_vec());
                self.mapped.borrow_mut().insert(path.to_owned(), (id, at));
                (id, at)
            }
        };
        let file = vm.files.get(at)?;
        let start = *file.lines().get(line.checked_sub(1)?)? as usize;
        let text = &file.text[start.min(file.text.len())..];
        let end = text.iter().position(|byte| *byte == b'\n').unwrap_or(text.len());
        let blank = text.iter().take_while(|byte| byte.is_ascii_whitespace()).count().min(end);
        Some(Span::new(id, (start + blank) as u32, (start + end) as u32))
    }
}

pub(crate) type Method = fn(&Machine, &mut Vm, Args) -> R;

/// All methods of `FX`; the place in the list is the number.
fn methods() -> Vec<(&'static str, Method)> {
    let mut list: Vec<(&'static str, Method)> = Vec::new();
    list.extend_from_slice(files::METHODS);
    list.extend_from_slice(file_provider::METHODS);
    list.extend_from_slice(effects::METHODS);
    list.extend_from_slice(actions::METHODS);
    list.extend_from_slice(change::METHODS);
    list.extend_from_slice(progress::METHODS);
    list.extend_from_slice(log::METHODS);
    list.extend_from_slice(own_files::METHODS);
    list.extend_from_slice(accounts::METHODS);
    list.extend_from_slice(crontabs::METHODS);
    list.extend_from_slice(mounts::METHODS);
    list.extend_from_slice(network::METHODS);
    list.extend_from_slice(packages::METHODS);
    list.extend_from_slice(schema::METHODS);
    list.extend_from_slice(services::METHODS);
    list.extend_from_slice(merge::METHODS);
    list.extend_from_slice(shell::METHODS);
    list.extend_from_slice(erubis::METHODS);
    list.extend_from_slice(trap::METHODS);
    list.extend_from_slice(property::METHODS);
    list
}

struct Bound {
    machine: Rc<Machine>,
    methods: Vec<Method>,
}

impl HostObject for Bound {
    fn name(&self) -> &'static str {
        "FX"
    }
    fn call(&self, vm: &mut Vm, number: u32, args: Args) -> R {
        match self.methods.get(number as usize) {
            Some(method) => method(&self.machine, vm, args),
            None => property::call(&self.machine, vm, number, args),
        }
    }
    /// The machine keeps no value of Ruby.
    fn trace(&self, _: &mut dyn FnMut(Value)) {}
}

/// Text of an argument; nil gives `None`.
pub(crate) fn text(vm: &mut Vm, a: Args, i: u32) -> Res<Option<String>> {
    match vm.opt_nil(a, i) {
        Some(v) => vm.to_s(v).map(Some),
        None => Ok(None),
    }
}

/// Bytes of a text argument; nil gives `None`.
pub(crate) fn bytes(vm: &mut Vm, a: Args, i: u32) -> Res<Option<Vec<u8>>> {
    match vm.opt_nil(a, i) {
        Some(v) if v.is_str() => Ok(Some(vm.bytes(v).to_vec())),
        Some(v) => vm.to_s(v).map(|s| Some(s.into_bytes())),
        None => Ok(None),
    }
}

/// What a mechanism found; its failure is raised as Chef raises it, by the exception of this name.
pub(crate) fn answer<T>(vm: &mut Vm, exception: &str, found: Result<T, Failure>) -> Res<T> {
    match found {
        Ok(found) => Ok(found),
        Err(Failure::Host(error)) => {
            let path = error.path().map(|path| path.to_string_lossy().into_owned());
            vm.host_error(&error, &path.unwrap_or_default())
        }
        Err(failure) => raise(vm, exception, &failure.to_string()),
    }
}

/// Raises one of `Chef::Exceptions` by name.
pub(crate) fn raise<T>(vm: &mut Vm, name: &str, message: &str) -> Res<T> {
    let class = path(vm, &["Chef", "Exceptions", name])?;
    match class.as_class() {
        Some(class) => vm.fail(class, message),
        None => vm.fail(c::RUNTIME_ERROR, message),
    }
}

/// A constant by its path.
pub(crate) fn path(vm: &mut Vm, names: &[&str]) -> R {
    let mut at = Value::class(c::OBJECT);
    for name in names {
        let sym = vm.intern(name);
        at = vm.const_path(at, sym)?;
    }
    Ok(at)
}

/// Runs a client: configuration, compile, converge, report. The exit code is Chef's.
pub fn run(
    host: Rc<dyn Host>,
    ledger: Rc<Ledger>,
    cancel: Cancel,
    sources: Rc<SourceMap>,
    request: Request,
    out: Box<dyn std::io::Write>,
    err: Box<dyn std::io::Write>,
) -> u8 {
    let traps = Rc::new(RefCell::new(trap::Reads::default()));
    let effects = Rc::new(Effects::default());
    let hooks = trap::hooks(&traps, Rc::<dyn Host>::clone(&host));
    let hooks = Hooks { phase: "load", trusted_sources: true, ..hooks };
    let out = Output::new(out);
    let recorder = effects::recorder(Rc::clone(&host), &ledger, &effects);
    let mut vm = Vm::new(Options {
        host: Rc::new(recorder),
        out: Box::new(out.clone()),
        err,
        limits: request.limits,
        hooks,
        script: "chef-client".into(),
        argv: Vec::new(),
    });
    vm.shipped = prelude::sources(&*host);
    let machine = Machine::new(host, (ledger, effects), cancel, sources, request, out, traps);
    let mut code = drive(&mut vm, &machine);
    vm.flush_output();
    if let Err(error) = machine.run().own_state(|act| act.commit()) {
        code = code.max(1);
        // Where standard error is closed as well, the status is what is left to say it.
        drop(std::io::Write::write_all(&mut vm.err, format!("{error}\n").as_bytes()));
    }
    // The heap ends with the process; taking it apart would only cost time.
    std::mem::forget(vm);
    code
}

fn drive(vm: &mut Vm, machine: &Rc<Machine>) -> u8 {
    match start(vm, machine) {
        Ok(v) => v.fixnum().unwrap_or(1) as u8,
        Err(unwind) => {
            let told = vm.explain(unwind);
            if let Some(bound) = vm.spent() {
                machine.abandon(&change::ended_by(bound));
            }
            drop(std::io::Write::write_all(&mut vm.err, told.as_bytes()));
            machine.code.get().unwrap_or(1)
        }
    }
}

fn start(vm: &mut Vm, machine: &Rc<Machine>) -> R {
    bind(vm, machine)?;
    let client = path(vm, &["Chef", "Client"])?;
    let json = serde_json::Value::Object(machine.request.options.clone());
    let options = from_json(vm, &json)?;
    vm.open_run(client, "fx_main", &[options])
}

/// Makes `FX` and reads the first of Chef's classes; the others are read when they are missed.
pub(crate) fn bind(vm: &mut Vm, machine: &Rc<Machine>) -> Res<()> {
    let class = vm.define_class(c::OBJECT, "FxMachine", c::OBJECT);
    let mut list = Vec::new();
    for (number, (name, method)) in methods().into_iter().enumerate() {
        vm.define_host_method(class, name, number as u32);
        list.push(method);
    }
    let bound = Rc::new(Bound { machine: Rc::clone(machine), methods: list });
    vm.resident = Some(Rc::clone(&bound) as Rc<dyn HostObject>);
    let object = vm.host_object(class, bound);
    let sym = vm.intern("FX");
    vm.const_set(c::OBJECT, sym, object);
    vm.load_prelude_file("chef/core.rb")?;
    // The original reads recipes and their kin inside these modules.
    let scope = [path(vm, &["Chef"])?, path(vm, &["Chef", "Mixin"])?];
    vm.set_file_scope(&scope.map(|module| module.as_class().unwrap_or(c::OBJECT)));
    Ok(())
}

/// JSON as Ruby values.
pub(crate) fn from_json(vm: &mut Vm, json: &serde_json::Value) -> R {
    use serde_json::Value as J;
    Ok(match json {
        J::Null => NIL,
        J::Bool(b) => Value::bool(*b),
        J::Number(n) => match n.as_i64() {
            Some(i) => vm.int(i),
            None => vm.float(n.as_f64().unwrap_or(0.0)),
        },
        J::String(s) => vm.str(s.as_bytes()),
        J::Array(items) => {
            let mut list = Vec::with_capacity(items.len());
            for item in items {
                list.push(from_json(vm, item)?);
            }
            vm.arr(list)
        }
        J::Object(map) => {
            let h = vm.hash();
            for (k, v) in map {
                let key = vm.str(k.as_bytes());
                let value = from_json(vm, v)?;
                vm.hash_set(h, key, value)?;
            }
            h
        }
    })
}
