//! Arithmetic of eval(): numbers with suffixes, operators, functions and constants.
//!
//! The grammar is the original's (math.peg), read by ordered choice: what follows the longest
//! expression at the start of the text is left alone, powers bind to the left like products,
//! and comparisons are on the level of sums.

/// Deepest nesting of parentheses.
const MAX_DEPTH: usize = 100;

/// The value of an expression, or why it does not read. No text at all is zero.
pub(super) fn evaluate(source: &str) -> Result<f64, String> {
    let text = source.as_bytes();
    let start = blanks(text, 0);
    match sum(text, start, 0) {
        Some((value, _)) => Ok(value),
        None if text.is_empty() => Ok(0.0),
        None => Err("expression could not be parsed".to_owned()),
    }
}

/// A value and where the text behind it starts.
type Read = Option<(f64, usize)>;

fn blanks(text: &[u8], mut at: usize) -> usize {
    while matches!(text.get(at), Some(b' ' | b'\t')) {
        at += 1;
    }
    at
}

// The first of the words that stands there, and the place behind it and its blanks.
fn operator<'w>(text: &[u8], at: usize, words: &[&'w str]) -> Option<(&'w str, usize)> {
    let word = words.iter().find(|word| text[at..].starts_with(word.as_bytes()))?;
    Some((word, blanks(text, at + word.len())))
}

fn sum(text: &[u8], at: usize, depth: usize) -> Read {
    let (mut left, mut at) = product(text, at, depth)?;
    let words = ["+", "-", "==", "<=", "<", ">=", ">"];
    while let Some((word, next)) = operator(text, at, &words) {
        let Some((right, end)) = product(text, next, depth) else { break };
        let close = (left - right).abs() < 1e-17;
        left = match word {
            "+" => left + right,
            "-" => left - right,
            "==" => truth(close),
            "<=" => truth(left < right || close),
            "<" => truth(left < right),
            ">=" => truth(left > right || close),
            _ => truth(left > right),
        };
        at = end;
    }
    Some((left, at))
}

fn truth(holds: bool) -> f64 {
    f64::from(u8::from(holds))
}

fn product(text: &[u8], at: usize, depth: usize) -> Read {
    let (mut left, mut at) = value(text, at, depth)?;
    while let Some((word, next)) = operator(text, at, &["^", "**", "*", "/", "%"]) {
        let Some((right, end)) = value(text, next, depth) else { break };
        left = match word {
            "^" | "**" => left.powf(right),
            "*" => left * right,
            "/" => left / right,
            // The original divides by zero here and is killed.
            _ => (left as i64).checked_rem(right as i64)? as f64,
        };
        at = end;
    }
    Some((left, at))
}

fn value(text: &[u8], at: usize, depth: usize) -> Read {
    if depth > MAX_DEPTH {
        return None;
    }
    number(text, at).or_else(|| constant(text, at)).or_else(|| call(text, at, depth)).or_else(
        || {
            let (_, next) = operator(text, at, &["("])?;
            let (value, end) = sum(text, next, depth + 1)?;
            let (_, end) = operator(text, end, &[")"])?;
            Some((value, end))
        },
    )
}

fn number(text: &[u8], start: usize) -> Read {
    let digits = |mut at: usize| {
        while text.get(at).is_some_and(u8::is_ascii_digit) {
            at += 1;
        }
        at
    };
    let first = start + usize::from(text.get(start) == Some(&b'-'));
    let whole = digits(first);
    let end = if whole > first {
        if text.get(whole) == Some(&b'.') { digits(whole + 1) } else { whole }
    } else if text.get(first) == Some(&b'.') && digits(first + 1) > first + 1 {
        digits(first + 1)
    } else {
        return None;
    };
    let number: f64 = std::str::from_utf8(&text[start..end]).ok()?.parse().ok()?;
    let end = blanks(text, end);
    let factor = match text.get(end).map(u8::to_ascii_lowercase) {
        Some(b'k') => 1e3,
        Some(b'm') => 1e6,
        Some(b'g') => 1e9,
        Some(b't') => 1e12,
        Some(b'p') => 1e15,
        _ => return Some((number, end)),
    };
    Some((number * factor, blanks(text, end + 1)))
}

// A function takes one value, and a sum only in parentheses of its own.
fn call(text: &[u8], at: usize, depth: usize) -> Read {
    let names = [
        "ceil", "floor", "log10", "log2", "log", "sqrt", "sin", "cos", "tan", "asin", "acos",
        "atan", "abs", "step",
    ];
    let name = names.iter().find(|name| text[at..].starts_with(name.as_bytes()))?;
    let (_, next) = operator(text, at + name.len(), &["("])?;
    let (argument, end) = value(text, next, depth + 1)?;
    let (_, end) = operator(text, end, &[")"])?;
    Some((function(name, argument), end))
}

fn function(name: &str, x: f64) -> f64 {
    match name {
        "ceil" => x.ceil(),
        "floor" => x.floor(),
        "log10" => x.log10(),
        "log2" => x.log2(),
        "log" => x.ln(),
        "sqrt" => x.sqrt(),
        "sin" => x.sin(),
        "cos" => x.cos(),
        "tan" => x.tan(),
        "asin" => x.asin(),
        "acos" => x.acos(),
        "atan" => x.atan(),
        "abs" => x.abs(),
        _ => truth(x >= 0.0),
    }
}

// The first that fits counts, so `pi_2` is `pi`. No blanks are read after a constant.
fn constant(text: &[u8], at: usize) -> Read {
    use std::f64::consts;
    let constants = [
        ("e", consts::E),
        ("log2e", consts::LOG2_E),
        ("log10e", consts::LOG10_E),
        ("ln2", consts::LN_2),
        ("ln10", consts::LN_10),
        ("pi", consts::PI),
        ("sqrt2", consts::SQRT_2),
        ("sqrt1_2", consts::FRAC_1_SQRT_2),
    ];
    let (name, value) =
        constants.iter().find(|(name, _)| text[at..].starts_with(name.as_bytes()))?;
    Some((*value, at + name.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_are_computed() {
        let table = [
            ("1+2*3", 7.0),
            ("(1+2)*3", 9.0),
            ("2**3", 8.0),
            ("2^3^2", 64.0),
            ("10 % 3", 1.0),
            ("1k", 1000.0),
            ("2 K", 2000.0),
            ("sqrt(16)", 4.0),
            ("sqrt((9+7))", 4.0),
            ("3 < 4", 1.0),
            ("-2", -2.0),
            ("", 0.0),
            // What does not read is left alone.
            ("-5 + +3", -5.0),
            ("pi * e", std::f64::consts::PI),
            ("1 2", 1.0),
            ("1 +", 1.0),
        ];
        for (text, expected) in table {
            assert_eq!(evaluate(text), Ok(expected), "{text}");
        }
        for text in ["(1", "hello", "-(2)", " ", "sqrt(9+7)"] {
            assert!(evaluate(text).is_err(), "{text}");
        }
    }
}
