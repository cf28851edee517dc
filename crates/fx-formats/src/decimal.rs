//! Floats as text with as many digits as a policy asks for, rounded as Ruby rounds them.
//!
//! Rust's formatter panics beyond a precision of 65,535; long before that a float has no digits
//! but zeros.

/// Digits after the point that a float can have, and some.
const MOST: usize = 1100;

/// A float with more digits than this is rounded by its exact value alone.
const EXACT_FROM: usize = 15;

/// `1.50`, with so many digits after the point.
pub fn fixed(value: f64, digits: usize) -> String {
    if let Some(tie) = Tie::of(value)
        && tie.places == digits as i64 + 1
    {
        return tie.fixed(digits);
    }
    let text = format!("{value:.*}", digits.min(MOST));
    if value.is_finite() { text + &zeros(digits) } else { text }
}

/// `1.50e0`, with so many digits after the point.
pub fn scientific(value: f64, digits: usize) -> String {
    if let Some(tie) = Tie::of(value)
        && tie.length == digits + 2
    {
        return tie.scientific(digits);
    }
    let text = format!("{value:.*e}", digits.min(MOST));
    match text.split_once('e') {
        Some((mantissa, exponent)) => format!("{mantissa}{}e{exponent}", zeros(digits)),
        None => text,
    }
}

fn zeros(digits: usize) -> String {
    "0".repeat(digits.saturating_sub(MOST))
}

/// A float that is written with a last digit of five. Without that digit Ruby rounds to even what
/// is written, although the binary value may lie on one side: 2.55 becomes 2.6.
struct Tie {
    negative: bool,
    /// All digits but the last, rounded.
    rounded: u64,
    /// How many digits are written, and how many of them behind the point.
    length: usize,
    places: i64,
}

impl Tie {
    fn of(value: f64) -> Option<Tie> {
        if !value.is_finite() {
            return None;
        }
        let text = format!("{:e}", value.abs());
        let (mantissa, exponent) = text.split_once('e')?;
        let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
        // Where nothing but the five is left, the binary value decides.
        if !digits.ends_with('5') || !(2..=EXACT_FROM).contains(&digits.len()) {
            return None;
        }
        let exponent: i64 = exponent.parse().ok()?;
        let whole: u64 = digits.parse().ok()?;
        let rounded = whole / 10 + (whole / 10) % 2;
        let places = digits.len() as i64 - 1 - exponent;
        Some(Tie { negative: value.is_sign_negative(), rounded, length: digits.len(), places })
    }

    fn sign(&self) -> &'static str {
        if self.negative { "-" } else { "" }
    }

    fn fixed(&self, digits: usize) -> String {
        let text = format!("{:0width$}", self.rounded, width = digits + 1);
        let (whole, part) = text.split_at(text.len() - digits);
        let point = if digits > 0 { "." } else { "" };
        format!("{}{whole}{point}{part}", self.sign())
    }

    fn scientific(&self, digits: usize) -> String {
        let text = self.rounded.to_string();
        // Rounding 9.5 gives a digit more.
        let grown = text.len() - digits - 1;
        let exponent = self.length as i64 - 1 - self.places + grown as i64;
        let (first, rest) = text[..=digits].split_at(1);
        let point = if digits > 0 { "." } else { "" };
        format!("{}{first}{point}{rest}e{exponent}", self.sign())
    }
}

#[cfg(test)]
mod tests {
    use super::{fixed, scientific};

    #[test]
    fn digits_are_as_many_as_asked_for() {
        assert_eq!(fixed(1.25, 1), "1.2");
        assert_eq!(fixed(-0.5, 0), "-0");
        assert_eq!(scientific(1500.0, 1), "1.5e3");
        for digits in [70_000, 100_000] {
            assert_eq!(fixed(0.5, digits), format!("0.5{}", "0".repeat(digits - 1)));
            assert_eq!(scientific(0.5, digits), format!("5.{}e-1", "0".repeat(digits)));
        }
        assert_eq!(fixed(f64::INFINITY, 70_000), "inf");
        assert_eq!(scientific(f64::NAN, 70_000), "NaN");
    }

    /// Recorded from Ruby 3.1.2.
    #[test]
    fn a_written_half_is_rounded_to_even() {
        for (value, digits, text) in [
            (2.55, 1, "2.6"),
            (2.25, 1, "2.2"),
            (1.005, 2, "1.00"),
            (0.28955, 4, "0.2896"),
            (33.035, 2, "33.04"),
            (533.320_336_5, 6, "533.320336"),
            (8_777.114_605, 5, "8777.11460"),
            (0.06585, 4, "0.0658"),
            (-0.05, 1, "-0.1"),
            (9.995, 2, "10.00"),
            (1.5, 0, "2"),
            (2.5, 0, "2"),
            (744_674_116_076_950.8, 2, "744674116076950.75"),
            (16_441_633_901.089_655, 7, "16441633901.0896549"),
        ] {
            assert_eq!(fixed(value, digits), text);
        }
        for (value, digits, text) in
            [(2.55, 1, "2.6e0"), (9.5, 0, "1e1"), (0.25, 0, "2e-1"), (99.5, 1, "1.0e2")]
        {
            assert_eq!(scientific(value, digits), text);
        }
    }

    #[test]
    fn the_smallest_float_is_whole() {
        let text = fixed(f64::from_bits(1), 2000);
        assert_eq!(text.trim_end_matches('0').len(), 2 + 1074);
    }
}
