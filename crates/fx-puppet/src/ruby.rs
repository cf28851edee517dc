//! Ruby from modules: one machine for all compilations of a thread, made when first needed.
//!
//! Code of the language calls Ruby through [`Evaluator::with_ruby`]; Ruby calls back through
//! the object `Puppet::Bridge`. While it does, its machine is lent to the evaluator, so that
//! the called code may need Ruby again.

mod bridge;
mod convert;
mod functions;
mod libs;
mod printed;
mod resource;
mod resources;
mod session;
mod template;
mod types;

use std::cell::RefCell;
use std::rc::Rc;

use fx_host::RecordingHost;
use fx_ruby::value::Value as Rb;
use fx_ruby::{Hooks, Limits, Options, Res, Vm};
use rustc_hash::FxHashMap;

use crate::eval::{Evaluated, Evaluator, Flow, Issue, Scope};
use crate::value::Value;
pub(crate) use libs::Libs;
pub use resource::{Heard, RubyChange, RubyDeclaration, RubyResource, Said};
pub use session::RubySession;
pub(crate) use template::joined;

macro_rules! parts {
    ($($name:literal),* $(,)?) => {
        /// Parts of the prelude, each with its image.
        static PARTS: &[fx_ruby::Shipped] = &[$(fx_ruby::Shipped {
            name: concat!("puppet/", $name, ".rb"),
            text: include_str!(concat!("../prelude/", $name, ".rb")),
            image: include_bytes!(concat!(env!("OUT_DIR"), "/", $name, ".rb")),
        }),*];
    };
}

parts! {
    "core", "puppet_util", "constants", "functions", "parser", "pops", "parameter", "property", "type", "type_resource",
    "provider", "resource_api", "resource_api_provider", "resource_api_type", "resource_api_resource", "facter", "face",
    "parsed", "ini", "catalog", "transaction", "file_serving",
}

/// Parts that are read at the start, in this order; others are read when they are first named.
const BOOT: [&str; 3] = ["core", "puppet_util", "constants"];

/// The Ruby machine and what it refers to on this side.
#[derive(Default)]
pub(crate) struct Ruby {
    vm: RefCell<Option<Box<Vm>>>,
    /// Machines that take the place of the real one while that is lent.
    spares: RefCell<Vec<Vm>>,
    /// Who is compiling, innermost last.
    current: RefCell<Vec<Rc<Evaluator>>>,
    /// Values that Ruby knows by number.
    held: RefCell<Vec<Value>>,
    /// Scopes that Ruby knows by number; the first is always the outermost.
    scopes: RefCell<Vec<Rc<Scope>>>,
    /// Numbers of scopes by the place of their variables, which the table keeps alive.
    numbers: RefCell<FxHashMap<usize, i64>>,
    /// A failure of the language on its way up through Ruby.
    carried: RefCell<Option<Flow>>,
    /// The compilation whose scopes have numbers, and the one that Ruby last ran for. A compilation
    /// has a number of its own: its place in memory may be that of one that is gone.
    owner: std::cell::Cell<u64>,
    entered: std::cell::Cell<u64>,
    compilations: std::cell::Cell<u64>,
    functions: RefCell<FxHashMap<String, Option<Rc<functions::Known>>>>,
    /// Texts that are symbols in Ruby, and stay so when they come back to it.
    symbols: RefCell<FxHashMap<String, Rc<str>>>,
    /// Names of functions that several modules have, with their files.
    contested: RefCell<FxHashMap<String, Rc<[std::path::PathBuf]>>>,
    /// Names of the modules that a module says it depends on.
    needs: RefCell<FxHashMap<Rc<str>, Rc<[String]>>>,
    parts: RefCell<Vec<String>>,
    /// Whether an error of Ruby that passes through the language comes out as itself.
    keeps_errors: std::cell::Cell<bool>,
    pub(crate) limits: std::cell::Cell<Limits>,
    /// Whether memory counts more than time.
    pub(crate) frugal: std::cell::Cell<bool>,
    /// What Ruby logs, while it is collected.
    said: RefCell<Option<Vec<Said>>>,
}

impl std::fmt::Debug for Ruby {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("Ruby")
    }
}

fn new_vm(evaluator: &Evaluator) -> Vm {
    let mut vm = Vm::new(Options {
        host: Rc::<RecordingHost<'static>>::clone(&evaluator.machine.ruby_host),
        out: Box::new(printed::Printed::out(evaluator.run)),
        err: Box::new(printed::Printed::error(evaluator.run)),
        limits: evaluator.machine.ruby.limits.get(),
        hooks: Hooks::default(),
        script: "puppet".into(),
        argv: Vec::new(),
    });
    vm.shipped = PARTS;
    if evaluator.machine.ruby.frugal.get() {
        vm.set_frugal();
    }
    vm
}

impl Ruby {
    /// The evaluator for whom Ruby runs now.
    fn evaluator(&self) -> Option<Rc<Evaluator>> {
        self.current.borrow().last().cloned()
    }

    /// Runs code of the language from inside Ruby, lending it the machine.
    fn lend<T>(&self, vm: &mut Vm, evaluator: &Evaluator, code: impl FnOnce() -> T) -> T {
        let mut spare = self.spares.borrow_mut().pop().unwrap_or_else(|| new_vm(evaluator));
        std::mem::swap(vm, &mut spare);
        *self.vm.borrow_mut() = Some(Box::new(spare));
        let result = code();
        if let Some(mut real) = self.vm.borrow_mut().take() {
            std::mem::swap(vm, &mut *real);
            self.spares.borrow_mut().push(*real);
        }
        result
    }

    /// The bound that its code went on past for good, if it did.
    pub(crate) fn spent(&self) -> Option<fx_ruby::Bound> {
        self.vm.borrow().as_ref().and_then(|vm| vm.spent())
    }

    /// The number of the next compilation.
    pub(crate) fn next_compilation(&self) -> u64 {
        self.compilations.set(self.compilations.get() + 1);
        self.compilations.get()
    }

    /// Reads a part of the prelude, once.
    fn part(&self, vm: &mut Vm, name: &str) -> Res<()> {
        if self.parts.borrow().iter().any(|known| known == name) {
            return Ok(());
        }
        self.parts.borrow_mut().push(name.to_owned());
        vm.load_prelude_file(&format!("puppet/{name}.rb"))
    }
}

impl Evaluator {
    /// Runs Ruby; what it raises becomes a failure of the language.
    pub(crate) fn with_ruby<T>(&self, code: impl FnOnce(&mut Vm) -> Res<T>) -> Evaluated<T> {
        let ruby = &self.machine.ruby;
        let taken = ruby.vm.borrow_mut().take();
        let mut vm = match taken {
            Some(vm) => vm,
            None => self.boot_ruby()?,
        };
        // Between calls this side holds no value but those it has pinned.
        vm.collect_between_calls();
        if let Some(this) = self.this.upgrade() {
            ruby.current.borrow_mut().push(this);
        }
        self.own_scopes();
        let is_entered = ruby.entered.replace(self.number) == self.number;
        let result = if is_entered {
            code(&mut vm)
        } else {
            self.enter_ruby(&mut vm).and_then(|()| code(&mut vm))
        };
        ruby.current.borrow_mut().pop();
        let result = result.map_err(|unwind| failure(ruby, &mut vm, unwind));
        *ruby.vm.borrow_mut() = Some(vm);
        result
    }

    /// What Ruby remembers of another compilation is forgotten.
    fn enter_ruby(&self, vm: &mut Vm) -> Res<()> {
        let puppet = constant(vm, "Puppet")?;
        vm.call_name(puppet, "__forget", &[]).map(drop)
    }

    /// Numbers of scopes are those of this compilation. A scope gets its number before Ruby is called
    /// with it, so this cannot wait until then.
    fn own_scopes(&self) {
        let ruby = &self.machine.ruby;
        if ruby.owner.replace(self.number) != self.number {
            ruby.scopes.borrow_mut().clear();
            ruby.numbers.borrow_mut().clear();
        }
    }

    fn boot_ruby(&self) -> Evaluated<Box<Vm>> {
        let ruby = &self.machine.ruby;
        let mut vm = Box::new(new_vm(self));
        let libs = self.libs();
        // The environment's own comes after those of the modules here.
        let own = usize::from(self.settings.environment_dir.is_some());
        for dir in libs.dirs()[own..].iter().chain(&libs.dirs()[..own]) {
            vm.search_last(dir.as_os_str().as_encoded_bytes());
        }
        vm.hooks.may_hold = Some(Box::new(move |dir, file| libs.may_hold(dir, file)));
        if let Some(this) = self.this.upgrade() {
            ruby.current.borrow_mut().push(this);
        }
        let result = BOOT
            .iter()
            .try_for_each(|part| ruby.part(&mut vm, part))
            .and_then(|()| bridge::install(&mut vm, ruby));
        ruby.current.borrow_mut().pop();
        result.map_err(|unwind| failure(ruby, &mut vm, unwind))?;
        Ok(vm)
    }

    /// All modules by name, the first of a name on the path.
    pub(crate) fn modules(&self) -> Rc<Vec<(String, std::path::PathBuf)>> {
        if let Some(known) = &*self.machine.read.listing.borrow() {
            return Rc::clone(known);
        }
        let mut found: Vec<(String, std::path::PathBuf)> = Vec::new();
        let mut seen = rustc_hash::FxHashSet::default();
        for root in &self.settings.modulepath {
            for item in self.run.look().list_trusted(root).unwrap_or_default() {
                let name = item.name.to_string_lossy().into_owned();
                let dir = root.join(&item.name);
                let is_name = name.starts_with(|c: char| c.is_ascii_lowercase())
                    && name.bytes().all(|byte| {
                        byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_'
                    });
                if is_name
                    && self.run.look().stat(&dir).is_ok_and(|meta| meta.is_dir())
                    && seen.insert(name.clone())
                {
                    found.push((name, dir));
                }
            }
        }
        // What a server sent is laid out as a module is, and has no name.
        found.extend(self.settings.plugins.iter().map(|dir| (String::new(), dir.clone())));
        let found = Rc::new(found);
        *self.machine.read.listing.borrow_mut() = Some(Rc::clone(&found));
        found
    }

    /// The number under which Ruby knows a scope.
    pub(crate) fn scope_number(&self, scope: &Rc<Scope>) -> i64 {
        self.own_scopes();
        let mut scopes = self.machine.ruby.scopes.borrow_mut();
        if scopes.is_empty() {
            scopes.push(Scope::new(Rc::clone(&self.top)));
        }
        let key = Rc::as_ptr(&scope.frame) as usize;
        let mut numbers = self.machine.ruby.numbers.borrow_mut();
        *numbers.entry(key).or_insert_with(|| {
            scopes.push(Rc::clone(scope));
            scopes.len() as i64 - 1
        })
    }

    /// The scope under a number.
    pub(crate) fn scope_by(&self, number: i64) -> Rc<Scope> {
        let scopes = self.machine.ruby.scopes.borrow();
        match scopes.get(usize::try_from(number).unwrap_or(0)) {
            Some(scope) if number > 0 => Rc::clone(scope),
            _ => Scope::new(Rc::clone(&self.top)),
        }
    }
}

/// What is on its way up in Ruby, as a failure of the language.
fn failure(ruby: &Ruby, vm: &mut Vm, unwind: fx_ruby::vm::Unwind) -> Flow {
    let Some(exception) = vm.take_raise() else {
        let text = vm.spent().map(|bound| bound.to_string());
        return Flow::raw(text.unwrap_or_else(|| vm.explain(unwind)));
    };
    let class = vm.class_of(exception);
    if vm.class_name(class) == "Puppet::CarriedFailure"
        && let Some(flow) = ruby.carried.borrow_mut().take()
    {
        return flow;
    }
    let message = vm.call_name(exception, "message", &[]).and_then(|text| vm.to_s(text));
    let mut message = message.unwrap_or_else(|_| "an error without a message".into());
    let name = vm.class_name(class);
    // What may be missing here is reported with its place; a method that some value does not have
    // is the module's own affair.
    let own = name == "NoMethodError" && !message.contains("Puppet") && !message.contains("main");
    let told = matches!(name.as_str(), "NoMethodError" | "NameError" | "LoadError" | "SyntaxError");
    if told && !own {
        let report = vm.report(exception);
        if let Some(line) = report.lines().next() {
            line.clone_into(&mut message);
        }
    }
    let issue = match name.as_str() {
        "Puppet::TemplateFailure" => Issue::Template,
        "Puppet::NoSuitableProvider" => Issue::NoProvider,
        "UncaughtThrowError" if thrown(vm, exception).as_deref() == Some("no_such_key") => {
            Issue::NoSuchKey
        }
        _ if ruby.keeps_errors.get() => {
            remember(vm, exception);
            Issue::Raised
        }
        _ => Issue::Other,
    };
    Flow::raw(message).with(issue)
}

/// Keeps an error until it comes out of the language.
fn remember(vm: &mut Vm, exception: Rb) {
    if let Ok(puppet) = constant(vm, "Puppet") {
        let _kept = vm.call_name(puppet, "__raised=", &[exception]);
    }
}

/// The name that was thrown and that nobody caught.
fn thrown(vm: &mut Vm, exception: Rb) -> Option<String> {
    let tag = vm.call_name(exception, "tag", &[]).ok()?;
    vm.to_s(tag).ok()
}

/// Raises a failure of the language in Ruby.
fn carry<T>(ruby: &Ruby, vm: &mut Vm, flow: Flow) -> Res<T> {
    let text = flow.clone().text();
    let issue = match &flow {
        Flow::Fail(failure) => failure.issue.clone(),
        _ => Issue::Other,
    };
    *ruby.carried.borrow_mut() = Some(flow);
    let puppet = match issue {
        Issue::Raised => {
            let puppet = constant(vm, "Puppet")?;
            let known = vm.call_name(puppet, "__raised", &[])?;
            if known.truthy() {
                return vm.throw(known);
            }
            constant(vm, "Puppet::CarriedFailure")?
        }
        Issue::Arguments if ruby.keeps_errors.get() => constant(vm, "ArgumentError")?,
        _ => constant(vm, "Puppet::CarriedFailure")?,
    };
    let message = vm.str(text);
    let exception = vm.call_name(puppet, "new", &[message])?;
    vm.throw(exception)
}

/// A constant by its full name.
fn constant(vm: &mut Vm, name: &str) -> Res<Rb> {
    let mut at = Rb::class(fx_ruby::object::c::OBJECT);
    for part in name.split("::") {
        let sym = vm.intern(part);
        at = vm.const_path(at, sym)?;
    }
    Ok(at)
}
