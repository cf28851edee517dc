//! The object model: classes, modules, method tables, ancestors, constants, singletons.

use std::rc::Rc;

use fx_ruby_syntax::Sym;
use fx_ruby_syntax::ast::Code;
use indexmap::IndexMap;
use rustc_hash::{FxBuildHasher, FxHashMap};

use crate::heap::Ext;
use crate::names as n;
use crate::value::{K_CLASS, NIL, Tag, UNDEF, Value};
use crate::vm::{NativeFn, R, Res, Vm};

/// Lexical scope of a piece of code: where constants are looked up and methods defined.
pub struct Cref {
    pub class: u32,
    pub up: Option<&'static Cref>,
    /// Made by `instance_eval` and kin: not a place for constants.
    pub eval: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Vis {
    Public,
    Private,
    Protected,
}

#[derive(Clone, Copy)]
pub enum Body {
    Ruby(&'static Code, &'static Cref),
    Native(NativeFn, i16, i16),
    Reader(Sym),
    Writer(Sym),
    Proc(Value),
    Field(u16),
    SetField(u16),
    Undef,
    /// Only the visibility changes; the body is the next one up.
    Super,
    /// Native method that carries a number, for tables of like methods.
    Host(u32),
}

#[derive(Clone, Copy)]
pub struct Method {
    pub name: Sym,
    /// Name at definition, kept through `alias`.
    pub orig: Sym,
    pub owner: u32,
    pub vis: Vis,
    pub body: Body,
    pub ruby2: bool,
}

pub struct Const {
    pub value: Value,
    pub private: bool,
    pub deprecated: bool,
    pub autoload: Option<Rc<str>>,
    pub file: u32,
    pub pos: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ClassKind {
    Class,
    Module,
    Singleton(Value),
}

pub struct RClass {
    pub kind: ClassKind,
    pub name: Option<Rc<str>>,
    /// Whether the name is reachable by constants.
    pub permanent: bool,
    pub superclass: Option<u32>,
    pub methods: FxHashMap<Sym, u32>,
    /// Order of definition, for reflection.
    pub order: Vec<Sym>,
    pub consts: IndexMap<Sym, Const, FxBuildHasher>,
    pub ivars: IndexMap<Sym, Value, FxBuildHasher>,
    pub cvars: IndexMap<Sym, Value, FxBuildHasher>,
    pub includes: Vec<u32>,
    pub prepends: Vec<u32>,
    /// Class of this class object: its singleton once made.
    pub meta: Option<u32>,
    pub frozen: bool,
    pub shape: IndexMap<Sym, u32, FxBuildHasher>,
    /// Class whose shape instances use (singletons share their class's).
    pub shape_of: u32,
    pub mro: Rc<[u32]>,
    pub mro_epoch: u32,
    pub lexical: u32,
    pub no_alloc: bool,
    pub subclasses: Vec<u32>,
    /// What `allocate` makes.
    pub alloc: Alloc,
    pub class_class: u32,
    pub refinement: bool,
}

/// What kind of object instances of a class are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Alloc {
    Object,
    String,
    Array,
    Hash,
    Exception,
    Struct,
    Range,
    Regexp,
    Proc,
    Class,
    Module,
    Time,
    Io,
    Enumerator,
    None,
}

macro_rules! classes {
    ($($id:ident = $name:literal < $sup:ident),* $(,)?) => {
        #[expect(non_camel_case_types, clippy::upper_case_acronyms, reason = "numbers the list below")]
        enum Numbers { $($id),* }
        /// Core classes and modules at fixed numbers.
        pub mod c {
            $(pub const $id: u32 = super::Numbers::$id as u32;)*
            pub(super) const NONE: u32 = u32::MAX;
        }
        pub(crate) const CORE: &[(&str, u32)] = &[$(($name, c::$sup)),*];
    };
}

classes! {
    BASIC_OBJECT = "BasicObject" < NONE, OBJECT = "Object" < BASIC_OBJECT, MODULE = "Module" < OBJECT,
    CLASS = "Class" < MODULE, KERNEL = "Kernel" < NONE, COMPARABLE = "Comparable" < NONE, ENUMERABLE = "Enumerable" < NONE,
    NIL = "NilClass" < OBJECT, TRUE = "TrueClass" < OBJECT, FALSE = "FalseClass" < OBJECT, NUMERIC = "Numeric" < OBJECT,
    INTEGER = "Integer" < NUMERIC, FLOAT = "Float" < NUMERIC, STRING = "String" < OBJECT, SYMBOL = "Symbol" < OBJECT,
    ARRAY = "Array" < OBJECT, HASH = "Hash" < OBJECT, RANGE = "Range" < OBJECT, PROC = "Proc" < OBJECT,
    METHOD = "Method" < OBJECT, UNBOUND = "UnboundMethod" < OBJECT, REGEXP = "Regexp" < OBJECT, MATCH = "MatchData" < OBJECT,
    STRUCT = "Struct" < OBJECT, IO = "IO" < OBJECT, FILE = "File" < IO, DIR = "Dir" < OBJECT, TIME = "Time" < OBJECT,
    BINDING = "Binding" < OBJECT, ENUMERATOR = "Enumerator" < OBJECT, RANDOM = "Random" < OBJECT,
    MATH = "Math" < NONE, PROCESS = "Process" < NONE, GC = "GC" < NONE, OBJECTSPACE = "ObjectSpace" < NONE, SIGNAL = "Signal" < NONE,
    ERRNO = "Errno" < NONE, FILETEST = "FileTest" < NONE, MARSHAL = "Marshal" < NONE, ENCODING = "Encoding" < OBJECT,
    RATIONAL = "Rational" < NUMERIC, COMPLEX = "Complex" < NUMERIC, THREAD = "Thread" < OBJECT, WARNING = "Warning" < NONE,
    EXCEPTION = "Exception" < OBJECT, SCRIPT_ERROR = "ScriptError" < EXCEPTION, LOAD_ERROR = "LoadError" < SCRIPT_ERROR,
    NOT_IMPLEMENTED = "NotImplementedError" < SCRIPT_ERROR, SYNTAX_ERROR = "SyntaxError" < SCRIPT_ERROR,
    NO_MEMORY = "NoMemoryError" < EXCEPTION, SECURITY_ERROR = "SecurityError" < EXCEPTION, INTERRUPT_BASE = "SignalException" < EXCEPTION,
    INTERRUPT = "Interrupt" < INTERRUPT_BASE, SYSTEM_EXIT = "SystemExit" < EXCEPTION, SYSTEM_STACK = "SystemStackError" < EXCEPTION,
    STANDARD_ERROR = "StandardError" < EXCEPTION, ARGUMENT_ERROR = "ArgumentError" < STANDARD_ERROR,
    UNCAUGHT_THROW = "UncaughtThrowError" < ARGUMENT_ERROR, ENCODING_ERROR = "EncodingError" < STANDARD_ERROR,
    FIBER_ERROR = "FiberError" < STANDARD_ERROR, IO_ERROR = "IOError" < STANDARD_ERROR, EOF_ERROR = "EOFError" < IO_ERROR,
    INDEX_ERROR = "IndexError" < STANDARD_ERROR, KEY_ERROR = "KeyError" < INDEX_ERROR, STOP_ITERATION = "StopIteration" < INDEX_ERROR,
    CLOSED_QUEUE = "ClosedQueueError" < STOP_ITERATION, LOCAL_JUMP = "LocalJumpError" < STANDARD_ERROR, NAME_ERROR = "NameError" < STANDARD_ERROR,
    NO_METHOD = "NoMethodError" < NAME_ERROR, RANGE_ERROR = "RangeError" < STANDARD_ERROR, FLOAT_DOMAIN = "FloatDomainError" < RANGE_ERROR,
    REGEXP_ERROR = "RegexpError" < STANDARD_ERROR, RUNTIME_ERROR = "RuntimeError" < STANDARD_ERROR, FROZEN_ERROR = "FrozenError" < RUNTIME_ERROR,
    SYSTEM_CALL = "SystemCallError" < STANDARD_ERROR, THREAD_ERROR = "ThreadError" < STANDARD_ERROR, TYPE_ERROR = "TypeError" < STANDARD_ERROR,
    ZERO_DIVISION = "ZeroDivisionError" < STANDARD_ERROR, NO_PATTERN = "NoMatchingPatternError" < STANDARD_ERROR,
    NO_PATTERN_KEY = "NoMatchingPatternKeyError" < NO_PATTERN, DATA = "Data" < OBJECT,
}

impl RClass {
    pub fn new(kind: ClassKind, superclass: Option<u32>, id: u32) -> RClass {
        RClass {
            kind,
            name: None,
            permanent: false,
            superclass,
            methods: FxHashMap::default(),
            order: Vec::new(),
            consts: IndexMap::default(),
            ivars: IndexMap::default(),
            cvars: IndexMap::default(),
            includes: Vec::new(),
            prepends: Vec::new(),
            meta: None,
            frozen: false,
            shape: IndexMap::default(),
            shape_of: id,
            mro: Rc::from([]),
            mro_epoch: 0,
            lexical: c::OBJECT,
            no_alloc: false,
            subclasses: Vec::new(),
            alloc: Alloc::Object,
            class_class: if kind == ClassKind::Module { c::MODULE } else { c::CLASS },
            refinement: false,
        }
    }

    pub fn is_module(&self) -> bool {
        self.kind == ClassKind::Module
    }

    pub fn is_singleton(&self) -> bool {
        matches!(self.kind, ClassKind::Singleton(_))
    }
}

impl Value {
    pub fn class(id: u32) -> Value {
        Value::heap(K_CLASS, id as usize)
    }

    pub fn as_class(self) -> Option<u32> {
        if self.is_class() { Some(self.index() as u32) } else { None }
    }
}

impl Vm {
    pub fn new_class(&mut self, kind: ClassKind, superclass: Option<u32>) -> u32 {
        let id = self.classes.len() as u32;
        let mut class = RClass::new(kind, superclass, id);
        if let Some(sup) = superclass {
            let sup_class = &mut self.classes[sup as usize];
            class.alloc = sup_class.alloc;
            class.no_alloc = sup_class.no_alloc;
            if !matches!(kind, ClassKind::Singleton(_)) {
                sup_class.subclasses.push(id);
                // Instances start with the layout of their superclass.
                class.shape = sup_class.shape.clone();
            }
        }
        self.heap.bytes += 600;
        self.classes.push(class);
        id
    }

    /// A named class under another, made at start or by the embedder.
    pub fn define_class(&mut self, under: u32, name: &str, superclass: u32) -> u32 {
        let sym = self.intern(name);
        if let Some(found) = self.classes[under as usize].consts.get(&sym) {
            if let Some(id) = found.value.as_class() {
                return id;
            }
        }
        let id = self.new_class(ClassKind::Class, Some(superclass));
        self.name_class(id, under, name);
        id
    }

    pub fn define_module(&mut self, under: u32, name: &str) -> u32 {
        let sym = self.intern(name);
        if let Some(found) = self.classes[under as usize].consts.get(&sym) {
            if let Some(id) = found.value.as_class() {
                return id;
            }
        }
        let id = self.new_class(ClassKind::Module, None);
        self.name_class(id, under, name);
        id
    }

    fn name_class(&mut self, id: u32, under: u32, name: &str) {
        let sym = self.intern(name);
        self.const_set(under, sym, Value::class(id));
    }

    #[inline]
    pub fn class_of(&self, v: Value) -> u32 {
        if v.is_fix() {
            return c::INTEGER;
        }
        match v.tag() {
            Tag::Obj => self.heap.objects[v.index()].class,
            Tag::Str => self.heap.strings[v.index()].class,
            Tag::Arr => self.heap.arrays[v.index()].class,
            Tag::Hash => self.heap.hashes[v.index()].class,
            Tag::Sym => c::SYMBOL,
            Tag::Int | Tag::Big => c::INTEGER,
            Tag::Flonum | Tag::Float => c::FLOAT,
            Tag::Nil => self.nil_class,
            Tag::True => self.true_class,
            Tag::False => self.false_class,
            Tag::Undef => c::NIL,
            Tag::Class => self.meta_of(v.index() as u32),
            Tag::Proc => self.heap.procs[v.index()].class,
            Tag::Range => self.heap.ranges[v.index()].class,
            Tag::Regex => self.heap.regexes[v.index()].class,
        }
    }

    /// Class of a class object: its own singleton, else the nearest one above.
    fn meta_of(&self, id: u32) -> u32 {
        let mut at = id;
        loop {
            let class = &self.classes[at as usize];
            if let Some(meta) = class.meta {
                return meta;
            }
            match class.kind {
                ClassKind::Class => match class.superclass {
                    Some(sup) => at = sup,
                    None => return c::CLASS,
                },
                ClassKind::Module => return class.class_class,
                ClassKind::Singleton(_) => return c::CLASS,
            }
        }
    }

    /// The class without singletons.
    pub fn real_class(&self, v: Value) -> u32 {
        if let Some(id) = v.as_class() {
            let class = &self.classes[id as usize];
            return if class.is_module() { class.class_class } else { c::CLASS };
        }
        let mut class = self.class_of(v);
        while self.classes[class as usize].is_singleton() {
            class = self.classes[class as usize].superclass.unwrap_or(c::OBJECT);
        }
        class
    }

    fn set_class(&mut self, v: Value, class: u32) {
        let i = v.index();
        match v.tag() {
            Tag::Obj => self.heap.objects[i].class = class,
            Tag::Str => self.heap.strings[i].class = class,
            Tag::Arr => self.heap.arrays[i].class = class,
            Tag::Hash => self.heap.hashes[i].class = class,
            Tag::Proc => self.heap.procs[i].class = class,
            Tag::Range => self.heap.ranges[i].class = class,
            Tag::Regex => self.heap.regexes[i].class = class,
            _ => {}
        }
    }

    pub fn singleton_of(&self, v: Value) -> Option<u32> {
        if let Some(id) = v.as_class() {
            return self.classes[id as usize].meta;
        }
        let class = match v.tag() {
            Tag::Nil | Tag::True | Tag::False => return Some(self.class_of(v)),
            _ => self.class_of(v),
        };
        if self.classes[class as usize].is_singleton() { Some(class) } else { None }
    }

    pub fn singleton_class(&mut self, v: Value) -> Res<u32> {
        if let Some(class) = self.singleton_of(v) {
            return Ok(class);
        }
        if let Some(id) = v.as_class() {
            let sup = match self.classes[id as usize].kind {
                ClassKind::Module => self.classes[id as usize].class_class,
                ClassKind::Class | ClassKind::Singleton(_) => {
                    match self.classes[id as usize].superclass {
                        Some(sup) => {
                            let mut sup = sup;
                            if let ClassKind::Singleton(_) = self.classes[id as usize].kind {
                                while self.classes[sup as usize].is_module() {
                                    sup =
                                        self.classes[sup as usize].superclass.unwrap_or(c::OBJECT);
                                }
                            }
                            self.singleton_class(Value::class(sup))?
                        }
                        None => c::CLASS,
                    }
                }
            };
            let meta = self.new_class(ClassKind::Singleton(v), Some(sup));
            self.classes[id as usize].meta = Some(meta);
            self.bump();
            return Ok(meta);
        }
        match v.tag() {
            Tag::Int | Tag::Flonum | Tag::Sym | Tag::Float | Tag::Big | Tag::Undef => {
                self.fail(c::TYPE_ERROR, "can't define singleton")
            }
            _ => {
                let class = self.class_of(v);
                let single = self.new_class(ClassKind::Singleton(v), Some(class));
                self.classes[single as usize].shape_of = self.classes[class as usize].shape_of;
                if self.frozen(v) {
                    self.classes[single as usize].frozen = true;
                }
                self.set_class(v, single);
                Ok(single)
            }
        }
    }

    pub fn bump(&mut self) {
        self.epoch += 1;
        self.method_cache.clear();
    }

    /// Ancestors in look-up order, prepended and included modules in place.
    pub fn mro(&mut self, class: u32) -> Rc<[u32]> {
        let known = &self.classes[class as usize];
        if known.mro_epoch == self.hierarchy && !known.mro.is_empty() {
            return Rc::clone(&known.mro);
        }
        let mut out = Vec::new();
        let above: Rc<[u32]> = match known.superclass {
            Some(sup) => self.mro(sup),
            None => Rc::from([]),
        };
        self.linear(class, &above, &mut out, 0);
        out.extend(above.iter().copied());
        let mro: Rc<[u32]> = out.into();
        let known = &mut self.classes[class as usize];
        known.mro = Rc::clone(&mro);
        known.mro_epoch = self.hierarchy;
        mro
    }

    fn linear(&self, class: u32, above: &[u32], out: &mut Vec<u32>, depth: u32) {
        if depth > 200 {
            return;
        }
        let known = &self.classes[class as usize];
        for module in known.prepends.iter().rev() {
            if !out.contains(module) {
                self.linear(*module, &[], out, depth + 1);
            }
        }
        if !out.contains(&class) {
            out.push(class);
        }
        for module in known.includes.iter().rev() {
            if !above.contains(module) {
                let mut part = Vec::new();
                self.linear(*module, above, &mut part, depth + 1);
                for m in part {
                    if !out.contains(&m) && !above.contains(&m) {
                        out.push(m);
                    }
                }
            }
        }
    }

    pub fn is_a(&mut self, v: Value, class: u32) -> bool {
        let of = self.class_of(v);
        of == class || self.inherits(of, class)
    }

    pub fn inherits(&mut self, class: u32, from: u32) -> bool {
        class == from || self.mro(class).contains(&from)
    }

    /// Finds a method; an undefined one counts as absent.
    pub fn find_method(&mut self, class: u32, name: Sym) -> Option<u32> {
        if let Some(found) = self.method_cache.get(&(class, name)) {
            return *found;
        }
        let mut found = self.search(class, name);
        // A general method may hide a better one that is still to be read.
        let general = |id: u32| {
            matches!(self.methods[id as usize].owner, c::ENUMERABLE | c::COMPARABLE | c::NUMERIC)
        };
        if found.is_none_or(general) && self.load_lazy(class) {
            found = self.search(class, name);
        }
        self.method_cache.insert((class, name), found);
        found
    }

    fn search(&mut self, class: u32, name: Sym) -> Option<u32> {
        for at in self.mro(class).iter() {
            if let Some(id) = self.classes[*at as usize].methods.get(&name) {
                return match self.methods[*id as usize].body {
                    Body::Undef => None,
                    _ => Some(*id),
                };
            }
        }
        None
    }

    /// The next method of that name after `owner` in the ancestors of `class`.
    pub fn find_super(&mut self, class: u32, owner: u32, name: Sym) -> Option<u32> {
        self.load_lazy(class);
        let mro = self.mro(class);
        let at = mro.iter().position(|x| *x == owner)?;
        for x in &mro[at + 1..] {
            if let Some(id) = self.classes[*x as usize].methods.get(&name) {
                return match self.methods[*id as usize].body {
                    Body::Undef => None,
                    Body::Super => continue,
                    _ => Some(*id),
                };
            }
        }
        None
    }

    /// Follows visibility-only entries to the method that runs.
    pub fn real_method(&mut self, class: u32, id: u32) -> Option<u32> {
        let method = self.methods[id as usize];
        if let Body::Super = method.body {
            return self.find_super(class, method.owner, method.name);
        }
        Some(id)
    }

    pub fn add_method(&mut self, class: u32, name: Sym, body: Body, vis: Vis) -> u32 {
        let id = self.methods.len() as u32;
        self.methods.push(Method { name, orig: name, owner: class, vis, body, ruby2: false });
        self.put_method(class, name, id);
        id
    }

    pub fn put_method(&mut self, class: u32, name: Sym, id: u32) {
        let known = &mut self.classes[class as usize];
        if known.methods.insert(name, id).is_none() {
            known.order.push(name);
        }
        if self.booted {
            self.bump();
            if class <= c::CLASS || class == c::KERNEL || class == c::COMPARABLE || class < c::RANGE
            {
                self.note_redefined(class, name);
            }
        }
    }

    /// The fast paths for operators are only right while these are untouched.
    fn note_redefined(&mut self, class: u32, name: Sym) {
        if matches!(
            class,
            c::INTEGER
                | c::FLOAT
                | c::STRING
                | c::ARRAY
                | c::HASH
                | c::NIL
                | c::TRUE
                | c::FALSE
                | c::SYMBOL
                | c::BASIC_OBJECT
                | c::OBJECT
                | c::KERNEL
                | c::COMPARABLE
        ) && (name.0 >= n::EQ.0 && name.0 <= n::UPLUS.0 || name == n::TO_S)
            && !self.loading_lazy
        {
            self.redefined = true;
        }
    }

    pub fn def(&mut self, class: u32, name: &'static str, f: NativeFn, min: i16, max: i16) {
        let sym = self.syms.intern_static(name.as_bytes());
        self.add_method(class, sym, Body::Native(f, min, max), Vis::Public);
    }

    pub fn def_private(&mut self, class: u32, name: &'static str, f: NativeFn, min: i16, max: i16) {
        let sym = self.syms.intern_static(name.as_bytes());
        self.add_method(class, sym, Body::Native(f, min, max), Vis::Private);
    }

    pub fn def_single(&mut self, class: u32, name: &'static str, f: NativeFn, min: i16, max: i16) {
        if let Ok(meta) = self.singleton_class(Value::class(class)) {
            self.def(meta, name, f, min, max);
        }
    }

    /// Public on the module itself and private in those that include it.
    pub fn def_module_function(
        &mut self,
        class: u32,
        name: &'static str,
        f: NativeFn,
        min: i16,
        max: i16,
    ) {
        self.def_private(class, name, f, min, max);
        self.def_single(class, name, f, min, max);
    }

    pub fn class_name(&self, class: u32) -> String {
        let known = &self.classes[class as usize];
        if let Some(name) = &known.name {
            return name.to_string();
        }
        match known.kind {
            ClassKind::Singleton(v) => match v.as_class() {
                Some(id) => format!("#<Class:{}>", self.class_name(id)),
                None => {
                    let real = self.real_class(v);
                    format!(
                        "#<Class:#<{}:0x{:016x}>>",
                        self.class_name(real),
                        self.object_id(v) * 8
                    )
                }
            },
            ClassKind::Module => {
                format!(
                    "#<{}:0x{:016x}>",
                    self.class_name(known.class_class),
                    u64::from(class) * 40 + 0x7f00_0000_0000
                )
            }
            ClassKind::Class => {
                format!("#<Class:0x{:016x}>", u64::from(class) * 40 + 0x7f00_0000_0000)
            }
        }
    }

    pub fn object_id(&self, v: Value) -> u64 {
        match v.tag() {
            Tag::Int => v.as_fix() as u64 * 2 + 1,
            Tag::Nil => 8,
            Tag::True => 20,
            Tag::False => 0,
            Tag::Class => u64::from(v.index() as u32) * 8 + 0x1_0000_0000,
            _ => ((v.index() as u64) << 8 | v.kind()) + 0x40,
        }
    }

    // ---- constants --------------------------------------------------------

    pub fn const_set(&mut self, class: u32, name: Sym, value: Value) {
        if let Some(id) = value.as_class() {
            if !self.classes[id as usize].permanent {
                let text = String::from_utf8_lossy(self.syms.bytes(name)).into_owned();
                let under = &self.classes[class as usize];
                let (full, permanent) = if class == c::OBJECT {
                    (text, true)
                } else if under.is_singleton() {
                    (format!("{}::{text}", self.class_name(class)), false)
                } else {
                    (format!("{}::{text}", self.class_name(class)), under.permanent)
                };
                let known = &mut self.classes[id as usize];
                if known.name.is_none() || permanent {
                    known.name = Some(full.into());
                    known.permanent = permanent;
                    known.lexical = class;
                    if permanent {
                        self.rename_inner(id, 0);
                    }
                }
            }
        }
        let (file, pos) = self.here();
        let old = self.classes[class as usize].consts.get(&name).map(|k| (k.private, k.deprecated));
        let (private, deprecated) = old.unwrap_or_default();
        let entry = Const { value, private, deprecated, autoload: None, file, pos };
        self.classes[class as usize].consts.insert(name, entry);
        self.const_epoch += 1;
    }

    /// Gives classes inside a newly named one their full names.
    fn rename_inner(&mut self, id: u32, depth: u32) {
        if depth > 50 {
            return;
        }
        let inner: Vec<(Sym, u32)> = self.classes[id as usize]
            .consts
            .iter()
            .filter_map(|(name, k)| k.value.as_class().map(|class| (*name, class)))
            .collect();
        let outer = self.class_name(id);
        for (name, class) in inner {
            if !self.classes[class as usize].permanent && class != id {
                let text = String::from_utf8_lossy(self.syms.bytes(name)).into_owned();
                let known = &mut self.classes[class as usize];
                known.name = Some(format!("{outer}::{text}").into());
                known.permanent = true;
                self.rename_inner(class, depth + 1);
            }
        }
    }

    /// A constant of a class itself, loading it when it is to be autoloaded.
    pub fn const_own(&mut self, class: u32, name: Sym) -> Res<Option<Value>> {
        let Some(found) = self.classes[class as usize].consts.get(&name) else {
            return Ok(None);
        };
        if !found.value.is_undef() {
            return Ok(Some(found.value));
        }
        let Some(path) = found.autoload.clone() else { return Ok(None) };
        if self.autoloading.contains(&(class, name)) {
            return Ok(None);
        }
        self.autoloading.push((class, name));
        let result = self.autoload(&path);
        self.autoloading.pop();
        result?;
        let found = self.classes[class as usize].consts.get(&name).map(|k| k.value);
        match found {
            Some(v) if !v.is_undef() => Ok(Some(v)),
            _ => {
                self.classes[class as usize].consts.shift_remove(&name);
                self.const_epoch += 1;
                Ok(None)
            }
        }
    }

    /// A constant of a class or its ancestors.
    pub fn const_in(&mut self, class: u32, name: Sym, object_too: bool) -> Res<Option<Value>> {
        let found = self.const_search(class, name, object_too)?;
        if found.is_none() && !self.lazy.is_empty() && class != c::OBJECT && self.load_lazy(class) {
            return self.const_search(class, name, object_too);
        }
        Ok(found)
    }

    fn const_search(&mut self, class: u32, name: Sym, object_too: bool) -> Res<Option<Value>> {
        for at in self.mro(class).iter() {
            if *at == c::OBJECT && class != c::OBJECT && !object_too {
                break;
            }
            if let Some(v) = self.const_own(*at, name)? {
                return Ok(Some(v));
            }
        }
        if object_too && self.classes[class as usize].is_module() {
            for at in self.mro(c::OBJECT).iter() {
                if let Some(v) = self.const_own(*at, name)? {
                    return Ok(Some(v));
                }
            }
        }
        Ok(None)
    }

    pub fn const_lexical(&mut self, cref: &'static Cref, name: Sym) -> Res<Option<Value>> {
        let mut at = Some(cref);
        while let Some(cref) = at {
            if cref.up.is_some() && !cref.eval {
                if let Some(v) = self.const_own(cref.class, name)? {
                    return Ok(Some(v));
                }
            }
            at = cref.up;
        }
        let mut scope = cref;
        while scope.eval {
            match scope.up {
                Some(up) => scope = up,
                None => break,
            }
        }
        self.const_in(scope.class, name, true)
    }

    /// What `C` means here, through `const_missing` when it means nothing.
    pub fn const_get(&mut self, cref: &'static Cref, name: Sym) -> R {
        if let Some(v) = self.const_lexical(cref, name)? {
            return Ok(v);
        }
        let mut scope = cref;
        while scope.eval {
            match scope.up {
                Some(up) => scope = up,
                None => break,
            }
        }
        self.const_missing(scope.class, name)
    }

    pub fn const_missing(&mut self, class: u32, name: Sym) -> R {
        self.send(Value::class(class), n::CONST_MISSING, &[Value::sym(name)])
    }

    /// `A::B` for a value that must be a class or module.
    pub fn const_path(&mut self, scope: Value, name: Sym) -> R {
        let Some(class) = scope.as_class() else {
            let text = self.inspect_string(scope)?;
            return self.fail(c::TYPE_ERROR, format!("{text} is not a class/module"));
        };
        let object_too = class == c::OBJECT;
        match self.const_in(class, name, object_too)? {
            Some(v) => {
                let private = self
                    .mro(class)
                    .iter()
                    .find_map(|at| self.classes[*at as usize].consts.get(&name).map(|k| k.private));
                if private == Some(true) {
                    let full = self.const_full(class, name);
                    let e = self.name_error(
                        c::NAME_ERROR,
                        &format!("private constant {full} referenced"),
                        name,
                        scope,
                    )?;
                    return self.throw(e);
                }
                Ok(v)
            }
            None => self.const_missing(class, name),
        }
    }

    pub fn const_full(&self, class: u32, name: Sym) -> String {
        let text = String::from_utf8_lossy(self.syms.bytes(name));
        if class == c::OBJECT {
            text.into_owned()
        } else {
            format!("{}::{text}", self.class_name(class))
        }
    }

    // ---- instance variables ----------------------------------------------

    pub fn ivar_get(&self, v: Value, name: Sym) -> Option<Value> {
        match v.tag() {
            Tag::Obj => {
                let obj = self.heap.obj(v);
                let shape = self.classes[obj.class as usize].shape_of;
                let slot = *self.classes[shape as usize].shape.get(&name)?;
                obj.ivars.get(slot as usize).copied().filter(|v| !v.is_undef())
            }
            Tag::Class => self.classes[v.index()].ivars.get(&name).copied(),
            _ => {
                let list = self.heap.side_ivars.get(&v)?;
                list.iter().find(|(key, _)| *key == name).map(|(_, value)| *value)
            }
        }
    }

    pub fn ivar_set(&mut self, v: Value, name: Sym, value: Value) {
        match v.tag() {
            Tag::Obj => {
                let slot = self.ivar_slot(v, name);
                let obj = self.heap.obj_mut(v);
                if obj.ivars.len() <= slot {
                    obj.ivars.resize(slot + 1, UNDEF);
                }
                obj.ivars[slot] = value;
            }
            Tag::Class => {
                self.classes[v.index()].ivars.insert(name, value);
            }
            _ => {
                let list = self.heap.side_ivars.entry(v).or_default();
                match list.iter_mut().find(|(key, _)| *key == name) {
                    Some(pair) => pair.1 = value,
                    None => list.push((name, value)),
                }
            }
        }
    }

    pub fn ivar_slot(&mut self, v: Value, name: Sym) -> usize {
        let class = self.heap.obj(v).class;
        let shape = self.classes[class as usize].shape_of;
        let table = &mut self.classes[shape as usize].shape;
        let next = table.len() as u32;
        *table.entry(name).or_insert(next) as usize
    }

    pub fn ivar_names(&self, v: Value) -> Vec<Sym> {
        match v.tag() {
            Tag::Obj => {
                let obj = self.heap.obj(v);
                let shape = self.classes[obj.class as usize].shape_of;
                self.classes[shape as usize]
                    .shape
                    .iter()
                    .filter(|(_, slot)| {
                        obj.ivars.get(**slot as usize).is_some_and(|v| !v.is_undef())
                    })
                    .map(|(name, _)| *name)
                    .collect()
            }
            Tag::Class => self.classes[v.index()].ivars.keys().copied().collect(),
            _ => self
                .heap
                .side_ivars
                .get(&v)
                .map(|l| l.iter().map(|p| p.0).collect())
                .unwrap_or_default(),
        }
    }

    pub fn ivar_remove(&mut self, v: Value, name: Sym) -> Option<Value> {
        let old = self.ivar_get(v, name)?;
        match v.tag() {
            Tag::Obj => {
                let slot = self.ivar_slot(v, name);
                self.heap.obj_mut(v).ivars[slot] = UNDEF;
            }
            Tag::Class => {
                self.classes[v.index()].ivars.shift_remove(&name);
            }
            _ => {
                if let Some(list) = self.heap.side_ivars.get_mut(&v) {
                    list.retain(|p| p.0 != name);
                }
            }
        }
        Some(old)
    }

    pub fn frozen(&self, v: Value) -> bool {
        let i = v.index();
        match v.tag() {
            Tag::Obj => self.heap.objects[i].frozen,
            Tag::Str => self.heap.strings[i].frozen,
            Tag::Arr => self.heap.arrays[i].frozen,
            Tag::Hash => self.heap.hashes[i].frozen,
            Tag::Class => self.classes[i].frozen,
            Tag::Proc => self.heap.procs[i].frozen,
            Tag::Regex => self.heap.regexes[i].frozen,
            _ => true,
        }
    }

    pub fn freeze(&mut self, v: Value) {
        let i = v.index();
        match v.tag() {
            Tag::Obj => self.heap.objects[i].frozen = true,
            Tag::Str => self.heap.strings[i].frozen = true,
            Tag::Arr => self.heap.arrays[i].frozen = true,
            Tag::Hash => self.heap.hashes[i].frozen = true,
            Tag::Class => self.classes[i].frozen = true,
            Tag::Proc => self.heap.procs[i].frozen = true,
            Tag::Regex => self.heap.regexes[i].frozen = true,
            _ => return,
        }
        if let Some(single) = self.singleton_of(v) {
            self.classes[single as usize].frozen = true;
        }
    }

    pub fn check_frozen(&mut self, v: Value) -> Res<()> {
        if !self.frozen(v) {
            return Ok(());
        }
        self.frozen_error(v)
    }

    #[cold]
    pub fn frozen_error<T>(&mut self, v: Value) -> Res<T> {
        let text = self.inspect_string(v)?;
        let class = self.real_class(v);
        let class =
            if v.is_class() && self.classes[v.index()].is_module() { c::MODULE } else { class };
        let kind = if v.is_class() && self.classes[v.index()].is_singleton() {
            "object".to_owned()
        } else if let Some(ClassKind::Class) = v.as_class().map(|id| self.classes[id as usize].kind)
        {
            "class".to_owned()
        } else {
            self.class_name(class)
        };
        let e = self.make_error(c::FROZEN_ERROR, format!("can't modify frozen {kind}: {text}"))?;
        self.ivar_set(e, n::IV_RECEIVER, v);
        self.throw(e)
    }

    /// A new object of a class, as `allocate` makes it.
    pub fn allocate(&mut self, class: u32) -> R {
        let known = &self.classes[class as usize];
        if known.is_singleton() {
            return self.fail(c::TYPE_ERROR, "can't create instance of singleton class");
        }
        Ok(match known.alloc {
            Alloc::Object => self.heap.object(class, Ext::None),
            Alloc::String => self.heap.string(class, std::borrow::Cow::Borrowed(b""), 0),
            Alloc::Array => self.heap.array(class, Vec::new()),
            Alloc::Hash => self.heap.hash(class),
            Alloc::Exception => self.heap.object(class, Ext::Exception(Box::default())),
            Alloc::Struct => {
                let size = self.struct_members(class).map_or(0, |m| m.len());
                self.heap.object(class, Ext::Fields(vec![NIL; size]))
            }
            Alloc::Range => self.heap.range(class, NIL, NIL, false),
            Alloc::Regexp => self.heap.regex(crate::heap::RRegex {
                class,
                frozen: false,
                source: Rc::from([]),
                flags: 0,
                enc: 0,
                prog: None,
            }),
            Alloc::Class => {
                let id = self.new_class(ClassKind::Class, Some(c::OBJECT));
                Value::class(id)
            }
            Alloc::Module => {
                let id = self.new_class(ClassKind::Module, None);
                self.classes[id as usize].class_class = class;
                Value::class(id)
            }
            Alloc::Time => self.heap.object(class, Ext::Time(Box::default())),
            Alloc::Io => self.heap.object(class, Ext::Io(Box::default())),
            Alloc::Enumerator => self.heap.object(class, Ext::None),
            Alloc::Proc | Alloc::None => {
                let name = self.class_name(class);
                return self.fail(c::TYPE_ERROR, format!("allocator undefined for {name}"));
            }
        })
    }

    /// Members of a Struct class, looked for upwards.
    pub fn struct_members(&self, class: u32) -> Option<Vec<Sym>> {
        let mut at = Some(class);
        while let Some(id) = at {
            if let Some(list) = self.classes[id as usize].ivars.get(&n::IV_MEMBERS) {
                return Some(self.heap.arr(*list).iter().filter_map(|v| v.as_sym()).collect());
            }
            at = self.classes[id as usize].superclass;
        }
        None
    }

    pub fn include_module(&mut self, class: u32, module: u32) {
        let mro = self.mro(module);
        if self.classes[class as usize].includes.contains(&module)
            || mro.contains(&class) && mro[0] != class
        {
            if self.classes[class as usize].includes.contains(&module) {
                return;
            }
        }
        self.classes[class as usize].includes.push(module);
        self.hierarchy += 1;
        self.const_epoch += 1;
        self.bump();
        if self.booted {
            self.redefined |=
                matches!(class, c::INTEGER | c::FLOAT | c::STRING | c::ARRAY | c::HASH) && false;
        }
    }

    pub fn prepend_module(&mut self, class: u32, module: u32) {
        if self.classes[class as usize].prepends.contains(&module) {
            return;
        }
        self.classes[class as usize].prepends.push(module);
        self.hierarchy += 1;
        self.const_epoch += 1;
        self.bump();
        if matches!(class, c::INTEGER | c::FLOAT | c::STRING | c::ARRAY | c::HASH) {
            self.redefined = true;
        }
    }

    pub fn as_module(&mut self, v: Value) -> Res<u32> {
        match v.as_class() {
            Some(id) => Ok(id),
            None => {
                let name = self.type_name(v);
                self.fail(c::TYPE_ERROR, format!("wrong argument type {name} (expected module)"))
            }
        }
    }

    pub(crate) fn nil_or(&self, v: Option<Value>) -> Value {
        v.unwrap_or(NIL)
    }
}
