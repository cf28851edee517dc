//! Matching at one place.

use fancy_regex::Assertion;

use super::set::decode;
use super::{Backtracker, Groups, NONE, Op};

/// It takes too many steps to find out.
#[derive(Debug)]
pub(in super::super) struct TooMany;

/// A way to go back to.
#[derive(Clone, Copy)]
struct Back {
    pc: u32,
    at: u32,
    /// Down to here characters may be given back; the place itself for none.
    low: u32,
    /// How much had been noted.
    undo: u32,
}

/// Entries of a list that are kept for the next search: a hard one must not hold its memory as
/// long as its pattern lives.
const KEPT: usize = 4096;

/// The lists of a search, kept for the next one.
#[derive(Default)]
pub(super) struct Scratch {
    back: Vec<Back>,
    slots: Vec<u32>,
    /// What slots were before, to be put back.
    undo: Vec<(u32, u32)>,
    steps: usize,
}

impl Scratch {
    pub(super) fn begin(&mut self, slots: usize, steps: usize) {
        self.slots.clear();
        self.slots.resize(slots, NONE);
        self.steps = steps;
    }

    /// Whether it is worth keeping.
    pub(super) fn is_small(&self) -> bool {
        self.back.capacity() <= KEPT && self.undo.capacity() <= KEPT
    }

    fn note(&mut self, slot: u32, at: usize) {
        let place = &mut self.slots[slot as usize];
        self.undo.push((slot, *place));
        *place = at as u32;
    }

    #[inline]
    fn restore(&mut self, height: usize) {
        while self.undo.len() > height {
            if let Some((slot, old)) = self.undo.pop() {
                self.slots[slot as usize] = old;
            }
        }
    }

    pub(super) fn groups(&self, groups: usize, start: usize, end: usize) -> Groups {
        let mut all = Vec::with_capacity(groups + 1);
        let start = if self.slots[0] == NONE { start } else { self.slots[0] as usize };
        all.push(Some((start, end)));
        for pair in self.slots[2..(groups + 1) * 2].chunks_exact(2) {
            let whole = pair[0] != NONE && pair[1] != NONE;
            all.push(whole.then_some((pair[0] as usize, pair[1] as usize)));
        }
        all
    }
}

/// The place of the character before.
fn before(text: &[u8], mut at: usize) -> usize {
    at -= 1;
    while at > 0 && text[at] & 0xC0 == 0x80 {
        at -= 1;
    }
    at
}

impl Backtracker {
    /// Where a match that begins at a place ends.
    pub(super) fn at(
        &self,
        text: &[u8],
        from: usize,
        start: usize,
        scratch: &mut Scratch,
    ) -> Result<Option<usize>, TooMany> {
        scratch.back.clear();
        scratch.undo.clear();
        let (mut pc, mut at) = (0, start);
        loop {
            scratch.steps = scratch.steps.checked_sub(1).ok_or(TooMany)?;
            let next = match self.code[pc] {
                Op::Byte(byte) => {
                    if text.get(at) == Some(&byte) {
                        Some((pc + 1, at + 1))
                    } else {
                        None
                    }
                }
                Op::Text(from, length) => {
                    let word = &self.texts[from as usize..(from + length) as usize];
                    text[at..].starts_with(word).then(|| (pc + 1, at + word.len()))
                }
                Op::Set(set) => match self.sets[set as usize].taken(text, at) {
                    0 => None,
                    width => Some((pc + 1, at + width)),
                },
                Op::Span { set, least, most, all } => {
                    self.span(text, pc, at, (set, least, most, all), scratch)
                }
                Op::Fork(first, second, bytes) => {
                    let barred = bytes != NONE
                        && !text.get(at).is_some_and(|b| self.bytes[bytes as usize].has(*b));
                    if barred {
                        Some((second as usize, at))
                    } else {
                        let undo = scratch.undo.len() as u32;
                        let at = at as u32;
                        scratch.back.push(Back { pc: second, at, low: at, undo });
                        Some((first as usize, at as usize))
                    }
                }
                Op::Jump(to) => Some((to as usize, at)),
                Op::Save(slot) => {
                    scratch.note(slot, at);
                    Some((pc + 1, at))
                }
                Op::Assert(assertion) => holds(assertion, text, at).then_some((pc + 1, at)),
                Op::Done => return Ok(Some(at)),
                Op::Fail => None,
                rare => self.rare(rare, text, from, (pc, at), scratch),
            };
            match next {
                Some(next) => (pc, at) = next,
                None => match self.back(text, scratch) {
                    Some(next) => (pc, at) = next,
                    None => {
                        scratch.restore(0);
                        return Ok(None);
                    }
                },
            }
        }
    }

    #[inline]
    fn span(
        &self,
        text: &[u8],
        pc: usize,
        start: usize,
        (set, least, most, all): (u32, u32, u32, bool),
        scratch: &mut Scratch,
    ) -> Option<(usize, usize)> {
        let set = &self.sets[set as usize];
        let (mut at, mut count, mut low) = (start, 0, start);
        while count < most {
            let width = set.taken(text, at);
            if width == 0 {
                break;
            }
            at += width;
            count += 1;
            if count == least {
                low = at;
            }
        }
        if count < least {
            return None;
        }
        scratch.steps = scratch.steps.saturating_sub((at - start) / 8);
        if !all && at > low {
            let undo = scratch.undo.len() as u32;
            let place = before(text, at) as u32;
            scratch.back.push(Back { pc: pc as u32 + 1, at: place, low: low as u32, undo });
        }
        Some((pc + 1, at))
    }

    /// Goes back to the last way that was not tried.
    #[inline]
    fn back(&self, text: &[u8], scratch: &mut Scratch) -> Option<(usize, usize)> {
        while let Some(back) = scratch.back.pop() {
            scratch.restore(back.undo as usize);
            let (pc, mut at, low) = (back.pc as usize, back.at as usize, back.low as usize);
            if at == low {
                return Some((pc, at));
            }
            // A repetition: what follows it often says at once how much it must give back.
            if let Op::Byte(byte) = self.code[pc] {
                let given = &text[low..=at];
                match memchr::memrchr(byte, given) {
                    Some(place) => at = low + place,
                    None => continue,
                }
            }
            if at > low {
                let place = before(text, at) as u32;
                scratch.back.push(Back { at: place, ..back });
            }
            return Some((pc, at));
        }
        None
    }

    #[inline(never)]
    fn rare(
        &self,
        op: Op,
        text: &[u8],
        from: usize,
        (pc, at): (usize, usize),
        scratch: &mut Scratch,
    ) -> Option<(usize, usize)> {
        let height = scratch.back.len() as u32;
        match op {
            Op::Hold(register) => {
                scratch.slots[register as usize] = height;
                Some((pc + 1, at))
            }
            Op::Cut(register) => {
                scratch.back.truncate(scratch.slots[register as usize] as usize);
                Some((pc + 1, at))
            }
            Op::Ahead(register, _) => {
                scratch.slots[register as usize] = height;
                scratch.slots[register as usize + 1] = at as u32;
                Some((pc + 1, at))
            }
            Op::AheadEnd(register) => {
                scratch.back.truncate(scratch.slots[register as usize] as usize);
                Some((pc + 1, scratch.slots[register as usize + 1] as usize))
            }
            Op::Not(register, end) => {
                scratch.slots[register as usize] = height;
                let (undo, at) = (scratch.undo.len() as u32, at as u32);
                scratch.back.push(Back { pc: end, at, low: at, undo });
                Some((pc + 1, at as usize))
            }
            Op::NotEnd(register) => {
                scratch.back.truncate(scratch.slots[register as usize] as usize);
                None
            }
            Op::Back(count) => {
                let mut at = at;
                for _ in 0..count {
                    if at == 0 {
                        return None;
                    }
                    at = before(text, at);
                }
                Some((pc + 1, at))
            }
            Op::Turn(register) => {
                scratch.note(register, at);
                Some((pc + 1, at))
            }
            Op::TurnEnd(register, start) => {
                let began = scratch.slots[register as usize] as usize;
                Some((if began == at { pc + 1 } else { start as usize }, at))
            }
            Op::Same(group) => {
                let slot = group as usize * 2;
                let (first, end) = (*scratch.slots.get(slot)?, *scratch.slots.get(slot + 1)?);
                if first == NONE || end == NONE {
                    return None;
                }
                let word = text.get(first as usize..end as usize)?;
                text[at..].starts_with(word).then(|| (pc + 1, at + word.len()))
            }
            Op::Begun => (at == from).then_some((pc + 1, at)),
            _ => None,
        }
    }
}

fn is_word(c: Option<char>) -> bool {
    c.is_some_and(regex_syntax::is_word_character)
}

fn holds(assertion: Assertion, text: &[u8], at: usize) -> bool {
    let left = || match at.checked_sub(1).map(|at| text[at]) {
        Some(byte) if byte < 0x80 => byte.is_ascii_alphanumeric() || byte == b'_',
        Some(_) => is_word(decode(&text[before(text, at)..]).map(|(c, _)| c)),
        None => false,
    };
    let right = || match text.get(at) {
        Some(byte) if *byte < 0x80 => byte.is_ascii_alphanumeric() || *byte == b'_',
        Some(_) => is_word(decode(&text[at..]).map(|(c, _)| c)),
        None => false,
    };
    match assertion {
        Assertion::StartText => at == 0,
        Assertion::EndText => at == text.len(),
        Assertion::EndTextIgnoreTrailingNewlines { .. } => text[at..].iter().all(|b| *b == b'\n'),
        Assertion::StartLine { .. } => at == 0 || text[at - 1] == b'\n',
        Assertion::StartLineOniguruma { .. } => {
            at == 0 || (text[at - 1] == b'\n' && at < text.len())
        }
        Assertion::EndLine { .. } => at == text.len() || text[at] == b'\n',
        Assertion::LeftWordBoundary => !left() && right(),
        Assertion::LeftWordHalfBoundary => !left(),
        Assertion::RightWordBoundary => left() && !right(),
        Assertion::RightWordHalfBoundary => !right(),
        Assertion::WordBoundary => left() != right(),
        Assertion::NotWordBoundary => left() == right(),
    }
}
