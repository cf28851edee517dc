//! Patterns of file names as regular expressions.

/// The expression for one component of a pattern, without anchors. `*`, `?`, sets in brackets and
/// `\` before a character are those of glob(7); alternatives in braces are taken where `braces` says
/// so.
pub fn regex(pattern: &str, braces: bool) -> String {
    let mut out = String::new();
    let mut open = 0_usize;
    let mut chars = pattern.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            '*' => out.push_str("[^/]*"),
            '?' => out.push_str("[^/]"),
            '\\' => literal(chars.next().unwrap_or('\\'), &mut out),
            '[' => {
                out.push('[');
                if chars.next_if_eq(&'!').is_some() {
                    out.push('^');
                }
                for inner in chars.by_ref() {
                    out.push(inner);
                    if inner == ']' {
                        break;
                    }
                }
            }
            '{' if braces => {
                open += 1;
                out.push_str("(?:");
            }
            '}' if open > 0 => {
                open -= 1;
                out.push(')');
            }
            ',' if open > 0 => out.push('|'),
            char => literal(char, &mut out),
        }
    }
    out
}

fn literal(char: char, out: &mut String) {
    if char.is_ascii() && !char.is_ascii_alphanumeric() && char != '_' {
        out.push('\\');
    }
    out.push(char);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_become_expressions() {
        let table = [
            ("*.cf", false, r"[^/]*\.cf"),
            ("a?[!b-d]", false, "a[^/][^b-d]"),
            (r"\*é_", false, r"\*é_"),
            ("{a,b}", false, r"\{a\,b\}"),
            ("{a,{b,c}}.y?ml", true, r"(?:a|(?:b|c))\.y[^/]ml"),
            ("a}", true, r"a\}"),
        ];
        for (pattern, braces, expected) in table {
            assert_eq!(regex(pattern, braces), expected, "{pattern}");
        }
    }
}
