//! Sets of characters, asked by the first byte of a character, and sets of bytes.

use regex_syntax::hir::{Class, Hir, HirKind};

/// The first byte does not decide; the character has to be read.
const ASK: u8 = 255;

/// What one character may be.
pub(super) struct Set {
    /// By first byte: how long the character is if it belongs, 0 if it does not, or [`ASK`].
    width: Box<[u8; 256]>,
    /// The characters outside ASCII, in order.
    wide: Box<[(char, char)]>,
}

/// How many bytes a character has, by its first.
const fn width_of(first: u8) -> u8 {
    match first {
        0..0x80 => 1,
        0x80..0xE0 => 2,
        0xE0..0xF0 => 3,
        _ => 4,
    }
}

impl Set {
    /// Every character, line ends too or not.
    pub(super) fn any(newline: bool) -> Set {
        let mut width = Box::new([0; 256]);
        for (first, width) in (0..=255).zip(width.iter_mut()) {
            *width = if first == b'\n' && !newline { 0 } else { width_of(first) };
        }
        Set { width, wide: Box::new([]) }
    }

    pub(super) fn one(c: char) -> Set {
        Set::of(vec![(c, c)])
    }

    fn of(ranges: Vec<(char, char)>) -> Set {
        let mut width = Box::new([0; 256]);
        let mut wide = Vec::new();
        for (from, to) in ranges {
            for byte in u32::from(from)..=u32::from(to).min(0x7F) {
                width[byte as usize] = 1;
            }
            if to > '\x7F' {
                wide.push((from.max('\u{80}'), to));
            }
        }
        if wide.iter().any(|(from, to)| (*from, *to) == ('\u{80}', char::MAX)) {
            for first in 0x80..=255 {
                width[usize::from(first)] = width_of(first);
            }
        } else {
            for (from, to) in &wide {
                let mut buffer = [0; 4];
                let first = from.encode_utf8(&mut buffer).as_bytes()[0];
                let last = to.encode_utf8(&mut buffer).as_bytes()[0];
                width[usize::from(first)..=usize::from(last)].fill(ASK);
            }
        }
        Set { width, wide: wide.into() }
    }

    /// How many bytes the character at a place has, 0 if it does not belong.
    #[expect(clippy::inline_always, reason = "the innermost step of every search")]
    #[inline(always)]
    pub(super) fn taken(&self, text: &[u8], at: usize) -> usize {
        match text.get(at) {
            None => 0,
            Some(first) => match self.width[usize::from(*first)] {
                ASK => self.asked(&text[at..]),
                width => usize::from(width),
            },
        }
    }

    #[inline(never)]
    fn asked(&self, rest: &[u8]) -> usize {
        let Some((c, width)) = decode(rest) else { return 0 };
        let after = self.wide.partition_point(|(from, _)| *from <= c);
        let belongs = after > 0 && c <= self.wide[after - 1].1;
        if belongs { width } else { 0 }
    }

    /// The bytes that characters of the set begin with.
    pub(super) fn firsts(&self) -> Bytes {
        let mut bytes = Bytes::default();
        (0..=255).filter(|first| self.width[usize::from(*first)] != 0).for_each(|b| bytes.add(b));
        bytes
    }
}

/// The character at the start of a text that is UTF-8.
pub(super) fn decode(rest: &[u8]) -> Option<(char, usize)> {
    let width = usize::from(width_of(*rest.first()?)).min(rest.len());
    let c = std::str::from_utf8(&rest[..width]).ok()?.chars().next()?;
    Some((c, width))
}

/// Bytes, one bit each.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Bytes([u64; 4]);

impl Bytes {
    pub(super) fn add(&mut self, byte: u8) {
        self.0[usize::from(byte >> 6)] |= 1 << (byte & 63);
    }

    pub(super) fn add_all(&mut self, other: Bytes) {
        self.0.iter_mut().zip(other.0).for_each(|(word, other)| *word |= other);
    }

    #[expect(clippy::inline_always, reason = "asked before every attempt")]
    #[inline(always)]
    pub(super) fn has(&self, byte: u8) -> bool {
        self.0[usize::from(byte >> 6)] >> (byte & 63) & 1 == 1
    }

    pub(super) fn meets(&self, other: &Bytes) -> bool {
        self.0.iter().zip(other.0).any(|(word, other)| word & other != 0)
    }

    /// The byte, if there is one alone.
    pub(super) fn only(&self) -> Option<u8> {
        let mut all = (0..=255).filter(|byte| self.has(*byte));
        let first = all.next()?;
        all.next().is_none().then_some(first)
    }
}

/// One position of a pattern that the parser of the large engine leaves to its library: a set,
/// or one character.
pub(super) enum One {
    Char(char),
    Set(Set),
}

/// Reads patterns that take exactly one character each; the characters of a text with or
/// without case are such.
pub(super) fn read(pattern: &str, casei: bool) -> Option<Vec<One>> {
    let mut parser = regex_syntax::ParserBuilder::new().case_insensitive(casei).build();
    let hir = parser.parse(pattern).ok()?;
    let mut all = Vec::new();
    flatten(&hir, &mut all)?;
    Some(all)
}

fn flatten(hir: &Hir, into: &mut Vec<One>) -> Option<()> {
    match hir.kind() {
        HirKind::Empty => {}
        HirKind::Literal(text) => {
            into.extend(std::str::from_utf8(&text.0).ok()?.chars().map(One::Char));
        }
        HirKind::Class(Class::Unicode(class)) => {
            let ranges = class.iter().map(|range| (range.start(), range.end()));
            into.push(One::Set(Set::of(ranges.collect())));
        }
        HirKind::Class(Class::Bytes(class)) if class.is_ascii() => {
            let ranges = class.iter().map(|range| (range.start().into(), range.end().into()));
            into.push(One::Set(Set::of(ranges.collect())));
        }
        HirKind::Concat(all) => all.iter().try_for_each(|one| flatten(one, into))?,
        HirKind::Capture(group) => flatten(&group.sub, into)?,
        _ => return None,
    }
    Some(())
}
