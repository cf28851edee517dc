//! Comparable's equality. The rest is in the prelude, which `==` may not wait for: every object
//! has one already, so it would never be missed.

use std::cmp::Ordering;

use crate::names as n;
use crate::object::c;
use crate::value::{FALSE, TRUE, Value};
use crate::vm::{Args, R, Vm};

pub(crate) fn init(vm: &mut Vm) {
    vm.def(c::COMPARABLE, "==", equal, 1, 1);
}

fn equal(vm: &mut Vm, a: Args) -> R {
    let other = vm.arg(a, 0);
    if a.recv == other {
        return Ok(TRUE);
    }
    // A `<=>` that asks `==` again knows no better.
    if vm.comparing.contains(&(a.recv, other)) {
        return Ok(FALSE);
    }
    vm.comparing.push((a.recv, other));
    let order = vm.send(a.recv, n::CMP, &[other]);
    vm.comparing.pop();
    let order = order?;
    if order.is_nil() {
        return Ok(FALSE);
    }
    Ok(Value::bool(vm.cmp_result(order, a.recv, other)? == Ordering::Equal))
}
