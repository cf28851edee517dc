//! PCRE as CFEngine compiles it: multi-line, dot matches line ends, bytes not characters.
//!
//! Compiled patterns are kept, and a pattern without special characters is compared as
//! text: policy mostly matches literal names.

mod simple;

use std::cell::RefCell;
use std::rc::Rc;

use pcre2::bytes::{Regex, RegexBuilder};
use rustc_hash::FxHashMap;
use simple::Simple;

use crate::text::{Str, decode, encode};

// Patterns kept per run; a policy that builds patterns from data must not grow without end.
const KEPT: usize = 4096;

thread_local! {
    // What is to be logged of patterns that do not compile, by whoever logs next.
    static WRONG: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
    static CACHE: RefCell<FxHashMap<Str, Option<Rc<Regex>>>> = RefCell::new(FxHashMap::default());
    // Patterns that are simple enough, and those known not to be.
    static SIMPLE: RefCell<FxHashMap<Str, Option<Rc<Simple>>>> = RefCell::new(FxHashMap::default());
}

fn simple(pattern: &str) -> Option<Rc<Simple>> {
    SIMPLE.with_borrow_mut(|known| {
        if let Some(found) = known.get(pattern) {
            return found.clone();
        }
        if known.len() >= KEPT {
            known.clear();
        }
        let made = Simple::parse(pattern).map(Rc::new);
        known.insert(pattern.into(), made.clone());
        made
    })
}

/// The compiled pattern; `None` when it is not one.
pub fn compile(pattern: &str) -> Option<Rc<Regex>> {
    CACHE.with(|cache| {
        let mut cache = cache.borrow_mut();
        // A pattern that does not compile is compiled anew, to be reported each time.
        if let Some(found @ Some(_)) = cache.get(pattern) {
            return found.clone();
        }
        if cache.len() >= KEPT {
            cache.clear();
        }
        let text = encode(pattern).into_owned();
        // The crate takes patterns as text; escaped bytes become hexadecimal escapes.
        let source = match String::from_utf8(text) {
            Ok(text) => text,
            Err(error) => {
                let mut out = String::new();
                for chunk in error.as_bytes().utf8_chunks() {
                    out.push_str(chunk.valid());
                    for byte in chunk.invalid() {
                        out.push_str(&format!("\\x{byte:02x}"));
                    }
                }
                out
            }
        };
        let built = match RegexBuilder::new().multi_line(true).dotall(true).build(&source) {
            Ok(regex) => Some(Rc::new(regex)),
            Err(error) => {
                let at = error.offset().unwrap_or(0);
                WRONG.with_borrow_mut(|wrong| {
                    wrong.push(format!(
                        "Regular expression error: pcre_compile() '{}' in expression '{pattern}' (offset: {at})",
                        why(&error)
                    ));
                });
                None
            }
        };
        cache.insert(pattern.into(), built.clone());
        built
    })
}

/// Takes what there is to log of patterns that did not compile.
pub(crate) fn take_wrong() -> Vec<String> {
    WRONG.with_borrow_mut(std::mem::take)
}

// The words of PCRE 8, which the original is built with, where those of PCRE 10 differ.
fn why(error: &pcre2::Error) -> String {
    match error.code() {
        109 => "nothing to repeat".to_owned(),
        114 => "missing )".to_owned(),
        115 => "reference to non-existent subpattern".to_owned(),
        122 => "unmatched parentheses".to_owned(),
        125 => "lookbehind assertion is not fixed length".to_owned(),
        _ => {
            let text = error.to_string();
            match text.rsplit_once(": ") {
                Some((_, words)) => words.to_owned(),
                None => text,
            }
        }
    }
}

const SPECIAL: [bool; 256] = {
    let mut table = [false; 256];
    let bytes = b"\\^$.|?*+()[]{}#";
    let mut at = 0;
    while at < bytes.len() {
        table[bytes[at] as usize] = true;
        at += 1;
    }
    table
};

/// Whether the pattern holds nothing but ordinary characters.
pub fn is_literal(pattern: &str) -> bool {
    !pattern.bytes().any(|byte| SPECIAL[byte as usize])
}

/// A pattern that many texts are held against: compiled once, and what every match begins
/// with is compared first.
pub(crate) struct Full<'p> {
    pattern: &'p str,
    prefix: &'p str,
    kind: Kind,
}

enum Kind {
    /// Plain text.
    Text,
    Simple(Rc<Simple>),
    Regex(Rc<Regex>),
    /// Not a pattern: matches nothing.
    Invalid,
}

impl<'p> Full<'p> {
    pub(crate) fn new(pattern: &'p str) -> Full<'p> {
        let plain = pattern.bytes().position(|byte| SPECIAL[byte as usize]);
        let end = match plain {
            // What stands before a quantifier need not be there; alternatives begin anew.
            Some(at) if !pattern.contains('|') => {
                let quantified = matches!(pattern.as_bytes()[at], b'?' | b'*' | b'{');
                pattern[..at]
                    .char_indices()
                    .next_back()
                    .map_or(0, |(last, _)| if quantified { last } else { at })
            }
            Some(_) => 0,
            None => pattern.len(),
        };
        let kind = match plain {
            None => Kind::Text,
            Some(_) => match simple(pattern) {
                Some(simple) => Kind::Simple(simple),
                None => compile(pattern).map_or(Kind::Invalid, Kind::Regex),
            },
        };
        Full { pattern, prefix: &pattern[..end], kind }
    }

    /// Whether a text that begins like this could match.
    pub(crate) fn may_begin(&self, lead: &str) -> bool {
        lead.starts_with(self.prefix) || self.prefix.starts_with(lead)
    }

    /// Whether the first match covers the whole text.
    pub(crate) fn matches(&self, text: &str) -> bool {
        if self.pattern == ".*" {
            return true;
        }
        if !text.starts_with(self.prefix) {
            return false;
        }
        let regex = match &self.kind {
            Kind::Text => return text == self.pattern,
            Kind::Simple(simple) => return simple.covers(&encode(text)),
            Kind::Regex(regex) => regex,
            Kind::Invalid => return false,
        };
        let text = encode(text);
        regex
            .find(&text)
            .ok()
            .flatten()
            .is_some_and(|found| found.start() == 0 && found.end() == text.len())
    }
}

/// Whether the first match covers the whole text.
pub fn full(pattern: &str, text: &str) -> bool {
    if pattern == ".*" {
        return true;
    }
    if is_literal(pattern) {
        return pattern == text;
    }
    let text = encode(text);
    if let Some(simple) = simple(pattern) {
        return simple.covers(&text);
    }
    compile(pattern)
        .and_then(|regex| {
            regex
                .find(&text)
                .ok()
                .flatten()
                .map(|found| found.start() == 0 && found.end() == text.len())
        })
        .unwrap_or(false)
}

/// As FullTextMatch does, with which promises match lines, names of files and packages: a text
/// that is the pattern itself matches it, whatever the pattern means.
pub fn full_or_same(pattern: &str, text: &str) -> bool {
    pattern == text || full(pattern, text)
}

/// As IsRegex guesses whether a text is meant as a pattern.
pub fn is_meant(text: &str) -> bool {
    let (mut found, mut escaped, mut repeatable) = (false, false, false);
    let (mut bracket, mut parens) = (false, 0_i32);
    for (at, byte) in text.bytes().enumerate() {
        if escaped {
            escaped = false;
            repeatable = true;
            continue;
        }
        if byte == b'\\' {
            escaped = true;
            continue;
        }
        if bracket && byte != b']' {
            if byte == b'[' {
                return false;
            }
            continue;
        }
        match byte {
            b'^' => repeatable = at != 0,
            b'*' | b'+' => {
                if !repeatable {
                    return false;
                }
                repeatable = false;
                found = true;
            }
            b'[' => {
                (repeatable, bracket, found) = (true, true, true);
            }
            b']' => {
                if !bracket {
                    return false;
                }
                (repeatable, bracket) = (true, false);
            }
            b'(' => {
                repeatable = false;
                parens += 1;
            }
            b')' => {
                repeatable = true;
                parens -= 1;
                if parens < 0 {
                    return false;
                }
            }
            b'|' => {
                repeatable = false;
                found |= parens > 0;
            }
            _ => repeatable = true,
        }
    }
    found && !bracket && parens == 0 && !escaped
}

/// Where the pattern first matches, in bytes of the encoded text.
pub fn find(pattern: &str, text: &str) -> Option<(usize, usize)> {
    let regex = compile(pattern)?;
    regex.find(&encode(text)).ok().flatten().map(|found| (found.start(), found.end()))
}

/// One match: its place in the encoded text, and its groups by number and by name.
#[derive(Clone, Debug)]
pub struct Captures {
    pub start: usize,
    pub end: usize,
    /// `(name or number, text)`, group 0 first; groups that took no part are left out.
    pub groups: Vec<(Str, Str)>,
    /// All groups by number, where they are in the encoded text.
    pub(crate) spans: Vec<Option<(usize, usize)>>,
    /// Names of groups by number.
    pub(crate) names: Vec<Str>,
}

/// How many groups a pattern has; `None` when it is not one.
pub fn groups(pattern: &str) -> Option<usize> {
    Some(compile(pattern)?.captures_len() - 1)
}

/// The first match with its groups.
pub fn captures(pattern: &str, text: &str) -> Option<Captures> {
    captures_bytes(&*compile(pattern)?, &encode(text), 0)
}

/// The first match at or after `from`.
pub fn captures_bytes(regex: &Regex, text: &[u8], from: usize) -> Option<Captures> {
    let mut locations = regex.capture_locations();
    let found = regex.captures_read_at(&mut locations, text, from).ok().flatten()?;
    let known = regex.capture_names();
    let (mut groups, mut spans, mut names) = (Vec::new(), Vec::new(), Vec::new());
    for index in 0..locations.len() {
        let name: Str = match known.get(index) {
            Some(Some(name)) => name.as_str().into(),
            _ => index.to_string().into(),
        };
        spans.push(locations.get(index));
        names.push(Rc::clone(&name));
        if let Some((start, end)) = locations.get(index) {
            groups.push((name, decode(&text[start..end]).into()));
        }
    }
    Some(Captures { start: found.start(), end: found.end(), groups, spans, names })
}

/// A full match with its groups, for `match.*`.
pub fn full_captures(pattern: &str, text: &str) -> Option<Captures> {
    let length = encode(text).len();
    captures(pattern, text).filter(|found| found.start == 0 && found.end == length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_match_covers_all_the_text() {
        let table = [
            ("a.*", "abc\nd", true),
            ("a|ab", "ab", false),
            ("x", "xx", false),
            ("(", "(", false),
            ("abc?", "ab", true),
            ("ab*\\.x", "a.x", true),
            ("ab|cd", "cd", true),
            ("a[b]", "ab", true),
            ("name", "name", true),
            // Without UTF, as the original compiles them: the plus repeats a byte.
            ("é+", "éé", false),
            ("(é)+", "éé", true),
        ];
        for (pattern, text, expected) in table {
            assert_eq!(full(pattern, text), expected, "{pattern} {text}");
            assert_eq!(Full::new(pattern).matches(text), expected, "{pattern} {text}");
        }
    }

    #[test]
    fn what_looks_like_a_pattern_is_one() {
        let table = [
            ("/etc/passwd", false),
            ("/tmp/.*", true),
            ("/tmp/f(b)", false),
            ("/tmp/(a|b)", true),
            ("/tmp/a|b", false),
            ("/tmp/f[0-9]", true),
            ("/tmp/f+c", true),
            ("/tmp/++", false),
            ("/tmp/a?", false),
            ("/tmp/a{2}$", false),
            ("/tmp/f\\(b", false),
            ("/tmp/(", false),
            ("/tmp/]", false),
        ];
        for (text, expected) in table {
            assert_eq!(is_meant(text), expected, "{text}");
        }
        assert!(full_or_same("f(b)", "f(b)") && !full("f(b)", "f(b)"));
    }

    #[test]
    fn groups_keep_names_and_numbers() {
        let found = captures("(?<key>[a-z]+)=(\\d+)?", "a=").expect("matches");
        let groups: Vec<(&str, &str)> =
            found.groups.iter().map(|(name, text)| (&**name, &**text)).collect();
        assert_eq!(groups, [("0", "a="), ("key", "a")]);
    }
}
