//! Integer: arithmetic, bits, text. Small ones are words, large ones bignums.

mod arithmetic;
mod queries;

use std::cmp::Ordering;

use crate::bignum::Big;
use crate::core::float::half_of;
use crate::names as n;
use crate::natives::{Native, public};
use crate::object::{Alloc, c};
use crate::value::{FALSE, NIL, Value};
use crate::vm::{Args, R, Res, Vm};

/// Reads digits at the start of a text, as `to_i` does.
pub(crate) fn parse_prefix(vm: &mut Vm, text: &[u8], base: u32) -> Value {
    let mut i = 0;
    while i < text.len() && (text[i].is_ascii_whitespace() || text[i] == 0x0B) {
        i += 1;
    }
    let mut neg = false;
    if i < text.len() && (text[i] == b'-' || text[i] == b'+') {
        neg = text[i] == b'-';
        i += 1;
    }
    let (base, skip) = prefix(&text[i..], base);
    i += skip;
    let mut digits = Vec::new();
    let mut under = false;
    while i < text.len() {
        if text[i] == b'_' {
            if under || digits.is_empty() && skip == 0 {
                break;
            }
            under = true;
        } else if (text[i] as char).is_digit(base) {
            digits.push(text[i]);
            under = false;
        } else {
            break;
        }
        i += 1;
    }
    make(vm, &digits, base, neg)
}

fn make(vm: &mut Vm, digits: &[u8], base: u32, neg: bool) -> Value {
    if digits.len() < 12 {
        let v = digits.iter().fold(0i64, |a, d| {
            a * i64::from(base) + i64::from((*d as char).to_digit(base).unwrap_or(0))
        });
        return Value::fix(if neg { -v } else { v });
    }
    vm.heap.big(Big::parse(digits, base, neg))
}

/// Base after a `0x`-like prefix, and the length of the prefix.
fn prefix(text: &[u8], base: u32) -> (u32, usize) {
    if text.first() == Some(&b'0') && text.len() > 1 {
        let (want, len) = match text[1] {
            b'x' | b'X' => (16, 2),
            b'b' | b'B' => (2, 2),
            b'o' | b'O' => (8, 2),
            b'd' | b'D' => (10, 2),
            _ => (8, 1),
        };
        if base == want && len == 2 || base == 0 {
            return (want, if len == 1 { 0 } else { len });
        }
    }
    (if base == 0 { 10 } else { base }, 0)
}

/// `Integer("…")`: the whole text must be a number.
pub(crate) fn parse_strict(vm: &mut Vm, text: &[u8], base: Option<i64>) -> Res<Option<Value>> {
    let base = base.unwrap_or(0);
    if (base < 0 || base == 1 || base > 36) && !(-36..=-2).contains(&base) {
        return vm.arg_error(format!("invalid radix {base}"));
    }
    let base = base.unsigned_abs() as u32;
    if text.contains(&0) {
        return vm.arg_error("string contains null byte");
    }
    let t: &[u8] = text.trim_ascii();
    let (neg, t) = match t.first() {
        Some(b'-') => (true, &t[1..]),
        Some(b'+') => (false, &t[1..]),
        _ => (false, t),
    };
    let (radix, skip) = prefix(t, base);
    let t = &t[skip..];
    if t.is_empty() || t[0] == b'_' || t.last() == Some(&b'_') || t.windows(2).any(|w| w == b"__") {
        return Ok(None);
    }
    let digits: Vec<u8> = t.iter().copied().filter(|b| *b != b'_').collect();
    if digits.iter().any(|d| (*d as char).to_digit(radix).is_none()) {
        return Ok(None);
    }
    Ok(Some(make(vm, &digits, radix, neg)))
}

fn arith(
    vm: &mut Vm,
    a: Args,
    op: fx_ruby_syntax::Sym,
    ints: fn(&mut Vm, Value, Value) -> R,
    floats: fn(f64, f64) -> f64,
) -> R {
    let b = vm.arg(a, 0);
    if b.is_int() {
        return ints(vm, a.recv, b);
    }
    if b.is_float() {
        let (x, y) = (vm.to_f(a.recv)?, vm.heap.float_of(b));
        return Ok(vm.float(floats(x, y)));
    }
    vm.coerce_op(a.recv, op, b)
}

fn order(vm: &mut Vm, a: Args, op: fx_ruby_syntax::Sym, test: fn(Ordering) -> bool) -> R {
    let b = vm.arg(a, 0);
    if b.is_int() {
        return Ok(Value::bool(test(vm.int_cmp(a.recv, b))));
    }
    if b.is_float() {
        let y = vm.heap.float_of(b);
        return Ok(Value::bool(int_float_cmp(vm, a.recv, y).is_some_and(test)));
    }
    vm.coerce_op(a.recv, op, b)
}

/// Exact comparison of an integer with a float.
pub(crate) fn int_float_cmp(vm: &Vm, a: Value, f: f64) -> Option<Ordering> {
    if f.is_nan() {
        return None;
    }
    if f.is_infinite() {
        return Some(if f > 0.0 { Ordering::Less } else { Ordering::Greater });
    }
    let t = f.trunc();
    let whole =
        vm.big_value(a).compare(&if t.abs() < 1.0 { Big::default() } else { Big::from_f64(t) });
    Some(whole.then_with(|| 0.0f64.partial_cmp(&(f - t)).unwrap_or(Ordering::Equal)))
}

fn bits(vm: &mut Vm, a: Args, op: fx_ruby_syntax::Sym, f: fn(u32, u32) -> u32) -> R {
    let b = vm.arg(a, 0);
    if let (Some(x), Some(y)) = (a.recv.fixnum(), b.fixnum()) {
        // Both are extended by their sign, and so is what comes of them.
        let half = |by: u32| f((x >> by) as u32, (y >> by) as u32);
        return Ok(Value::fix((u64::from(half(32)) << 32 | u64::from(half(0))) as i64));
    }
    if b.is_int() {
        let r = vm.big_value(a.recv).bitop(&vm.big_value(b), f);
        return Ok(vm.heap.big(r));
    }
    if b.is_float() {
        let t = vm.inspect_string(b)?;
        return vm.type_error(format!("{t} can't be coerced into Integer"));
    }
    vm.coerce_op(a.recv, op, b)
}

fn shift(vm: &mut Vm, v: Value, by: i64) -> R {
    if by >= 0 {
        if v == Value::fix(0) {
            return Ok(v);
        }
        if by > 1 << 31 {
            return vm.fail(c::RANGE_ERROR, "shift width too big");
        }
        if let Some(small) = v.fixnum()
            && by < 62
            && (small << by) >> by == small
        {
            return Ok(vm.int(small << by));
        }
        let big = vm.big_value(v);
        vm.check_bits(by as u64 + big.bit_length_abs() as u64)?;
        let r = big.shl(by as usize);
        return Ok(vm.heap.big(r));
    }
    if let Some(i) = v.fixnum() {
        return Ok(Value::fix(if by <= -63 { if i < 0 { -1 } else { 0 } } else { i >> -by }));
    }
    let r = vm.big_value(v).shr(by.unsigned_abs().min(1 << 40) as usize);
    Ok(vm.heap.big(r))
}

fn shift_arg(vm: &mut Vm, a: Args, sign: i64) -> R {
    let v = vm.arg(a, 0);
    let v = vm.to_int_value(v)?;
    let by = match v.fixnum() {
        Some(i) => i * sign,
        None => {
            let down = vm.heap.big_of(v).neg == (sign > 0);
            if down {
                let neg = vm.big_value(a.recv).neg;
                return Ok(Value::fix(if neg { -1 } else { 0 }));
            }
            if a.recv == Value::fix(0) {
                return Ok(a.recv);
            }
            return vm.fail(c::RANGE_ERROR, "shift width too big");
        }
    };
    shift(vm, a.recv, by)
}

/// Rounds to a power of ten below the decimal point.
fn round_digits(vm: &mut Vm, mut a: Args, how: &str) -> R {
    let half = half_of(vm, &mut a)?;
    let digits = match vm.opt(a, 0) {
        Some(v) => vm.to_int(v)?,
        None => 0,
    };
    if digits >= 0 {
        return Ok(a.recv);
    }
    if digits < -400_000 {
        return vm.fail(c::RANGE_ERROR, format!("{digits} too small"));
    }
    if -digits > vm.int_text(a.recv, 10).len() as i64 + 2 {
        return Ok(Value::fix(0));
    }
    let unit = vm.int_pow(Value::fix(10), -digits)?;
    let (q, r) = vm.int_divmod(a.recv, unit)?;
    let zero = r == Value::fix(0);
    let floor = vm.int_mul(q, unit)?;
    let ceil = vm.int_add(floor, unit);
    let neg = vm.int_cmp(a.recv, Value::fix(0)) == Ordering::Less;
    Ok(match how {
        "floor" => floor,
        "ceil" => {
            if zero {
                floor
            } else {
                ceil
            }
        }
        "truncate" => {
            if neg && !zero {
                ceil
            } else {
                floor
            }
        }
        _ => {
            let twice = vm.int_add(r, r);
            match vm.int_cmp(twice, unit) {
                Ordering::Less => floor,
                Ordering::Greater => ceil,
                Ordering::Equal => match half.as_str() {
                    "even" => {
                        if vm.big_value(q).is_even() {
                            floor
                        } else {
                            ceil
                        }
                    }
                    "down" => {
                        if neg {
                            ceil
                        } else {
                            floor
                        }
                    }
                    _ => {
                        if neg {
                            floor
                        } else {
                            ceil
                        }
                    }
                },
            }
        }
    })
}

const METHODS: &[Native] = &[
    public("+", 1, 1, |vm, a| arith(vm, a, n::ADD, |vm, x, y| Ok(vm.int_add(x, y)), |x, y| x + y)),
    public("-", 1, 1, |vm, a| arith(vm, a, n::SUB, |vm, x, y| Ok(vm.int_sub(x, y)), |x, y| x - y)),
    public("*", 1, 1, |vm, a| arith(vm, a, n::MUL, Vm::int_mul, |x, y| x * y)),
    public("/", 1, 1, |vm, a| {
        arith(vm, a, n::DIV, |vm, x, y| Ok(vm.int_divmod(x, y)?.0), |x, y| x / y)
    }),
    public("%", 1, 1, |vm, a| {
        crate::core::float::check_divisor(vm, a)?;
        arith(vm, a, n::MOD, |vm, x, y| Ok(vm.int_divmod(x, y)?.1), crate::core::float::modulo)
    })
    .also(&["modulo"]),
    public("div", 1, 1, |vm, a| {
        let b = vm.arg(a, 0);
        if b.is_float() {
            let (x, y) = (vm.to_f(a.recv)?, vm.heap.float_of(b));
            if y == 0.0 {
                return vm.fail(c::ZERO_DIVISION, "divided by 0");
            }
            return vm.float_to_int((x / y).floor());
        }
        if b.is_int() {
            return Ok(vm.int_divmod(a.recv, b)?.0);
        }
        let op = vm.intern("div");
        vm.coerce_op(a.recv, op, b)
    }),
    public("divmod", 1, 1, |vm, a| {
        let b = vm.arg(a, 0);
        if b.is_int() {
            let (q, r) = vm.int_divmod(a.recv, b)?;
            return Ok(vm.arr(vec![q, r]));
        }
        if b.is_float() {
            let (x, y) = (vm.to_f(a.recv)?, vm.heap.float_of(b));
            return crate::core::float::divmod(vm, x, y);
        }
        let op = vm.intern("divmod");
        vm.coerce_op(a.recv, op, b)
    }),
    public("remainder", 1, 1, |vm, a| {
        let b = vm.arg(a, 0);
        if b.is_int() {
            let (_, r) = vm.int_divmod(a.recv, b)?;
            if r != Value::fix(0)
                && (vm.int_cmp(a.recv, Value::fix(0)) != vm.int_cmp(b, Value::fix(0)))
            {
                return Ok(vm.int_sub(r, b));
            }
            return Ok(r);
        }
        if b.is_float() {
            let (x, y) = (vm.to_f(a.recv)?, vm.heap.float_of(b));
            return Ok(vm.float(x % y));
        }
        let op = vm.intern("remainder");
        vm.coerce_op(a.recv, op, b)
    }),
    public("fdiv", 1, 1, |vm, a| {
        let b = vm.arg(a, 0);
        if !b.is_int() && !b.is_float() {
            let op = vm.intern("fdiv");
            return vm.coerce_op(a.recv, op, b);
        }
        if b.is_int() && (a.recv.is_big() || b.is_big()) && b != Value::fix(0) {
            // Scale so that the quotient keeps its digits.
            let (x, y) = (vm.big_value(a.recv), vm.big_value(b));
            let shift = 80 + y.bit_length_abs() as i64 - x.bit_length_abs() as i64;
            let q = if shift > 0 {
                x.shl(shift as usize).divmod(&y).0
            } else {
                x.divmod(&y.shl((-shift) as usize)).0
            };
            return Ok(vm.float(q.to_f64() * 2f64.powi(-shift as i32)));
        }
        let (x, y) = (vm.to_f(a.recv)?, vm.to_f(b)?);
        Ok(vm.float(x / y))
    }),
    public("**", 1, 1, |vm, a| {
        let b = vm.arg(a, 0);
        if b.is_int() {
            if vm.int_cmp(b, Value::fix(0)) == Ordering::Less {
                let r = vm.call_name(vm.main, "Rational", &[a.recv, Value::fix(1)])?;
                return vm.send(r, n::POW, &[b]);
            }
            return match b.fixnum() {
                Some(e) => vm.int_pow(a.recv, e),
                None if matches!(a.recv.fixnum(), Some(0 | 1)) => Ok(a.recv),
                None if a.recv == Value::fix(-1) => {
                    Ok(Value::fix(if vm.big_value(b).is_even() { 1 } else { -1 }))
                }
                None => {
                    vm.warn("warning: in a**b, b may be too big\n")?;
                    Ok(vm.float(f64::INFINITY))
                }
            };
        }
        if b.is_float() {
            let (x, y) = (vm.to_f(a.recv)?, vm.heap.float_of(b));
            if x < 0.0 && y != y.round() {
                let z = vm.call_name(vm.main, "Complex", &[a.recv, Value::fix(0)])?;
                return vm.send(z, n::POW, &[b]);
            }
            return Ok(vm.float(x.powf(y)));
        }
        vm.coerce_op(a.recv, n::POW, b)
    }),
    public("pow", 1, 2, |vm, a| {
        let (b, m) = (vm.arg(a, 0), vm.opt(a, 1));
        let Some(m) = m else { return vm.send(a.recv, n::POW, &[b]) };
        if !b.is_int() {
            return vm.type_error(
                "Integer#pow() 2nd argument not allowed unless a 1st argument is integer",
            );
        }
        if vm.int_cmp(b, Value::fix(0)) == Ordering::Less {
            return vm.fail(
                c::RANGE_ERROR,
                "Integer#pow() 1st argument cannot be negative when 2nd argument specified",
            );
        }
        if !m.is_int() {
            return vm.type_error(
                "Integer#pow() 2nd argument not allowed unless all arguments are integers",
            );
        }
        if m == Value::fix(0) {
            return vm.fail(c::ZERO_DIVISION, "divided by 0");
        }
        let m = vm.big_value(m);
        let mut base = vm.big_value(a.recv).divmod(&m).1;
        let e = vm.big_value(b);
        let mut out = Big::from_i64(1).divmod(&m).1;
        for k in 0..e.bit_length_abs() {
            if e.bit(k) {
                out = out.mul(&base).divmod(&m).1;
            }
            base = base.mul(&base).divmod(&m).1;
        }
        Ok(vm.heap.big(out))
    }),
    public("<", 1, 1, |vm, a| order(vm, a, n::LT, Ordering::is_lt)),
    public("<=", 1, 1, |vm, a| order(vm, a, n::LE, Ordering::is_le)),
    public(">", 1, 1, |vm, a| order(vm, a, n::GT, Ordering::is_gt)),
    public(">=", 1, 1, |vm, a| order(vm, a, n::GE, Ordering::is_ge)),
    public("==", 1, 1, |vm, a| {
        let b = vm.arg(a, 0);
        if b.is_int() {
            return Ok(Value::bool(vm.int_cmp(a.recv, b).is_eq()));
        }
        if b.is_float() {
            let f = vm.heap.float_of(b);
            return Ok(Value::bool(int_float_cmp(vm, a.recv, f) == Some(Ordering::Equal)));
        }
        if b.is_obj() {
            return Ok(Value::bool(vm.send(b, n::EQ, &[a.recv])?.truthy()));
        }
        Ok(FALSE)
    })
    .also(&["==="]),
    public("eql?", 1, 1, |vm, a| {
        let b = vm.arg(a, 0);
        Ok(Value::bool(b.is_int() && vm.int_cmp(a.recv, b).is_eq()))
    }),
    public("equal?", 1, 1, |vm, a| {
        let b = vm.arg(a, 0);
        Ok(Value::bool(b.is_int() && vm.int_cmp(a.recv, b).is_eq()))
    }),
    public("<=>", 1, 1, |vm, a| {
        let b = vm.arg(a, 0);
        if b.is_int() {
            return Ok(Value::fix(vm.int_cmp(a.recv, b) as i64));
        }
        if b.is_float() {
            let f = vm.heap.float_of(b);
            return Ok(int_float_cmp(vm, a.recv, f).map_or(NIL, |o| Value::fix(o as i64)));
        }
        if b.is_obj() && vm.responds(b, n::COERCE, true)? {
            let pair = vm.send(b, n::COERCE, &[a.recv])?;
            if pair.is_arr() && vm.heap.arr(pair).len() == 2 {
                let (x, y) = (vm.heap.arr(pair)[0], vm.heap.arr(pair)[1]);
                return vm.send(x, n::CMP, &[y]);
            }
        }
        Ok(NIL)
    }),
    public("hash", 0, 0, |vm, a| Ok(Value::fix((vm.hash_of(a.recv)? >> 3) as i64))),
    public("-@", 0, 0, |vm, a| Ok(vm.int_sub(Value::fix(0), a.recv))),
    public("~", 0, 0, |vm, a| {
        let m = vm.int_sub(Value::fix(-1), a.recv);
        Ok(m)
    }),
    public("abs", 0, 0, |vm, a| {
        Ok(if vm.int_cmp(a.recv, Value::fix(0)).is_lt() {
            vm.int_sub(Value::fix(0), a.recv)
        } else {
            a.recv
        })
    })
    .also(&["magnitude"]),
    public("&", 1, 1, |vm, a| bits(vm, a, n::BAND, |x, y| x & y)),
    public("|", 1, 1, |vm, a| bits(vm, a, n::BOR, |x, y| x | y)),
    public("^", 1, 1, |vm, a| bits(vm, a, n::BXOR, |x, y| x ^ y)),
    public("<<", 1, 1, |vm, a| shift_arg(vm, a, 1)),
    public(">>", 1, 1, |vm, a| shift_arg(vm, a, -1)),
    public("[]", 1, 2, |vm, a| {
        let v = vm.arg(a, 0);
        if let (Some(x), Some(bit), 1) = (a.recv.fixnum(), v.fixnum(), a.argc) {
            let bit = if bit < 0 { 0 } else { x >> bit.min(63) & 1 };
            return Ok(Value::fix(bit));
        }
        if v.is_range() {
            let r = vm.heap.rng(v);
            let (lo, hi, excl) = (r.lo, r.hi, r.excl);
            let from = if lo.is_nil() { 0 } else { vm.to_int(lo)? };
            let x = shift(vm, a.recv, -from)?;
            if hi.is_nil() {
                return Ok(x);
            }
            let len = vm.to_int(hi)? - from + i64::from(!excl);
            if len < 0 {
                return Ok(x);
            }
            let mask = shift(vm, Value::fix(1), len)?;
            let mask = vm.int_sub(mask, Value::fix(1));
            if lo.is_nil() {
                let low = vm.send(a.recv, n::BAND, &[mask])?;
                if low != Value::fix(0) {
                    return vm.arg_error("The beginless range for Integer#[] results in infinity");
                }
                return Ok(Value::fix(0));
            }
            return vm.send(x, n::BAND, &[mask]);
        }
        let i = vm.to_int_value(v)?;
        let Some(at) = i.fixnum() else {
            let neg = vm.heap.big_of(i).neg;
            return Ok(Value::fix(i64::from(!neg && vm.big_value(a.recv).neg)));
        };
        if let Some(len) = vm.opt(a, 1) {
            let len = vm.to_int(len)?;
            let x = shift(vm, a.recv, -at)?;
            let mask = shift(vm, Value::fix(1), len)?;
            let mask = vm.int_sub(mask, Value::fix(1));
            return vm.send(x, n::BAND, &[mask]);
        }
        if at < 0 {
            return Ok(Value::fix(0));
        }
        Ok(Value::fix(i64::from(vm.big_value(a.recv).bit(at as usize))))
    }),
];

pub(crate) fn init(vm: &mut Vm) {
    let i = c::INTEGER;
    vm.classes[i as usize].alloc = Alloc::None;
    vm.natives(c::INTEGER, METHODS);
    queries::init(vm);
}

fn count(vm: &mut Vm, a: Args, step: i64) -> R {
    let limit = vm.arg(a, 0);
    if !limit.is_int() && !limit.is_float() {
        if a.block.is_nil() {
            return vm.enumerator(a);
        }
        if !(limit.is_obj() && vm.is_a(limit, c::NUMERIC)) {
            return vm.cmp_failed(a.recv, limit);
        }
    }
    if a.block.is_nil() {
        let diff = if step > 0 {
            vm.send(limit, n::SUB, &[a.recv])?
        } else {
            vm.send(a.recv, n::SUB, &[limit])?
        };
        let f = vm.call_name(diff, "floor", &[])?;
        let size = vm.send(f, n::ADD, &[Value::fix(1)])?;
        let size =
            if vm.send(size, n::LT, &[Value::fix(0)])?.truthy() { Value::fix(0) } else { size };
        return vm.enumerator_sized(a, size);
    }
    let held = vm.hold_call(a);
    if let (Some(from), Some(to)) = (a.recv.fixnum(), limit.fixnum()) {
        let mut i = from;
        while if step > 0 { i <= to } else { i >= to } {
            vm.open(held).yield1(a.block, Value::fix(i))?;
            i += step;
        }
        return Ok(a.recv);
    }
    let mut i = a.recv;
    let op = if step > 0 { n::LE } else { n::GE };
    vm.hold(limit);
    let number = vm.hold(i);
    while vm.send(i, op, &[limit])?.truthy() {
        vm.set_held(number, i);
        vm.open(held).yield1(a.block, i)?;
        i = vm.int_add(i, Value::fix(step));
    }
    Ok(a.recv)
}

impl Vm {
    pub(crate) fn gcd(&mut self, a: Value, b: Value) -> Value {
        if let (Some(mut x), Some(mut y)) = (a.fixnum(), b.fixnum()) {
            while y != 0 {
                (x, y) = (y, x % y);
            }
            return self.int(x.abs());
        }
        let (mut x, mut y) = (self.big_value(a), self.big_value(b));
        x.neg = false;
        y.neg = false;
        while !y.is_zero() {
            let r = x.divmod(&y).1;
            x = y;
            y = r;
        }
        self.heap.big(x)
    }
}
