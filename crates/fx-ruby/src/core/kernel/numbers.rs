//! Kernel's Integer() and Float().

use crate::names as n;
use crate::object::c;
use crate::value::{FALSE, NIL, TRUE, Tag, Value};
use crate::vm::{Args, R, Res, Vm};

/// `exception: false` turns a failed conversion into nil.
fn soften(vm: &mut Vm, quiet: bool, result: R) -> R {
    if quiet && result.is_err() && vm.take_raise().is_some() {
        return Ok(NIL);
    }
    result
}

/// Whether `exception: false` was given.
fn quietly(vm: &mut Vm, kw: Option<Value>) -> Res<bool> {
    match vm.kw(kw, "exception") {
        Some(FALSE) => Ok(true),
        None | Some(TRUE) => Ok(false),
        Some(other) => {
            let shown = vm.inspect_string(other)?;
            vm.arg_error(format!("expected true or false as exception: {shown}"))
        }
    }
}

pub(crate) fn to_integer(vm: &mut Vm, mut a: Args) -> R {
    let kw = vm.take_kw(&mut a);
    let quiet = quietly(vm, kw)?;
    let v = vm.arg(a, 0);
    let base = match vm.opt_nil(a, 1) {
        Some(b) => Some(vm.to_int(b)?),
        None => None,
    };
    let result = integer(vm, v, base);
    soften(vm, quiet, result)
}

fn integer(vm: &mut Vm, v: Value, base: Option<i64>) -> R {
    match v.tag() {
        Tag::Str => {
            let s = vm.bytes(v).to_vec();
            match crate::core::integer::parse_strict(vm, &s, base)? {
                Some(i) => Ok(i),
                None => {
                    let text = vm.inspect_string(v)?;
                    vm.arg_error(format!("invalid value for Integer(): {text}"))
                }
            }
        }
        _ if base.is_some() => match vm.check_str(v)? {
            Some(s) => integer(vm, s, base),
            None => vm.arg_error("base specified for non string value"),
        },
        Tag::Int | Tag::Big => Ok(v),
        Tag::Flonum | Tag::Float => {
            let f = vm.heap.float_of(v);
            vm.float_to_int(f)
        }
        Tag::Nil => vm.type_error("can't convert nil into Integer"),
        _ => {
            for m in [n::TO_INT, n::TO_STR, n::TO_I] {
                if m == n::TO_STR {
                    if let Some(s) = vm.check_str(v)? {
                        return integer(vm, s, base);
                    }
                    continue;
                }
                if let Some(r) = vm.try_send(v, m, &[])? {
                    if r.is_int() {
                        return Ok(r);
                    }
                    if m == n::TO_I {
                        let (x, y) = (vm.type_name(v), vm.type_name(r));
                        return vm.type_error(format!(
                            "can't convert {x} to Integer ({x}#to_i gives {y})"
                        ));
                    }
                }
            }
            let name = vm.type_name(v);
            vm.type_error(format!("can't convert {name} into Integer"))
        }
    }
}

pub(crate) fn to_float(vm: &mut Vm, mut a: Args) -> R {
    let kw = vm.take_kw(&mut a);
    let quiet = quietly(vm, kw)?;
    let v = vm.arg(a, 0);
    let result = float(vm, v);
    soften(vm, quiet, result)
}

fn float(vm: &mut Vm, v: Value) -> R {
    if v.is_str() {
        let s = vm.bytes(v).to_vec();
        return match crate::core::float::parse_strict(&s) {
            Some(f) => Ok(vm.float(f)),
            None => {
                let text = vm.inspect_string(v)?;
                vm.arg_error(format!("invalid value for Float(): {text}"))
            }
        };
    }
    if v.is_obj()
        && !vm.is_a(v, c::NUMERIC)
        && let Some(r) = vm.try_send(v, n::TO_F, &[])?
    {
        if r.is_float() {
            return Ok(r);
        }
        let (x, y) = (vm.type_name(v), vm.type_name(r));
        return vm.type_error(format!("can't convert {x} to Float ({x}#to_f gives {y})"));
    }
    let f = vm.to_f(v)?;
    Ok(vm.float(f))
}
