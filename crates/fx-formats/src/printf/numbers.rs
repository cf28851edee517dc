//! Numbers as the letters of a format want them.

use super::Spec;
use crate::decimal;

/// The base of a letter's digits.
pub fn base(letter: u8) -> u32 {
    match letter {
        b'x' | b'X' => 16,
        b'o' => 8,
        b'b' | b'B' => 2,
        _ => 10,
    }
}

impl Spec {
    /// An integer as `d`, `x`, `X`, `o`, `b` or `B`: `digits` are those of its magnitude in the
    /// [`base`] of the letter.
    pub fn integer(&self, letter: u8, negative: bool, digits: &str) -> String {
        // Without a sign asked for, a negative number shows its endless complement.
        if negative && base(letter) != 10 && !self.plus && !self.space {
            return self.complement(letter, digits);
        }
        let is_zero = digits == "0";
        let prefix = if is_zero { "" } else { self.prefix(letter) };
        // With no digits asked for a zero has none, but an octal one is its own prefix.
        let hidden = is_zero && self.precision == Some(0) && !(letter == b'o' && self.alt);
        let digits = if hidden { String::new() } else { cased(letter, digits) };
        let missing = self.precision.unwrap_or(0).saturating_sub(digits.len());
        let digits = "0".repeat(missing) + &digits;
        self.filled(self.sign(negative), prefix, &digits, self.precision.is_none())
    }

    /// A float as `f`, `e`, `E`, `g`, `G`, `a` or `A`.
    pub fn float(&self, letter: u8, value: f64) -> String {
        let sign = self.sign(value.is_sign_negative() && !value.is_nan());
        let magnitude = value.abs();
        if !magnitude.is_finite() {
            let word = if magnitude.is_nan() { "NaN" } else { "Inf" };
            return self.filled(sign, "", word, false);
        }
        let precision = self.precision.unwrap_or(6);
        let digits = match letter {
            b'e' | b'E' => exponent(magnitude, precision, self.alt),
            b'g' | b'G' => general(magnitude, precision.max(1), self.alt),
            b'a' | b'A' => hexadecimal(magnitude, self.precision, self.alt),
            _ => pointed(decimal::fixed(magnitude, precision), self.alt && precision == 0),
        };
        let digits = if letter.is_ascii_uppercase() { digits.to_uppercase() } else { digits };
        // Zeros come behind `0x`.
        let (prefix, digits) = digits.split_at(if matches!(letter, b'a' | b'A') { 2 } else { 0 });
        self.filled(sign, prefix, digits, true)
    }

    /// An integer as `f`, with all its digits.
    pub fn whole(&self, negative: bool, digits: &str) -> String {
        let places = self.precision.unwrap_or(6);
        let text = match places {
            0 => digits.to_owned(),
            _ => format!("{digits}.{}", "0".repeat(places)),
        };
        self.filled(self.sign(negative), "", &text, true)
    }

    fn prefix(&self, letter: u8) -> &'static str {
        match letter {
            _ if !self.alt => "",
            b'x' => "0x",
            b'X' => "0X",
            b'o' => "0",
            b'b' => "0b",
            b'B' => "0B",
            _ => "",
        }
    }

    /// A negative number in two's complement, its endless sign shown as dots.
    fn complement(&self, letter: u8, digits: &str) -> String {
        let base = base(letter);
        let top = char::from_digit(base - 1, base).unwrap_or('1');
        // The complement of each digit, and one more.
        let mut carry = 1;
        let mut turned: Vec<char> = digits
            .chars()
            .rev()
            .map(|digit| {
                let digit = base - 1 - digit.to_digit(base).unwrap_or(0) + carry;
                carry = digit / base;
                char::from_digit(digit % base, base).unwrap_or('0')
            })
            .collect();
        while turned.last() == Some(&top) {
            turned.pop();
        }
        turned.push(top);
        let shown: String = turned.iter().rev().collect();
        // The dots are sign enough for an octal number.
        let prefix = if letter == b'o' { "" } else { self.prefix(letter) };
        let least = match self.precision {
            Some(least) => least.saturating_sub(2),
            None if self.zero && !self.minus => {
                self.width.unwrap_or(0).saturating_sub(prefix.len() + 2)
            }
            None => 0,
        };
        let shown = top.to_string().repeat(least.saturating_sub(shown.len())) + &shown;
        self.filled("", prefix, &format!("..{}", cased(letter, &shown)), false)
    }
}

fn cased(letter: u8, digits: &str) -> String {
    if letter == b'X' { digits.to_uppercase() } else { digits.to_owned() }
}

fn pointed(text: String, point: bool) -> String {
    if point { text + "." } else { text }
}

fn exponent(value: f64, precision: usize, alt: bool) -> String {
    let text = decimal::scientific(value, precision);
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let dot = if alt && precision == 0 { "." } else { "" };
    format!("{mantissa}{dot}e{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.abs())
}

fn general(value: f64, precision: usize, alt: bool) -> String {
    if value == 0.0 {
        return if alt {
            pointed(decimal::fixed(0.0, precision - 1), precision == 1)
        } else {
            "0".into()
        };
    }
    let text = decimal::scientific(value, precision - 1);
    let power: i32 = text.split_once('e').and_then(|(_, e)| e.parse().ok()).unwrap_or(0);
    let shown = if power < -4 || power >= precision as i32 {
        exponent(value, precision - 1, alt)
    } else {
        let places = (precision as i32 - 1 - power).max(0) as usize;
        pointed(decimal::fixed(value, places), alt && places == 0)
    };
    if alt || !shown.contains('.') {
        return shown;
    }
    let (mantissa, rest) = shown.split_at(shown.find('e').unwrap_or(shown.len()));
    format!("{}{rest}", mantissa.trim_end_matches('0').trim_end_matches('.'))
}

fn hexadecimal(value: f64, precision: Option<usize>, alt: bool) -> String {
    if value == 0.0 {
        return if alt { "0x0.p+0".into() } else { "0x0p+0".into() };
    }
    let bits = value.to_bits();
    let mut exponent = ((bits >> 52) & 0x7ff) as i32 - 1023;
    let mut mantissa = bits & ((1 << 52) - 1);
    let mut lead = 1;
    if exponent == -1023 {
        (exponent, lead) = (-1022, 0);
    }
    if let Some(places) = precision
        && places < 13
    {
        let shift = 52 - 4 * places;
        mantissa = (mantissa + (1u64 << (shift - 1))) >> shift << shift;
    }
    let mut digits = format!("{mantissa:013x}");
    match precision {
        Some(places) => digits.truncate(places),
        None => digits = digits.trim_end_matches('0').to_owned(),
    }
    let part = if digits.is_empty() && !alt { String::new() } else { format!(".{digits}") };
    format!("0x{lead}{part}p{exponent:+}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn integer(spec: Spec, letter: u8, value: i64) -> String {
        let magnitude = value.unsigned_abs();
        let digits = match base(letter) {
            16 => format!("{magnitude:x}"),
            8 => format!("{magnitude:o}"),
            2 => format!("{magnitude:b}"),
            _ => magnitude.to_string(),
        };
        spec.integer(letter, value < 0, &digits)
    }

    /// Recorded from Ruby 3.1.2.
    #[test]
    fn integers_look_as_ruby_prints_them() {
        let plain = Spec::default();
        let alt = Spec { alt: true, ..plain };
        let wide = Spec { zero: true, width: Some(8), ..plain };
        let exact = Spec { precision: Some(6), ..plain };
        for (spec, letter, value, text) in [
            (plain, b'd', -5, "-5"),
            (plain, b'x', -255, "..f01"),
            (plain, b'X', -255, "..F01"),
            (plain, b'o', -8, "..70"),
            (plain, b'b', -5, "..1011"),
            (plain, b'b', 5, "101"),
            (plain, b'x', -1, "..f"),
            (plain, b'x', -16, "..f0"),
            (alt, b'x', -255, "0x..f01"),
            (alt, b'o', -8, "..70"),
            (alt, b'x', 0, "0"),
            (alt, b'B', 2, "0B10"),
            (wide, b'x', -255, "..ffff01"),
            (wide, b'd', -5, "-0000005"),
            (exact, b'x', -255, "..ff01"),
            (exact, b'd', 42, "000042"),
            (Spec { precision: Some(0), ..plain }, b'd', 0, ""),
            (Spec { plus: true, ..plain }, b'x', -255, "-ff"),
        ] {
            assert_eq!(integer(spec, letter, value), text, "{spec:?} {} {value}", letter as char);
        }
    }

    /// Recorded from Ruby 3.1.2.
    #[test]
    fn floats_look_as_ruby_prints_them() {
        let plain = Spec::default();
        let alt = Spec { alt: true, ..plain };
        let zeros = Spec { zero: true, width: Some(5), precision: Some(1), ..plain };
        for (spec, letter, value, text) in [
            (plain, b'g', 2.71, "2.71"),
            (plain, b'g', 1e10, "1e+10"),
            (plain, b'g', 0.0, "0"),
            (alt, b'g', 0.0, "0.00000"),
            (plain, b'e', 2.71, "2.710000e+00"),
            (plain, b'a', 2.71, "0x1.5ae147ae147aep+1"),
            (plain, b'A', 0.5, "0X1P-1"),
            (Spec { precision: Some(0), ..alt }, b'f', 2.0, "2."),
            (zeros, b'f', 2.25, "002.2"),
            (zeros, b'f', 2.55, "002.6"),
            (Spec { zero: true, width: Some(12), ..plain }, b'a', 0.5, "0x0000001p-1"),
            (Spec { zero: true, width: Some(6), ..plain }, b'f', f64::INFINITY, "   Inf"),
            (plain, b'f', -f64::NAN, "NaN"),
        ] {
            assert_eq!(spec.float(letter, value), text, "{spec:?} {} {value}", letter as char);
        }
        let many = Spec { precision: Some(70_000), ..plain };
        assert_eq!([b'f', b'e', b'g'].map(|form| many.float(form, 1.0).len()), [70_002, 70_006, 1]);
        assert_eq!(plain.whole(true, "12"), "-12.000000");
    }
}
