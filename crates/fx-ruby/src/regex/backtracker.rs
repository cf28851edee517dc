//! A matcher for almost all expressions: it tries one way after the other, as Ruby's own engine
//! does. It is ready at once, reads the text where it is, and knows by the next byte what cannot
//! match there. What it does not know it refuses, and where it takes too many steps it gives
//! up; then the large engine is asked.

mod compile;
mod first;
mod run;
mod set;

use std::cell::Cell;

use fancy_regex::Assertion;

use super::Groups;
use first::may_begin;
use run::{Scratch, TooMany};
use set::{Bytes, Set};

/// No place, no limit, no set of bytes.
const NONE: u32 = u32::MAX;

/// Steps that every search may take, and how many more for each byte of the text.
const STEPS: usize = 100_000;
const STEPS_A_BYTE: usize = 8;

#[derive(Clone, Copy)]
enum Op {
    Byte(u8),
    /// Bytes of `texts`: from, how many.
    Text(u32, u32),
    Set(u32),
    /// As many characters of a set as there are; `all`: none is given back.
    Span {
        set: u32,
        least: u32,
        most: u32,
        all: bool,
    },
    Assert(Assertion),
    /// Notes where a group begins or ends.
    Save(u32),
    Jump(u32),
    /// Goes on at the first, at the second if that fails. The third are the bytes without
    /// which the first need not be tried.
    Fork(u32, u32, u32),
    /// The same text as a group.
    Same(u32),
    /// A part that is left without a way back.
    Hold(u32),
    Cut(u32),
    /// What must follow, and what must not; the second is where that ends.
    Ahead(u32, u32),
    AheadEnd(u32),
    Not(u32, u32),
    NotEnd(u32),
    /// So many characters back.
    Back(u32),
    /// A turn of a loop begins; one that took nothing is the last one.
    Turn(u32),
    TurnEnd(u32, u32),
    /// Where the search began.
    Begun,
    Fail,
    Done,
}

/// Where a match can begin.
enum Start {
    Anywhere,
    /// At the start of the text, where the search began, at the start of a line.
    Text,
    Here,
    Line,
    Byte(u8),
    Bytes(Bytes),
    Word(Box<memchr::memmem::Finder<'static>>),
}

/// An expression that is ready to be matched.
pub(super) struct Backtracker {
    code: Vec<Op>,
    sets: Vec<Set>,
    texts: Box<[u8]>,
    bytes: Vec<Bytes>,
    /// Ends of groups, and the registers of instructions.
    slots: usize,
    groups: usize,
    start: Start,
    /// The lists that the last search used.
    scratch: Cell<Scratch>,
}

impl Backtracker {
    /// The first match at or after a place, or only at it. The text is UTF-8 and the place
    /// between two characters.
    pub(super) fn search(
        &self,
        text: &[u8],
        from: usize,
        only_there: bool,
    ) -> Result<Option<Groups>, TooMany> {
        if text.len() >= NONE as usize {
            return Err(TooMany);
        }
        let first = if only_there {
            may_begin(&self.start, text, from).then_some(from)
        } else {
            self.candidate(text, from, from)
        };
        let Some(first) = first else { return Ok(None) };
        let mut scratch = self.scratch.take();
        let steps = STEPS + text.len() * STEPS_A_BYTE;
        scratch.begin(self.slots, steps);
        let found = self.tried(text, from, first, only_there, &mut scratch);
        if scratch.is_small() {
            self.scratch.set(scratch);
        }
        found
    }

    fn tried(
        &self,
        text: &[u8],
        from: usize,
        first: usize,
        only_there: bool,
        scratch: &mut Scratch,
    ) -> Result<Option<Groups>, TooMany> {
        let mut at = first;
        loop {
            if let Some(end) = self.at(text, from, at, scratch)? {
                return Ok(Some(scratch.groups(self.groups, at, end)));
            }
            if only_there || at >= text.len() {
                return Ok(None);
            }
            at += 1;
            while text.get(at).is_some_and(|byte| byte & 0xC0 == 0x80) {
                at += 1;
            }
            match self.candidate(text, from, at) {
                Some(next) => at = next,
                None => return Ok(None),
            }
        }
    }

    /// The next place where a match may begin.
    #[inline]
    fn candidate(&self, text: &[u8], from: usize, at: usize) -> Option<usize> {
        match &self.start {
            Start::Anywhere => Some(at),
            Start::Text => (at == 0).then_some(0),
            Start::Here => (at == from).then_some(at),
            Start::Line => {
                if at == 0 || text[at - 1] == b'\n' {
                    return Some(at);
                }
                memchr::memchr(b'\n', &text[at..]).map(|more| at + more + 1)
            }
            Start::Byte(byte) => memchr::memchr(*byte, &text[at..]).map(|more| at + more),
            Start::Bytes(bytes) => {
                text[at..].iter().position(|byte| bytes.has(*byte)).map(|more| at + more)
            }
            Start::Word(word) => word.find(&text[at..]).map(|more| at + more),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::translated;
    use super::*;

    /// The groups of the first match, as CRuby 3.1 gives them; `-` for one that took no part.
    fn check(pattern: &str, text: &str, expected: Option<&[&str]>) {
        let body = translated(pattern, 0).expect("it is read").out;
        let made = Backtracker::read(&body).unwrap_or_else(|| panic!("/{pattern}/ is refused"));
        let found = made.search(text.as_bytes(), 0, false).expect("within bounds");
        let texts: Option<Vec<&str>> = found.map(|groups| {
            groups.iter().map(|group| group.map_or("-", |(from, to)| &text[from..to])).collect()
        });
        assert_eq!(texts.as_deref(), expected, "/{pattern}/ on {text:?}");
    }

    #[test]
    fn the_first_way_that_fits_wins() {
        check("a|ab", "ab", Some(&["a"]));
        check("(?:ab|a)(b?)", "ab", Some(&["ab", ""]));
        check("x*?y", "xxy", Some(&["xxy"]));
        check("[^é]+", "éab", Some(&["ab"]));
        check(r"(\w+)\s\1", "so so", Some(&["so so", "so"]));
        check(r"\bon\b", "ton on", Some(&["on"]));
        check("^b$", "a\nb\nc", Some(&["b"]));
        check("(?<=é|ab)c", "c éc", Some(&["c"]));
        check("(?<!b)c", "bc", None);
        check("a(?!b).", "abac", Some(&["ac"]));
        check(r"\Gb", "ab", None);
        check(r"a\Kb", "ab", Some(&["b"]));
    }

    #[test]
    fn what_is_left_without_a_way_back_stays() {
        check("(?>a+)a", "aaa", None);
        check("a++b", "aab", Some(&["aab"]));
        check("(?>(a)|b)c", "a bc", Some(&["bc", "-"]));
        check("(?:(a)|b)*", "ab", Some(&["ab", "a"]));
    }

    #[test]
    fn a_turn_that_takes_nothing_ends_a_loop() {
        check("(a*)*", "aab", Some(&["aa", ""]));
        check("(a*)+b", "aab", Some(&["aab", ""]));
        check("(?:a?)*?b", "aab", Some(&["aab"]));
        check("(?:(a)|(?=b))*b", "ab", Some(&["ab", "a"]));
    }

    #[test]
    fn a_hard_search_leaves_no_memory_behind() {
        let made = Backtracker::read("(?:a|b)*c").expect("it is known");
        assert!(made.search("ab".repeat(20_000).as_bytes(), 0, true).is_ok());
        let kept = made.scratch.take();
        assert!(kept.is_small());
    }

    #[test]
    fn too_many_steps_are_an_error() {
        let made = Backtracker::read("(?:a|a)*b").expect("it is known");
        assert!(made.search("a".repeat(40).as_bytes(), 0, false).is_err());
    }

    #[test]
    fn what_is_not_known_is_refused() {
        for pattern in [r"(?<=a+)b", r"\k<0>", r"(a)(?i:\1)", r"(?<x>a\g<x>?)", "(?~ab)"] {
            assert!(Backtracker::read(pattern).is_none(), "/{pattern}/");
        }
    }
}
