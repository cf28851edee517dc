//! How the original sorts: what comes before what by kind of text, and its merge sort, which
//! puts the later of two equal texts first.

use super::address::address;
use crate::text::{Str, encode};

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

fn mac(text: &str) -> Option<[u8; 6]> {
    let mut out = [0; 6];
    if text.len() > 12 {
        let mut parts = text.split(':');
        for byte in &mut out {
            *byte = u8::from_str_radix(parts.next()?, 16).ok()?;
        }
    } else {
        for (at, byte) in out.iter_mut().enumerate() {
            *byte = u8::from_str_radix(text.get(at * 2..at * 2 + 2)?, 16).ok()?;
        }
    }
    Some(out)
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
