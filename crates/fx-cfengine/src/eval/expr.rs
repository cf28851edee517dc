//! Class expressions: parsed once into a small tree, evaluated against defined classes.
//!
//! `|` or `||` binds least, then `.` or `&`, then one `!`. As in the original, text after
//! a complete expression is not looked at.

use crate::text::Str;

/// A parsed expression.
#[derive(Clone, Debug, PartialEq)]
pub enum Expr {
    Or(Vec<Expr>),
    And(Vec<Expr>),
    Not(Box<Expr>),
    Name(Str),
    /// A name with a variable that is not expanded: has no truth value.
    Unexpanded,
}

/// Deepest nesting of parentheses.
const MAX_DEPTH: usize = 64;

/// Parses an expression; `None` where the text does not start with one.
pub fn parse(text: &str) -> Option<Expr> {
    parse_prefix(text).map(|(expr, _)| expr)
}

/// Parses an expression and says how far it goes.
pub(crate) fn parse_prefix(text: &str) -> Option<(Expr, usize)> {
    let condensed: Vec<u8> =
        text.bytes().filter(|byte| !matches!(byte, b' ' | b'\t' | b'\n' | b'\r')).collect();
    // Blanks count only inside an index of a variable; those names are unexpanded anyway.
    let mut parser = Parser { text: &condensed, at: 0 };
    let expr = parser.or(0)?;
    Some((expr, parser.at))
}

/// Where the reading of something that is no expression ends.
pub(crate) fn fault(text: &str) -> usize {
    let mut parser = Parser { text: text.as_bytes(), at: 0 };
    let _none = parser.or(0);
    parser.at
}

/// Whether an expression is a single name.
pub(crate) fn is_name(text: &str) -> bool {
    !text.is_empty()
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b':'))
}

/// Whether two names stand next to each other with only blanks between.
pub(crate) fn lacks_operator(text: &str) -> bool {
    // A colon is no part of a name here, so `reports: linux::` on one line goes through.
    let word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let mut previous: Option<u8> = None;
    let mut blank = false;
    for byte in text.bytes() {
        if matches!(byte, b' ' | b'\t' | b'\n') {
            blank = true;
            continue;
        }
        if blank && word(byte) && previous.is_some_and(word) {
            return true;
        }
        previous = Some(byte);
        blank = false;
    }
    false
}

struct Parser<'a> {
    text: &'a [u8],
    at: usize,
}

impl Parser<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn or(&mut self, depth: usize) -> Option<Expr> {
        let mut items = vec![self.and(depth)?];
        while self.peek() == Some(b'|') {
            self.at += 1;
            if self.peek() == Some(b'|') {
                self.at += 1;
            }
            items.push(self.and(depth)?);
        }
        Some(if items.len() == 1 { items.remove(0) } else { Expr::Or(items) })
    }

    fn and(&mut self, depth: usize) -> Option<Expr> {
        let mut items = vec![self.not(depth)?];
        while matches!(self.peek(), Some(b'.' | b'&')) {
            self.at += 1;
            items.push(self.not(depth)?);
        }
        Some(if items.len() == 1 { items.remove(0) } else { Expr::And(items) })
    }

    fn not(&mut self, depth: usize) -> Option<Expr> {
        if self.peek() == Some(b'!') {
            self.at += 1;
            return self.primary(depth).map(|expr| Expr::Not(Box::new(expr)));
        }
        self.primary(depth)
    }

    fn primary(&mut self, depth: usize) -> Option<Expr> {
        if self.peek() == Some(b'(') {
            if depth >= MAX_DEPTH {
                return None;
            }
            self.at += 1;
            let expr = self.or(depth + 1)?;
            if self.peek() != Some(b')') {
                return None;
            }
            self.at += 1;
            return Some(expr);
        }
        let start = self.at;
        let mut variable = false;
        while let Some(byte) = self.peek() {
            match byte {
                b'$' | b'@' if matches!(self.text.get(self.at + 1), Some(b'(' | b'{')) => {
                    variable = true;
                    self.reference()?;
                }
                byte if byte.is_ascii_alphanumeric()
                    || matches!(byte, b'_' | b':' | b'[' | b']') =>
                {
                    self.at += 1;
                }
                _ => break,
            }
        }
        if self.at == start {
            return None;
        }
        if variable {
            return Some(Expr::Unexpanded);
        }
        Some(Expr::Name(String::from_utf8_lossy(&self.text[start..self.at]).into()))
    }

    fn reference(&mut self) -> Option<()> {
        let mut depth = 0_usize;
        while let Some(byte) = self.peek() {
            self.at += 1;
            match byte {
                b'(' | b'{' => depth += 1,
                b')' | b'}' => {
                    depth -= 1;
                    if depth == 0 {
                        return Some(());
                    }
                }
                _ => {}
            }
        }
        None
    }
}

impl Expr {
    /// The truth value, with `defined` for single names; `None` when it has none.
    pub fn eval(&self, defined: &dyn Fn(&str) -> bool) -> Option<bool> {
        match self {
            Expr::Or(items) => {
                let mut result = false;
                for item in items {
                    result |= item.eval(defined)?;
                }
                Some(result)
            }
            Expr::And(items) => {
                let mut result = true;
                for item in items {
                    result &= item.eval(defined)?;
                }
                Some(result)
            }
            Expr::Not(item) => item.eval(defined).map(|value| !value),
            Expr::Name(name) => Some(match &**name {
                "true" => true,
                "false" => false,
                name => defined(name),
            }),
            Expr::Unexpanded => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_are_evaluated() {
        let defined = |name: &str| matches!(name, "a" | "b" | "ns:c");
        let table = [
            ("a", Some(true)),
            ("!a|b", Some(true)),
            ("a.x", Some(false)),
            ("(a|x).!y", Some(true)),
            ("a || x", Some(true)),
            ("ns:c&b", Some(true)),
            ("$(v).a", None),
        ];
        for (text, expected) in table {
            assert_eq!(parse(text).and_then(|expr| expr.eval(&defined)), expected, "{text}");
        }
    }

    #[test]
    fn doubled_operators_do_not_parse() {
        for text in ["a&&b", "!!a", "", "(a", "."] {
            assert_eq!(parse(text), None, "{text}");
        }
        assert!(lacks_operator("a b"));
        assert!(!lacks_operator("a . b"));
        assert!(!lacks_operator("reports: a"));
    }
}
