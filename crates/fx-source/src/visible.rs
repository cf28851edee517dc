//! Text from elsewhere made fit to be shown: what would drive a terminal, reverse the order of
//! letters or pass for a line of ours becomes visible. All sinks use this and nothing else.

use std::borrow::Cow;
use std::fmt::Write;

/// What stands where a secret is not shown.
pub(crate) const REDACTED: &str = "[redacted]";

/// Hides `PASSWORD` in every `scheme://user:PASSWORD@host`.
pub fn without_passwords(text: &str) -> Cow<'_, str> {
    if !text.contains("://") {
        return Cow::Borrowed(text);
    }
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("://") {
        let (before, after) = rest.split_at(at + 3);
        out.push_str(before);
        let ends =
            |c: char| c == '/' || c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '<' | '>');
        let authority = &after[..after.find(ends).unwrap_or(after.len())];
        let secret = authority
            .rsplit_once('@')
            .and_then(|(user, host)| user.split_once(':').map(|(user, _)| (user, host)));
        match secret {
            Some((user, host)) => {
                let _infallible = write!(out, "{user}:{REDACTED}@{host}");
            }
            None => out.push_str(authority),
        }
        rest = &after[authority.len()..];
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// A text of one or more lines. Ends of lines and tabs stay.
pub fn visible(text: &str) -> Cow<'_, str> {
    with(text, |c| c == '\n' || c == '\t')
}

/// A name, which has one line.
pub fn visible_name(text: &str) -> Cow<'_, str> {
    with(text, |_| false)
}

/// A text of one or more lines, none of which but the first looks like the head of a message:
/// the end of the line before such a one is shown as `\n`.
pub fn visible_message(text: &str) -> Cow<'_, str> {
    let shown = visible(text);
    if !shown.split('\n').skip(1).any(is_head) {
        return shown;
    }
    let mut lines = shown.split('\n');
    let mut out = lines.next().unwrap_or_default().to_owned();
    for line in lines {
        out.push_str(if is_head(line) { "\\n" } else { "\n" });
        out.push_str(line);
    }
    Cow::Owned(out)
}

/// Bytes that may be no text: what is none is shown byte by byte.
pub fn visible_bytes(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => visible(text),
        Err(_) => Cow::Owned(decoded(bytes, visible)),
    }
}

/// The name of a file, which may be no text.
pub fn visible_path(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => visible_name(text),
        Err(_) => Cow::Owned(decoded(bytes, visible_name)),
    }
}

/// Whether a line looks like one that a message of a tool begins with.
fn is_head(line: &str) -> bool {
    const HEADS: [&str; 12] = [
        "critical",
        "error",
        "fatal",
        "warning",
        "warn",
        "notice",
        "info",
        "verbose",
        "debug",
        "alert",
        "emergency",
        "r",
    ];
    let word = line.trim_start().split_once(':').map(|(word, _)| word);
    word.is_some_and(|word| HEADS.iter().any(|head| head.eq_ignore_ascii_case(word)))
}

fn decoded(bytes: &[u8], show: impl Fn(&str) -> Cow<'_, str>) -> String {
    let mut out = String::new();
    for chunk in bytes.utf8_chunks() {
        out.push_str(&show(chunk.valid()));
        for byte in chunk.invalid() {
            let _ = write!(out, "\\x{byte:02x}");
        }
    }
    out
}

fn with(text: &str, stays: impl Fn(char) -> bool) -> Cow<'_, str> {
    // Almost every text is fit as it is; bytes are looked at faster than letters.
    let suspect = |byte: u8| byte < 0x20 || byte == 0x7f || matches!(byte, 0xc2 | 0xe2);
    if !text.bytes().any(suspect) || !text.chars().any(|c| is_unfit(c) && !stays(c)) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            c if !is_unfit(c) || stays(c) => out.push(c),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c < '\u{100}' => {
                let _ = write!(out, "\\x{:02x}", u32::from(c));
            }
            c => {
                let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
            }
        }
    }
    Cow::Owned(out)
}

/// Controls of both sets, and what changes the direction of letters.
fn is_unfit(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_drives_a_terminal_becomes_visible() {
        for (text, lines, name) in [
            ("plain é → 漢", "plain é → 漢", "plain é → 漢"),
            ("a\u{1b}[2Jb", "a\\x1b[2Jb", "a\\x1b[2Jb"),
            ("a\u{7f}\u{9b}1m", "a\\x7f\\x9b1m", "a\\x7f\\x9b1m"),
            ("a\u{202e}b\u{2066}c", "a\\u{202e}b\\u{2066}c", "a\\u{202e}b\\u{2066}c"),
            ("a\r\nb\tc", "a\\r\nb\tc", "a\\r\\nb\\tc"),
            ("a\0b", "a\\x00b", "a\\x00b"),
        ] {
            assert_eq!((&*visible(text), &*visible_name(text)), (lines, name), "{text:?}");
        }
        assert_eq!(visible_path(b"a\xff\n\xc3\xa9"), "a\\xff\\né");
        assert_eq!(visible_bytes(b"a\xff\n\x1b"), "a\\xff\n\\x1b");
    }

    #[test]
    fn passwords_of_addresses_are_hidden() {
        for (given, shown) in [
            ("no address: a@b", "no address: a@b"),
            ("https://h/p?x=1", "https://h/p?x=1"),
            ("https://u@h/p", "https://u@h/p"),
            ("clone https://u:pw@h/p now", "clone https://u:[redacted]@h/p now"),
            ("'ftp://u:p@w@h' svn+ssh://:x@h", "'ftp://u:[redacted]@h' svn+ssh://:[redacted]@h"),
            ("https://u:pw", "https://u:pw"),
        ] {
            assert_eq!(without_passwords(given), shown);
        }
    }

    #[test]
    fn no_line_but_the_first_passes_for_a_message() {
        assert_eq!(visible_message("x\nError: y\nz"), "x\\nError: y\nz");
        assert_eq!(visible_message("x\n   error: y\nR: z"), "x\\n   error: y\\nR: z");
        assert_eq!(visible_message("Error: x\ny"), "Error: x\ny");
    }
}
