//! The arenas: one vector per kind of object, and what each kind holds.
//!
//! Nothing is freed inside one evaluation, except procs and environments that never
//! escaped their call. A byte counter turns a runaway into an error.

use std::borrow::Cow;
use std::cell::Cell;
use std::rc::Rc;

use fx_ruby_syntax::Sym;
use fx_ruby_syntax::ast::Code;
use rustc_hash::FxHashMap;

use crate::bignum::Big;
use crate::object::Cref;
use crate::value::{
    K_ARR, K_BIG, K_FLOAT, K_HASH, K_OBJ, K_PROC, K_RANGE, K_REGEX, K_STR, NIL, UNDEF, Value,
};
use crate::vm::{R, Vm};

/// Encodings a string can be tagged with; the number is an index into `encoding::NAMES`.
pub type Enc = u8;

pub struct RString {
    pub class: u32,
    pub frozen: bool,
    pub enc: Enc,
    /// 0 unknown, 1 ASCII only, 2 valid, 3 broken.
    pub range: Cell<u8>,
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
    /// Values fetched for `next`, and how far `next` has come.
    pub buffer: Vec<Value>,
    pub pos: usize,
    pub done: bool,
    pub result: Value,
    pub lazy: bool,
}

/// A native closure with what it captured.
pub type NativeBlock = Rc<dyn Fn(&mut Vm, &[Value], Value) -> R>;

#[derive(Clone)]
pub enum ProcBody {
    Code(&'static Code),
    Sym(Sym),
    Method(Value),
    Native(NativeBlock, i32),
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

#[derive(Default)]
pub struct Heap {
    pub strings: Vec<RString>,
    pub arrays: Vec<RArray>,
    pub hashes: Vec<RHash>,
    pub objects: Vec<RObject>,
    pub procs: Vec<RProc>,
    pub free_procs: Vec<u32>,
    pub envs: Vec<REnv>,
    pub free_envs: Vec<u32>,
    pub ranges: Vec<RRange>,
    pub floats: Vec<f64>,
    pub bigs: Vec<RBig>,
    pub regexes: Vec<RRegex>,
    /// Instance variables of values that are not plain objects.
    pub side_ivars: FxHashMap<Value, Vec<(Sym, Value)>>,
    pub singletons: FxHashMap<Value, u32>,
    /// Bytes handed out so far, roughly.
    pub bytes: usize,
    pub frozen_ranges: bool,
}

impl Heap {
    pub fn new() -> Heap {
        let mut heap = Heap::default();
        // Index 0 means "no environment".
        heap.envs.push(REnv { vars: Vec::new(), up: 0, names: &[], escaped: true });
        heap
    }

    #[inline]
    pub fn string(&mut self, class: u32, bytes: Cow<'static, [u8]>, enc: Enc) -> Value {
        self.bytes += 56 + if matches!(bytes, Cow::Owned(_)) { bytes.len() } else { 0 };
        self.strings.push(RString { class, frozen: false, enc, range: Cell::new(0), bytes });
        Value::heap(K_STR, self.strings.len() - 1)
    }

    #[inline]
    pub fn array(&mut self, class: u32, v: Vec<Value>) -> Value {
        self.bytes += 40 + v.len() * 8;
        self.arrays.push(RArray { class, frozen: false, v });
        Value::heap(K_ARR, self.arrays.len() - 1)
    }

    pub fn hash(&mut self, class: u32) -> Value {
        self.bytes += 112;
        self.hashes.push(RHash {
            class,
            frozen: false,
            identity: false,
            ruby2: false,
            iterating: 0,
            entries: Vec::new(),
            table: Vec::new(),
            live: 0,
            head: 0,
            default: NIL,
            default_proc: NIL,
        });
        Value::heap(K_HASH, self.hashes.len() - 1)
    }

    pub fn object(&mut self, class: u32, ext: Ext) -> Value {
        self.bytes += 64;
        self.objects.push(RObject { class, frozen: false, ivars: Vec::new(), ext });
        Value::heap(K_OBJ, self.objects.len() - 1)
    }

    #[inline]
    pub fn float(&mut self, f: f64) -> Value {
        if let Some(v) = Value::flonum(f) {
            return v;
        }
        self.floats.push(f);
        self.bytes += 8;
        Value::heap(K_FLOAT, self.floats.len() - 1)
    }

    pub fn big(&mut self, big: Big) -> Value {
        if let Some(i) = big.to_fix() {
            return Value::fix(i);
        }
        self.bytes += 32 + big.digits.len() * 4;
        self.bigs.push(RBig { big });
        Value::heap(K_BIG, self.bigs.len() - 1)
    }

    pub fn range(&mut self, class: u32, lo: Value, hi: Value, excl: bool) -> Value {
        self.bytes += 32;
        let frozen = class == crate::object::c::RANGE;
        self.ranges.push(RRange { class, lo, hi, excl, frozen, ready: true });
        Value::heap(K_RANGE, self.ranges.len() - 1)
    }

    pub fn regex(&mut self, regex: RRegex) -> Value {
        self.bytes += 128;
        self.regexes.push(regex);
        Value::heap(K_REGEX, self.regexes.len() - 1)
    }

    #[inline]
    pub fn proc_(&mut self, p: RProc) -> Value {
        if let Some(slot) = self.free_procs.pop() {
            self.procs[slot as usize] = p;
            return Value::heap(K_PROC, slot as usize);
        }
        self.bytes += 120;
        self.procs.push(p);
        Value::heap(K_PROC, self.procs.len() - 1)
    }

    #[inline]
    pub fn env(&mut self, names: &'static [Sym], up: u32) -> u32 {
        if let Some(slot) = self.free_envs.pop() {
            let env = &mut self.envs[slot as usize];
            env.vars.clear();
            env.vars.resize(names.len(), NIL);
            env.up = up;
            env.names = names;
            env.escaped = false;
            return slot;
        }
        self.bytes += 56 + names.len() * 8;
        self.envs.push(REnv { vars: vec![NIL; names.len()], up, names, escaped: false });
        self.envs.len() as u32 - 1
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

    #[inline]
    pub fn release_env(&mut self, env: u32) {
        if !self.envs[env as usize].escaped {
            self.free_envs.push(env);
        }
    }

    #[inline]
    pub fn release_proc(&mut self, p: Value) {
        let proc_ = &mut self.procs[p.index()];
        if proc_.escaped {
            proc_.tag = 0;
        } else {
            self.free_procs.push(p.index() as u32);
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
