//! Floats as text with as many digits as a policy asks for. Rust's formatter panics beyond a
//! precision of 65,535; long before that a float has no digits but zeros.

/// Digits after the point that a float can have, and some.
const MOST: usize = 1100;

/// `1.50`, with so many digits after the point.
pub fn fixed(value: f64, digits: usize) -> String {
    let text = format!("{value:.*}", digits.min(MOST));
    if value.is_finite() { text + &zeros(digits) } else { text }
}

/// `1.50e0`, with so many digits after the point.
pub fn scientific(value: f64, digits: usize) -> String {
    let text = format!("{value:.*e}", digits.min(MOST));
    match text.split_once('e') {
        Some((mantissa, exponent)) => format!("{mantissa}{}e{exponent}", zeros(digits)),
        None => text,
    }
}

fn zeros(digits: usize) -> String {
    "0".repeat(digits.saturating_sub(MOST))
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

    #[test]
    fn the_smallest_float_is_whole() {
        let text = fixed(f64::from_bits(1), 2000);
        assert_eq!(text.trim_end_matches('0').len(), 2 + 1074);
    }
}
