//! Integer methods that ask and convert: the second half of the table.

use super::{count, round_digits};
use crate::bignum::Big;
use crate::names as n;
use crate::natives::{Native, on_class, public};
use crate::object::c;
use crate::value::{NIL, TRUE, Tag, Value};
use crate::vm::Vm;
use std::cmp::Ordering;

fn is_even(vm: &Vm, v: Value) -> bool {
    match v.fixnum() {
        Some(i) => i & 1 == 0,
        None => vm.heap.big_of(v).is_even(),
    }
}

const METHODS: &[Native] = &[
    public("bit_length", 0, 0, |vm, a| Ok(Value::fix(vm.big_value(a.recv).bit_length() as i64))),
    public("to_s", 0, 1, |vm, a| {
        let radix = match vm.opt(a, 0) {
            Some(v) => vm.to_int(v)?,
            None => 10,
        };
        if !(2..=36).contains(&radix) {
            return vm.arg_error(format!("invalid radix {radix}"));
        }
        let text = vm.int_text(a.recv, radix as u32);
        Ok(vm.ascii(text))
    })
    .also(&["inspect"]),
    public("to_i", 0, 0, |_, a| Ok(a.recv)).also(&["to_int", "ord", "numerator"]),
    public("denominator", 0, 0, |_, _| Ok(Value::fix(1))),
    public("to_f", 0, 0, |vm, a| {
        let f = vm.to_f(a.recv)?;
        Ok(vm.float(f))
    }),
    public("succ", 0, 0, |vm, a| Ok(vm.int_add(a.recv, Value::fix(1)))).also(&["next"]),
    public("pred", 0, 0, |vm, a| Ok(vm.int_sub(a.recv, Value::fix(1)))),
    public("chr", 0, 1, |vm, a| {
        let code = a.recv.fixnum().filter(|x| (0..=0xFFFF_FFFF).contains(x));
        let Some(code) = code else {
            let t = vm.int_text(a.recv, 10);
            return if a.recv.is_big() {
                vm.fail(c::RANGE_ERROR, "bignum out of char range")
            } else {
                vm.fail(c::RANGE_ERROR, format!("{t} out of char range"))
            };
        };
        let enc = match vm.opt(a, 0) {
            Some(e) => vm.to_encoding(e)?,
            None if code < 128 => crate::encoding::ASCII,
            None if code < 256 => crate::encoding::BINARY,
            None => return vm.fail(c::RANGE_ERROR, format!("{code} out of char range")),
        };
        match crate::encoding::encode_char(code as u32, enc) {
            Some(bytes) => Ok(vm.str_enc(bytes, enc)),
            None => {
                let n = crate::encoding::name(enc);
                if enc == 0 && code < 0x8000_0000 {
                    vm.fail(c::RANGE_ERROR, format!("invalid codepoint 0x{code:X} in {n}"))
                } else {
                    vm.fail(c::RANGE_ERROR, format!("{code} out of char range"))
                }
            }
        }
    }),
    public("size", 0, 0, |vm, a| {
        Ok(Value::fix(if a.recv.is_fix() {
            8
        } else {
            (vm.heap.big_of(a.recv).bit_length() as i64 + 7) / 8
        }))
    }),
    public("zero?", 0, 0, |_, a| Ok(Value::bool(a.recv == Value::fix(0)))),
    public("even?", 0, 0, |vm, a| Ok(Value::bool(is_even(vm, a.recv)))),
    public("odd?", 0, 0, |vm, a| Ok(Value::bool(!is_even(vm, a.recv)))),
    public("integer?", 0, 0, |_, _| Ok(TRUE)),
    public("times", 0, 0, |vm, a| {
        if a.block.is_nil() {
            let size =
                if vm.int_cmp(a.recv, Value::fix(0)).is_lt() { Value::fix(0) } else { a.recv };
            return vm.enumerator_sized(a, size);
        }
        let held = vm.hold_call(a);
        let Some(count) = a.recv.fixnum() else {
            let mut i = Value::fix(0);
            let number = vm.hold(i);
            while vm.int_cmp(i, a.recv).is_lt() {
                vm.set_held(number, i);
                vm.open(held).yield1(a.block, i)?;
                i = vm.int_add(i, Value::fix(1));
            }
            return Ok(a.recv);
        };
        for i in 0..count {
            vm.open(held).yield1(a.block, Value::fix(i))?;
        }
        Ok(a.recv)
    }),
    public("upto", 1, 1, |vm, a| count(vm, a, 1)),
    public("downto", 1, 1, |vm, a| count(vm, a, -1)),
    public("floor", 0, 1, |vm, a| round_digits(vm, a, "floor")),
    public("ceil", 0, 1, |vm, a| round_digits(vm, a, "ceil")),
    public("truncate", 0, 1, |vm, a| round_digits(vm, a, "truncate")),
    public("round", 0, 2, |vm, a| round_digits(vm, a, "round")),
    public("gcd", 1, 1, |vm, a| {
        let b = vm.arg(a, 0);
        if !b.is_int() {
            return vm.type_error("not an integer");
        }
        Ok(vm.gcd(a.recv, b))
    }),
    public("lcm", 1, 1, |vm, a| {
        let b = vm.arg(a, 0);
        if !b.is_int() {
            return vm.type_error("not an integer");
        }
        if a.recv == Value::fix(0) || b == Value::fix(0) {
            return Ok(Value::fix(0));
        }
        let g = vm.gcd(a.recv, b);
        let (q, _) = vm.int_divmod(a.recv, g)?;
        let r = vm.int_mul(q, b)?;
        Ok(if vm.int_cmp(r, Value::fix(0)).is_lt() { vm.int_sub(Value::fix(0), r) } else { r })
    }),
    public("coerce", 1, 1, |vm, a| {
        let b = vm.arg(a, 0);
        if b.is_int() {
            return Ok(vm.arr(vec![b, a.recv]));
        }
        let y = if b.is_str() {
            let s = vm.text(b);
            match crate::core::float::parse_strict(s.as_bytes()) {
                Some(f) => f,
                None => {
                    let t = vm.inspect_string(b)?;
                    return vm.arg_error(format!("invalid value for Float(): {t}"));
                }
            }
        } else if b.is_obj() && !vm.is_a(b, c::NUMERIC) {
            let y = match vm.try_send(b, n::TO_F, &[])? {
                Some(y) if y.is_float() => y,
                _ => {
                    let t = vm.type_name(b);
                    return vm.type_error(format!("can't convert {t} into Float"));
                }
            };
            vm.heap.float_of(y)
        } else {
            vm.to_f(b)?
        };
        let (y, x) = (vm.float(y), vm.to_f(a.recv)?);
        let x = vm.float(x);
        Ok(vm.arr(vec![y, x]))
    }),
    on_class("sqrt", 1, 1, |vm, a| {
        let v = vm.arg(a, 0);
        let v = vm.to_int_value(v)?;
        let big = vm.big_value(v);
        if big.neg {
            let class = vm.math_domain_error();
            return vm.fail(class, "Numerical argument is out of domain - isqrt");
        }
        if big.is_zero() {
            return Ok(v);
        }
        let mut x = Big::from_i64(1).shl(big.bit_length_abs().div_ceil(2));
        loop {
            let y = x.add(&big.divmod(&x).0).shr(1);
            if y.compare(&x) != Ordering::Less {
                break;
            }
            x = y;
        }
        Ok(vm.heap.big(x))
    }),
    on_class("try_convert", 1, 1, |vm, a| {
        let v = vm.arg(a, 0);
        if v.is_int() {
            return Ok(v);
        }
        match vm.try_send(v, n::TO_INT, &[])? {
            Some(r) if r.is_int() || r.is_nil() => Ok(r),
            Some(r) => {
                let (x, y) = (vm.type_name(v), vm.type_name(r));
                vm.type_error(format!("can't convert {x} to Integer ({x}#to_int gives {y})"))
            }
            None => Ok(NIL),
        }
    }),
];

pub(super) fn init(vm: &mut Vm) {
    vm.natives(c::INTEGER, METHODS);
    let _ = Tag::Int;
}
