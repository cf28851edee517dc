//! How a regexp is written out again, and which encoding its source asks for.

use crate::encoding as e;
use crate::heap::Enc;
use crate::regex::Program;

/// The encoding of a pattern: its text's, unless its escapes or flags say otherwise.
pub(super) fn encoding(source: &[u8], flags: u32, enc: Enc) -> Enc {
    let (unicode, bytes) = escapes(source);
    if flags & 32 != 0 && (bytes || !source.is_ascii()) {
        return e::BINARY;
    }
    if !source.is_ascii() || !e::ascii_compatible(enc) {
        return enc;
    }
    if unicode || flags & 16 != 0 {
        return e::UTF8;
    }
    if bytes && enc != e::ASCII { enc } else { e::ASCII }
}

/// Whether there are `\u` escapes, and escapes of bytes that are not ASCII.
fn escapes(source: &[u8]) -> (bool, bool) {
    let (mut unicode, mut bytes) = (false, false);
    let mut at = 0;
    while at + 1 < source.len() {
        if source[at] != b'\\' {
            at += 1;
            continue;
        }
        match source[at + 1] {
            b'u' => unicode = true,
            b'x' => {
                let high = source.get(at + 2).is_some_and(|d| b"89abcdefABCDEF".contains(d));
                bytes |= high && source.get(at + 3).is_some_and(u8::is_ascii_hexdigit);
            }
            _ => {}
        }
        at += 2;
    }
    (unicode, bytes)
}

pub(super) fn options(flags: u32) -> String {
    [(4, 'm'), (1, 'i'), (2, 'x')].iter().filter(|(bit, _)| flags & bit != 0).map(|x| x.1).collect()
}

/// The source between slashes: a slash of its own is escaped.
pub(super) fn between_slashes(source: &[u8]) -> String {
    let mut out = String::new();
    let mut escaped = false;
    for ch in String::from_utf8_lossy(source).chars() {
        if ch == '/' && !escaped {
            out.push('\\');
        }
        escaped = ch == '\\' && !escaped;
        if ch.is_control() && !ch.is_whitespace() {
            out.push_str(&format!("\\x{:02X}", ch as u32));
        } else {
            out.push(ch);
        }
    }
    out
}

/// `(?on-off:source)`. A pattern that is one group with options gives them to the outside.
pub(super) fn with_options(source: &[u8], flags: u32, binary: bool) -> String {
    let (source, flags) = match only_group(source, flags, binary) {
        Some((inner, flags)) => (inner, flags),
        None => (source, flags),
    };
    let on = options(flags);
    let off: String = "mix".chars().filter(|ch| !on.contains(*ch)).collect();
    let dash = if off.is_empty() { "" } else { "-" };
    format!("(?{on}{dash}{off}:{})", between_slashes(source))
}

fn only_group(source: &[u8], flags: u32, binary: bool) -> Option<(&[u8], u32)> {
    let mut rest = source.strip_prefix(b"(?")?;
    let (mut flags, mut on, mut any) = (flags & 7, true, false);
    loop {
        let (first, more) = rest.split_first()?;
        let bit = match first {
            b'm' => 4,
            b'i' => 1,
            b'x' => 2,
            b'-' if on => {
                (on, rest) = (false, more);
                continue;
            }
            b')' if any => return Some((more, flags)),
            b':' => {
                let inner = more.strip_suffix(b")")?;
                // What looks like one group may be several.
                Program::compile(inner, flags, binary).ok()?;
                return Some((inner, flags));
            }
            _ => return None,
        };
        any = true;
        if on {
            flags |= bit;
        } else {
            flags &= !bit;
        }
        rest = more;
    }
}
