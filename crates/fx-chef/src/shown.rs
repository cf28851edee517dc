//! Text made fit to be shown: no terminal control from data, no password of an address.

use std::borrow::Cow;
use std::fmt::Write as _;

use fx_value::REDACTED;

/// Text of several lines for the terminal or the log: control characters but line breaks and
/// tabs are replaced, passwords of addresses are hidden.
pub(crate) fn text(text: &str) -> Cow<'_, str> {
    let masked = mask(text);
    if !masked.chars().any(is_control) {
        return masked;
    }
    Cow::Owned(masked.chars().map(|c| if is_control(c) { '\u{fffd}' } else { c }).collect())
}

/// A name for a line: a line break would forge another one.
pub(crate) fn name(text: &str) -> Cow<'_, str> {
    if text.contains('\n') {
        return Cow::Owned(self::text(text).replace('\n', "\u{fffd}"));
    }
    self::text(text)
}

fn is_control(c: char) -> bool {
    c.is_control() && c != '\n' && c != '\t'
}

/// Hides `PASSWORD` in every `scheme://user:PASSWORD@host`.
pub(crate) fn mask(text: &str) -> Cow<'_, str> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_terminal_control_is_shown() {
        for (given, shown) in [
            ("plain\ttext\n", "plain\ttext\n"),
            ("\u{1b}[2Jx", "\u{fffd}[2Jx"),
            ("\u{9b}31m\u{7}\r", "\u{fffd}31m\u{fffd}\u{fffd}"),
        ] {
            assert_eq!(text(given), shown);
        }
        assert_eq!(name("a\nError: forged"), "a\u{fffd}Error: forged");
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
            assert_eq!(mask(given), shown);
        }
    }
}
