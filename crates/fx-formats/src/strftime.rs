//! Templates of strftime(3), taken apart: each language has its own directives, and what they
//! share is how one is written.

/// One directive of a template, such as `%d`, `%-d` or `%3N`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Directive<'a> {
    /// All of it, from the percent sign.
    pub text: &'a str,
    /// How the number is padded.
    pub flags: &'a str,
    /// The number before the letter.
    pub width: Option<usize>,
    /// The letter; nothing where the template ends before it.
    pub letter: Option<char>,
}

/// Rewrites a template: a directive is replaced by what `dialect` gives for it, and stays as it is
/// where that is nothing.
pub fn translate(template: &str, dialect: &dyn Fn(&Directive<'_>) -> Option<String>) -> String {
    let mut out = String::with_capacity(template.len());
    let mut rest = template;
    while let Some(at) = rest.find('%') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let directive = first(rest);
        match dialect(&directive) {
            Some(text) => out.push_str(&text),
            None => out.push_str(directive.text),
        }
        rest = &rest[directive.text.len()..];
    }
    out.push_str(rest);
    out
}

// The directive at the start of a text.
fn first(text: &str) -> Directive<'_> {
    let after = &text[1..];
    let flags = after.len() - after.trim_start_matches(['_', '-', '0', '^', '#']).len();
    let digits = after[flags..].bytes().take_while(u8::is_ascii_digit).count();
    let letter = after[flags + digits..].chars().next();
    let end = 1 + flags + digits + letter.map_or(0, char::len_utf8);
    Directive {
        text: &text[..end],
        flags: &after[..flags],
        width: after[flags..flags + digits].parse().ok(),
        letter,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn directives_are_replaced_and_the_rest_stays() {
        let dialect = |directive: &Directive<'_>| match directive.letter {
            Some('N') => Some(format!("<{}>", directive.width.unwrap_or(9))),
            Some('c') => Some("%a %b".to_owned()),
            None => Some("%%".to_owned()),
            _ => None,
        };
        let table = [
            ("", ""),
            ("a%cb", "a%a %bb"),
            ("%%c", "%%c"),
            ("%3N %N", "<3> <9>"),
            ("%-d%é", "%-d%é"),
            ("100%", "100%%"),
            ("%-", "%%"),
        ];
        for (template, expected) in table {
            assert_eq!(translate(template, &dialect), expected, "{template}");
        }
    }

    proptest! {
        #[test]
        fn a_dialect_without_words_changes_nothing(template in ".*") {
            prop_assert_eq!(translate(&template, &|_| None), template);
        }
    }
}
