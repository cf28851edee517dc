//! nil, true and false.

use crate::object::{Alloc, c};
use crate::value::{FALSE, NIL, TRUE, Value};
use crate::vm::Vm;

pub(crate) fn init(vm: &mut Vm) {
    for k in [c::NIL, c::TRUE, c::FALSE] {
        vm.classes[k as usize].alloc = Alloc::None;
    }
    let k = c::NIL;
    vm.def(
        k,
        "to_s",
        |vm, _| {
            let s = vm.ascii("");
            vm.freeze(s);
            Ok(s)
        },
        0,
        0,
    );
    vm.def(k, "to_a", |vm, _| Ok(vm.arr(vec![])), 0, 0);
    vm.def(k, "to_h", |vm, _| Ok(vm.hash()), 0, 0);
    vm.def(k, "to_i", |_, _| Ok(Value::fix(0)), 0, 0);
    vm.def(k, "to_f", |vm, _| Ok(vm.float(0.0)), 0, 0);
    vm.def(k, "inspect", |vm, _| Ok(vm.str_static("nil")), 0, 0);
    vm.def(k, "nil?", |_, _| Ok(TRUE), 0, 0);
    vm.def(k, "&", |_, _| Ok(FALSE), 1, 1);
    vm.def(k, "|", |vm, a| Ok(Value::bool(vm.arg(a, 0).truthy())), 1, 1);
    vm.def(k, "=~", |_, _| Ok(NIL), 1, 1);
    vm.def(k, "===", |vm, a| Ok(Value::bool(vm.arg(a, 0).is_nil())), 1, 1);
    vm.def(
        c::TRUE,
        "to_s",
        |vm, _| {
            let s = vm.ascii("true");
            vm.freeze(s);
            Ok(s)
        },
        0,
        0,
    );
    vm.def(c::TRUE, "inspect", |vm, _| Ok(vm.str_static("true")), 0, 0);
    vm.def(c::TRUE, "&", |vm, a| Ok(Value::bool(vm.arg(a, 0).truthy())), 1, 1);
    vm.def(c::TRUE, "|", |_, _| Ok(TRUE), 1, 1);
    vm.def(c::TRUE, "^", |vm, a| Ok(Value::bool(!vm.arg(a, 0).truthy())), 1, 1);
    vm.def(c::TRUE, "!", |_, _| Ok(FALSE), 0, 0);
    vm.def(
        c::FALSE,
        "to_s",
        |vm, _| {
            let s = vm.ascii("false");
            vm.freeze(s);
            Ok(s)
        },
        0,
        0,
    );
    vm.def(c::FALSE, "inspect", |vm, _| Ok(vm.str_static("false")), 0, 0);
    for f in [c::FALSE, c::NIL] {
        vm.def(f, "&", |_, _| Ok(FALSE), 1, 1);
        vm.def(f, "^", |vm, a| Ok(Value::bool(vm.arg(a, 0).truthy())), 1, 1);
        vm.def(f, "|", |vm, a| Ok(Value::bool(vm.arg(a, 0).truthy())), 1, 1);
    }
}
