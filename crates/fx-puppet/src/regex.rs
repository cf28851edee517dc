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
        let compiled = self.0.compiled.get_or_init(|| fx_ruby::regex_engine(&self.0.source));
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
            (r"^(?=a)\w+-?\w+$", "a", false),
            (r"^(?=a)\w+-?\w+$", "ab", true),
            (r"^(?=a)\w+-*?\w+$", "a", false),
            (r"^(?=a)(?:\w+)(?:-{0,2})(?:\w+)$", "a", false),
        ];
        for (pattern, text, expected) in table {
            assert_eq!(Regex::new(pattern).is_match(text), Ok(expected), "/{pattern}/ on {text:?}");
        }
        assert!(Regex::new("[").check().is_err());
    }
}
