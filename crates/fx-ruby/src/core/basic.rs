//! nil, true and false.

use crate::names as n;
use crate::object::{Alloc, Body, Vis, c};
use crate::value::{FALSE, NIL, TRUE, Value};
use crate::vm::{R, Vm};

/// The one frozen text that each of these has.
fn shared(vm: &mut Vm, text: &'static [u8]) -> Value {
    let key = (text.to_vec(), crate::encoding::ASCII);
    if let Some(known) = vm.fstrings.get(&key) {
        return *known;
    }
    let s = vm.ascii(text);
    vm.freeze(s);
    vm.fstrings.insert(key, s);
    s
}

fn zero(vm: &mut Vm, kind: &str) -> R {
    let main = vm.main;
    vm.call_name(main, kind, &[Value::fix(0), Value::fix(i64::from(kind == "Rational"))])
}

pub(crate) fn init(vm: &mut Vm) {
    for k in [c::NIL, c::TRUE, c::FALSE] {
        vm.classes[k as usize].alloc = Alloc::None;
    }
    for k in [c::NIL, c::TRUE, c::FALSE, c::INTEGER, c::FLOAT, c::SYMBOL] {
        if let Ok(meta) = vm.singleton_class(Value::class(k)) {
            vm.add_method(meta, n::NEW, Body::Undef, Vis::Public);
        }
    }
    let k = c::NIL;
    vm.def(k, "to_s", |vm, _| Ok(shared(vm, b"")), 0, 0);
    vm.def(k, "to_a", |vm, _| Ok(vm.arr(vec![])), 0, 0);
    vm.def(k, "to_h", |vm, _| Ok(vm.hash()), 0, 0);
    vm.def(k, "to_i", |_, _| Ok(Value::fix(0)), 0, 0);
    vm.def(k, "to_f", |vm, _| Ok(vm.float(0.0)), 0, 0);
    vm.def(k, "inspect", |vm, _| Ok(vm.str_static("nil")), 0, 0);
    vm.def(k, "nil?", |_, _| Ok(TRUE), 0, 0);
    vm.def(k, "&", |_, _| Ok(FALSE), 1, 1);
    vm.def(k, "=~", |_, _| Ok(NIL), 1, 1);
    vm.def(k, "===", |vm, a| Ok(Value::bool(vm.arg(a, 0).is_nil())), 1, 1);
    for (name, max) in [("to_r", 0), ("rationalize", 1)] {
        vm.def(k, name, |vm, _| zero(vm, "Rational"), 0, max);
    }
    vm.def(k, "to_c", |vm, _| zero(vm, "Complex"), 0, 0);
    for name in ["to_s", "inspect"] {
        vm.def(c::TRUE, name, |vm, _| Ok(shared(vm, b"true")), 0, 0);
        vm.def(c::FALSE, name, |vm, _| Ok(shared(vm, b"false")), 0, 0);
    }
    vm.def(c::TRUE, "&", |vm, a| Ok(Value::bool(vm.arg(a, 0).truthy())), 1, 1);
    vm.def(c::TRUE, "|", |_, _| Ok(TRUE), 1, 1);
    vm.def(c::TRUE, "^", |vm, a| Ok(Value::bool(!vm.arg(a, 0).truthy())), 1, 1);
    vm.def(c::TRUE, "!", |_, _| Ok(FALSE), 0, 0);
    for f in [c::FALSE, c::NIL] {
        vm.def(f, "&", |_, _| Ok(FALSE), 1, 1);
        for name in ["^", "|"] {
            vm.def(f, name, |vm, a| Ok(Value::bool(vm.arg(a, 0).truthy())), 1, 1);
        }
    }
}
