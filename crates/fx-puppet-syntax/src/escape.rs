//! Backslashes in strings: which are known where, and what the unknown ones leave.

use std::borrow::Cow;

/// Which escapes a text resolves; the rest stay as written.
#[derive(Clone, Debug)]
pub(crate) struct Escapes {
    /// Letters after the backslash that mean something.
    pub(crate) known: Cow<'static, [u8]>,
    /// Whether an unknown one is worth a warning.
    pub(crate) warn: bool,
}

pub(crate) const DOUBLE_QUOTED: Escapes =
    Escapes { known: Cow::Borrowed(b"tnrsu\"'\\$\n"), warn: true };

/// One resolved escape: what it stands for and how many bytes it took, backslash included.
pub(crate) enum Resolved {
    /// It stands for this.
    Text(String, usize),
    /// Not an escape here: the backslash stays.
    Unknown,
    /// A `\u` without its digits.
    BadUnicode,
}

/// Resolves the escape at the start of `bytes`, which begins with a backslash.
pub(crate) fn resolve(bytes: &[u8], escapes: &Escapes) -> Resolved {
    let Some(letter) = bytes.get(1).copied() else { return Resolved::Unknown };
    if !escapes.known.contains(&letter) {
        return Resolved::Unknown;
    }
    let plain = |text: &str| Resolved::Text(text.to_owned(), 2);
    match letter {
        b't' => plain("\t"),
        b'n' => plain("\n"),
        b'r' => plain("\r"),
        b's' => plain(" "),
        b'u' => unicode(bytes),
        // An escaped line end joins the lines.
        b'\n' => plain(""),
        other => plain(char::from(other).encode_utf8(&mut [0; 4])),
    }
}

fn unicode(bytes: &[u8]) -> Resolved {
    let digits = |from: usize, most: usize| {
        bytes[from..].iter().take(most).take_while(|byte| byte.is_ascii_hexdigit()).count()
    };
    let (start, count, length) = if bytes.get(2) == Some(&b'{') {
        let count = digits(3, 6);
        if bytes.get(3 + count) != Some(&b'}') {
            return Resolved::BadUnicode;
        }
        (3, count, 4 + count)
    } else {
        (2, digits(2, 4), 6)
    };
    let enough = if start == 3 { count >= 1 } else { count == 4 };
    let code = std::str::from_utf8(&bytes[start..start + count])
        .ok()
        .and_then(|text| u32::from_str_radix(text, 16).ok());
    match code.and_then(char::from_u32) {
        Some(c) if enough => Resolved::Text(c.to_string(), length),
        _ => Resolved::BadUnicode,
    }
}
