//! The arenas: one for each kind of object, and what each kind holds.
//!
//! The collector (`gc.rs`) empties the slots of objects that nothing refers to. Procs and
//! environments that never escaped their call are given back at its end.

mod arena;
mod slots;

use std::borrow::Cow;
use std::cell::Cell;
use std::rc::Rc;

use fx_ruby_syntax::Sym;
use fx_ruby_syntax::ast::Code;
use rustc_hash::FxHashMap;

use crate::bignum::Big;
use crate::object::Cref;
pub(crate) use arena::Bits;
pub use arena::{Arena, Slot};

use crate::value::{
    K_ARR, K_BIG, K_FLOAT, K_HASH, K_OBJ, K_PROC, K_RANGE, K_REGEX, K_STR, NIL, UNDEF, Value,
};
use crate::vm::{R, Vm};

/// Encodings a string can be tagged with; the number is an index into `encoding::NAMES`.
pub type Enc = u8;

/// `Vm::subject` has a copy of the string.
pub const COPIED: u8 = 1;
/// `Vm::searched` has the string as text.
pub const READ: u8 = 2;

pub struct RString {
    pub class: u32,
    pub frozen: bool,
    pub enc: Enc,
    /// 0 unknown, 1 ASCII only, 2 valid, 3 broken.
    pub range: Cell<u8>,
    /// What was made of its content, which has not changed since: [`COPIED`] and [`READ`].
    pub known: Cell<u8>,
    pub bytes: Cow<'static, [u8]>,
}

pub struct RArray {
    pub class: u32,
    pub frozen: bool,
    pub v: Vec<Value>,
}

#[derive(Clone, Copy)]
pub struct Entry {
    pub hash: u64,
    pub key: Value,
    pub value: Value,
}

#[derive(Clone)]
pub struct RHash {
    pub class: u32,
    pub frozen: bool,
    pub identity: bool,
    /// Made from `**` or keywords by a method marked with `ruby2_keywords`.
    pub ruby2: bool,
    pub iterating: u32,
    pub entries: Vec<Entry>,
    pub table: Vec<u32>,
    pub live: usize,
    pub head: usize,
    pub default: Value,
    pub default_proc: Value,
}

pub struct RObject {
    pub class: u32,
    pub frozen: bool,
    pub ivars: Vec<Value>,
    pub ext: Ext,
}

/// What an object carries besides instance variables.
pub enum Ext {
    None,
    Exception(Box<ExcData>),
    Method(Box<MethodData>),
    Match(Box<MatchData>),
    Binding(Box<BindingData>),
    Enumerator(Box<EnumData>),
    Fiber(Box<crate::fiber::FiberData>),
    Fields(Vec<Value>),
    Time(Box<crate::core::time::TimeData>),
    Io(Box<crate::core::io::IoData>),
    Host(Rc<dyn crate::embed::HostObject>),
}

#[derive(Default)]
pub struct ExcData {
    pub message: Option<Value>,
    pub frames: Vec<(u32, u32, Sym)>,
    /// Set by `raise` with an array or `set_backtrace`.
    pub backtrace: Option<Value>,
    pub cause: Option<Value>,
    pub captured: bool,
}

#[derive(Clone)]
pub struct MethodData {
    pub recv: Value,
    pub id: u32,
    pub name: Sym,
    pub owner: u32,
    pub class: u32,
    pub unbound: bool,
    /// Found only by `respond_to_missing?`.
    pub missing: bool,
}

#[derive(Clone)]
pub struct MatchData {
    pub regex: Value,
    pub string: Value,
    /// Byte offsets of each group.
    pub groups: Vec<Option<(usize, usize)>>,
}

#[derive(Clone)]
pub struct BindingData {
    pub self_val: Value,
    pub env: u32,
    pub frame: BindFrame,
}

/// The parts of a frame a binding or proc keeps.
#[derive(Clone, Copy)]
pub struct BindFrame {
    pub method: u32,
    pub owner: u32,
    pub block: Value,
    pub cref: &'static Cref,
    pub home: u64,
    pub file: u32,
    pub pos: u32,
    pub name: Sym,
}

pub struct EnumData {
    pub recv: Value,
    pub meth: Sym,
    pub args: Vec<Value>,
    pub kw: bool,
    pub size: Value,
    /// How far `next` has come.
    pub outside: Outside,
}

/// An iteration that is driven from outside, by `next`.
#[derive(Default)]
pub struct Outside {
    /// The fiber that iterates; nil before the first `next`.
    pub fiber: Value,
    /// A value that was fetched for `peek`.
    pub ahead: Option<Value>,
    /// The exception that says that it has ended.
    pub ended: Option<Value>,
    /// What the next `yield` inside gives.
    pub feed: Option<Value>,
}

/// A native closure: given the values it keeps, the arguments and the block. It captures no
/// value: the collector sees only those kept beside it.
pub type NativeBlock = Rc<dyn Fn(&mut Vm, &[Value], &[Value], Value) -> R>;

#[derive(Clone)]
pub enum ProcBody {
    Code(&'static Code),
    Sym(Sym),
    Method(Value),
    /// The closure, its arity and the values it keeps.
    Native(NativeBlock, i32, Rc<[Value]>),
}

#[derive(Clone)]
pub struct RProc {
    pub class: u32,
    pub frozen: bool,
    pub body: ProcBody,
    pub self_val: Value,
    pub env: u32,
    pub frame: BindFrame,
    pub tag: u64,
    pub lambda: bool,
    pub escaped: bool,
    /// Made by `define_method`: returns like a method, keeps the owner.
    pub from_method: bool,
    pub ruby2: bool,
}

pub struct REnv {
    pub vars: Vec<Value>,
    pub up: u32,
    pub names: &'static [Sym],
    pub escaped: bool,
}

pub struct RRange {
    pub class: u32,
    pub lo: Value,
    pub hi: Value,
    pub excl: bool,
    pub frozen: bool,
    /// Whether `initialize` has run.
    pub ready: bool,
}

pub struct RRegex {
    pub class: u32,
    pub frozen: bool,
    pub source: Rc<[u8]>,
    pub flags: u32,
    pub enc: Enc,
    pub prog: Option<Rc<crate::regex::Program>>,
}

pub struct RBig {
    pub big: Big,
}

/// Bytes that may be allocated after a collection before the next one, at least.
const QUIET: usize = 12 << 20;
/// The same where memory counts more than time.
const FRUGAL: usize = 1 << 20;

/// Strings that there is room for at the start, and as a measure of other objects.
const ROOM: usize = 1 << 14;

#[derive(Default)]
pub struct Heap {
    pub strings: Arena<RString>,
    pub arrays: Arena<RArray>,
    pub hashes: Arena<RHash>,
    pub objects: Arena<RObject>,
    pub procs: Arena<RProc>,
    pub envs: Arena<REnv>,
    pub ranges: Arena<RRange>,
    pub floats: Arena<f64>,
    pub bigs: Arena<RBig>,
    pub regexes: Arena<RRegex>,
    /// Instance variables of values that are not plain objects.
    pub side_ivars: FxHashMap<Value, Vec<(Sym, Value)>>,
    /// Bytes that were live at the last collection and what was allocated since, roughly.
    pub bytes: usize,
    /// The collector runs at the next safepoint when `bytes` has come so far.
    pub collect_at: usize,
    /// Whether collections come often, so that what nobody needs takes little memory.
    pub frugal: bool,
    /// Whether slots of blocks and environments are left to the collector, which is tested.
    pub poison: bool,
}

impl Heap {
    pub fn new() -> Heap {
        let mut heap = Heap {
            strings: Arena::with_room(ROOM),
            arrays: Arena::with_room(ROOM / 2),
            hashes: Arena::with_room(ROOM / 4),
            objects: Arena::with_room(ROOM / 2),
            procs: Arena::with_room(ROOM / 4),
            envs: Arena::with_room(ROOM / 4),
            collect_at: QUIET,
            ..Heap::default()
        };
        // Index 0 means "no environment".
        heap.envs.add(REnv { vars: Vec::new(), up: 0, names: &[], escaped: true });
        heap
    }

    /// Sets when the next collection is due, by the bytes of objects that were live.
    pub(crate) fn rest(&mut self, live: usize) {
        let step = if self.frugal { (live / 4).max(FRUGAL) } else { live.max(QUIET) };
        self.collect_at = self.bytes + step;
    }

    #[inline]
    pub fn string(&mut self, class: u32, bytes: Cow<'static, [u8]>, enc: Enc) -> Value {
        self.bytes += 56 + if matches!(bytes, Cow::Owned(_)) { bytes.len() } else { 0 };
        let (range, known) = (Cell::new(0), Cell::new(0));
        let string = RString { class, frozen: false, enc, range, known, bytes };
        Value::heap(K_STR, self.strings.add(string))
    }

    #[inline]
    pub fn array(&mut self, class: u32, v: Vec<Value>) -> Value {
        self.bytes += 40 + v.len() * 8;
        Value::heap(K_ARR, self.arrays.add(RArray { class, frozen: false, v }))
    }

    pub fn hash(&mut self, class: u32) -> Value {
        self.bytes += 112;
        Value::heap(K_HASH, self.hashes.add(RHash { class, frozen: false, ..RHash::empty() }))
    }

    pub fn object(&mut self, class: u32, ext: Ext) -> Value {
        self.bytes += if matches!(ext, Ext::None) { 64 } else { 164 };
        let object = RObject { class, frozen: false, ivars: Vec::new(), ext };
        Value::heap(K_OBJ, self.objects.add(object))
    }

    #[inline]
    pub fn float(&mut self, f: f64) -> Value {
        if let Some(v) = Value::flonum(f) {
            return v;
        }
        self.bytes += 8;
        Value::heap(K_FLOAT, self.floats.add(f))
    }

    pub fn big(&mut self, big: Big) -> Value {
        if let Some(i) = big.to_fix() {
            return Value::fix(i);
        }
        self.bytes += 32 + big.digits.len() * 4;
        Value::heap(K_BIG, self.bigs.add(RBig { big }))
    }

    pub fn range(&mut self, class: u32, lo: Value, hi: Value, excl: bool) -> Value {
        self.bytes += 32;
        let frozen = class == crate::object::c::RANGE;
        let range = RRange { class, lo, hi, excl, frozen, ready: true };
        Value::heap(K_RANGE, self.ranges.add(range))
    }

    pub fn regex(&mut self, regex: RRegex) -> Value {
        self.bytes += 128;
        Value::heap(K_REGEX, self.regexes.add(regex))
    }

    #[inline]
    pub fn proc_(&mut self, p: RProc) -> Value {
        self.bytes += 136;
        Value::heap(K_PROC, self.procs.add(p))
    }

    #[inline]
    pub fn env(&mut self, names: &'static [Sym], up: u32) -> u32 {
        self.bytes += 56 + names.len() * 8;
        if let Some(slot) = self.envs.recycle() {
            let env = &mut self.envs[slot as usize];
            env.vars.clear();
            env.vars.resize(names.len(), NIL);
            env.up = up;
            env.names = names;
            env.escaped = false;
            return slot;
        }
        self.envs.add(REnv { vars: vec![NIL; names.len()], up, names, escaped: false }) as u32
    }

    /// Keeps an environment and all above it alive after their calls end.
    pub fn escape_env(&mut self, mut env: u32) {
        while env != 0 && !self.envs[env as usize].escaped {
            self.envs[env as usize].escaped = true;
            env = self.envs[env as usize].up;
        }
    }

    /// Keeps a proc alive after the call it was passed to.
    pub fn escape(&mut self, proc_: Value) {
        if !proc_.is_proc() {
            return;
        }
        let p = &mut self.procs[proc_.index()];
        if p.escaped {
            return;
        }
        p.escaped = true;
        let (env, block) = (p.env, p.frame.block);
        self.escape_env(env);
        self.escape(block);
    }

    /// The end of a call: its environment serves the next one if nothing kept it.
    #[inline]
    pub fn release_env(&mut self, env: u32) {
        let ended = &self.envs[env as usize];
        if !ended.escaped && !self.poison {
            self.bytes = self.bytes.saturating_sub(56 + ended.vars.len() * 8);
            self.envs.release(env);
        }
    }

    /// The end of the call that a block was written at.
    #[inline]
    pub fn release_proc(&mut self, p: Value) {
        let proc_ = &mut self.procs[p.index()];
        if proc_.escaped {
            proc_.tag = 0;
        } else if !self.poison {
            self.bytes = self.bytes.saturating_sub(136);
            self.procs.release(p.index() as u32);
        }
    }

    #[inline(always)]
    pub fn str(&self, v: Value) -> &RString {
        &self.strings[v.index()]
    }
    /// For changing: forgets what was known about the content.
    #[inline(always)]
    pub fn str_mut(&mut self, v: Value) -> &mut RString {
        let s = &mut self.strings[v.index()];
        s.range.set(0);
        s.known.set(0);
        s
    }
    #[inline(always)]
    pub fn arr(&self, v: Value) -> &Vec<Value> {
        &self.arrays[v.index()].v
    }
    #[inline(always)]
    pub fn arr_mut(&mut self, v: Value) -> &mut Vec<Value> {
        &mut self.arrays[v.index()].v
    }
    #[inline(always)]
    pub fn h(&self, v: Value) -> &RHash {
        &self.hashes[v.index()]
    }
    #[inline(always)]
    pub fn h_mut(&mut self, v: Value) -> &mut RHash {
        &mut self.hashes[v.index()]
    }
    #[inline(always)]
    pub fn obj(&self, v: Value) -> &RObject {
        &self.objects[v.index()]
    }
    #[inline(always)]
    pub fn obj_mut(&mut self, v: Value) -> &mut RObject {
        &mut self.objects[v.index()]
    }
    #[inline(always)]
    pub fn pr(&self, v: Value) -> &RProc {
        &self.procs[v.index()]
    }
    #[inline(always)]
    pub fn pr_mut(&mut self, v: Value) -> &mut RProc {
        &mut self.procs[v.index()]
    }
    #[inline(always)]
    pub fn rng(&self, v: Value) -> &RRange {
        &self.ranges[v.index()]
    }
    pub fn ext(&self, v: Value) -> Option<&Ext> {
        if v.is_obj() { Some(&self.obj(v).ext) } else { None }
    }
    pub fn big_of(&self, v: Value) -> &Big {
        &self.bigs[v.index()].big
    }
    pub fn float_of(&self, v: Value) -> f64 {
        if v.is_flonum() { v.as_flonum() } else { self.floats[v.index()] }
    }
}

impl RHash {
    pub const EMPTY: u32 = u32::MAX;

    /// Adds an entry known to be new.
    pub fn append(&mut self, hash: u64, key: Value, value: Value) {
        if self.entries.len() - self.live > 32
            && self.live * 2 < self.entries.len()
            && self.iterating == 0
        {
            self.compact();
        }
        self.entries.push(Entry { hash, key, value });
        self.live += 1;
        let len = self.entries.len();
        if len > 8 && len * 2 > self.table.len() {
            self.rebuild();
        } else if !self.table.is_empty() {
            self.link(len - 1);
        }
    }

    fn link(&mut self, index: usize) {
        let mask = self.table.len() - 1;
        let mut at = (self.entries[index].hash as usize) & mask;
        while self.table[at] != RHash::EMPTY {
            at = (at + 1) & mask;
        }
        self.table[at] = index as u32;
    }

    pub fn rebuild(&mut self) {
        let size = (self.entries.len().max(8) * 4).next_power_of_two();
        self.table.clear();
        self.table.resize(size, RHash::EMPTY);
        for index in 0..self.entries.len() {
            if !self.entries[index].key.is_undef() {
                self.link(index);
            }
        }
    }

    fn compact(&mut self) {
        self.entries.retain(|e| !e.key.is_undef());
        self.head = 0;
        if self.entries.len() > 8 {
            self.rebuild();
        } else {
            self.table.clear();
        }
    }

    pub fn remove(&mut self, index: usize) -> Value {
        let value = self.entries[index].value;
        self.entries[index].key = UNDEF;
        self.entries[index].value = NIL;
        self.live -= 1;
        if self.live == 0 && self.iterating == 0 {
            self.clear();
        } else {
            while self.head < self.entries.len() && self.entries[self.head].key.is_undef() {
                self.head += 1;
            }
        }
        value
    }

    pub fn clear(&mut self) {
        self.entries.clear();
        self.table.clear();
        self.live = 0;
        self.head = 0;
    }

    pub fn pairs(&self) -> impl Iterator<Item = (Value, Value)> + '_ {
        self.entries[self.head.min(self.entries.len())..]
            .iter()
            .filter(|e| !e.key.is_undef())
            .map(|e| (e.key, e.value))
    }
}
