//! Cutting a string at a match: `partition`, `rpartition`, `slice!`. What does not set `$~` is
//! left to the prelude, whose methods cannot: a method's last match is its own.

use crate::names as n;
use crate::object::c;
use crate::value::{NIL, Value};
use crate::vm::{Args, R, Vm};

pub(super) fn init(vm: &mut Vm) {
    let s = c::STRING;
    vm.def(
        s,
        "partition",
        |vm, a| {
            let pattern = vm.arg(a, 0);
            if !pattern.is_regex() {
                return vm.call_name(a.recv, "__partition", &[pattern]);
            }
            let m = vm.regex_match(pattern, a.recv, 0)?;
            parts(vm, a, m, false)
        },
        1,
        1,
    );
    vm.def(
        s,
        "rpartition",
        |vm, a| {
            let pattern = vm.arg(a, 0);
            if !pattern.is_regex() {
                return vm.call_name(a.recv, "__rpartition", &[pattern]);
            }
            vm.call_name(a.recv, "rindex", &[pattern])?;
            let m = vm.last_match;
            parts(vm, a, m, true)
        },
        1,
        1,
    );
    vm.def(
        s,
        "slice!",
        |vm, a| {
            vm.check_frozen(a.recv)?;
            let args = vm.args(a);
            let found = vm.send(a.recv, n::AREF, &args)?;
            if !found.is_nil() {
                let last = vm.last_match;
                vm.call_name(a.recv, "__cut", &args)?;
                vm.last_match = last;
            }
            Ok(found)
        },
        1,
        2,
    );
}

fn parts(vm: &mut Vm, a: Args, m: Value, last: bool) -> R {
    if m == NIL {
        let bytes = vm.bytes(a.recv).to_vec();
        let (whole, x, y) = (vm.like(a.recv, bytes), vm.str(""), vm.str(""));
        return Ok(vm.arr(if last { vec![x, y, whole] } else { vec![whole, x, y] }));
    }
    let before = vm.back_ref(b'`')?;
    let found = vm.back_ref(b'&')?;
    let after = vm.back_ref(b'\'')?;
    Ok(vm.arr(vec![before, found, after]))
}
