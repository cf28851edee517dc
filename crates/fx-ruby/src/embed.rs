//! The embedding seam: making a machine, defining natives and host objects, calling in,
//! converting values, and hooks on what a program reads and runs.
//!
//! The host is given as a trait object; output goes to the writers handed in. A run that
//! may recurse deeply belongs on a thread with a large stack: see [`on_big_stack`].

use std::io::Write;
use std::rc::Rc;

use fx_host::{Act, HostError};

use crate::heap::Ext;
use crate::limits::Bound;
use crate::object::{Body, Vis, c};
use crate::value::{FALSE, NIL, TRUE, Tag, Value};
use crate::vm::{Args, Limits, NativeFn, Pending, R, Res, Unwind, Vm};

/// An object whose methods live on the embedder's side.
pub trait HostObject {
    /// A name for messages.
    fn name(&self) -> &str;
    /// Answers a method with the given number, as registered with [`Vm::define_host_method`].
    fn call(&self, vm: &mut Vm, number: u32, args: Args) -> R;
    /// Shows the collector every value that the object keeps from one call to the next. What it
    /// does not show may be freed. Within a call of one of its methods nothing is freed.
    fn trace(&self, visit: &mut dyn FnMut(Value));
}

/// What an embedder may watch: file reads, commands, environment reads and reads of its own
/// objects' attributes. Each call carries the phase the embedder has set last.
pub struct Hooks {
    /// Named by the embedder: compile, converge.
    pub phase: &'static str,
    /// Called with phase, path, file number and offset of the code that looks.
    pub on_file: Option<Box<dyn Fn(&str, &[u8], (u32, u32))>>,
    /// Called with phase, command line, file number and offset.
    pub on_command: Option<Box<dyn Fn(&str, &str, (u32, u32))>>,
    /// Called with phase, name, file number and offset.
    pub on_env: Option<Box<dyn Fn(&str, &[u8], (u32, u32))>>,
    /// Called with phase, path of the attribute, file number and offset. The embedder's
    /// objects say what an attribute is, by [`Vm::attribute_read`].
    pub on_attribute: Option<Box<dyn Fn(&str, &[u8], (u32, u32))>>,
    /// Whether a directory of `$LOAD_PATH` may hold a file, for an embedder who knows what is
    /// in some; without it each is asked.
    pub may_hold: Option<Box<dyn Fn(&[u8], &str) -> bool>>,
    /// Whether `require` looks for installed gems too.
    pub gems: bool,
    /// Whether `require` and `load` refuse, as root, files that others can write.
    pub trusted_sources: bool,
    /// Where the standard input comes from, whole.
    pub stdin: Box<dyn Fn() -> Vec<u8>>,
}

impl Default for Hooks {
    fn default() -> Hooks {
        Hooks {
            phase: "run",
            on_file: None,
            on_command: None,
            on_env: None,
            on_attribute: None,
            may_hold: None,
            gems: false,
            trusted_sources: false,
            stdin: Box::new(Vec::new),
        }
    }
}

impl Hooks {
    pub(crate) fn command(&self, line: &str, at: (u32, u32)) {
        if let Some(f) = &self.on_command {
            f(self.phase, line, at);
        }
    }
}

/// What a new machine is made of.
pub struct Options {
    pub host: Rc<dyn Act>,
    pub out: Box<dyn Write>,
    pub err: Box<dyn Write>,
    pub limits: Limits,
    pub hooks: Hooks,
    pub script: String,
    pub argv: Vec<Vec<u8>>,
}

/// How a program ended.
#[derive(Debug)]
pub enum Ended {
    /// To its end, or by `exit` with this status.
    Exit(i32),
    /// By an exception that nobody rescued: the report as Ruby prints it.
    Failed(String),
    /// By a bound that was crossed for good.
    Spent(Bound),
}

/// How much stack the deepest program that is allowed needs.
pub const STACK: usize = 1 << 30;

/// Runs a closure on a thread with room for deep recursion, and gives what it gives.
pub fn on_big_stack<T: Send + 'static>(f: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    let thread = std::thread::Builder::new().stack_size(STACK).spawn(f).ok()?;
    thread.join().ok()
}

/// Errno name of a failure of the machine.
pub(crate) fn errno_name(error: &HostError) -> &'static str {
    if let Some(number) = error.errno()
        && let Some((name, _, _)) =
            crate::core::exception::ERRNO.iter().find(|(_, x, _)| *x == i64::from(number))
    {
        return name;
    }
    match error.kind() {
        std::io::ErrorKind::NotFound => "ENOENT",
        std::io::ErrorKind::PermissionDenied => "EACCES",
        std::io::ErrorKind::AlreadyExists => "EEXIST",
        std::io::ErrorKind::NotADirectory => "ENOTDIR",
        std::io::ErrorKind::IsADirectory => "EISDIR",
        std::io::ErrorKind::DirectoryNotEmpty => "ENOTEMPTY",
        std::io::ErrorKind::InvalidInput => "EINVAL",
        _ => "EIO",
    }
}

impl Vm {
    /// Runs a text as the main program, its exit handlers included.
    pub fn run_script(&mut self, text: &[u8], path: &str) -> Ended {
        self.start_clock();
        let result = self.run_main(text, path).map(|_| ());
        let mut ended = self.conclude(result);
        self.end_threads();
        while self.spent().is_none()
            && let Some(p) = self.at_exit.pop()
        {
            let result = self.proc_call(p, &[], NIL, false).map(|_| ());
            if result.is_err() {
                ended = match self.conclude(result) {
                    Ended::Failed(text) => {
                        drop(self.err.write_all(text.as_bytes()));
                        Ended::Exit(1)
                    }
                    exit => exit,
                };
            }
        }
        if self.spent().is_none() {
            self.finalize_all();
        }
        let ended = self.end_files(ended);
        // Whatever was made of it on the way: a run that is spent did not end well.
        self.spent().map_or(ended, Ended::Spent)
    }

    /// Writes what open files hold and makes it last. A failure here is the end's: a program
    /// whose files are not there did not succeed.
    fn end_files(&mut self, ended: Ended) -> Ended {
        let lost = self.write_back_at_end();
        let kept = self.host.commit().err().map(|error| error.to_string());
        let shown = self.out.flush().err().map(|error| format!("cannot write output: {error}"));
        let mut failed = false;
        for text in [lost, kept, shown].into_iter().flatten() {
            failed = true;
            // Where standard error is closed as well, the status is what is left to say it.
            drop(self.err.write_all(format!("{}: {text}\n", self.script).as_bytes()));
        }
        match ended {
            Ended::Exit(0) if failed => Ended::Exit(1),
            ended => ended,
        }
    }

    fn conclude(&mut self, result: Res<()>) -> Ended {
        if result.is_ok() {
            return Ended::Exit(0);
        }
        match self.pending.get() {
            Pending::Spent => Ended::Exit(1),
            Pending::Raise(e) => {
                self.pending.set(Pending::None);
                self.errinfo = e;
                if self.is_a(e, c::SYSTEM_EXIT) {
                    let status =
                        self.ivar_get(e, crate::names::STATUS).and_then(Value::fixnum).unwrap_or(0);
                    return Ended::Exit(status as i32);
                }
                Ended::Failed(self.report(e))
            }
            Pending::Throw(..) => Ended::Failed("uncaught throw (UncaughtThrowError)\n".into()),
            _ => {
                self.pending.set(Pending::None);
                Ended::Failed(format!("{}: unexpected jump (LocalJumpError)\n", self.script))
            }
        }
    }

    /// Defines a native method on a class or module.
    pub fn define_method(&mut self, class: u32, name: &str, f: NativeFn, min: i16, max: i16) {
        let sym = self.intern(name);
        self.add_method(class, sym, Body::Native(f, min, max), Vis::Public);
    }

    /// Defines a native method on the class object itself.
    pub fn define_singleton(&mut self, class: u32, name: &str, f: NativeFn, min: i16, max: i16) {
        if let Ok(meta) = self.singleton_class(Value::class(class)) {
            self.define_method(meta, name, f, min, max);
        }
    }

    /// Defines a method that goes to the [`HostObject`] of the receiver under a number, or to
    /// the resident one when the receiver has none.
    pub fn define_host_method(&mut self, class: u32, name: &str, number: u32) {
        let sym = self.intern(name);
        self.add_method(class, sym, Body::Host(number), Vis::Public);
    }

    /// An object of a class that carries an embedder's object.
    pub fn host_object(&mut self, class: u32, object: Rc<dyn HostObject>) -> Value {
        self.new_obj(class, Ext::Host(object))
    }

    /// The embedder's object inside a value.
    pub fn as_host(&self, v: Value) -> Option<Rc<dyn HostObject>> {
        match self.heap.ext(v) {
            Some(Ext::Host(h)) => Some(Rc::clone(h)),
            _ => None,
        }
    }

    pub(crate) fn call_host(&mut self, number: u32, a: Args) -> R {
        let object = self.as_host(a.recv).or_else(|| self.resident.clone());
        match object {
            Some(object) => self.deferring(|vm| object.call(vm, number, a)),
            None => self.type_error("the receiver is not a host object"),
        }
    }

    /// A Ruby value as plain data. Symbols become text; what is no data becomes its text.
    pub fn to_data(&mut self, v: Value) -> Res<fx_value::Value> {
        self.to_data_at(v, 0)
    }

    fn to_data_at(&mut self, v: Value, depth: u32) -> Res<fx_value::Value> {
        use fx_value::Value as D;
        if depth > 500 {
            return self.arg_error("nesting is too deep for plain data");
        }
        Ok(match v.tag() {
            Tag::Nil | Tag::Undef => D::Undef,
            Tag::True => D::Bool(true),
            Tag::False => D::Bool(false),
            Tag::Int => D::Int(v.as_fix()),
            Tag::Flonum | Tag::Float => D::Float(self.heap.float_of(v)),
            Tag::Str => D::Bytes(self.bytes(v).into()),
            Tag::Sym => D::from(self.syms.bytes(v.as_sym().unwrap_or(crate::names::EMPTY))),
            Tag::Arr => {
                let mut list = Vec::new();
                for item in self.heap.arr(v).clone() {
                    list.push(self.to_data_at(item, depth + 1)?);
                }
                D::List(list)
            }
            Tag::Hash => {
                let mut map = fx_value::Map::default();
                for (k, item) in self.hash_pairs(v) {
                    let key = self.interpolate(k)?;
                    let key = fx_value::Bytes::from(self.bytes(key));
                    let value = self.to_data_at(item, depth + 1)?;
                    map.insert(key, value);
                }
                D::Map(map)
            }
            _ => {
                let s = self.interpolate(v)?;
                D::Bytes(self.bytes(s).into())
            }
        })
    }

    /// Plain data as a Ruby value. A sensitive value is revealed: Ruby code may need it.
    pub fn from_data(&mut self, data: &fx_value::Value) -> R {
        use fx_value::Value as D;
        Ok(match data {
            D::Undef => NIL,
            D::Bool(b) => {
                if *b {
                    TRUE
                } else {
                    FALSE
                }
            }
            D::Int(i) => self.int(*i),
            D::Float(f) => self.float(*f),
            D::Bytes(b) => self.str(b.as_bytes()),
            D::List(items) => {
                let mut list = Vec::new();
                for item in items {
                    list.push(self.from_data(item)?);
                }
                self.arr(list)
            }
            D::Map(map) => {
                let h = self.hash();
                for (k, item) in map {
                    let key = self.str(k.as_bytes());
                    let value = self.from_data(item)?;
                    self.hash_set(h, key, value)?;
                }
                h
            }
            D::Sensitive(s) => self.from_data(s.reveal())?,
        })
    }

    /// The report of what is on its way up, for an embedder that got an [`Unwind`]. That the run
    /// ended is found with [`Vm::spent`].
    pub fn explain(&mut self, _: Unwind) -> String {
        match (self.take_raise(), self.spent()) {
            (Some(e), _) => self.report(e),
            (None, Some(bound)) => format!("{}: {bound}\n", self.script),
            (None, None) => "unexpected jump".into(),
        }
    }
}

impl Vm {
    /// File and offset of the innermost running code that does not ship with the runtime.
    pub fn user_place(&self) -> (u32, u32) {
        let frame = self.frames.iter().rev().find(|frame| !self.is_internal(frame.code.file));
        frame.map_or((0, 0), |frame| (frame.code.file, frame.pos))
    }

    /// Tells whoever watches that an attribute of an embedder's object is read.
    pub fn attribute_read(&self, path: &[u8]) {
        if let Some(f) = &self.hooks.on_attribute {
            f(self.hooks.phase, path, self.user_place());
        }
    }

    /// Tells the embedder that a variable of the environment is read.
    pub(crate) fn env_read(&self, name: &[u8]) {
        if let Some(f) = &self.hooks.on_env {
            f(self.hooks.phase, name, self.user_place());
        }
    }

    /// Tells the embedder that a path is looked at.
    pub(crate) fn file_read(&self, path: &[u8]) {
        if let Some(f) = &self.hooks.on_file {
            f(self.hooks.phase, path, self.user_place());
        }
    }
}

impl Vm {
    /// Directories to search before the libraries that ship with the runtime, and the warning
    /// level.
    pub fn configure(&mut self, include: &[Vec<u8>], verbose: Option<bool>, debug: bool) {
        let list = self.global(crate::names::GV_LOAD_PATH);
        for (at, dir) in include.iter().enumerate() {
            let full = self.absolute(dir);
            let v = self.str(full);
            self.heap.arr_mut(list).insert(at, v);
        }
        if let Some(v) = verbose {
            self.globals.insert(crate::names::GV_VERBOSE, Value::bool(v));
        }
        if debug {
            self.globals.insert(crate::names::GV_DEBUG, TRUE);
        }
    }

    /// A directory to search after the libraries that ship with the runtime.
    pub fn search_last(&mut self, dir: &[u8]) {
        let list = self.global(crate::names::GV_LOAD_PATH);
        let dir = self.str(dir);
        self.heap.arr_mut(list).push(dir);
    }

    /// `require` from outside.
    pub fn require_library(&mut self, name: &[u8]) -> R {
        let name = String::from_utf8_lossy(name).into_owned();
        self.deferring(|vm| vm.require(&name))
    }

    /// Writes what is buffered.
    pub fn flush_output(&mut self) {
        drop(self.out.flush());
    }
}
