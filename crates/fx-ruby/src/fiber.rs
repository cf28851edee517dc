//! Fibers: activations with a machine stack of their own.
//!
//! All native code reaches the machine through `&mut Vm`, so whoever runs must have the whole of it.
//! When a fiber is resumed the machine moves into its stack, and what it left behind is hollow; when
//! the fiber yields it moves back. What belongs to one line of execution alone (its frames, its
//! values, what is on its way up) is a [`Context`], exchanged at the same time, so that the collector
//! finds the values of every line that waits.
//!
//! A thread is a fiber that the root of the main thread resumes in turns: see `prelude/thread.rb`.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::rc::Rc;

use fx_ruby_syntax::Sym;
use generator::{Generator, Gn};

use crate::gc::Marker;
use crate::heap::Ext;
use crate::object::c;
use crate::value::{NIL, Value};
use crate::vm::{Frame, Pending, R, Res, Unwind, Vm};

/// A fiber's stack in bytes, of which only what is touched takes memory, and how many activations
/// it is meant for: in proportion to the main stack.
const STACK: usize = 256 << 20;
const DEPTH: u32 = 2_400;

/// What a fiber counts for until the collector frees it: its stack is not in the heap.
const WEIGHT: usize = 16 << 10;

/// The tag that ends a thread: no `rescue` sees it, every `ensure` runs.
const KILLED: u64 = u64::MAX;

/// One line of execution: what is different for each.
#[derive(Default)]
pub(crate) struct Context {
    stack: Vec<Value>,
    frames: Vec<Frame>,
    pending: crate::limits::Way,
    last_match: Value,
    last_line: Value,
    errinfo: Value,
    inspecting: Vec<Value>,
    comparing: Vec<(Value, Value)>,
    catching: Vec<(u64, Value)>,
    autoloading: Vec<(u32, Sym)>,
    native_depth: u32,
    depth: u32,
    /// The hollow machine that is left behind when the running fiber yields.
    spare: Option<Box<Vm>>,
}

impl Context {
    pub(crate) fn trace(&self, m: &mut Marker<'_>) {
        m.values(&self.stack);
        for frame in &self.frames {
            m.frame(frame);
        }
        m.value(self.pending.get().value());
        m.values(&[self.last_match, self.last_line, self.errinfo]);
        m.values(&self.inspecting);
        for (a, b) in &self.comparing {
            m.values(&[*a, *b]);
        }
        for (_, tag) in &self.catching {
            m.value(*tag);
        }
    }
}

/// Why a fiber gave the machine back.
enum Why {
    Yields,
    /// Another thread's turn.
    Turn,
    Ends,
    Panics(Box<dyn Any + Send>),
}

/// What a fiber hands to whoever resumed it.
struct Message {
    vm: Box<Vm>,
    why: Why,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    Created,
    Suspended,
    /// Runs, or has resumed another that runs.
    Resumed,
    Ended,
}

/// What is raised in a fiber when it runs again.
#[derive(Clone, Copy)]
pub(crate) enum Inject {
    Raise(Value),
    Kill,
}

pub struct FiberData {
    pub(crate) block: Value,
    pub(crate) state: State,
    /// Whether it is a thread: it yields to the scheduler alone.
    pub(crate) thread: bool,
    pub(crate) inject: Option<Inject>,
    waiting: Option<Waiting>,
}

/// A fiber that is not running: its stack, its context, and the box its machine travels in.
struct Waiting {
    stack: Generator<'static, Box<Vm>, Message>,
    context: Box<Context>,
    parcel: Box<Vm>,
}

impl FiberData {
    pub(crate) fn new(block: Value, thread: bool) -> FiberData {
        FiberData { block, state: State::Created, thread, inject: None, waiting: None }
    }

    pub(crate) fn trace(&self, m: &mut Marker<'_>) {
        m.value(self.block);
        if let Some(Inject::Raise(e)) = self.inject {
            m.value(e);
        }
        if let Some(waiting) = &self.waiting {
            waiting.context.trace(m);
        }
    }
}

/// What the machine knows of its fibers.
#[derive(Default)]
pub struct Fibers {
    /// Those that run, each resumed by the one before it.
    pub(crate) running: Vec<Value>,
    /// Where each of them was resumed from.
    #[expect(clippy::vec_box, reason = "a context moves between its fiber and here as it is")]
    resumers: Vec<Box<Context>>,
    /// What resume and yield pass on.
    passed: Value,
    /// How the fiber that ended last failed.
    failed: Option<Pending>,
    spare: Option<Box<Vm>>,
    /// Threads that have not ended, besides the main one.
    pub(crate) threads: u32,
    /// Whether the scheduler runs, which no turn interrupts.
    turning: bool,
    slices: u32,
}

impl Fibers {
    pub(crate) fn trace(&self, m: &mut Marker<'_>) {
        m.values(&self.running);
        m.value(self.passed);
        if let Some(pending) = self.failed {
            m.value(pending.value());
        }
        for context in &self.resumers {
            context.trace(m);
        }
    }
}

impl Vm {
    fn exchange(&mut self, other: &mut Context) {
        use std::mem::swap;
        swap(&mut self.stack, &mut other.stack);
        swap(&mut self.frames, &mut other.frames);
        swap(&mut self.pending, &mut other.pending);
        swap(&mut self.last_match, &mut other.last_match);
        swap(&mut self.last_line, &mut other.last_line);
        swap(&mut self.errinfo, &mut other.errinfo);
        swap(&mut self.inspecting, &mut other.inspecting);
        swap(&mut self.comparing, &mut other.comparing);
        swap(&mut self.catching, &mut other.catching);
        swap(&mut self.autoloading, &mut other.autoloading);
        swap(&mut self.native_depth, &mut other.native_depth);
        swap(&mut self.limits.depth, &mut other.depth);
        swap(&mut self.fibers.spare, &mut other.spare);
    }

    pub(crate) fn new_fiber(&mut self, class: u32, block: Value, thread: bool) -> Value {
        let block = self.keep_block(block);
        self.heap.bytes += WEIGHT;
        self.new_obj(class, Ext::Fiber(Box::new(FiberData::new(block, thread))))
    }

    pub(crate) fn fiber(&mut self, v: Value) -> Res<&mut FiberData> {
        let good = v.is_obj() && matches!(self.heap.obj(v).ext, Ext::Fiber(_));
        if !good {
            return self.fail(c::FIBER_ERROR, "uninitialized fiber");
        }
        match &mut self.heap.obj_mut(v).ext {
            Ext::Fiber(data) => Ok(data),
            _ => Err(Unwind),
        }
    }

    /// Runs a fiber until it yields or ends; gives what it passed. The caller holds the fiber.
    pub(crate) fn resume(&mut self, fiber: Value, passed: Value) -> R {
        let runs = self.fibers.running.last() == Some(&fiber);
        let data = self.fiber(fiber)?;
        let state = data.state;
        match state {
            State::Ended => {
                return self.fail(c::FIBER_ERROR, "attempt to resume a terminated fiber");
            }
            State::Resumed if runs => {
                return self.fail(c::FIBER_ERROR, "attempt to resume the current fiber");
            }
            State::Resumed => {
                return self
                    .fail(c::FIBER_ERROR, "attempt to resume a resumed fiber (double resume)");
            }
            State::Created | State::Suspended => data.state = State::Resumed,
        }
        if state == State::Created
            && let Some(inject) = data.inject.take()
        {
            data.state = State::Ended;
            return match inject {
                Inject::Raise(e) => self.throw(e),
                Inject::Kill => Ok(NIL),
            };
        }
        let mut passed = passed;
        loop {
            match self.enter(fiber, passed)? {
                Why::Turn => {
                    if self.fiber(fiber)?.thread {
                        self.fiber(fiber)?.state = State::Suspended;
                        return Ok(NIL);
                    }
                    // What strikes the thread meanwhile strikes the fiber it runs in.
                    if self.turn().is_err() {
                        self.check_spent()?;
                        let inject = self.take_inject();
                        self.fiber(fiber)?.inject = inject;
                    }
                    passed = NIL;
                }
                Why::Yields => {
                    self.fiber(fiber)?.state = State::Suspended;
                    return Ok(std::mem::replace(&mut self.fibers.passed, NIL));
                }
                Why::Ends => {
                    self.fiber(fiber)?.state = State::Ended;
                    return self.fiber_result();
                }
                Why::Panics(payload) => resume_unwind(payload),
            }
        }
    }

    /// What is on its way up, to go on in another line of execution.
    fn take_inject(&mut self) -> Option<Inject> {
        let pending = self.pending.take();
        match pending {
            Pending::Raise(e) => Some(Inject::Raise(e)),
            Pending::Throw(KILLED, _) => Some(Inject::Kill),
            _ => None,
        }
    }

    fn fiber_result(&mut self) -> R {
        let passed = std::mem::replace(&mut self.fibers.passed, NIL);
        match self.fibers.failed.take() {
            None | Some(Pending::Throw(KILLED, _)) => Ok(passed),
            Some(Pending::Break(_, v)) => self.jump_error("break from proc-closure", "break", v),
            Some(pending) => {
                self.pending.set(pending);
                Err(Unwind)
            }
        }
    }

    /// Moves the machine into a fiber until it comes back.
    fn enter(&mut self, fiber: Value, passed: Value) -> Res<Why> {
        let waiting = self.fiber(fiber)?.waiting.take();
        let mut waiting = match waiting {
            Some(waiting) => waiting,
            None => Waiting {
                stack: Gn::new_opt(STACK / size_of::<usize>(), run_fiber),
                context: Box::new(Context {
                    depth: self.limits.depth.min(DEPTH),
                    ..Context::default()
                }),
                parcel: Box::new(self.hollow()),
            },
        };
        self.exchange(&mut waiting.context);
        self.fibers.resumers.push(waiting.context);
        self.fibers.running.push(fiber);
        self.fibers.passed = passed;
        std::mem::swap(self, &mut waiting.parcel);
        let Message { mut vm, why } = waiting.stack.send(waiting.parcel);
        std::mem::swap(self, &mut vm);
        self.fibers.running.pop();
        let mut context = self.fibers.resumers.pop().unwrap_or_default();
        self.exchange(&mut context);
        if matches!(why, Why::Yields | Why::Turn) {
            let parcel = vm;
            self.fiber(fiber)?.waiting = Some(Waiting { stack: waiting.stack, context, parcel });
        }
        Ok(why)
    }

    /// Gives the machine back to whoever resumed the running fiber; gives what the next resume
    /// passes.
    fn give_back(&mut self, why: Why, passed: Value) -> R {
        let Some(mut parcel) = self.fibers.spare.take() else {
            return self.fail(c::FIBER_ERROR, "attempt to yield on a not resumed fiber");
        };
        self.fibers.passed = passed;
        std::mem::swap(self, &mut parcel);
        let mut back = leave(Message { vm: parcel, why });
        std::mem::swap(self, &mut back);
        self.fibers.spare = Some(back);
        let Some(me) = self.fibers.running.last().copied() else { return Ok(NIL) };
        match self.fiber(me)?.inject.take() {
            None => Ok(std::mem::replace(&mut self.fibers.passed, NIL)),
            Some(Inject::Raise(e)) => self.throw(e),
            Some(Inject::Kill) => {
                self.pending.set(Pending::Throw(KILLED, NIL));
                Err(Unwind)
            }
        }
    }

    /// `Fiber.yield`.
    pub(crate) fn yield_fiber(&mut self, passed: Value) -> R {
        let running = self.fibers.running.last().copied();
        if running.is_some_and(|f| self.fiber(f).is_ok_and(|data| !data.thread)) {
            return self.give_back(Why::Yields, passed);
        }
        self.fail(c::FIBER_ERROR, "attempt to yield on a not resumed fiber")
    }

    /// Lets the other threads run. The root of the main thread resumes each in turn; all others
    /// give the machine back to it.
    pub(crate) fn turn(&mut self) -> Res<()> {
        if !self.fibers.running.is_empty() {
            return self.give_back(Why::Turn, NIL).map(drop);
        }
        if self.fibers.turning {
            return Ok(());
        }
        self.fibers.turning = true;
        let name = self.intern("__turn");
        let result = self.method_call(Value::class(c::THREAD), name, &[], NIL, false, true);
        self.fibers.turning = false;
        result.map(drop)
    }

    /// Ends the running thread: no `rescue` sees it, every `ensure` runs.
    pub(crate) fn end_thread(&mut self) -> R {
        self.pending.set(Pending::Throw(KILLED, NIL));
        Err(Unwind)
    }

    /// Ends the threads that are left at the end of a program; what they raise then is lost.
    pub(crate) fn end_threads(&mut self) {
        if self.fibers.threads == 0 || self.spent().is_some() {
            return;
        }
        let name = self.intern("__finish");
        let class = Value::class(c::THREAD);
        // The caller looks whether the run ended here.
        let _lost = self.forgetting(|vm| vm.method_call(class, name, &[], NIL, false, true));
    }

    /// The thread that runs, as its fiber; nil for the main one.
    pub(crate) fn thread(&mut self) -> Value {
        let first = self.fibers.running.first().copied();
        first.filter(|f| self.fiber(*f).is_ok_and(|data| data.thread)).unwrap_or(NIL)
    }

    /// Whether a wait of this line of execution is one of a thread among others.
    pub(crate) fn threaded(&self) -> bool {
        self.fibers.threads > 0
    }

    /// Called now and then while threads live: the running one has had its share. Code that ships
    /// is not interrupted: queues and locks are written in it.
    #[cold]
    pub(crate) fn preempt(&mut self) -> Res<()> {
        self.fibers.slices = self.fibers.slices.wrapping_add(1);
        let due = self.fibers.slices.is_multiple_of(16);
        let ours = self.frames.last().is_none_or(|frame| self.is_internal(frame.code.file));
        if due && !ours { self.turn() } else { Ok(()) }
    }

    /// A machine with nothing in it, to stand where the real one was.
    fn hollow(&self) -> Vm {
        Vm::bare(
            crate::embed::Options {
                host: Rc::clone(&self.host),
                out: Box::new(std::io::sink()),
                err: Box::new(std::io::sink()),
                limits: self.limits,
                hooks: crate::embed::Hooks::default(),
                script: String::new(),
                argv: Vec::new(),
            },
            self.top_cref,
        )
    }
}

/// The body of every fiber: on its own stack, the machine comes with the first resume.
#[expect(deprecated, reason = "the crate's newer form is a reference that the machine cannot keep")]
fn run_fiber() -> Message {
    let mut parcel: Box<Vm> =
        generator::get_yield().unwrap_or_else(|| panic!("a fiber without a machine"));
    let mut vm = parcel.hollow();
    std::mem::swap(&mut vm, &mut parcel);
    vm.fibers.spare = Some(parcel);
    let result = catch_unwind(AssertUnwindSafe(|| vm.run_fiber_block()));
    let why = match result {
        Ok(()) => Why::Ends,
        // Dropped while it waited: there is no machine to give back.
        Err(payload) if vm.classes.is_empty() => resume_unwind(payload),
        Err(payload) => Why::Panics(payload),
    };
    let mut parcel = vm.fibers.spare.take().unwrap_or_else(|| Box::new(vm.hollow()));
    std::mem::swap(&mut vm, &mut parcel);
    Message { vm: parcel, why }
}

#[expect(deprecated, reason = "the crate's newer form is a reference that the machine cannot keep")]
fn leave(message: Message) -> Box<Vm> {
    generator::yield_(message).unwrap_or_else(|| panic!("a fiber resumed without a machine"))
}

impl Vm {
    fn run_fiber_block(&mut self) {
        let passed = std::mem::replace(&mut self.fibers.passed, NIL);
        let me = self.fibers.running.last().copied().unwrap_or(NIL);
        let Ok(block) = self.fiber(me).map(|data| data.block) else { return };
        let args = if passed.is_arr() { self.heap.arr(passed).clone() } else { Vec::new() };
        match self.block_call(block, &args) {
            Ok(v) => self.fibers.passed = v,
            Err(Unwind) => self.fibers.failed = Some(self.pending.get()),
        }
    }
}
