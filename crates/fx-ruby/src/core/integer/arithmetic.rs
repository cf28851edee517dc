//! Integer arithmetic on words and bignums, and coercion of the other operand.

use std::cmp::Ordering;

use crate::bignum::Big;
use crate::names as n;
use crate::object::c;
use crate::value::{FALSE, TRUE, Value};
use crate::vm::{R, Res, Vm};

/// The longest integer that arithmetic makes: some 315,000 decimal digits.
const MAX_BITS: u64 = 1 << 20;

/// The digits of an integer.
fn digits(i: i64, radix: u32) -> String {
    if radix == 10 {
        return i.to_string();
    }
    let mut text = Vec::with_capacity(65);
    let mut rest = i.unsigned_abs();
    loop {
        text.push(char::from_digit((rest % u64::from(radix)) as u32, radix).unwrap_or('0'));
        rest /= u64::from(radix);
        if rest == 0 {
            break;
        }
    }
    if i < 0 {
        text.push('-');
    }
    text.into_iter().rev().collect()
}

impl Vm {
    pub(crate) fn big_value(&self, v: Value) -> Big {
        if v.is_fix() { Big::from_i64(v.as_fix()) } else { self.heap.big_of(v).clone() }
    }

    pub fn int_cmp(&self, a: Value, b: Value) -> Ordering {
        match (a.fixnum(), b.fixnum()) {
            (Some(x), Some(y)) => x.cmp(&y),
            _ => self.big_value(a).compare(&self.big_value(b)),
        }
    }

    pub fn int_text(&self, v: Value, radix: u32) -> String {
        match v.fixnum() {
            Some(i) => digits(i, radix),
            None => self.big_value(v).to_radix(radix),
        }
    }

    pub fn int_add(&mut self, a: Value, b: Value) -> Value {
        match (a.fixnum(), b.fixnum()) {
            (Some(x), Some(y)) => self.int(x + y),
            _ => {
                let r = self.big_value(a).add(&self.big_value(b));
                self.heap.big(r)
            }
        }
    }

    pub fn int_sub(&mut self, a: Value, b: Value) -> Value {
        match (a.fixnum(), b.fixnum()) {
            (Some(x), Some(y)) => self.int(x - y),
            _ => {
                let r = self.big_value(a).sub(&self.big_value(b));
                self.heap.big(r)
            }
        }
    }

    pub fn int_mul(&mut self, a: Value, b: Value) -> R {
        if let (Some(x), Some(y)) = (a.fixnum(), b.fixnum()) {
            return Ok(self.int128(i128::from(x) * i128::from(y)));
        }
        let (a, b) = (self.big_value(a), self.big_value(b));
        self.check_bits((a.bit_length_abs() + b.bit_length_abs()) as u64)?;
        Ok(self.heap.big(a.mul(&b)))
    }

    /// Our long arithmetic takes quadratic time: an integer that would hold the machine up
    /// for minutes is refused instead.
    pub(crate) fn check_bits(&mut self, bits: u64) -> Res<()> {
        if bits > MAX_BITS {
            return self.fail(c::RANGE_ERROR, format!("integer too big ({bits} bits)"));
        }
        Ok(())
    }

    pub fn int_divmod(&mut self, a: Value, b: Value) -> Res<(Value, Value)> {
        if b == Value::fix(0) {
            return self.fail(c::ZERO_DIVISION, "divided by 0");
        }
        if let (Some(x), Some(y)) = (a.fixnum(), b.fixnum()) {
            let (mut q, mut r) = (x / y, x % y);
            if r != 0 && (r < 0) != (y < 0) {
                q -= 1;
                r += y;
            }
            return Ok((self.int(q), self.int(r)));
        }
        let (q, r) = self.big_value(a).divmod(&self.big_value(b));
        Ok((self.heap.big(q), self.heap.big(r)))
    }

    pub fn int_pow(&mut self, a: Value, e: i64) -> R {
        if let Some(x) = a.fixnum() {
            if x == 0 || x == 1 {
                return Ok(if e == 0 { Value::fix(1) } else { a });
            }
            if x == -1 {
                return Ok(Value::fix(if e % 2 == 0 { 1 } else { -1 }));
            }
        }
        let bits = self.big_value(a).bit_length_abs() as i64;
        if bits.saturating_mul(e) > 32 * 1024 * 1024 {
            self.warn("warning: in a**b, b may be too big\n")?;
            return Ok(self.float(f64::INFINITY));
        }
        self.check_bits(bits.saturating_mul(e) as u64)?;
        let r = self.big_value(a).pow(e as u64);
        Ok(self.heap.big(r))
    }

    /// The other operand is no integer: floats by hand, anything else through `coerce`.
    pub(crate) fn coerce_op(&mut self, a: Value, op: fx_ruby_syntax::Sym, b: Value) -> R {
        if b.is_str()
            || b.is_nil()
            || b == TRUE
            || b == FALSE
            || b.is_sym()
            || !self.responds(b, n::COERCE, true)?
        {
            let name = if b.is_str()
                || b.is_obj()
                || b.is_arr()
                || b.is_hash()
                || b.is_sym()
                || b.is_class()
                || b.is_proc()
                || b.is_range()
            {
                self.type_name(b)
            } else {
                self.inspect_string(b)?
            };
            let into = self.real_class(a);
            let into = self.class_name(into);
            if matches!(op, n::LT | n::LE | n::GT | n::GE) {
                return self.cmp_failed(a, b);
            }
            return self.type_error(format!("{name} can't be coerced into {into}"));
        }
        let pair = self.send(b, n::COERCE, &[a])?;
        if !pair.is_arr() || self.heap.arr(pair).len() != 2 {
            return self.type_error("coerce must return [x, y]");
        }
        let (x, y) = (self.heap.arr(pair)[0], self.heap.arr(pair)[1]);
        self.send(x, op, &[y])
    }
}
