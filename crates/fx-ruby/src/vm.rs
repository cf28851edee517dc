//! The machine state of one run, and the small verbs every native method uses.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::io::Write;
use std::rc::Rc;
use std::time::Duration;

use fx_host::Act;
use fx_ruby_syntax::ast::Code;
use fx_ruby_syntax::{Interner, Sym};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::heap::{Enc, Ext, Heap, NativeBlock, ProcBody, RProc};
pub use crate::limits::Limits;
use crate::limits::{Budget, Way};
use crate::names as n;
use crate::object::{Cref, Method, RClass, Vis, c};
use crate::value::{NIL, UNDEF, Value};

/// Something is on its way up; `Vm::pending` says what.
#[derive(Debug, Clone, Copy)]
pub struct Unwind;

pub type Res<T> = Result<T, Unwind>;
pub type R = Res<Value>;

/// A native method.
pub type NativeFn = fn(&mut Vm, Args) -> R;

/// What an [`Unwind`] means.
#[derive(Clone, Copy, Debug, Default)]
pub enum Pending {
    #[default]
    None,
    Raise(Value),
    Break(u64, Value),
    Next(Value),
    Return(u64, Value),
    Throw(u64, Value),
    LoopBreak(Value),
    LoopNext,
    LoopRedo,
    Redo,
    Retry,
    /// A bound was crossed for good: nothing takes this but the end of the run.
    Spent,
}

impl Pending {
    /// The value on its way, or nil.
    pub(crate) fn value(self) -> Value {
        match self {
            Pending::Raise(v)
            | Pending::Break(_, v)
            | Pending::Next(v)
            | Pending::Return(_, v)
            | Pending::Throw(_, v)
            | Pending::LoopBreak(v) => v,
            Pending::None
            | Pending::LoopNext
            | Pending::LoopRedo
            | Pending::Redo
            | Pending::Retry
            | Pending::Spent => NIL,
        }
    }
}

/// Arguments of a native call: a window on the value stack.
#[derive(Clone, Copy)]
pub struct Args {
    pub recv: Value,
    pub start: u32,
    pub argc: u32,
    /// Nil for none.
    pub block: Value,
    /// The last argument is a hash of keywords.
    pub kw: bool,
    pub name: Sym,
    pub method: u32,
}

/// An activation of Ruby code.
#[derive(Clone, Copy)]
pub struct Frame {
    pub code: &'static Code,
    pub self_val: Value,
    pub block: Value,
    pub method: u32,
    pub owner: u32,
    pub cref: &'static Cref,
    /// Where `return` goes.
    pub home: u64,
    pub break_tag: u64,
    pub env: u32,
    pub base: u32,
    pub pos: u32,
    pub name: Sym,
    pub vis: Vis,
    pub module_function: bool,
    pub lambda: bool,
    /// What `$~` was where this activation began.
    pub saved_match: Value,
}

/// A source file known to the run.
pub struct SourceFile {
    pub path: Rc<str>,
    pub text: Cow<'static, [u8]>,
    pub first_line: i32,
    /// Read from a file by `require`, `load` or as the program, and not given to `eval`.
    pub loaded: bool,
    lines: OnceCell<Vec<u32>>,
}

impl SourceFile {
    /// Offset of each line, counted when first asked for.
    pub fn lines(&self) -> &[u32] {
        self.lines.get_or_init(|| {
            let ends = self.text.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
            std::iter::once(0).chain(ends.map(|(i, _)| i as u32 + 1)).collect()
        })
    }
}

/// A text that ships with an embedder: its name, itself, and its image when one was made.
#[derive(Clone, Copy)]
pub struct Shipped {
    pub name: &'static str,
    pub text: &'static str,
    pub image: &'static [u8],
}

pub const NO_METHOD: u32 = u32::MAX;

pub struct Vm {
    pub host: Rc<dyn Act>,
    pub out: Box<dyn Write>,
    pub err: Box<dyn Write>,
    pub syms: Interner,
    pub heap: Heap,
    pub gc: crate::gc::Gc,
    pub classes: Vec<RClass>,
    pub methods: Vec<Method>,
    pub stack: Vec<Value>,
    pub frames: Vec<Frame>,
    pub pending: Way,
    pub epoch: u32,
    pub const_epoch: u32,
    pub hierarchy: u32,
    pub serial: u64,
    pub ticks: u32,
    pub limits: Limits,
    /// What is left of the bounds of the whole run.
    pub(crate) budget: Budget,
    /// When `Timeout.timeout` interrupts.
    pub deadline: Option<Duration>,
    pub method_cache: FxHashMap<(u32, Sym), Option<u32>>,
    pub globals: FxHashMap<Sym, Value>,
    pub galiases: FxHashMap<Sym, Sym>,
    pub files: Vec<SourceFile>,
    pub last_match: Value,
    /// The string that was matched last and the frozen copy that its matches share.
    pub subject: Option<(Value, Value)>,
    /// The long string that is searched again and again, and its text.
    pub searched: Option<(Value, Rc<str>)>,
    pub last_line: Value,
    pub errinfo: Value,
    pub main: Value,
    pub top_cref: &'static Cref,
    /// What encloses a file that an embedder runs.
    pub(crate) file_cref: &'static Cref,
    /// Scopes by what is around them, class and kind.
    pub(crate) crefs: FxHashMap<(usize, u32, bool), &'static Cref>,
    /// Numbers of dead singleton classes, by whose layout their objects had.
    pub(crate) spare_singletons: FxHashMap<u32, Vec<u32>>,
    pub redefined: bool,
    pub booted: bool,
    /// How messages are worded; set it before the program runs.
    pub wording: crate::wording::Wording,
    pub loading_lazy: bool,
    pub lazy: Vec<(u32, &'static str, &'static str)>,
    /// Texts an embedder ships: read by `autoload :X, 'prelude:NAME'` like our own.
    pub shipped: &'static [Shipped],
    /// Answers host methods of plain objects.
    pub resident: Option<Rc<dyn crate::embed::HostObject>>,
    pub autoloading: Vec<(u32, Sym)>,
    /// Files that are being loaded, each with the thread that loads it.
    pub loading: Vec<(Rc<str>, Value)>,
    pub nil_class: u32,
    pub true_class: u32,
    pub false_class: u32,
    pub at_exit: Vec<Value>,
    pub inspecting: Vec<Value>,
    /// Flip-flops that are on, by the run of the method they stand in.
    pub flipped: FxHashSet<(u64, usize)>,
    /// Which rare events a `TracePoint` waits for.
    pub(crate) tracing: u8,
    /// Pairs whose `<=>` runs for an `==`.
    pub comparing: Vec<(Value, Value)>,
    pub catching: Vec<(u64, Value)>,
    pub regex_cache: FxHashMap<(Rc<[u8]>, u32, Enc), Rc<crate::regex::Program>>,
    pub rng: crate::core::random::Mt,
    pub cwd: Option<Vec<u8>>,
    pub env: crate::core::env::EnvTable,
    pub script: Rc<str>,
    pub argv: Vec<Vec<u8>>,
    pub io: crate::core::io::IoTable,
    pub hooks: crate::embed::Hooks,
    pub native_depth: u32,
    pub umask: u32,
    /// Whether the name that `method_missing` was last called for stood alone, as a variable does.
    pub bare_name: bool,
    pub required: Vec<Rc<str>>,
    /// What `object_id` has given, by object; ends with the object.
    pub object_ids: FxHashMap<Value, u64>,
    pub fstrings: FxHashMap<(Vec<u8>, u8), Value>,
    pub marks: Vec<(u32, u32)>,
    pub sym_encs: FxHashMap<Sym, Enc>,
    pub refining: crate::interp::refine::Refining,
    pub compiled: crate::interp::compiled::Compiled,
    pub fibers: crate::fiber::Fibers,
}

impl Vm {
    // ---- arguments --------------------------------------------------------

    #[inline(always)]
    pub fn arg(&self, a: Args, i: u32) -> Value {
        self.stack[(a.start + i) as usize]
    }

    #[inline]
    pub fn opt(&self, a: Args, i: u32) -> Option<Value> {
        if i < a.argc { Some(self.stack[(a.start + i) as usize]) } else { None }
    }

    /// An optional argument where nil counts as absent.
    pub fn opt_nil(&self, a: Args, i: u32) -> Option<Value> {
        self.opt(a, i).filter(|v| !v.is_nil())
    }

    pub fn args(&self, a: Args) -> Vec<Value> {
        self.stack[a.start as usize..(a.start + a.argc) as usize].to_vec()
    }

    /// Takes the keywords away from the arguments.
    pub fn take_kw(&self, a: &mut Args) -> Option<Value> {
        if a.kw && a.argc > 0 {
            a.argc -= 1;
            a.kw = false;
            return Some(self.stack[(a.start + a.argc) as usize]);
        }
        None
    }

    /// One keyword by name.
    pub fn kw(&self, kw: Option<Value>, name: &str) -> Option<Value> {
        let hash = kw?;
        let sym = Value::sym(self.syms.get(name.as_bytes())?);
        self.heap.h(hash).pairs().find(|(k, _)| *k == sym).map(|(_, v)| v)
    }

    // ---- making values ----------------------------------------------------

    pub fn intern(&mut self, name: &str) -> Sym {
        self.syms.intern(name.as_bytes())
    }

    pub fn sym_str(&self, sym: Sym) -> Cow<'_, str> {
        String::from_utf8_lossy(self.syms.bytes(sym))
    }

    pub fn str(&mut self, text: impl Into<Vec<u8>>) -> Value {
        self.heap.string(c::STRING, Cow::Owned(text.into()), 0)
    }

    pub fn str_enc(&mut self, bytes: impl Into<Vec<u8>>, enc: Enc) -> Value {
        self.heap.string(c::STRING, Cow::Owned(bytes.into()), enc)
    }

    pub fn str_static(&mut self, text: &'static str) -> Value {
        self.heap.string(c::STRING, Cow::Borrowed(text.as_bytes()), 0)
    }

    pub fn ascii(&mut self, text: impl Into<Vec<u8>>) -> Value {
        self.heap.string(c::STRING, Cow::Owned(text.into()), crate::encoding::ASCII)
    }

    #[inline]
    pub fn arr(&mut self, items: Vec<Value>) -> Value {
        self.heap.array(c::ARRAY, items)
    }

    pub fn hash(&mut self) -> Value {
        self.heap.hash(c::HASH)
    }

    #[inline]
    pub fn float(&mut self, f: f64) -> Value {
        self.heap.float(f)
    }

    #[inline]
    pub fn int(&mut self, i: i64) -> Value {
        if (crate::value::FIX_MIN..=crate::value::FIX_MAX).contains(&i) {
            return Value::fix(i);
        }
        self.heap.big(crate::bignum::Big::from_i64(i))
    }

    pub fn int128(&mut self, i: i128) -> Value {
        if i >= i128::from(crate::value::FIX_MIN) && i <= i128::from(crate::value::FIX_MAX) {
            return Value::fix(i as i64);
        }
        self.heap.big(crate::bignum::Big::from_i128(i))
    }

    #[inline]
    pub fn bytes(&self, v: Value) -> &[u8] {
        &self.heap.strings[v.index()].bytes
    }

    pub fn text(&self, v: Value) -> String {
        String::from_utf8_lossy(self.bytes(v)).into_owned()
    }

    /// A proc around a native closure, with the values that the closure uses.
    pub fn native_proc(
        &mut self,
        arity: i32,
        lambda: bool,
        kept: &[Value],
        f: NativeBlock,
    ) -> Value {
        let frame = self.bind_frame();
        self.heap.proc_(RProc {
            class: c::PROC,
            frozen: false,
            body: ProcBody::Native(f, arity, Rc::from(kept)),
            self_val: NIL,
            env: 0,
            frame,
            tag: 0,
            lambda,
            escaped: true,
            from_method: false,
            ruby2: false,
        })
    }

    pub fn bind_frame(&self) -> crate::heap::BindFrame {
        match self.frames.last() {
            Some(f) => crate::heap::BindFrame {
                method: f.method,
                owner: f.owner,
                block: f.block,
                cref: f.cref,
                home: f.home,
                file: f.code.file,
                pos: f.pos,
                name: f.name,
            },
            None => crate::heap::BindFrame {
                method: NO_METHOD,
                owner: c::OBJECT,
                block: NIL,
                cref: self.top_cref,
                home: 0,
                file: 0,
                pos: 0,
                name: n::MAIN,
            },
        }
    }

    /// File and offset of the code that runs now.
    pub fn here(&self) -> (u32, u32) {
        self.frames.last().map_or((0, 0), |f| (f.code.file, f.pos))
    }

    pub fn line_of(&self, file: u32, pos: u32) -> i32 {
        let Some(f) = self.files.get(file as usize) else { return 0 };
        f.first_line + f.lines().partition_point(|start| *start <= pos) as i32 - 1
    }

    pub fn path_of(&self, file: u32) -> Rc<str> {
        self.files.get(file as usize).map_or_else(|| Rc::from(""), |f| Rc::clone(&f.path))
    }

    /// Whether a file is one of those that ship, whose frames are shown to nobody.
    pub(crate) fn is_internal(&self, file: u32) -> bool {
        self.files.get(file as usize).is_none_or(|f| f.path.starts_with("<internal:"))
    }

    pub fn add_file(
        &mut self,
        path: &str,
        text: impl Into<Cow<'static, [u8]>>,
        first_line: i32,
    ) -> u32 {
        let (path, text) = (path.into(), text.into());
        self.files.push(SourceFile {
            path,
            text,
            first_line,
            loaded: false,
            lines: OnceCell::new(),
        });
        self.files.len() as u32 - 1
    }

    // ---- calling ----------------------------------------------------------

    /// Calls a method, private or not.
    pub fn send(&mut self, recv: Value, name: Sym, args: &[Value]) -> R {
        self.send_block(recv, name, args, NIL)
    }

    pub fn send_block(&mut self, recv: Value, name: Sym, args: &[Value], block: Value) -> R {
        self.send_full(recv, name, args, block, false)
    }

    pub fn send_full(
        &mut self,
        recv: Value,
        name: Sym,
        args: &[Value],
        block: Value,
        kw: bool,
    ) -> R {
        self.deferring(|vm| vm.method_call(recv, name, args, block, kw, true))
    }

    /// A call by name from native code, private methods too or not. Collections may run: see
    /// [`Vm::open`].
    pub(crate) fn method_call(
        &mut self,
        recv: Value,
        name: Sym,
        args: &[Value],
        block: Value,
        kw: bool,
        private: bool,
    ) -> R {
        let start = self.stack.len();
        self.stack.extend_from_slice(args);
        let result = self.dispatch(recv, name, start, block, kw, private);
        self.stack.truncate(start);
        result
    }

    /// Calls a public method only.
    pub fn send_public(
        &mut self,
        recv: Value,
        name: Sym,
        args: &[Value],
        block: Value,
        kw: bool,
    ) -> R {
        self.deferring(|vm| vm.method_call(recv, name, args, block, kw, false))
    }

    pub fn call_name(&mut self, recv: Value, name: &str, args: &[Value]) -> R {
        let sym = self.intern(name);
        self.send(recv, sym, args)
    }

    /// Calls a method if the object has it; no `method_missing`.
    pub fn try_send(&mut self, recv: Value, name: Sym, args: &[Value]) -> Res<Option<Value>> {
        if !self.responds(recv, name, true)? {
            return Ok(None);
        }
        self.send(recv, name, args).map(Some)
    }

    /// Whether the method is the one that ships with the runtime.
    pub fn is_native(&mut self, recv: Value, name: Sym) -> bool {
        let class = self.class_of(recv);
        match self.find_method(class, name) {
            Some(id) => matches!(self.methods[id as usize].body, crate::object::Body::Native(..)),
            None => false,
        }
    }

    pub fn has_method(&mut self, recv: Value, name: Sym) -> bool {
        let class = self.class_of(recv);
        self.find_method(class, name).is_some()
    }

    pub fn responds(&mut self, recv: Value, name: Sym, private: bool) -> Res<bool> {
        let class = self.class_of(recv);
        if !self.is_native(recv, n::RESPOND_TO) && self.has_method(recv, n::RESPOND_TO) {
            let r = self.send(recv, n::RESPOND_TO, &[Value::sym(name), Value::bool(private)])?;
            return Ok(r.truthy());
        }
        if let Some(id) = self.find_method(class, name) {
            let vis = self.methods[id as usize].vis;
            return Ok(private || vis == Vis::Public);
        }
        if self.is_native(recv, n::RESPOND_TO_MISSING)
            || !self.has_method(recv, n::RESPOND_TO_MISSING)
        {
            return Ok(false);
        }
        let r =
            self.send(recv, n::RESPOND_TO_MISSING, &[Value::sym(name), Value::bool(private)])?;
        Ok(r.truthy())
    }

    // ---- objects with a payload ------------------------------------------

    pub fn new_obj(&mut self, class: u32, ext: Ext) -> Value {
        self.heap.object(class, ext)
    }

    pub fn global(&self, name: Sym) -> Value {
        self.globals.get(&name).copied().unwrap_or(NIL)
    }

    pub fn is_undef(v: Value) -> bool {
        v == UNDEF
    }
}
