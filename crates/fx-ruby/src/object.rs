//! The object model: classes, modules, method tables, ancestors, constants, singletons.

mod constants;
mod state;

use std::rc::Rc;

use fx_ruby_syntax::Sym;
use fx_ruby_syntax::ast::Code;
use indexmap::IndexMap;
use rustc_hash::{FxBuildHasher, FxHashMap};

use crate::names as n;
use crate::value::{K_CLASS, Tag, Value};
use crate::vm::{NativeFn, Res, Vm};

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
    RATIONAL = "Rational" < NUMERIC, COMPLEX = "Complex" < NUMERIC, THREAD = "Thread" < OBJECT, FIBER = "Fiber" < OBJECT, WARNING = "Warning" < NONE,
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
    REFINEMENT = "Refinement" < MODULE,
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

/// Bytes that a class takes, roughly.
pub(crate) const CLASS_BYTES: usize = 600;

/// Look-ups that are remembered: names that a program makes up are not kept for ever.
const CACHED_METHODS: usize = 1 << 16;

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
        self.heap.bytes += CLASS_BYTES;
        self.classes.push(class);
        id
    }

    /// The class of one object. It takes the number of one that ended and whose object had the same
    /// layout, which is what caches in the code remember of a class for good.
    fn new_singleton(&mut self, of: Value, class: u32) -> u32 {
        let shape = self.classes[class as usize].shape_of;
        let spare = self.spare_singletons.get_mut(&shape).and_then(Vec::pop);
        let kind = ClassKind::Singleton(of);
        let Some(id) = spare else {
            let id = self.new_class(kind, Some(class));
            self.classes[id as usize].shape_of = shape;
            return id;
        };
        let mut made = RClass::new(kind, Some(class), id);
        let above = &self.classes[class as usize];
        (made.alloc, made.no_alloc, made.shape_of) = (above.alloc, above.no_alloc, shape);
        self.heap.bytes += CLASS_BYTES;
        self.classes[id as usize] = made;
        id
    }

    /// A named class under another, made at start or by the embedder.
    pub fn define_class(&mut self, under: u32, name: &str, superclass: u32) -> u32 {
        let sym = self.intern(name);
        if let Some(found) = self.classes[under as usize].consts.get(&sym)
            && let Some(id) = found.value.as_class()
        {
            return id;
        }
        let id = self.new_class(ClassKind::Class, Some(superclass));
        self.name_class(id, under, name);
        id
    }

    pub fn define_module(&mut self, under: u32, name: &str) -> u32 {
        let sym = self.intern(name);
        if let Some(found) = self.classes[under as usize].consts.get(&sym)
            && let Some(id) = found.value.as_class()
        {
            return id;
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
                ClassKind::Class | ClassKind::Singleton(_) => match class.superclass {
                    Some(sup) => at = sup,
                    None => return c::CLASS,
                },
                ClassKind::Module => return class.class_class,
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
                let single = self.new_singleton(v, class);
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
        let hides = found.is_none_or(|id| match self.methods[id as usize] {
            Method { owner: c::ENUMERABLE | c::COMPARABLE | c::NUMERIC, .. } => true,
            // `print` and its kin: functions of everyone, methods of some classes; and the
            // `new` of every class.
            Method { owner: owner @ c::KERNEL, vis: Vis::Private, .. }
            | Method { owner: owner @ c::CLASS, .. } => {
                let mro = self.mro(class);
                let below = mro.iter().position(|x| *x == owner).unwrap_or(0);
                self.lazy.iter().any(|(id, _, _)| mro[..below].contains(id))
            }
            _ => false,
        });
        if hides && self.load_lazy(class) {
            found = self.search(class, name);
        }
        if self.method_cache.len() >= CACHED_METHODS {
            self.method_cache.clear();
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
        let Some(at) = mro.iter().position(|x| *x == owner) else {
            return self.super_of_refined(class, owner, name);
        };
        self.first_of(&mut mro[at + 1..].iter(), name)
    }

    /// The first method of that name among classes, past entries that only change who sees it.
    pub(crate) fn first_of(
        &self,
        classes: &mut dyn Iterator<Item = &u32>,
        name: Sym,
    ) -> Option<u32> {
        for class in classes {
            if let Some(id) = self.classes[*class as usize].methods.get(&name) {
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
            } else if let Some(target) = self.refining.target(class) {
                self.note_redefined(target, name);
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
            Tag::Int => (v.as_fix() as u64).wrapping_mul(2).wrapping_add(1),
            Tag::Nil => 8,
            Tag::True => 20,
            Tag::False => 0,
            Tag::Class => u64::from(v.index() as u32) * 8 + 0x1_0000_0000,
            _ => ((v.index() as u64) << 8 | v.kind()) + 0x40,
        }
    }
}
