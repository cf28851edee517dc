//! Kernel methods around the process: the second half of the table.

use super::warn;
use crate::names as n;
use crate::natives::{Native, function};
use crate::object::c;
use crate::value::{NIL, Value};
use crate::vm::Vm;

const METHODS: &[Native] = &[
    function("Array", 1, 1, |vm, a| {
        let v = vm.arg(a, 0);
        if v.is_nil() {
            return Ok(vm.arr(vec![]));
        }
        if let Some(list) = vm.check_ary(v)? {
            return Ok(list);
        }
        if v.is_str() || v.is_fix() || v.is_sym() {
            return Ok(vm.arr(vec![v]));
        }
        match vm.try_send(v, n::TO_A, &[])? {
            Some(list) if list.is_arr() => Ok(list),
            Some(list) if !list.is_nil() => {
                let (x, y) = (vm.type_name(v), vm.type_name(list));
                vm.type_error(format!("can't convert {x} to Array ({x}#to_a gives {y})"))
            }
            _ => Ok(vm.arr(vec![v])),
        }
    }),
    function("Hash", 1, 1, |vm, a| {
        let v = vm.arg(a, 0);
        if v.is_nil() || (v.is_arr() && vm.heap.arr(v).is_empty()) {
            return Ok(vm.hash());
        }
        match vm.try_send(v, n::TO_HASH, &[])? {
            Some(h) if h.is_hash() => Ok(h),
            _ => {
                let name = vm.type_name(v);
                vm.type_error(format!("can't convert {name} into Hash"))
            }
        }
    }),
    function("format", 1, -1, |vm, a| {
        let args = vm.args(a);
        vm.format(&args)
    })
    .also(&["sprintf"]),
    function("printf", 0, -1, |vm, a| {
        let mut args = vm.args(a);
        if args.is_empty() {
            return Ok(NIL);
        }
        let out = if args[0].is_str() { vm.global(n::GV_STDOUT) } else { args.remove(0) };
        let s = vm.format(&args)?;
        vm.send(out, n::WRITE, &[s])?;
        Ok(NIL)
    }),
    function("putc", 1, 1, |vm, a| {
        let v = vm.arg(a, 0);
        let out = vm.global(n::GV_STDOUT);
        vm.call_name(out, "putc", &[v])
    }),
    function("gets", 0, -1, |vm, a| {
        let args = vm.args(a);
        let input = vm.global(n::GV_STDIN);
        let line = vm.call_name(input, "gets", &args)?;
        vm.last_line = line;
        Ok(line)
    }),
    function("sleep", 0, 1, |vm, a| {
        if vm.threaded() {
            let args = vm.args(a);
            let name = vm.intern("__sleep");
            return vm.open_call(a).send(Value::class(c::THREAD), name, &args);
        }
        let Some(v) = vm.opt(a, 0) else {
            // For ever, which here is until a time limit.
            while vm.next_deadline().is_some() {
                vm.host.sleep(std::time::Duration::from_millis(20));
                vm.check_limits()?;
            }
            return Ok(Value::fix(0));
        };
        if !v.is_fix() && !v.is_float() && !vm.is_a(v, c::NUMERIC) {
            let name = vm.type_name(v);
            return vm.type_error(format!("can't convert {name} into time interval"));
        }
        let f = vm.to_f(v)?;
        if f < 0.0 {
            return vm.arg_error("time interval must not be negative");
        }
        let mut left = f;
        while left > 0.0 {
            let part = left.min(if vm.next_deadline().is_some() { 0.02 } else { 0.2 });
            vm.host.sleep(std::time::Duration::from_secs_f64(part));
            left -= part;
            vm.check_limits()?;
        }
        Ok(Value::fix(f.round() as i64))
    }),
    function("warn", 0, -1, warn),
    function("rand", 0, 1, crate::core::random::rand),
    function("srand", 0, 1, crate::core::random::srand),
    function("autoload", 2, 2, |vm, a| {
        let (name, path) = (vm.arg(a, 0), vm.arg(a, 1));
        let class = vm.definee();
        vm.set_autoload(class, name, path)
    }),
    function("autoload?", 1, 2, |vm, a| {
        let name = vm.arg(a, 0);
        let name = vm.to_sym(name)?;
        let class = vm.definee();
        Ok(match vm.classes[class as usize].consts.get(&name).and_then(|k| k.autoload.clone()) {
            Some(p) => vm.str(p.as_bytes()),
            None => NIL,
        })
    }),
    function("fork", 0, -1, |vm, a| {
        let name = vm.sym_str(a.name).into_owned();
        vm.fail(
            c::NOT_IMPLEMENTED,
            format!(
                "{name}() is not supported by this runtime: it runs in one thread of one process"
            ),
        )
    })
    .also(&["set_trace_func", "syscall", "callcc"]),
];

pub(super) fn init(vm: &mut Vm) {
    vm.natives(c::KERNEL, METHODS);
}
