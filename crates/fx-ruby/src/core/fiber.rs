//! Fiber, and what threads need of the machine.

use crate::fiber::{Inject, State};
use crate::natives::{Native, on_class, private, public};
use crate::object::c;
use crate::value::{FALSE, NIL, TRUE, Value};
use crate::vm::{Args, R, Res, Vm};

/// Several values as one: none is nil, one itself.
fn as_one(vm: &mut Vm, list: Value) -> Value {
    if !list.is_arr() {
        return list;
    }
    match vm.heap.arr(list).as_slice() {
        [] => NIL,
        [one] => *one,
        _ => list,
    }
}

/// An exception made of what `raise` takes.
fn exception(vm: &mut Vm, a: Args) -> R {
    let args = vm.args(a);
    vm.call_name(Value::class(c::THREAD), "__exception", &args)
}

fn is_current(vm: &Vm, fiber: Value) -> bool {
    vm.fibers.running.last() == Some(&fiber)
}

fn state(vm: &mut Vm, fiber: Value) -> Res<State> {
    Ok(vm.fiber(fiber)?.state)
}

fn resume(vm: &mut Vm, a: Args) -> R {
    vm.hold_call(a);
    let list = vm.args(a);
    let first = state(vm, a.recv)? == State::Created;
    let list = vm.arr(list);
    let passed = if first { list } else { as_one(vm, list) };
    vm.resume(a.recv, passed)
}

const METHODS: &[Native] = &[
    on_class("new", 0, -1, |vm, a| {
        if a.block.is_nil() {
            return vm.arg_error("tried to create Proc object without a block");
        }
        let class = a.recv.index() as u32;
        Ok(vm.new_fiber(class, a.block, false))
    }),
    on_class("yield", 0, -1, |vm, a| {
        let list = vm.args(a);
        let list = vm.arr(list);
        let one = as_one(vm, list);
        vm.yield_fiber(one)
    }),
    on_class("__running", 0, 0, |vm, _| Ok(vm.fibers.running.last().copied().unwrap_or(NIL))),
    on_class("__thread", 0, 0, |vm, a| {
        vm.fibers.threads += 1;
        Ok(vm.new_fiber(c::FIBER, a.block, true))
    }),
    public("resume", 0, -1, resume),
    // A thread's share: until it waits, its time is over or it has ended.
    public("__share", 0, 0, |vm, a| {
        resume(vm, a)?;
        let ended = state(vm, a.recv)? == State::Ended;
        if ended {
            vm.fibers.threads = vm.fibers.threads.saturating_sub(1);
        }
        Ok(Value::bool(ended))
    }),
    public("__raise", 1, 1, |vm, a| {
        let e = vm.arg(a, 0);
        vm.fiber(a.recv)?.inject = Some(Inject::Raise(e));
        Ok(NIL)
    }),
    public("__kill", 0, 0, |vm, a| {
        vm.fiber(a.recv)?.inject = Some(Inject::Kill);
        Ok(NIL)
    }),
    public("raise", 0, -1, |vm, a| {
        vm.hold_call(a);
        let e = exception(vm, a)?;
        if is_current(vm, a.recv) {
            return vm.throw(e);
        }
        match state(vm, a.recv)? {
            State::Created => vm.fail(c::FIBER_ERROR, "cannot raise exception on unborn fiber"),
            State::Ended => vm.fail(c::FIBER_ERROR, "dead fiber called"),
            State::Resumed => vm.fail(c::FIBER_ERROR, "attempt to raise a resuming fiber"),
            State::Suspended => {
                vm.fiber(a.recv)?.inject = Some(Inject::Raise(e));
                vm.resume(a.recv, NIL)
            }
        }
    }),
    public("alive?", 0, 0, |vm, a| {
        Ok(if state(vm, a.recv)? == State::Ended { FALSE } else { TRUE })
    }),
    public("__state", 0, 0, |vm, a| {
        let word = match state(vm, a.recv)? {
            State::Created => "created",
            State::Suspended => "suspended",
            State::Resumed => "resumed",
            State::Ended => "terminated",
        };
        Ok(vm.str_static(word))
    }),
];

const THREAD: &[Native] = &[
    on_class("__switch", 0, 0, |vm, a| {
        vm.hold_call(a);
        vm.turn()?;
        Ok(NIL)
    }),
    // A thread that ends itself: no `rescue` sees it.
    on_class("__end", 0, 0, |vm, _| vm.end_thread()),
    private("__threads", 0, 0, |vm, _| Ok(Value::fix(i64::from(vm.fibers.threads)))),
];

pub(crate) fn init(vm: &mut Vm) {
    vm.natives(c::FIBER, METHODS);
    vm.natives(c::THREAD, THREAD);
}
