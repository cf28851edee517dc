//! Numbers and texts in the formats of `sprintf`, with Ruby's additions.

use fx_value::decimal;

/// What stands between the percent sign and the letter.
#[derive(Clone, Debug, Default)]
pub(crate) struct Spec {
    pub(crate) minus: bool,
    pub(crate) plus: bool,
    pub(crate) space: bool,
    pub(crate) zero: bool,
    pub(crate) alt: bool,
    pub(crate) width: usize,
    pub(crate) precision: Option<usize>,
}

impl Spec {
    fn sign(&self, negative: bool) -> &'static str {
        if negative {
            "-"
        } else if self.plus {
            "+"
        } else if self.space {
            " "
        } else {
            ""
        }
    }

    /// Sign, prefix and digits, filled to the width.
    fn filled(&self, sign: &str, prefix: &str, digits: &str, zeros: bool) -> String {
        let used = sign.len() + prefix.len() + digits.chars().count();
        let gap = self.width.saturating_sub(used);
        if self.minus {
            format!("{sign}{prefix}{digits}{}", " ".repeat(gap))
        } else if self.zero && zeros {
            format!("{sign}{prefix}{}{digits}", "0".repeat(gap))
        } else {
            format!("{}{sign}{prefix}{digits}", " ".repeat(gap))
        }
    }

    /// A text, cut to the precision and filled to the width.
    pub(crate) fn text(&self, text: &str) -> String {
        let cut: String = match self.precision {
            Some(most) => text.chars().take(most).collect(),
            None => text.to_owned(),
        };
        self.filled("", "", &cut, false)
    }

    /// An integer as `d`, `x`, `X`, `o`, `b` or `B`.
    pub(crate) fn integer(&self, letter: char, value: i64) -> String {
        let (base, upper) = match letter {
            'x' => (16, false),
            'X' => (16, true),
            'o' => (8, false),
            'b' | 'B' => (2, false),
            _ => (10, false),
        };
        let prefix = match letter {
            _ if !self.alt || value == 0 => "",
            'x' => "0x",
            'X' => "0X",
            'o' => "0",
            'b' => "0b",
            'B' => "0B",
            _ => "",
        };
        // Without a sign asked for, a negative number shows its endless complement.
        if value < 0 && base != 10 && !self.plus && !self.space {
            let digits = complement(value, base);
            let digits = if upper { digits.to_uppercase() } else { digits };
            return self.filled("", prefix, &format!("..{digits}"), false);
        }
        let mut digits = in_base(value.unsigned_abs(), base);
        if upper {
            digits = digits.to_uppercase();
        }
        if let Some(least) = self.precision {
            digits = format!("{}{digits}", "0".repeat(least.saturating_sub(digits.len())));
        }
        self.filled(self.sign(value < 0), prefix, &digits, self.precision.is_none())
    }

    /// A float as `f`, `e`, `E`, `g`, `G`, `a` or `A`.
    pub(crate) fn float(&self, letter: char, value: f64) -> String {
        let sign = self.sign(value.is_sign_negative());
        let magnitude = value.abs();
        if !magnitude.is_finite() {
            let word = if magnitude.is_nan() { "NaN" } else { "Inf" };
            return self.filled(sign, "", word, false);
        }
        let precision = self.precision.unwrap_or(6);
        let digits = match letter.to_ascii_lowercase() {
            'e' => exponent_form(magnitude, precision),
            'g' => general_form(magnitude, precision.max(1), self.alt),
            'a' => hex_form(magnitude),
            _ => fixed_form(magnitude, precision),
        };
        let digits = if letter.is_ascii_uppercase() { digits.to_uppercase() } else { digits };
        match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
            Some(rest) => {
                let prefix = if letter == 'A' { "0X" } else { "0x" };
                self.filled(sign, prefix, rest, true)
            }
            None => self.filled(sign, "", &digits, true),
        }
    }
}

/// Digits in a base.
pub(crate) fn in_base(mut value: u64, base: u64) -> String {
    let mut digits = Vec::new();
    loop {
        digits.push(char::from_digit((value % base) as u32, base as u32).unwrap_or('0'));
        value /= base;
        if value == 0 {
            break;
        }
    }
    digits.iter().rev().collect()
}

fn complement(value: i64, base: u64) -> String {
    let (bits, last) = match base {
        16 => (4, 'f'),
        8 => (3, '7'),
        _ => (1, '1'),
    };
    let mut digits = Vec::new();
    let mut rest = value;
    while rest != -1 {
        let digit = (rest & ((1 << bits) - 1)) as u32;
        digits.push(char::from_digit(digit, base as u32).unwrap_or('0'));
        rest >>= bits;
    }
    if digits.last() != Some(&last) {
        digits.push(last);
    }
    digits.iter().rev().collect()
}

/// Ruby scales in floating point first, so that what comes out as a half is rounded as one.
fn fixed_form(value: f64, precision: usize) -> String {
    let scale = 10_f64.powi(precision.min(300) as i32);
    let scaled = value * scale;
    if (1..=300).contains(&precision) && scaled < 9e15 && scaled.fract() == 0.5 {
        let digits = format!("{:0width$}", scaled.round_ties_even() as u64, width = precision + 1);
        let (whole, part) = digits.split_at(digits.len() - precision);
        return format!("{whole}.{part}");
    }
    decimal::fixed(value, precision)
}

fn exponent_form(value: f64, precision: usize) -> String {
    let text = decimal::scientific(value, precision);
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    format!("{mantissa}e{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.abs())
}

fn general_form(value: f64, precision: usize, keep_zeros: bool) -> String {
    let text = decimal::scientific(value, precision - 1);
    let exponent: i32 = text.split_once('e').and_then(|(_, e)| e.parse().ok()).unwrap_or(0);
    let shown = if exponent < -4 || exponent >= precision as i32 {
        exponent_form(value, precision - 1)
    } else {
        let places = (precision as i32 - 1 - exponent).max(0) as usize;
        decimal::fixed(value, places)
    };
    if keep_zeros || !shown.contains('.') {
        return shown;
    }
    let (mantissa, rest) = match shown.split_once('e') {
        Some((mantissa, rest)) => (mantissa, format!("e{rest}")),
        None => (shown.as_str(), String::new()),
    };
    format!("{}{rest}", mantissa.trim_end_matches('0').trim_end_matches('.'))
}

fn hex_form(value: f64) -> String {
    if value == 0.0 {
        return "0x0p+0".into();
    }
    let bits = value.to_bits();
    let exponent = ((bits >> 52) & 0x7ff) as i32 - 1023;
    let digits = format!("{:013x}", bits & ((1 << 52) - 1));
    let digits = digits.trim_end_matches('0');
    let dot = if digits.is_empty() { "" } else { "." };
    format!("0x1{dot}{digits}p{}{}", if exponent < 0 { '-' } else { '+' }, exponent.abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_look_as_ruby_prints_them() {
        let plain = Spec::default();
        assert_eq!(plain.integer('x', -255), "..f01");
        assert_eq!(plain.integer('b', 5), "101");
        assert_eq!(plain.float('g', 2.71), "2.71");
        assert_eq!(plain.float('g', 1e10), "1e+10");
        assert_eq!(plain.float('e', 2.71), "2.710000e+00");
        assert_eq!(plain.float('a', 2.71), "0x1.5ae147ae147aep+1");
        let zeros = Spec { zero: true, width: 5, precision: Some(1), ..Spec::default() };
        assert_eq!(zeros.float('f', 2.25), "002.2");
        assert_eq!(zeros.float('f', 2.55), "002.6");
        let many = Spec { precision: Some(70_000), ..Spec::default() };
        let lengths = ['f', 'e', 'g'].map(|form| many.float(form, 1.0).len());
        assert_eq!(lengths, [70_002, 70_006, 1]);
    }
}
