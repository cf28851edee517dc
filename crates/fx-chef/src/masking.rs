//! Text made fit to be shown: no terminal control from data, no password of an address.

use std::borrow::Cow;

pub(crate) use fx_source::without_passwords as mask;

/// Text of several lines for the terminal or the log.
pub(crate) fn text(text: &str) -> Cow<'_, str> {
    both(text, fx_source::visible)
}

/// A name for a line: a line break would forge another one.
pub(crate) fn name(text: &str) -> Cow<'_, str> {
    both(text, fx_source::visible_name)
}

fn both(text: &str, visible: impl Fn(&str) -> Cow<'_, str>) -> Cow<'_, str> {
    match mask(text) {
        Cow::Borrowed(text) => visible(text),
        Cow::Owned(text) => Cow::Owned(visible(&text).into_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_has_neither_controls_nor_passwords() {
        assert_eq!(text("\u{1b}[2J https://u:p@h\n"), "\\x1b[2J https://u:[redacted]@h\n");
        assert_eq!(name("a\nError: forged"), "a\\nError: forged");
        assert!(matches!(text("as it is"), Cow::Borrowed(_)));
    }
}
