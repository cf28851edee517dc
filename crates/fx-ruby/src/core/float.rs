//! Float: arithmetic, rounding, parsing.

use std::cmp::Ordering;

use crate::bignum::Big;
use crate::core::integer::int_float_cmp;
use crate::names as n;
use crate::natives::{Native, public};
use crate::object::{Alloc, c};
use crate::value::{FALSE, NIL, TRUE, Value};
use crate::vm::{Args, R, Res, Vm};

pub(crate) fn modulo(x: f64, y: f64) -> f64 {
    if y == 0.0 {
        return f64::NAN;
    }
    if y.is_infinite() && !x.is_infinite() {
        return if x == 0.0 || (x < 0.0) == (y < 0.0) { x } else { y };
    }
    let m = x % y;
    if m != 0.0 && (m < 0.0) != (y < 0.0) { m + y } else { m }
}

/// A remainder by zero is an error also for floats.
pub(crate) fn check_divisor(vm: &mut Vm, a: Args) -> Res<()> {
    let by = vm.arg(a, 0);
    if by == Value::fix(0) || (by.is_float() && vm.heap.float_of(by) == 0.0) {
        return vm.fail(c::ZERO_DIVISION, "divided by 0");
    }
    Ok(())
}

pub(crate) fn divmod(vm: &mut Vm, x: f64, y: f64) -> R {
    if y == 0.0 {
        return vm.fail(c::ZERO_DIVISION, "divided by 0");
    }
    let m = modulo(x, y);
    let q = vm.float_to_int(((x - m) / y).round())?;
    let m = vm.float(m);
    Ok(vm.arr(vec![q, m]))
}

/// The longest number at the start of a text, as `to_f` reads it.
pub(crate) fn parse_prefix(text: &[u8]) -> f64 {
    let t: Vec<u8> = text.iter().copied().skip_while(u8::is_ascii_whitespace).collect();
    let mut out = String::new();
    let mut i = 0;
    if i < t.len() && (t[i] == b'-' || t[i] == b'+') {
        out.push(t[i] as char);
        i += 1;
    }
    let digits = |i: &mut usize, out: &mut String| {
        let mut any = false;
        while *i < t.len() {
            if t[*i].is_ascii_digit() {
                out.push(t[*i] as char);
                any = true;
            } else if !(t[*i] == b'_' && any && t.get(*i + 1).is_some_and(u8::is_ascii_digit)) {
                break;
            }
            *i += 1;
        }
        any
    };
    if !digits(&mut i, &mut out) {
        if t.get(i) == Some(&b'.') && t.get(i + 1).is_some_and(u8::is_ascii_digit) {
            out.push('0');
        } else {
            return 0.0;
        }
    }
    if t.get(i) == Some(&b'.') && t.get(i + 1).is_some_and(u8::is_ascii_digit) {
        out.push('.');
        i += 1;
        digits(&mut i, &mut out);
    }
    if matches!(t.get(i), Some(b'e' | b'E')) {
        let mut j = i + 1;
        let mut exp = String::from("e");
        if matches!(t.get(j), Some(b'-' | b'+')) {
            exp.push(t[j] as char);
            j += 1;
        }
        if digits(&mut j, &mut exp) {
            out.push_str(&exp);
        }
    }
    out.parse().unwrap_or(0.0)
}

/// `Float("…")`.
/// A number without the underscores between its decimal digits; none if one stands elsewhere.
fn joined(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let stray = bytes.iter().enumerate().any(|(i, byte)| {
        let digit =
            |at: Option<usize>| at.and_then(|at| bytes.get(at)).is_some_and(u8::is_ascii_digit);
        *byte == b'_' && !(digit(i.checked_sub(1)) && digit(Some(i + 1)))
    });
    if stray { None } else { Some(text.replace('_', "")) }
}

pub(crate) fn parse_strict(text: &[u8]) -> Option<f64> {
    let t = std::str::from_utf8(text)
        .ok()?
        .trim_matches(|c: char| c.is_ascii_whitespace() || c == '\u{b}');
    if t.is_empty() || t.contains('\0') {
        return None;
    }
    let (neg, body) = match t.as_bytes()[0] {
        b'-' => (true, &t[1..]),
        b'+' => (false, &t[1..]),
        _ => (false, t),
    };
    let sign = if neg { -1.0 } else { 1.0 };
    if let Some(hex) = body.strip_prefix("0x").or_else(|| body.strip_prefix("0X")) {
        let (mant, exp) = match hex.split_once(['p', 'P']) {
            Some((m, e)) => (m, joined(e)?.parse::<i32>().ok()?),
            None => (hex, 0),
        };
        let mant = joined(mant)?;
        let (whole, frac) = mant.split_once('.').unwrap_or((&mant, ""));
        if whole.is_empty() {
            return None;
        }
        let mut v = 0.0;
        for ch in whole.chars() {
            v = v * 16.0 + f64::from(ch.to_digit(16)?);
        }
        let mut scale = 1.0 / 16.0;
        for ch in frac.chars() {
            v += f64::from(ch.to_digit(16)?) * scale;
            scale /= 16.0;
        }
        return Some(sign * v * 2f64.powi(exp));
    }
    let b = body.as_bytes();
    let good = b[0].is_ascii_digit() || (b[0] == b'.' && b.get(1).is_some_and(u8::is_ascii_digit));
    if b.is_empty() || !good {
        return None;
    }
    for (i, ch) in b.iter().enumerate() {
        match ch {
            b'_' => {
                if !(b[i - 1].is_ascii_digit() && b.get(i + 1).is_some_and(u8::is_ascii_digit)) {
                    return None;
                }
            }
            b'.' => {
                if !b.get(i + 1).is_some_and(u8::is_ascii_digit) {
                    return None;
                }
            }
            b'0'..=b'9' | b'e' | b'E' | b'+' | b'-' => {}
            _ => return None,
        }
    }
    let clean: String = body.chars().filter(|c| *c != '_').collect();
    clean.parse::<f64>().ok().map(|f| sign * f)
}

fn me(vm: &Vm, a: Args) -> f64 {
    vm.heap.float_of(a.recv)
}

fn arith(vm: &mut Vm, a: Args, op: fx_ruby_syntax::Sym, f: fn(f64, f64) -> f64) -> R {
    let b = vm.arg(a, 0);
    let x = me(vm, a);
    if b.is_float() || b.is_int() {
        let y = vm.to_f(b)?;
        return Ok(vm.float(f(x, y)));
    }
    vm.coerce_op(a.recv, op, b)
}

fn cmp(vm: &Vm, x: f64, b: Value) -> Option<Ordering> {
    if b.is_float() {
        x.partial_cmp(&vm.heap.float_of(b))
    } else {
        int_float_cmp(vm, b, x).map(Ordering::reverse)
    }
}

fn order(vm: &mut Vm, a: Args, op: fx_ruby_syntax::Sym, test: fn(Ordering) -> bool) -> R {
    let b = vm.arg(a, 0);
    if b.is_float() || b.is_int() {
        return Ok(Value::bool(cmp(vm, me(vm, a), b).is_some_and(test)));
    }
    vm.coerce_op(a.recv, op, b)
}

fn round_half_up(x: f64, s: f64) -> f64 {
    let xs = x * s;
    let f = xs.round();
    // The product may have been rounded up to a half it never reached.
    if s > 1.0 && f > 0.0 && ((f - 0.5) / s) > x && (f - xs).abs() <= 0.5 && xs > 0.0 {
        return f - 1.0;
    }
    f
}

/// What becomes of a half, by the keyword `half` that is taken off the arguments.
pub(super) fn half_of(vm: &mut Vm, a: &mut Args) -> Res<String> {
    let kw = vm.take_kw(a);
    let Some(given) = vm.kw(kw, "half").filter(|given| *given != NIL) else {
        return Ok("up".to_owned());
    };
    let half = match given.as_sym() {
        Some(name) => vm.sym_str(name).into_owned(),
        None => {
            let text = vm.to_str(given)?;
            vm.text(text)
        }
    };
    if !["up", "down", "even"].contains(&half.as_str()) {
        return vm.arg_error(format!("invalid rounding mode: {half}"));
    }
    Ok(half)
}

fn rounding(vm: &mut Vm, mut a: Args, how: &str) -> R {
    let half = half_of(vm, &mut a)?;
    let x = me(vm, a);
    let digits = match vm.opt_nil(a, 0) {
        Some(v) => vm.to_int(v)?,
        None => 0,
    };
    if digits > 0 {
        if !x.is_finite() || digits >= 17 || x == 0.0 {
            return Ok(a.recv);
        }
        let exp = x.abs().log10().floor() as i64 + 1;
        if digits + exp > 17 {
            return Ok(a.recv);
        }
        if digits < -exp - 1 {
            return Ok(vm.float(0.0));
        }
        let text = match how {
            "round" if half == "up" => {
                // Decimal rounding of the shortest text agrees with what people see.
                let s = 10f64.powi(digits as i32);
                let r = if x < 0.0 { -round_half_up(-x, s) } else { round_half_up(x, s) };
                if s.is_finite() && r.is_finite() {
                    return Ok(vm.float(r / s));
                }
                format!("{x:.*}", digits as usize)
            }
            _ => {
                let s = 10f64.powi(digits as i32);
                let y = x * s;
                let r = match how {
                    "floor" => {
                        let f = y.floor();
                        if (f + 1.0) / s <= x { f + 1.0 } else { f }
                    }
                    "ceil" => {
                        let f = y.ceil();
                        if (f - 1.0) / s >= x { f - 1.0 } else { f }
                    }
                    "truncate" => {
                        if x > 0.0 {
                            let f = y.floor();
                            if (f + 1.0) / s <= x { f + 1.0 } else { f }
                        } else {
                            let f = y.ceil();
                            if (f - 1.0) / s >= x { f - 1.0 } else { f }
                        }
                    }
                    _ => half_round(y, &half),
                };
                return Ok(vm.float(r / s));
            }
        };
        return Ok(vm.float(text.parse().unwrap_or(x)));
    }
    if !x.is_finite() {
        return vm.fail(c::FLOAT_DOMAIN, crate::convert::float_text(x));
    }
    let r = match how {
        "floor" => x.floor(),
        "ceil" => x.ceil(),
        "truncate" => x.trunc(),
        _ => half_round(x, &half),
    };
    let i = vm.float_to_int(if digits == 0 {
        r
    } else if how == "floor" {
        x.floor()
    } else if how == "ceil" {
        x.ceil()
    } else {
        x.trunc()
    })?;
    if digits == 0 {
        return Ok(i);
    }
    let name = vm.intern(how);
    if how == "round" {
        let key = vm.intern("half");
        let h = vm.hash();
        let mode = vm.intern(&half);
        vm.hash_set(h, Value::sym(key), Value::sym(mode))?;
        return vm.send_full(i, name, &[Value::fix(digits), h], NIL, true);
    }
    vm.send(i, name, &[Value::fix(digits)])
}

fn half_round(x: f64, half: &str) -> f64 {
    let f = x.floor();
    let d = x - f;
    if d != 0.5 {
        return x.round();
    }
    match half {
        "even" => {
            if f % 2.0 == 0.0 {
                f
            } else {
                f + 1.0
            }
        }
        "down" => {
            if x < 0.0 {
                f + 1.0
            } else {
                f
            }
        }
        _ => x.round(),
    }
}

const METHODS: &[Native] = &[
    public("+", 1, 1, |vm, a| arith(vm, a, n::ADD, |x, y| x + y)),
    public("-", 1, 1, |vm, a| arith(vm, a, n::SUB, |x, y| x - y)),
    public("*", 1, 1, |vm, a| arith(vm, a, n::MUL, |x, y| x * y)),
    public("/", 1, 1, |vm, a| arith(vm, a, n::DIV, |x, y| x / y)),
    public("quo", 1, 1, |vm, a| arith(vm, a, n::DIV, |x, y| x / y)).also(&["fdiv"]),
    public("%", 1, 1, |vm, a| {
        check_divisor(vm, a)?;
        arith(vm, a, n::MOD, modulo)
    })
    .also(&["modulo"]),
    public("**", 1, 1, |vm, a| {
        let b = vm.arg(a, 0);
        let x = me(vm, a);
        if b.is_float() && x < 0.0 {
            let y = vm.heap.float_of(b);
            if y != y.round() {
                let z = vm.call_name(vm.main, "Complex", &[a.recv, Value::fix(0)])?;
                return vm.send(z, n::POW, &[b]);
            }
        }
        arith(vm, a, n::POW, f64::powf)
    }),
    public("divmod", 1, 1, |vm, a| {
        let b = vm.arg(a, 0);
        if !b.is_float() && !b.is_int() {
            let op = vm.intern("divmod");
            return vm.coerce_op(a.recv, op, b);
        }
        let (x, y) = (me(vm, a), vm.to_f(b)?);
        divmod(vm, x, y)
    }),
    public("<", 1, 1, |vm, a| order(vm, a, n::LT, Ordering::is_lt)),
    public("<=", 1, 1, |vm, a| order(vm, a, n::LE, Ordering::is_le)),
    public(">", 1, 1, |vm, a| order(vm, a, n::GT, Ordering::is_gt)),
    public(">=", 1, 1, |vm, a| order(vm, a, n::GE, Ordering::is_ge)),
    public("==", 1, 1, |vm, a| {
        let b = vm.arg(a, 0);
        if b.is_float() || b.is_int() {
            return Ok(Value::bool(cmp(vm, me(vm, a), b) == Some(Ordering::Equal)));
        }
        if b.is_obj() {
            return Ok(Value::bool(vm.send(b, n::EQ, &[a.recv])?.truthy()));
        }
        Ok(FALSE)
    })
    .also(&["==="]),
    public("eql?", 1, 1, |vm, a| {
        let b = vm.arg(a, 0);
        Ok(Value::bool(b.is_float() && me(vm, a) == vm.heap.float_of(b)))
    }),
    public("equal?", 1, 1, |vm, a| {
        let b = vm.arg(a, 0);
        Ok(Value::bool(b.is_float() && (a.recv == b || me(vm, a) == vm.heap.float_of(b))))
    }),
    public("<=>", 1, 1, |vm, a| {
        let b = vm.arg(a, 0);
        let x = me(vm, a);
        if b.is_float() || b.is_int() {
            return Ok(cmp(vm, x, b).map_or(NIL, |o| Value::fix(o as i64)));
        }
        let inf = vm.intern("infinite?");
        if x.is_infinite() && b.is_obj() && vm.responds(b, inf, false)? {
            let r = vm.send(b, inf, &[])?;
            let mine = if x > 0.0 { 1 } else { -1 };
            if r.truthy() {
                let other = vm.to_int(r)?;
                return Ok(Value::fix(i64::from(mine > other) - i64::from(mine < other)));
            }
            return Ok(Value::fix(mine));
        }
        if b.is_obj() && vm.is_a(b, c::NUMERIC) && vm.responds(b, n::COERCE, true)? {
            let pair = vm.send(b, n::COERCE, &[a.recv])?;
            if pair.is_arr() && vm.heap.arr(pair).len() == 2 {
                let (x, y) = (vm.heap.arr(pair)[0], vm.heap.arr(pair)[1]);
                return vm.send(x, n::CMP, &[y]);
            }
        }
        Ok(NIL)
    }),
    public("hash", 0, 0, |vm, a| {
        let f = me(vm, a);
        let bits = if f == 0.0 { 0 } else { f.to_bits() };
        Ok(Value::fix((bits.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 3) as i64))
    }),
    public("-@", 0, 0, |vm, a| {
        let x = me(vm, a);
        Ok(vm.float(-x))
    }),
    public("abs", 0, 0, |vm, a| {
        let x = me(vm, a);
        Ok(vm.float(x.abs()))
    })
    .also(&["magnitude"]),
    public("to_s", 0, 0, |vm, a| {
        let t = crate::convert::float_text(me(vm, a));
        Ok(vm.ascii(t))
    })
    .also(&["inspect"]),
    public("to_f", 0, 0, |_, a| Ok(a.recv)),
    public("to_i", 0, 0, |vm, a| {
        let x = me(vm, a);
        vm.float_to_int(x)
    })
    .also(&["to_int"]),
    public("nan?", 0, 0, |vm, a| Ok(Value::bool(me(vm, a).is_nan()))),
    public("finite?", 0, 0, |vm, a| Ok(Value::bool(me(vm, a).is_finite()))),
    public("infinite?", 0, 0, |vm, a| {
        let x = me(vm, a);
        Ok(if x.is_infinite() { Value::fix(if x > 0.0 { 1 } else { -1 }) } else { NIL })
    }),
    public("zero?", 0, 0, |vm, a| Ok(Value::bool(me(vm, a) == 0.0))),
    public("positive?", 0, 0, |vm, a| Ok(Value::bool(me(vm, a) > 0.0))),
    public("negative?", 0, 0, |vm, a| Ok(Value::bool(me(vm, a) < 0.0))),
    public("floor", 0, 1, |vm, a| rounding(vm, a, "floor")),
    public("ceil", 0, 1, |vm, a| rounding(vm, a, "ceil")),
    public("truncate", 0, 1, |vm, a| rounding(vm, a, "truncate")),
    public("round", 0, 2, |vm, a| rounding(vm, a, "round")),
    public("next_float", 0, 0, |vm, a| {
        let x = me(vm, a);
        Ok(vm.float(if x.is_infinite() && x > 0.0 { x } else { x.next_up() }))
    }),
    public("prev_float", 0, 0, |vm, a| {
        let x = me(vm, a);
        Ok(vm.float(if x.is_infinite() && x < 0.0 { x } else { x.next_down() }))
    }),
    public("coerce", 1, 1, |vm, a| {
        let b = vm.arg(a, 0);
        let y = if b.is_str() {
            let s = vm.text(b);
            match parse_strict(s.as_bytes()) {
                Some(f) => f,
                None => {
                    let t = vm.inspect_string(b)?;
                    return vm.arg_error(format!("invalid value for Float(): {t}"));
                }
            }
        } else {
            vm.to_f(b)?
        };
        let y = vm.float(y);
        Ok(vm.arr(vec![y, a.recv]))
    }),
    // Exact numerator and denominator, for Rational.
    public("__ratio", 0, 0, |vm, a| {
        let x = me(vm, a);
        if !x.is_finite() {
            return vm.fail(c::FLOAT_DOMAIN, crate::convert::float_text(x));
        }
        let (num, den) = ratio(x);
        let (num, den) = (vm.heap.big(num), vm.heap.big(den));
        Ok(vm.arr(vec![num, den]))
    }),
];

pub(crate) fn init(vm: &mut Vm) {
    let k = c::FLOAT;
    vm.classes[k as usize].alloc = Alloc::None;
    vm.natives(c::FLOAT, METHODS);
    let consts: [(&str, f64); 6] = [
        ("INFINITY", f64::INFINITY),
        ("NAN", f64::NAN),
        ("EPSILON", f64::EPSILON),
        ("MAX", f64::MAX),
        ("MIN", f64::MIN_POSITIVE),
        ("PI_", 0.0),
    ];
    for (name, f) in consts.iter().take(5) {
        let v = vm.float(*f);
        let sym = vm.intern(name);
        vm.const_set(k, sym, v);
    }
    for (name, i) in [
        ("DIG", 15),
        ("MANT_DIG", 53),
        ("MAX_10_EXP", 308),
        ("MIN_10_EXP", -307),
        ("MAX_EXP", 1024),
        ("MIN_EXP", -1021),
        ("RADIX", 2),
    ] {
        let sym = vm.intern(name);
        vm.const_set(k, sym, Value::fix(i));
    }
    let _ = TRUE;
}

fn ratio(x: f64) -> (Big, Big) {
    let mut f = x;
    let mut e = 0usize;
    while f != f.trunc() && e < 1100 {
        f *= 2.0;
        e += 1;
    }
    (if f == 0.0 { Big::default() } else { Big::from_f64(f) }, Big::from_i64(1).shl(e))
}

impl Vm {
    pub(crate) fn math_domain_error(&mut self) -> u32 {
        self.define_class(c::MATH, "DomainError", c::ARGUMENT_ERROR)
    }

    /// A float for Math: only real numbers are taken.
    pub(crate) fn math_arg(&mut self, v: Value) -> Res<f64> {
        if v.is_fix() || v.is_float() || v.is_big() {
            return self.to_f(v);
        }
        if v.is_str() {
            return self.type_error("can't convert String into Float");
        }
        self.to_f(v)
    }
}
