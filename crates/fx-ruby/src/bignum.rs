//! Integers of any size: sign and magnitude in 32-bit digits, least significant first.
//!
//! Schoolbook algorithms: enough for what policy computes, and bounded by the heap limit.

use std::cmp::Ordering;

use crate::value::{FIX_MAX, FIX_MIN};

#[derive(Clone, PartialEq, Eq, Debug, Default, Hash)]
pub struct Big {
    pub neg: bool,
    pub digits: Vec<u32>,
}

impl Big {
    pub fn new(neg: bool, mut digits: Vec<u32>) -> Big {
        while digits.last() == Some(&0) {
            digits.pop();
        }
        Big { neg: neg && !digits.is_empty(), digits }
    }

    pub fn from_i128(i: i128) -> Big {
        let mut m = i.unsigned_abs();
        let mut digits = Vec::new();
        while m > 0 {
            digits.push(m as u32);
            m >>= 32;
        }
        Big { neg: i < 0, digits }
    }

    pub fn from_i64(i: i64) -> Big {
        Big::from_i128(i128::from(i))
    }

    /// Truncates towards zero; the caller has refused NaN and infinities.
    pub fn from_f64(f: f64) -> Big {
        let bits = f.abs().to_bits();
        let exp = ((bits >> 52) & 0x7ff) as i64 - 1075;
        let mant = (bits & ((1 << 52) - 1)) | (1 << 52);
        let m = Big::from_i128(i128::from(mant));
        let r = if exp >= 0 { m.shl(exp as usize) } else { m.shr_abs((-exp) as usize) };
        Big::new(f < 0.0, r.digits)
    }

    pub fn to_i128(&self) -> Option<i128> {
        if self.digits.len() > 3 {
            return None;
        }
        let m = self.digits.iter().rev().fold(0i128, |a, d| (a << 32) | i128::from(*d));
        Some(if self.neg { -m } else { m })
    }

    pub fn to_fix(&self) -> Option<i64> {
        let i = self.to_i128()?;
        if i >= i128::from(FIX_MIN) && i <= i128::from(FIX_MAX) { Some(i as i64) } else { None }
    }

    pub fn to_f64(&self) -> f64 {
        let n = self.bit_length_abs();
        if n == 0 {
            return 0.0;
        }
        if n > 1100 {
            return if self.neg { f64::NEG_INFINITY } else { f64::INFINITY };
        }
        // Keep 64 bits with a sticky bit so that one rounding is right.
        let shift = n.saturating_sub(64);
        let top = self.shr_abs(shift);
        let mut m = top.digits.iter().rev().fold(0u64, |a, d| (a << 32) | u64::from(*d));
        if shift > 0 && top.shl(shift).digits != self.digits {
            m |= 1;
        }
        let f = m as f64 * 2f64.powi(shift as i32);
        if self.neg { -f } else { f }
    }

    pub fn is_zero(&self) -> bool {
        self.digits.is_empty()
    }

    pub fn is_even(&self) -> bool {
        self.digits.first().is_none_or(|d| d & 1 == 0)
    }

    pub fn neg(&self) -> Big {
        Big::new(!self.neg, self.digits.clone())
    }

    pub fn cmp_abs(a: &[u32], b: &[u32]) -> Ordering {
        a.len().cmp(&b.len()).then_with(|| a.iter().rev().cmp(b.iter().rev()))
    }

    pub fn compare(&self, other: &Big) -> Ordering {
        match (self.neg, other.neg) {
            (false, true) => Ordering::Greater,
            (true, false) => Ordering::Less,
            (false, false) => Big::cmp_abs(&self.digits, &other.digits),
            (true, true) => Big::cmp_abs(&other.digits, &self.digits),
        }
    }

    fn add_abs(a: &[u32], b: &[u32]) -> Vec<u32> {
        let (a, b) = if a.len() >= b.len() { (a, b) } else { (b, a) };
        let mut out = Vec::with_capacity(a.len() + 1);
        let mut carry = 0u64;
        for (i, d) in a.iter().enumerate() {
            let sum = u64::from(*d) + u64::from(*b.get(i).unwrap_or(&0)) + carry;
            out.push(sum as u32);
            carry = sum >> 32;
        }
        if carry > 0 {
            out.push(carry as u32);
        }
        out
    }

    fn sub_abs(a: &[u32], b: &[u32]) -> Vec<u32> {
        let mut out = Vec::with_capacity(a.len());
        let mut borrow = 0i64;
        for (i, d) in a.iter().enumerate() {
            let mut diff = i64::from(*d) - i64::from(*b.get(i).unwrap_or(&0)) - borrow;
            borrow = i64::from(diff < 0);
            if diff < 0 {
                diff += 1 << 32;
            }
            out.push(diff as u32);
        }
        out
    }

    pub fn add(&self, other: &Big) -> Big {
        if self.neg == other.neg {
            return Big::new(self.neg, Big::add_abs(&self.digits, &other.digits));
        }
        match Big::cmp_abs(&self.digits, &other.digits) {
            Ordering::Less => Big::new(other.neg, Big::sub_abs(&other.digits, &self.digits)),
            _ => Big::new(self.neg, Big::sub_abs(&self.digits, &other.digits)),
        }
    }

    pub fn sub(&self, other: &Big) -> Big {
        self.add(&other.neg())
    }

    pub fn mul(&self, other: &Big) -> Big {
        let mut out = vec![0u32; self.digits.len() + other.digits.len() + 1];
        for (i, a) in self.digits.iter().enumerate() {
            let mut carry = 0u64;
            for (j, b) in other.digits.iter().enumerate() {
                let cur = u64::from(out[i + j]) + u64::from(*a) * u64::from(*b) + carry;
                out[i + j] = cur as u32;
                carry = cur >> 32;
            }
            let mut k = i + other.digits.len();
            while carry > 0 {
                let cur = u64::from(out[k]) + carry;
                out[k] = cur as u32;
                carry = cur >> 32;
                k += 1;
            }
        }
        Big::new(self.neg != other.neg, out)
    }

    fn divmod_small(a: &[u32], d: u32) -> (Vec<u32>, u32) {
        let mut out = vec![0; a.len()];
        let mut rem = 0u64;
        for i in (0..a.len()).rev() {
            let cur = (rem << 32) | u64::from(a[i]);
            out[i] = (cur / u64::from(d)) as u32;
            rem = cur % u64::from(d);
        }
        (out, rem as u32)
    }

    /// Quotient and remainder of magnitudes (Knuth's algorithm D).
    fn divmod_abs(a: &[u32], b: &[u32]) -> (Vec<u32>, Vec<u32>) {
        if Big::cmp_abs(a, b) == Ordering::Less {
            return (Vec::new(), a.to_vec());
        }
        if b.len() == 1 {
            let (q, r) = Big::divmod_small(a, b[0]);
            return (q, vec![r]);
        }
        let shift = b[b.len() - 1].leading_zeros() as usize;
        let b = Big::new(false, b.to_vec()).shl(shift).digits;
        let mut a = Big::new(false, a.to_vec()).shl(shift).digits;
        a.push(0);
        let n = b.len();
        let m = a.len() - n;
        let mut q = vec![0u32; m];
        for j in (0..m).rev() {
            let num = (u64::from(a[j + n]) << 32) | u64::from(a[j + n - 1]);
            let mut qhat = num / u64::from(b[n - 1]);
            let mut rhat = num % u64::from(b[n - 1]);
            while qhat >= 1 << 32
                || qhat * u64::from(b[n - 2]) > ((rhat << 32) | u64::from(a[j + n - 2]))
            {
                qhat -= 1;
                rhat += u64::from(b[n - 1]);
                if rhat >= 1 << 32 {
                    break;
                }
            }
            let mut borrow = 0i64;
            let mut carry = 0u64;
            for i in 0..n {
                let p = qhat * u64::from(b[i]) + carry;
                carry = p >> 32;
                let t = i64::from(a[i + j]) - borrow - (p & 0xFFFF_FFFF) as i64;
                a[i + j] = t as u32;
                borrow = i64::from(t < 0);
            }
            let t = i64::from(a[j + n]) - borrow - carry as i64;
            a[j + n] = t as u32;
            if t < 0 {
                qhat -= 1;
                let mut carry = 0u64;
                for i in 0..n {
                    let t = u64::from(a[i + j]) + u64::from(b[i]) + carry;
                    a[i + j] = t as u32;
                    carry = t >> 32;
                }
                a[j + n] = (u64::from(a[j + n]) + carry) as u32;
            }
            q[j] = qhat as u32;
        }
        a.truncate(n);
        let r = Big::new(false, a).shr_abs(shift).digits;
        (q, r)
    }

    /// Floored division; the divisor is not zero.
    pub fn divmod(&self, other: &Big) -> (Big, Big) {
        let (q, r) = Big::divmod_abs(&self.digits, &other.digits);
        let mut q = Big::new(self.neg != other.neg, q);
        let mut r = Big::new(self.neg, r);
        if !r.is_zero() && self.neg != other.neg {
            q = q.sub(&Big::from_i64(1));
            r = r.add(other);
        }
        (q, r)
    }

    pub fn pow(&self, mut e: u64) -> Big {
        let mut base = self.clone();
        let mut out = Big::from_i64(1);
        while e > 0 {
            if e & 1 == 1 {
                out = out.mul(&base);
            }
            e >>= 1;
            if e > 0 {
                base = base.mul(&base);
            }
        }
        out
    }

    pub fn shl(&self, n: usize) -> Big {
        let (words, bits) = (n / 32, n % 32);
        let mut out = vec![0; words];
        let mut carry = 0u64;
        for d in &self.digits {
            let cur = (u64::from(*d) << bits) | carry;
            out.push(cur as u32);
            carry = cur >> 32;
        }
        out.push(carry as u32);
        Big::new(self.neg, out)
    }

    fn shr_abs(&self, n: usize) -> Big {
        let (words, bits) = (n / 32, n % 32);
        if words >= self.digits.len() {
            return Big::default();
        }
        let d = &self.digits[words..];
        let out = (0..d.len())
            .map(|i| {
                let high = u64::from(*d.get(i + 1).unwrap_or(&0)) << 32;
                ((high | u64::from(d[i])) >> bits) as u32
            })
            .collect();
        Big::new(false, out)
    }

    /// Arithmetic shift: rounds towards minus infinity.
    pub fn shr(&self, n: usize) -> Big {
        if !self.neg {
            return self.shr_abs(n);
        }
        let one = Big::from_i64(1);
        let t = self.neg().sub(&one).shr_abs(n).add(&one);
        t.neg()
    }

    pub fn bit_length_abs(&self) -> usize {
        self.digits.last().map_or(0, |d| self.digits.len() * 32 - d.leading_zeros() as usize)
    }

    pub fn bit_length(&self) -> usize {
        if self.neg { self.add(&Big::from_i64(1)).bit_length_abs() } else { self.bit_length_abs() }
    }

    fn twos(&self, len: usize) -> Vec<u32> {
        let mut d = self.digits.clone();
        d.resize(len, 0);
        if self.neg {
            let mut carry = 1u64;
            for x in &mut d {
                let t = u64::from(!*x) + carry;
                *x = t as u32;
                carry = t >> 32;
            }
        }
        d
    }

    pub fn bitop(&self, other: &Big, f: impl Fn(u32, u32) -> u32) -> Big {
        let len = self.digits.len().max(other.digits.len()) + 1;
        let (a, b) = (self.twos(len), other.twos(len));
        let mut d: Vec<u32> = a.iter().zip(&b).map(|(x, y)| f(*x, *y)).collect();
        let neg = d[len - 1] >> 31 == 1;
        if neg {
            let mut carry = 1u64;
            for x in &mut d {
                let t = u64::from(!*x) + carry;
                *x = t as u32;
                carry = t >> 32;
            }
        }
        Big::new(neg, d)
    }

    pub fn bit(&self, n: usize) -> bool {
        if n / 32 > self.digits.len() {
            return self.neg;
        }
        self.twos(self.digits.len() + 1)[n / 32] >> (n % 32) & 1 == 1
    }

    pub fn to_radix(&self, radix: u32) -> String {
        if self.is_zero() {
            return "0".into();
        }
        let mut chunk = radix;
        let mut width = 1;
        while u64::from(chunk) * u64::from(radix) < 1 << 32 {
            chunk *= radix;
            width += 1;
        }
        let mut d = self.digits.clone();
        let mut parts = Vec::new();
        while !d.is_empty() {
            let (q, mut r) = Big::divmod_small(&d, chunk);
            d = q;
            while d.last() == Some(&0) {
                d.pop();
            }
            for _ in 0..width {
                parts.push(std::char::from_digit(r % radix, radix).unwrap_or('0'));
                r /= radix;
            }
        }
        while parts.last() == Some(&'0') {
            parts.pop();
        }
        if self.neg {
            parts.push('-');
        }
        parts.iter().rev().collect()
    }

    /// Digits only, already checked for the radix.
    pub fn parse(digits: &[u8], radix: u32, neg: bool) -> Big {
        let mut out: Vec<u32> = Vec::new();
        for d in digits {
            let mut carry = u64::from((*d as char).to_digit(radix).unwrap_or(0));
            for x in &mut out {
                let t = u64::from(*x) * u64::from(radix) + carry;
                *x = t as u32;
                carry = t >> 32;
            }
            if carry > 0 {
                out.push(carry as u32);
            }
        }
        Big::new(neg, out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn division_is_floored_and_prints() {
        let a = Big::parse(b"123456789012345678901234567890", 10, false);
        let b = Big::parse(b"987654321098765432", 10, true);
        let (q, r) = a.divmod(&b);
        assert_eq!(q.mul(&b).add(&r), a);
        assert_eq!(q.to_radix(10), "-124999998861");
        assert_eq!(Big::from_i64(2).pow(100).to_radix(10), "1267650600228229401496703205376");
        assert_eq!(Big::from_i64(-5).bitop(&Big::from_i64(3), |x, y| x & y).to_fix(), Some(3));
        assert_eq!(Big::from_f64(1e20).to_radix(10), "100000000000000000000");
        assert_eq!(
            Big::parse(b"ffffffffffffffffffff", 16, false).to_f64(),
            1.208_925_819_614_629_2e24
        );
    }
}
