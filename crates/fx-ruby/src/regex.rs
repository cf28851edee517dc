//! Ruby's regexps: a reader of the surface syntax, and the search. Almost all patterns have a
//! matcher of their own (`backtracker.rs`); fancy-regex takes the others, and texts on which that
//! takes too many steps.
//!
//! Deliberately not here: callouts and encodings other than UTF-8 and bytes. A pattern
//! that backtracks without end stops at a limit, which becomes a RegexpError.

mod backtracker;
mod recursive;
mod simple;
mod translate;

use std::cell::{Cell, OnceCell};
use std::rc::Rc;

use backtracker::Backtracker;
use fancy_regex::RegexBuilder;
use recursive::Recursive;
pub use simple::{Simple, Slots, TooLong};
use translate::Translator;

/// Most steps one search may take back.
const BACKTRACK_LIMIT: usize = 2_000_000;

/// Searches in which the matcher gave up after which it is not asked any more.
const MOST_GIVEN_UP: u32 = 8;

pub struct Program {
    /// The engine's form, made when first needed.
    re: OnceCell<Option<fancy_regex::Regex>>,
    /// For most patterns.
    backtracker: Option<Backtracker>,
    /// For a pattern that calls its own groups.
    recursive: Option<Recursive>,
    given_up: Cell<u32>,
    /// Group names in order of first appearance, with their numbers.
    pub names: Vec<(Rc<str>, Vec<usize>)>,
    pub groups: usize,
    /// Bytes are characters: the pattern and the text are read as Latin-1.
    pub binary: bool,
    /// A pattern without any special character, searched as bytes.
    literal: Option<Vec<u8>>,
    body: String,
    /// The same pattern held to where the search starts; made when first needed.
    held: OnceCell<Option<fancy_regex::Regex>>,
}

pub(crate) type Groups = Vec<Option<(usize, usize)>>;

/// It takes the large engine to find out.
pub(crate) struct Refused;

/// What the matcher found, if it could find out.
pub(crate) type Searched = Result<Option<Groups>, Refused>;

pub(crate) const IGNORECASE: u32 = 1;
pub(crate) const EXTENDED: u32 = 2;
pub(crate) const MULTILINE: u32 = 4;

impl Program {
    pub fn compile(source: &[u8], flags: u32, binary: bool) -> Result<Program, String> {
        let text: String = if binary {
            source.iter().map(|b| *b as char).collect()
        } else {
            match std::str::from_utf8(source) {
                Ok(t) => t.to_owned(),
                Err(_) => source.iter().map(|b| *b as char).collect(),
            }
        };
        let plain = flags & (IGNORECASE | EXTENDED) == 0
            && !source.is_empty()
            && source.iter().all(|b| {
                b.is_ascii_alphanumeric() || b" _-,:;=/<>@%&~`'\"!".contains(b) || *b >= 128
            });
        let t = translated(&text, flags)?;
        let body = t.out;
        let literal = if plain && !binary { Some(source.to_vec()) } else { None };
        let recursive = if text.contains("\\g") { Recursive::read(&body) } else { None };
        let backtracker = match (&literal, &recursive) {
            (None, None) => Backtracker::read(&body),
            _ => None,
        };
        let re = OnceCell::new();
        if literal.is_none() && backtracker.is_none() && recursive.is_none() {
            let built = build(&body)?;
            let _unset = re.set(Some(built));
        }
        Ok(Program {
            re,
            backtracker,
            recursive,
            given_up: Cell::new(0),
            names: t.names,
            groups: t.groups,
            binary,
            literal,
            body,
            held: OnceCell::new(),
        })
    }

    /// Searches from a byte offset. An error is a limit that was crossed.
    pub fn search(
        &self,
        text: &[u8],
        from: usize,
        anchored: bool,
    ) -> Result<Option<Groups>, String> {
        if from > text.len() {
            return Ok(None);
        }
        if let (Some(literal), false) = (&self.literal, anchored) {
            return Ok(find(&text[from..], literal)
                .map(|i| vec![Some((from + i, from + i + literal.len()))]));
        }
        match std::str::from_utf8(text) {
            Ok(s) if !self.binary || text.is_ascii() => self.search_text(s, from, anchored),
            _ => {
                // Every byte becomes one character, and offsets are mapped back.
                let mut map = Vec::with_capacity(text.len() + 1);
                let mut s = String::with_capacity(text.len() * 2);
                let mut at = 0;
                while at < text.len() {
                    let (len, good) = crate::encoding::char_len(&text[at..], u8::from(self.binary));
                    map.push((s.len(), at));
                    if good && !self.binary {
                        s.push_str(&String::from_utf8_lossy(&text[at..at + len]));
                    } else {
                        s.push(text[at] as char);
                    }
                    at += len;
                }
                map.push((s.len(), text.len()));
                let start = map.iter().find(|(_, t)| *t >= from).map_or(s.len(), |(p, _)| *p);
                let found = self.run(&s, start, anchored)?;
                let back = |p: usize| match map.binary_search_by_key(&p, |(x, _)| *x) {
                    Ok(i) => map[i].1,
                    Err(i) => map[i.min(map.len() - 1)].1,
                };
                Ok(found
                    .map(|g| g.into_iter().map(|r| r.map(|(a, b)| (back(a), back(b)))).collect()))
            }
        }
    }

    fn run(&self, s: &str, from: usize, anchored: bool) -> Result<Option<Groups>, String> {
        if let Some(recursive) = &self.recursive {
            return recursive.search(s, from, anchored);
        }
        if let Ok(found) = self.backtrack(s.as_bytes(), from, anchored) {
            return Ok(found);
        }
        let re = if anchored {
            self.held.get_or_init(|| build(&format!("\\G(?:{})", self.body)).ok())
        } else {
            self.re.get_or_init(|| build(&self.body).ok())
        };
        let Some(re) = re else { return Ok(None) };
        if self.groups == 0 {
            let found = re.find_from_pos(s, from).map_err(|e| e.to_string())?;
            return Ok(found.map(|m| vec![Some((m.start(), m.end()))]));
        }
        let caps = re.captures_from_pos(s, from).map_err(|e| e.to_string())?;
        let Some(caps) = caps else { return Ok(None) };
        Ok(Some((0..caps.len()).map(|i| caps.get(i).map(|m| (m.start(), m.end()))).collect()))
    }

    fn backtrack(&self, text: &[u8], from: usize, anchored: bool) -> Searched {
        let Some(backtracker) = &self.backtracker else { return Err(Refused) };
        if self.given_up.get() > MOST_GIVEN_UP {
            return Err(Refused);
        }
        backtracker.search(text, from, anchored).map_err(|_| {
            self.given_up.set(self.given_up.get() + 1);
            Refused
        })
    }

    /// As [`Program::search`], in bytes known to be UTF-8 of the pattern's kind.
    pub(crate) fn search_known(&self, text: &[u8], mut from: usize, anchored: bool) -> Searched {
        if from > text.len() {
            return Ok(None);
        }
        if let (Some(literal), false) = (&self.literal, anchored) {
            let found = find(&text[from..], literal);
            return Ok(found.map(|i| vec![Some((from + i, from + i + literal.len()))]));
        }
        while text.get(from).is_some_and(|byte| byte & 0xC0 == 0x80) {
            from += 1;
        }
        self.backtrack(text, from, anchored)
    }

    /// As [`Program::search`], in a text known to be UTF-8.
    pub(crate) fn search_text(
        &self,
        text: &str,
        mut from: usize,
        anchored: bool,
    ) -> Result<Option<Groups>, String> {
        if from > text.len() {
            return Ok(None);
        }
        if let (Some(literal), false) = (&self.literal, anchored) {
            return Ok(find(&text.as_bytes()[from..], literal)
                .map(|i| vec![Some((from + i, from + i + literal.len()))]));
        }
        while !text.is_char_boundary(from) {
            from += 1;
        }
        self.run(text, from, anchored)
    }

    /// The last match that starts at or before a byte offset.
    pub fn search_back(&self, text: &[u8], from: usize) -> Result<Option<Groups>, String> {
        let mut at = from.min(text.len());
        loop {
            let boundary = at == text.len() || self.binary || (text[at] & 0xC0) != 0x80;
            if boundary
                && let Some(g) = self.search(text, at, false)?
                && g[0].is_some_and(|(a, _)| a == at)
            {
                return Ok(Some(g));
            }
            if at == 0 {
                return Ok(None);
            }
            at -= 1;
        }
    }
}

/// A pattern in the engine's language, and its groups.
fn translated(text: &str, flags: u32) -> Result<Translator, String> {
    let mut t = Translator {
        chars: text.chars().collect(),
        at: 0,
        out: String::with_capacity(text.len() + 16),
        named: false,
        names: Vec::new(),
        groups: 0,
        total: 0,
    };
    t.survey();
    let mut prefix = String::new();
    if flags & IGNORECASE != 0 {
        prefix.push('i');
    }
    if flags & MULTILINE != 0 {
        prefix.push('s');
    }
    t.sequence(flags & EXTENDED != 0, 0)?;
    if t.at < t.chars.len() {
        return Err("unmatched close parenthesis".into());
    }
    if !prefix.is_empty() {
        t.out = format!("(?{prefix}:{})", t.out);
    }
    Ok(t)
}

/// The engine's form of a pattern in Ruby's language, for an embedder's own searches.
pub fn engine(source: &str) -> Result<fancy_regex::Regex, String> {
    build(&translated(source, 0)?.out)
}

fn build(body: &str) -> Result<fancy_regex::Regex, String> {
    RegexBuilder::new(body)
        .oniguruma_mode(true)
        .backtrack_limit(BACKTRACK_LIMIT)
        .delegate_size_limit(32 << 20)
        .build()
        .map_err(|e| e.to_string())
}

pub(crate) fn find(text: &[u8], needle: &[u8]) -> Option<usize> {
    match needle {
        [] => Some(0),
        [byte] => memchr::memchr(*byte, text),
        // Preparing the fast search costs more than a short text.
        [first, ..] if text.len() < 64 => {
            let last = text.len().checked_sub(needle.len())?;
            (0..=last).find(|at| text[*at] == *first && text[*at..].starts_with(needle))
        }
        _ => memchr::memmem::find(text, needle),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers that look random and are the same each time.
    struct Dice(u64);

    impl Dice {
        fn roll<'t>(&mut self, of: &[&'t str]) -> &'t str {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            of[(self.0 >> 33) as usize % of.len()]
        }
    }

    #[test]
    fn references_of_any_length_are_read() {
        for digits in ["99", "99999999999999999999"] {
            let found = engine(&format!("a\\{digits}b")).map(|regex| regex.is_match("ab"));
            assert_eq!(found.ok().and_then(Result::ok), Some(false), "{digits}");
        }
    }

    fn groups(slots: &[Option<usize>]) -> Groups {
        slots.chunks(2).map(|pair| pair[0].zip(pair[1])).collect()
    }

    #[test]
    fn the_small_matchers_find_what_the_engine_finds() {
        const ATOMS: &[&str] = &[
            "a", "b", "B", "1", "_", "-", "é", ".", "[ab]", "[^a]", "[a-z1]", r"\d", r"\w", r"\s",
            r"\W", r"\h", r"[\w-]", "(a)", "(a|b)", "(?:ab|a)", "(?i:b)", "^", "$", r"\A", r"\z",
            r"\Z", r"\.", r"[\d.]", "|",
        ];
        const COUNTS: &[&str] = &["", "", "", "*", "+", "?", "*?", "+?", "{2}", "{1,2}", "{,2}"];
        const PIECES: &[&str] = &["a", "b", "B", "A", "1", "_", "-", "\n", " ", ".", "é", "ab"];
        let mut dice = Dice(7);
        let mut compared = 0;
        for _ in 0..4000 {
            let length = dice.roll(&["1", "2", "3", "4"]).len() + (dice.0 >> 40) as usize % 5;
            let pattern: String =
                (0..length).flat_map(|_| [dice.roll(ATOMS), dice.roll(COUNTS)]).collect();
            let flags = [0, 0, IGNORECASE, MULTILINE][(dice.0 >> 35) as usize % 4];
            let Ok(program) = Program::compile(pattern.as_bytes(), flags, false) else { continue };
            let folds = flags & IGNORECASE != 0;
            let simple = Simple::read_with(&pattern, folds, flags & MULTILINE != 0);
            let (Some(simple), Ok(engine)) = (simple, build(&program.body)) else { continue };
            let Some(backtracker) = Backtracker::read(&program.body) else {
                panic!("/{pattern}/ is refused");
            };
            for _ in 0..4 {
                let text: String = (0..8).map(|_| dice.roll(PIECES)).collect();
                let from = [0, 0, 1, 2][(dice.0 >> 37) as usize % 4];
                if !text.is_char_boundary(from) {
                    continue;
                }
                let Ok(found) = simple.search_from(&text, from, false) else { continue };
                let caps = engine.captures_from_pos(&text, from).unwrap();
                let expected: Option<Groups> = caps.map(|caps| {
                    let group = |at| caps.get(at).map(|group| (group.start(), group.end()));
                    (0..caps.len()).map(group).collect()
                });
                let found = found.map(|slots| groups(&slots));
                assert_eq!(found, expected, "/{pattern}/ with {flags} on {text:?} from {from}");
                let found = backtracker.search(text.as_bytes(), from, false).ok();
                assert_eq!(
                    found,
                    Some(expected),
                    "/{pattern}/ with {flags} on {text:?} from {from}"
                );
                compared += 1;
            }
        }
        assert!(compared > 1000, "{compared} searches compared");
    }
}
