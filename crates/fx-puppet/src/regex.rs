//! Regular expressions in Ruby's dialect on a bounded engine.
//!
//! `^` and `$` always mean line ends, `\Z` allows a last newline, `\h` is a hex digit. An
//! expression that backtracks without end is an error, not a hang.

use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

use fx_ruby::Simple;
use rustc_hash::FxHashMap;

/// A compiled expression; compiled on first use.
#[derive(Clone, Debug)]
pub struct Regex(Rc<Shared>);

/// What all expressions of one text share.
#[derive(Debug)]
struct Shared {
    source: Box<str>,
    /// Nothing where only the large engine will do.
    simple: OnceCell<Option<Simple>>,
    compiled: OnceCell<Result<fancy_regex::Regex, String>>,
}

/// Most expressions that are remembered: code has few, data may make many.
const REMEMBERED: usize = 4096;

thread_local! {
    static KNOWN: RefCell<FxHashMap<Box<str>, Rc<Shared>>> = RefCell::default();
}

/// Captured texts, the whole match first; groups that took no part are `None`.
pub(crate) type Captures = Vec<Option<String>>;

impl Regex {
    /// An expression as written between slashes.
    pub fn new(source: &str) -> Regex {
        KNOWN.with_borrow_mut(|known| {
            if let Some(shared) = known.get(source) {
                return Regex(Rc::clone(shared));
            }
            if known.len() >= REMEMBERED {
                known.clear();
            }
            let shared = Rc::new(Shared {
                source: source.into(),
                simple: OnceCell::new(),
                compiled: OnceCell::new(),
            });
            known.insert(source.into(), Rc::clone(&shared));
            Regex(shared)
        })
    }

    /// As written.
    pub fn source(&self) -> &str {
        &self.0.source
    }

    fn compiled(&self) -> Result<&fancy_regex::Regex, String> {
        let compiled = self.0.compiled.get_or_init(|| {
            let pattern = translate(&self.0.source);
            fancy_regex::RegexBuilder::new(&pattern).build().map_err(|error| error.to_string())
        });
        compiled.as_ref().map_err(Clone::clone)
    }

    fn simple(&self) -> Option<&Simple> {
        self.0.simple.get_or_init(|| Simple::read(&self.0.source)).as_ref()
    }

    /// What is wrong with the expression, if anything, in Ruby's words.
    pub fn check(&self) -> Result<(), String> {
        match self.simple() {
            Some(_) => Ok(()),
            None => match self.compiled() {
                Ok(_) => Ok(()),
                Err(message) => Err(complaint(self.source(), &message)),
            },
        }
    }

    /// Whether it matches somewhere.
    pub fn is_match(&self, text: &str) -> Result<bool, String> {
        if let Some(found) = self.simple().and_then(|simple| simple.search(text).ok()) {
            return Ok(found.is_some());
        }
        self.compiled()?.is_match(text).map_err(|error| error.to_string())
    }

    /// The groups of the first match.
    pub fn captures(&self, text: &str) -> Result<Option<Captures>, String> {
        if let Some(found) = self.simple().and_then(|simple| simple.search(text).ok()) {
            let group = |pair: &[Option<usize>]| match (pair[0], pair[1]) {
                (Some(from), Some(to)) => Some(text[from..to].to_owned()),
                _ => None,
            };
            return Ok(found.map(|slots| slots.chunks(2).map(group).collect()));
        }
        let found = self.compiled()?.captures(text).map_err(|error| error.to_string())?;
        Ok(found.map(|found| {
            found.iter().map(|group| group.map(|group| group.as_str().to_owned())).collect()
        }))
    }

    /// The engine's own form, for replacing and splitting.
    pub fn engine(&self) -> Result<&fancy_regex::Regex, String> {
        self.compiled()
    }
}

impl PartialEq for Regex {
    fn eq(&self, other: &Regex) -> bool {
        self.0.source == other.0.source
    }
}

/// What Ruby says of an expression it cannot compile.
fn complaint(source: &str, message: &str) -> String {
    let count = |c| source.matches(c).count();
    let reason = if count('(') > count(')') {
        "end pattern with unmatched parenthesis"
    } else if count(')') > count('(') {
        "unmatched close parenthesis"
    } else if count('[') > count(']') {
        "premature end of char-class"
    } else if source.starts_with(['*', '+', '?']) {
        "target of repeat operator is not specified"
    } else {
        message
    };
    format!("{reason}: /{source}/")
}

/// Ruby's surface onto the engine's: line anchors, and what `m` means.
fn translate(source: &str) -> String {
    let mut out = String::from("(?m)");
    let mut chars = source.chars().peekable();
    let mut in_class = false;
    // With named groups plain ones do not capture.
    let named = source.contains("(?<") && has_names(source);
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some('h') => out.push_str(if in_class { "0-9a-fA-F" } else { "[0-9a-fA-F]" }),
                Some('Z') => out.push_str(r"(?=\n?\z)"),
                Some('e') => out.push_str(r"\x1b"),
                Some('0') => out.push_str(r"\x00"),
                Some('/') => out.push('/'),
                // Ruby's classes are those of ASCII.
                Some(class @ ('d' | 'w' | 's')) if in_class => {
                    out.push_str(members(class));
                    // A dash after a class is no range.
                    if chars.peek() == Some(&'-') {
                        chars.next();
                        out.push_str(r"\-");
                    }
                }
                Some(class @ ('d' | 'w' | 's')) => {
                    out.extend(["[", members(class), "]"]);
                }
                Some(class @ ('D' | 'W' | 'S')) => {
                    out.extend(["[^", members(class.to_ascii_lowercase()), "]"]);
                }
                Some(other) => {
                    out.push('\\');
                    out.push(other);
                }
                None => out.push_str(r"\\"),
            },
            '[' if in_class && chars.peek() != Some(&':') => out.push_str(r"\["),
            '[' => {
                in_class = true;
                out.push('[');
                for literal in ['^', ']'] {
                    if chars.peek() == Some(&literal) {
                        chars.next();
                        if literal == ']' {
                            out.push('\\');
                        }
                        out.push(literal);
                    }
                }
            }
            ']' => {
                in_class = false;
                out.push(']');
            }
            '(' if !in_class && chars.peek() == Some(&'?') => {
                out.push('(');
                out.push_str(&flags(&mut chars));
            }
            '(' if !in_class && named => out.push_str("(?:"),
            // A repetition of a repetition of any number is the same again.
            '*' if !in_class => {
                while chars.next_if_eq(&'*').is_some() {}
                out.push('*');
            }
            c => out.push(c),
        }
    }
    out
}

/// Whether groups have names: `(?<=` and `(?<!` look behind.
fn has_names(source: &str) -> bool {
    source
        .split("(?<")
        .skip(1)
        .any(|after| after.starts_with(|c: char| c.is_alphabetic() || c == '_'))
}

/// What a class such as `\d` holds.
fn members(class: char) -> &'static str {
    match class {
        'd' => "0-9",
        'w' => "a-zA-Z0-9_",
        _ => r" \t\r\n\x0C\x0B",
    }
}

/// Inline flags such as `(?mi-x:`: Ruby's `m` lets the dot match line ends.
fn flags(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) -> String {
    let mut out = String::new();
    out.extend(chars.next());
    while let Some(c) = chars.peek().copied() {
        match c {
            'm' => out.push('s'),
            'i' | 'x' => out.push(c),
            '-' => {
                // `-m` alone would leave nothing to turn off.
                out.push('-');
            }
            _ => break,
        }
        chars.next();
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rubys_meaning_is_kept() {
        let table = [
            ("a$", "a\nb", true),
            (r"\Aa\Z", "a\nb", false),
            (r"\Aa\Z", "a\n", true),
            ("(?i:abc)", "ABC", true),
            ("abc", "ABC", false),
            ("a.b", "a\nb", false),
            ("(?m:a.b)", "a\nb", true),
            ("(?m-ix:a.b)", "a\nb", true),
            (r"^\h+$", "DEADbeef", true),
            (r"[\w]+(?=x)", "abx", true),
            (r"[[:alpha:]]+", "1a", true),
            (r"^\d$", "\u{664}", false),
            (r"^\w$", "é", false),
            (r"^\W$", "é", true),
            (r"^[\w-.]+$", "a-.b", true),
            (r"^[\s\D]+$", " a", true),
        ];
        for (pattern, text, expected) in table {
            assert_eq!(Regex::new(pattern).is_match(text), Ok(expected), "/{pattern}/ on {text:?}");
        }
        assert!(Regex::new("[").check().is_err());
    }
}
