//! Text as CFEngine sees it: bytes carried losslessly in a string, and its small rules.
//!
//! Policy strings, file lines and command output are bytes in CFEngine. Here they are
//! Rust strings in which a byte that is not part of valid UTF-8 stands as one private-use
//! character, so nothing is lost between reading and writing.

use std::borrow::Cow;
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// A shared string.
pub type Str = Rc<str>;

// Plane 16 private use: the last 128 code points stand for the bytes 0x80..=0xff.
const ESCAPE_BASE: u32 = 0x0010_FF00;

/// Bytes to text, without loss.
pub fn decode(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        out.push_str(chunk.valid());
        for byte in chunk.invalid() {
            out.extend(char::from_u32(ESCAPE_BASE + u32::from(*byte)));
        }
    }
    out
}

/// Text to bytes: the inverse of [`decode`].
pub fn encode(text: &str) -> Cow<'_, [u8]> {
    // Escaped bytes start with 0xf4 in UTF-8; without that lead byte nothing is escaped.
    if !text.as_bytes().contains(&0xf4) {
        return Cow::Borrowed(text.as_bytes());
    }
    let mut out = Vec::with_capacity(text.len());
    for char in text.chars() {
        match u32::from(char).checked_sub(ESCAPE_BASE) {
            Some(byte @ 0x80..=0xff) => out.push(byte as u8),
            _ => out.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    Cow::Owned(out)
}

/// A path from policy text.
pub fn path(text: &str) -> PathBuf {
    PathBuf::from(os(text))
}

/// An operating-system string from policy text.
pub fn os(text: &str) -> OsString {
    OsString::from_vec(encode(text).into_owned())
}

/// Policy text from a path.
pub fn from_path(path: &Path) -> String {
    decode(path.as_os_str().as_bytes())
}

/// A legal class name: every byte that is not a letter, digit or underscore becomes `_`.
pub fn canonify(text: &str) -> String {
    if text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') {
        return text.to_owned();
    }
    encode(text)
        .iter()
        .map(|b| if b.is_ascii_alphanumeric() { char::from(*b) } else { '_' })
        .collect()
}

/// As [`canonify`], but keeps a colon so that names qualified by a namespace stay so.
pub(crate) fn canonify_class(text: &str) -> String {
    if text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b':')) {
        return text.to_owned();
    }
    encode(text)
        .iter()
        .map(|b| if b.is_ascii_alphanumeric() || *b == b':' { char::from(*b) } else { '_' })
        .collect()
}

thread_local! {
    // When this run began, which the word `now` stands for.
    static STARTED: std::cell::Cell<i64> = const { std::cell::Cell::new(0) };
}

/// Remembers when the run began.
pub(crate) fn set_start(secs: i64) {
    STARTED.set(secs);
}

/// An integer as CFEngine reads it: optional suffix, `inf`, `now`.
pub fn int_from(text: &str) -> Option<i64> {
    if text == "inf" {
        return Some(999_999_999);
    }
    if text == "now" {
        return Some(STARTED.get());
    }
    let trimmed = text.trim_start();
    let end = trimmed
        .char_indices()
        .find(|(at, char)| !(char.is_ascii_digit() || (*at == 0 && matches!(char, '-' | '+'))))
        .map_or(trimmed.len(), |(at, _)| at);
    let number: i64 = trimmed[..end].parse().ok()?;
    let rest = trimmed[end..].trim_end();
    let factor = match rest {
        "" => 1,
        "k" => 1000,
        "K" => 1024,
        "m" => 1_000_000,
        "M" => 1 << 20,
        "g" => 1_000_000_000,
        "G" => 1 << 30,
        "%" => {
            return (0..=100).contains(&number).then_some(-number);
        }
        // One letter that is no factor is passed over.
        _ if rest.len() == 1 => 1,
        _ => return None,
    };
    number.checked_mul(factor)
}

/// What is logged of a text that is no number of the kind, `integer` or `real`.
pub(crate) fn number_problem(text: &str, kind: &str) -> String {
    let end = text
        .char_indices()
        .find(|(at, char)| {
            !(char.is_ascii_digit()
                || *at == 0 && matches!(char, '-' | '+')
                || kind == "real" && *char == '.')
        })
        .map_or(text.len(), |(at, _)| at);
    let mut rest = text[end..].chars();
    let digits = text[..end].contains(|char: char| char.is_ascii_digit());
    match (rest.next(), rest.find(|char| !char.is_whitespace())) {
        (Some(first), Some(second)) if digits => {
            format!("Anomalous ending '{first}{second}' while parsing {kind} number: {text}")
        }
        _ => format!("Failed to parse {kind} number: {text}"),
    }
}

/// A real number as CFEngine reads it, with the same suffixes.
pub(crate) fn real_from(text: &str) -> Option<f64> {
    let trimmed = text.trim();
    if let Ok(number) = trimmed.parse::<f64>() {
        return Some(number);
    }
    let last = trimmed.chars().last()?;
    let number: f64 = trimmed[..trimmed.len() - last.len_utf8()].trim_end().parse().ok()?;
    let factor = match last {
        'k' => 1000.0,
        'K' => 1024.0,
        'm' => 1e6,
        'M' => 1_048_576.0,
        'g' => 1e9,
        'G' => 1_073_741_824.0,
        '%' => -1.0,
        _ => return None,
    };
    Some(number * factor)
}

/// Takes `.`, `..` and doubled slashes out of an absolute path.
pub fn compress_path(file: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in file.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    format!("/{}", parts.join("/"))
}

/// Truth words: `true yes on` and `false no off`.
pub(crate) fn bool_from(text: &str) -> Option<bool> {
    match text {
        "true" | "yes" | "on" => Some(true),
        "false" | "no" | "off" => Some(false),
        _ => None,
    }
}

/// Whether the text holds a variable reference: `$(x)`, `${x}`, `@(x)` or `@{x}`.
pub fn has_variable(text: &str) -> bool {
    references(text, b"$@", true)
}

/// Whether the text holds a scalar reference to expand: `$(x)` or `${x}`.
pub(crate) fn is_expandable(text: &str) -> bool {
    references(text, b"$", false)
}

/// As [`is_expandable`], but a slash inside the brackets makes it shell text.
pub(crate) fn has_scalar(text: &str) -> bool {
    references(text, b"$", true)
}

// As vars.c does: a lead byte before a bracket opens a reference; nested brackets count;
// a slash inside means `$(/bin/cat file)` of a shell.
fn references(text: &str, leads: &[u8], slash_ends: bool) -> bool {
    let bytes = text.as_bytes();
    if !leads.iter().any(|lead| bytes.contains(lead)) {
        return false;
    }
    let (mut open, mut depth, mut found) = (false, 0_i32, false);
    let (mut left, mut right) = (0_u8, 0_u8);
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            byte if leads.contains(byte) => {
                if matches!(bytes.get(at + 1), Some(b'(' | b'{')) {
                    open = true;
                }
            }
            b'(' | b'{' if open => {
                left = *byte;
                depth += 1;
            }
            b')' | b'}' if open => {
                right = *byte;
                depth -= 1;
            }
            b'/' if slash_ends && depth > 0 => return false,
            _ => {}
        }
        if open
            && depth == 0
            && ((left == b'(' && right == b')') || (left == b'{' && right == b'}'))
        {
            found = true;
            open = false;
        }
    }
    found && depth == 0
}

/// The inside of a string that is one whole reference: `@(x)` with `lead` `@` gives `x`.
pub fn naked(text: &str, lead: u8) -> Option<&str> {
    let bytes = text.as_bytes();
    if bytes.len() < 4 || bytes[0] != lead {
        return None;
    }
    let close = match bytes[1] {
        b'(' => b')',
        b'{' => b'}',
        _ => return None,
    };
    if bytes[bytes.len() - 1] != close {
        return None;
    }
    let mut depth = 0_i32;
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            b'(' | b'{' => depth += 1,
            b')' | b'}' => {
                depth -= 1;
                if depth == 0 && at + 1 != bytes.len() {
                    return None;
                }
            }
            _ => {}
        }
    }
    (depth == 0).then(|| &text[2..text.len() - 1])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_survive_the_round_trip() {
        for bytes in [&b"plain"[..], b"\xff\xfe", b"a\xe9b", "ç\u{10ff90}".as_bytes()] {
            let text = decode(bytes);
            assert!(*encode(&text) == *bytes || bytes.contains(&0xf4), "{bytes:?}");
        }
    }

    #[test]
    fn integers_take_suffixes() {
        let table = [
            ("3k", Some(3000)),
            ("2K", Some(2048)),
            ("inf", Some(999_999_999)),
            ("-5", Some(-5)),
            ("x", None),
            ("", None),
            ("1 m", None),
        ];
        for (text, expected) in table {
            assert_eq!(int_from(text), expected, "{text}");
        }
    }

    #[test]
    fn references_are_recognised() {
        let table = [
            ("$(x)", true),
            ("$(/bin/cat x)", false),
            ("$x", false),
            ("@(l)", true),
            ("$(x", false),
        ];
        for (text, expected) in table {
            assert_eq!(has_variable(text), expected, "{text}");
        }
        assert!(!is_expandable("@(l)"));
        assert_eq!(naked("@(a.b)", b'@'), Some("a.b"));
        assert_eq!(naked("@(a)(b)", b'@'), None);
    }
}
