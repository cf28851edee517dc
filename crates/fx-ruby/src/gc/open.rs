//! Calls from native code into Ruby under which collections may run.
//!
//! A native method that calls back often or for long begins with [`Vm::hold_call`], which makes
//! its receiver and block roots, puts whatever else it holds over a call into [`Slot`]s with
//! [`Vm::hold`], and calls through [`Vm::open`]. The slots end with the native method: its caller
//! cuts the value stack back to where its arguments began.

use fx_ruby_syntax::Sym;

use crate::object::Cref;
use crate::value::Value;
use crate::vm::{Args, R, Vm};

/// Proof that the receiver and the block of a native call are roots.
#[derive(Clone, Copy)]
pub struct Held(());

/// A place on the value stack that a native method keeps a value in.
#[derive(Clone, Copy)]
pub struct Slot(usize);

/// Calls into Ruby that do not defer collections.
pub struct Open<'a>(&'a mut Vm);

impl Vm {
    /// Makes the receiver and the block of a native call roots until it returns.
    pub fn hold_call(&mut self, a: Args) -> Held {
        self.stack.push(a.recv);
        self.stack.push(a.block);
        Held(())
    }

    /// Makes a value a root until the running native method returns.
    pub fn hold(&mut self, v: Value) -> Slot {
        self.stack.push(v);
        Slot(self.stack.len() - 1)
    }

    pub fn held(&self, slot: Slot) -> Value {
        self.stack[slot.0]
    }

    pub fn set_held(&mut self, slot: Slot, v: Value) {
        self.stack[slot.0] = v;
    }

    /// A call into Ruby under which collections may run: all that the native method will still
    /// use is held.
    #[inline]
    pub fn open(&mut self, _: Held) -> Open<'_> {
        Open(self)
    }
}

impl Vm {
    /// For a native method that ends with a call into Ruby.
    pub fn open_call(&mut self, a: Args) -> Open<'_> {
        self.hold_call(a);
        Open(self)
    }

    /// For a method of a host object, whose values nobody sees: a call into Ruby under which
    /// collections may run although the method defers them. Its receiver, arguments and block
    /// are held; it must use no other value afterwards.
    pub fn open_host<T>(&mut self, a: Args, f: impl FnOnce(Open<'_>) -> T) -> T {
        self.hold_call(a);
        let mine = self.gc.deferred.min(1);
        self.gc.deferred -= mine;
        let result = f(Open(self));
        self.gc.deferred += mine;
        result
    }

    /// The call that an embedder starts a whole run with: it holds no value but the arguments.
    pub fn open_run(&mut self, recv: Value, name: &str, args: &[Value]) -> R {
        let sym = self.intern(name);
        let start = self.stack.len();
        self.stack.push(recv);
        self.stack.extend_from_slice(args);
        let result = self.method_call(recv, sym, args, NONE, false, true);
        self.stack.truncate(start);
        result
    }

    /// Where the next value held will stand, for [`Vm::take_held`].
    pub(crate) fn held_end(&self) -> usize {
        self.stack.len()
    }

    /// The values held since a place, which are held no more.
    pub(crate) fn take_held(&mut self, from: usize, count: usize) -> Vec<Value> {
        let list = self.stack[from..from + count].to_vec();
        self.stack.truncate(from);
        list
    }
}

impl Open<'_> {
    pub fn yield0(self, block: Value) -> R {
        self.0.block_call(block, &[])
    }

    #[inline]
    pub fn yield1(self, block: Value, v: Value) -> R {
        let vm = self.0;
        let start = vm.stack.len();
        vm.stack.push(v);
        vm.call_block(block, start, false, NONE)
    }

    #[inline]
    pub fn yield2(self, block: Value, a: Value, b: Value) -> R {
        let vm = self.0;
        let start = vm.stack.len();
        vm.stack.push(a);
        vm.stack.push(b);
        vm.call_block(block, start, false, NONE)
    }

    pub fn yield_n(self, block: Value, args: &[Value]) -> R {
        self.0.block_call(block, args)
    }

    pub fn yield_pair(self, block: Value, k: Value, v: Value) -> R {
        self.0.pair_call(block, k, v)
    }

    pub fn yield_self(
        self,
        block: Value,
        me: Value,
        args: &[Value],
        cref: Option<&'static Cref>,
    ) -> R {
        self.0.self_call(block, me, args, cref)
    }

    pub fn call_proc(self, p: Value, args: &[Value], block: Value, kw: bool) -> R {
        self.0.proc_call(p, args, block, kw)
    }

    /// As [`Vm::run_with_self`].
    pub fn run_with_self(self, text: &[u8], path: &str, me: Value) -> R {
        self.0.file_with_self(text, path, me)
    }

    /// As [`Vm::run_in_class`].
    pub fn run_in_class(self, text: &[u8], path: &str, class: u32) -> R {
        self.0.file_in_class(text, path, class)
    }

    pub fn send(self, recv: Value, name: Sym, args: &[Value]) -> R {
        self.0.method_call(recv, name, args, NONE, false, true)
    }

    pub fn send_full(self, recv: Value, name: Sym, args: &[Value], block: Value, kw: bool) -> R {
        self.0.method_call(recv, name, args, block, kw, true)
    }

    pub fn send_public(self, recv: Value, name: Sym, args: &[Value], block: Value, kw: bool) -> R {
        self.0.method_call(recv, name, args, block, kw, false)
    }
}

const NONE: Value = crate::value::NIL;
