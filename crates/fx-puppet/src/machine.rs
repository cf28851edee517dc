//! What all compilations of a thread share: the machine, the record, sources, parsed files,
//! and the Ruby that modules bring.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::rc::Rc;

use fx_engine::{Cancel, Ledger, Run};
use fx_host::{Host, RecordingHost};
use fx_puppet_syntax::Program;
use fx_source::{FileId, SourceMap, Span};
use rustc_hash::FxHashMap;

use crate::compile::Kind;
use crate::effects::Effects;
use crate::eval::Parameters;
use crate::lookup::Config;
use crate::ruby::{Libs, Ruby};
use crate::types::Type;
use crate::value::Hash;

/// The surroundings of compilations. They last as long as the process: Ruby code may hold
/// on to them.
#[derive(Clone)]
pub struct Machine {
    pub(crate) run: Run<'static>,
    pub(crate) sources: &'static SourceMap,
    /// The machine as Ruby gets it.
    pub(crate) ruby_host: Rc<RecordingHost<'static>>,
    pub(crate) effects: Rc<Effects>,
    pub(crate) ruby: Rc<Ruby>,
    /// What all nodes read alike: it is read once.
    pub(crate) read: Rc<Read>,
    /// The file of what no file says.
    pub(crate) builtin: FileId,
}

/// Files that have been read, by path.
#[derive(Default)]
pub(crate) struct Read {
    /// Names of the settings that flags gave.
    pub(crate) flags: RefCell<BTreeSet<String>>,
    /// Programs that parsed without a fault.
    pub(crate) programs: RefCell<FxHashMap<PathBuf, Rc<Program>>>,
    /// Templates of the language.
    pub(crate) templates: RefCell<FxHashMap<PathBuf, Rc<Program>>>,
    /// Data of lookups; nothing for what is not there.
    pub(crate) data: RefCell<FxHashMap<PathBuf, Option<Rc<Hash>>>>,
    /// Resource types that are not written in the language.
    pub(crate) kinds: RefCell<FxHashMap<Rc<str>, Option<Rc<Kind>>>>,
    /// Folders of modules.
    pub(crate) modules: RefCell<FxHashMap<String, Option<PathBuf>>>,
    /// All modules of a path.
    pub(crate) listing: RefCell<Option<Rc<Vec<(String, PathBuf)>>>>,
    /// What the libraries of modules hold.
    pub(crate) libs: RefCell<Option<Rc<Libs>>>,
    /// Ruby files of modules: by folder of `lib`, then by name.
    pub(crate) ruby_files: RefCell<FxHashMap<&'static str, Rc<FxHashMap<String, PathBuf>>>>,
    /// Hierarchies of layers by the layer's name.
    pub(crate) layers: RefCell<FxHashMap<Rc<str>, Option<Rc<Config>>>>,
    /// Type aliases by name in lower case; nothing for one that is being resolved.
    pub(crate) aliases: RefCell<FxHashMap<Rc<str>, Option<Rc<Type>>>>,
    /// Types by the place they are written at; nothing where variables have a say.
    pub(crate) types: RefCell<FxHashMap<Span, Option<Rc<Type>>>>,
    /// Parameters of functions built in.
    pub(crate) signatures: RefCell<FxHashMap<&'static str, Rc<[Parameters]>>>,
}

impl Machine {
    /// Puts a machine and an empty record together.
    pub fn new(host: Rc<impl Host + 'static>, cancel: Cancel) -> Machine {
        let host: Rc<dyn Host> = host;
        let lasting: &'static Rc<dyn Host> = Box::leak(Box::new(Rc::clone(&host)));
        let ledger = Box::leak(Box::new(Ledger::new()));
        let run = Run::new(&**lasting, ledger, Box::leak(Box::new(cancel)));
        Machine::on(host, run, Box::leak(Box::new(SourceMap::new())))
    }

    /// A machine, its record and its sources that somebody else put together.
    pub fn on(host: Rc<dyn Host>, run: Run<'static>, sources: &'static SourceMap) -> Machine {
        let builtin = sources.add("(built in)", Vec::new());
        let effects = Rc::<Effects>::default();
        let ruby_host = Rc::new(crate::effects::recorder(host, run, &effects));
        let (ruby, read) = (Rc::default(), Rc::default());
        Machine { run, sources, ruby_host, effects, ruby, read, builtin }
    }

    /// Names the settings that flags gave, for code that treats them apart from those of files.
    pub fn given_by_flags(&self, names: impl IntoIterator<Item = String>) {
        self.read.flags.borrow_mut().extend(names);
    }

    /// Bounds of the modules' Ruby code; before the first compilation.
    pub fn limit(&self, limits: fx_ruby::Limits) {
        self.ruby.limits.set(limits);
    }

    /// The bound that Ruby code went on past for good, if it did.
    pub fn spent(&self) -> Option<fx_ruby::Bound> {
        self.ruby.spent()
    }

    /// For a process that compiles for long: Ruby's garbage is collected often.
    pub fn stays(&self) {
        self.ruby.frugal.set(true);
    }

    /// Looks for modules and what they hold again: plug-ins came since.
    pub fn forget_modules(&self) {
        let Read { kinds, modules, listing, libs, ruby_files, .. } = &*self.read;
        kinds.borrow_mut().clear();
        modules.borrow_mut().clear();
        ruby_files.borrow_mut().clear();
        *listing.borrow_mut() = None;
        *libs.borrow_mut() = None;
    }

    /// What a driver is given.
    pub fn run(&self) -> Run<'static> {
        self.run
    }
}

/// Name of this machine, in lower case: the host's name and domain as the facts have them.
pub fn node_name(machine: &Machine) -> String {
    fx_facts::node_name(machine.run.look()).to_lowercase()
}
