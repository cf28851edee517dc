//! How the original sorts: what comes before what by kind of text, and its merge sort, which
//! puts the later of two equal texts first.

use crate::text::{Str, encode};

use super::address::address;

/// Whether one text comes before another.
pub(super) fn less(mode: &str, left: &str, right: &str) -> bool {
    match mode {
        "int" => before(scan_real(left), scan_real(right), left, right, |a, b| {
            ((a as i64).wrapping_sub(b as i64)) < 0
        }),
        "real" => before(scan_real(left), scan_real(right), left, right, |a, b| a < b),
        "IP" | "ip" => before(address(left), address(right), left, right, |a, b| a < b),
        "MAC" | "mac" => match (mac(left), mac(right)) {
            (Some(a), Some(b)) => a < b,
            (a, b) => before(a, b, left, right, |_, _| false),
        },
        _ => encode(left) < encode(right),
    }
}

// What does not read as that kind comes first, by its text.
fn before<T>(
    a: Option<T>,
    b: Option<T>,
    left: &str,
    right: &str,
    less: impl Fn(T, T) -> bool,
) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => less(a, b),
        (Some(_), None) => false,
        (None, Some(_)) => true,
        (None, None) => encode(left) < encode(right),
    }
}

/// The number at the start of a text, as scanf(3) reads it.
pub(super) fn scan_real(text: &str) -> Option<f64> {
    let text = text.trim_start();
    let bytes = text.as_bytes();
    let digits = |mut at: usize| {
        while bytes.get(at).is_some_and(u8::is_ascii_digit) {
            at += 1;
        }
        at
    };
    let first = usize::from(matches!(bytes.first(), Some(b'+' | b'-')));
    let word = text.get(first..first + 3).map(str::to_ascii_lowercase);
    match word.as_deref() {
        Some("inf") if first == 1 && bytes[0] == b'-' => return Some(f64::NEG_INFINITY),
        Some("inf") => return Some(f64::INFINITY),
        Some("nan") => return Some(f64::NAN),
        _ => {}
    }
    let whole = digits(first);
    let mut end = whole;
    if bytes.get(whole) == Some(&b'.') {
        end = digits(whole + 1);
        if whole == first && end == whole + 1 {
            return None;
        }
    } else if whole == first {
        return None;
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        let exponent = digits(end + 1 + sign);
        if exponent > end + 1 + sign {
            end = exponent;
        }
    }
    text[..end].trim_end_matches('.').parse().ok()
}

// Six numbers with colons between them, or twelve digits; what follows is not looked at.
fn mac(text: &str) -> Option<[u8; 6]> {
    let mut out = [0; 6];
    let mut rest = text;
    let colons = text.len() > 12;
    for (at, byte) in out.iter_mut().enumerate() {
        if colons && at > 0 {
            rest = rest.strip_prefix(':')?;
        }
        (*byte, rest) = scan_hex(rest, if colons { usize::MAX } else { 2 })?;
    }
    Some(out)
}

// A number in hexadecimal of at most so many characters as scanf(3) reads it: a sign and `0x`
// are taken, and of a large number the low byte is kept.
fn scan_hex(text: &str, width: usize) -> Option<(u8, &str)> {
    let text = text.trim_start_matches(|c: char| c.is_ascii_whitespace());
    let mut end = usize::from(text.starts_with(['+', '-']));
    let negative = text.starts_with('-');
    let digit = |at: usize| text.as_bytes().get(at).and_then(|byte| (*byte as char).to_digit(16));
    if width - end > 2
        && text[end..].get(..2).is_some_and(|start| start.eq_ignore_ascii_case("0x"))
        && digit(end + 2).is_some()
    {
        end += 2;
    }
    let first = end;
    let mut number = 0_u8;
    while end < width
        && let Some(value) = digit(end)
    {
        number = number << 4 | value as u8;
        end += 1;
    }
    let number = if negative { number.wrapping_neg() } else { number };
    (end > first).then(|| (number, &text[end..]))
}

/// Sorts as the original's merge sort of lists does.
pub(super) fn sort(mut items: Vec<Str>, mode: &str) -> Vec<Str> {
    let mut width = 1;
    while width < items.len() {
        let mut merged = Vec::with_capacity(items.len());
        for pair in items.chunks(width * 2) {
            let (left, right) = pair.split_at(width.min(pair.len()));
            let (mut p, mut q) = (left.iter().peekable(), right.iter().peekable());
            loop {
                let next = match (p.peek(), q.peek()) {
                    (None, None) => break,
                    (Some(a), Some(b)) if less(mode, a, b) => p.next(),
                    (Some(_), None) => p.next(),
                    _ => q.next(),
                };
                merged.extend(next.cloned());
            }
        }
        items = merged;
        width *= 2;
    }
    items
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_sort_by_kind() {
        let table = [
            ("int", "b a c a 10 9 1k -3 2.5", "a a b c -3 1k 2.5 9 10"),
            ("lex", "b a c", "a b c"),
            (
                "IP",
                "10.0.0.10 10.0.0.9 ::1 bad 192.168.1.0/24",
                "192.168.1.0/24 bad 10.0.0.9 10.0.0.10 ::1",
            ),
            (
                "MAC",
                "00:14:BF:F7:23:1D 0:14:BF:F7:23:1D 00:14:BF:F7:23:1A x",
                "x 00:14:BF:F7:23:1A 0:14:BF:F7:23:1D 00:14:BF:F7:23:1D",
            ),
            ("real", "1.0 1", "1 1.0"),
            (
                "MAC",
                "2001:db8:0:0:1:0:0:1 2001:db8::1 ff01:0:0:0:0:0:0:2 0x0b:+2:-1:4:5:6 001122334455",
                "2001:db8::1 001122334455 ff01:0:0:0:0:0:0:2 2001:db8:0:0:1:0:0:1 0x0b:+2:-1:4:5:6",
            ),
        ];
        for (mode, texts, expected) in table {
            let sorted = sort(texts.split(' ').map(Into::into).collect(), mode);
            assert_eq!(sorted.join(" "), expected, "{mode}");
        }
    }

    #[test]
    fn numbers_are_read_from_the_start_of_a_text() {
        let table = [
            ("1k", Some(1.0)),
            ("-3", Some(-3.0)),
            (".5x", Some(0.5)),
            ("1.", Some(1.0)),
            ("1e3", Some(1000.0)),
            ("x", None),
            ("", None),
            (".", None),
        ];
        for (text, expected) in table {
            assert_eq!(scan_real(text), expected, "{text}");
        }
    }
}
