//! What is known of an expression before it is matched: the bytes that it, or one way of it,
//! can begin with.

use fancy_regex::Assertion;

use super::set::Bytes;
use super::{Backtracker, Op, Start};

/// Most instructions that are looked at for one question.
const MOST_LOOKED_AT: usize = 2000;

/// The bytes that a match from an instruction on can begin with; nothing if it may be empty.
fn firsts(code: &Backtracker, pc: usize) -> Option<Bytes> {
    let mut bytes = Bytes::default();
    let mut seen = vec![false; code.code.len()];
    let mut open = vec![pc];
    let mut looked_at = 0;
    while let Some(pc) = open.pop() {
        if std::mem::replace(&mut seen[pc], true) {
            continue;
        }
        looked_at += 1;
        if looked_at > MOST_LOOKED_AT {
            return None;
        }
        match code.code[pc] {
            Op::Byte(byte) => bytes.add(byte),
            Op::Text(from, _) => bytes.add(code.texts[from as usize]),
            Op::Set(set) => bytes.add_all(code.sets[set as usize].firsts()),
            Op::Span { set, least, .. } => {
                bytes.add_all(code.sets[set as usize].firsts());
                if least == 0 {
                    open.push(pc + 1);
                }
            }
            Op::Fork(first, second, _) => open.extend([first as usize, second as usize]),
            Op::Jump(to) => open.push(to as usize),
            // What is ahead only narrows what comes after it.
            Op::Ahead(_, end) | Op::Not(_, end) => open.push(end as usize),
            Op::TurnEnd(_, start) => open.extend([start as usize, pc + 1]),
            Op::Assert(_) | Op::Save(_) | Op::Hold(_) | Op::Cut(_) | Op::Turn(_) | Op::Begun => {
                open.push(pc + 1);
            }
            Op::Fail => {}
            Op::Same(_) | Op::Back(_) | Op::AheadEnd(_) | Op::NotEnd(_) | Op::Done => return None,
        }
    }
    Some(bytes)
}

/// Ways that a byte rules out are not tried, and a repetition that what follows it cannot
/// shorten gives nothing back.
pub(super) fn settle(made: &mut Backtracker) {
    for pc in 0..made.code.len() {
        match made.code[pc] {
            Op::Fork(first, second, _) => {
                if let Some(bytes) = firsts(made, first as usize) {
                    let known = made.bytes.iter().position(|known| *known == bytes);
                    let number = known.unwrap_or(made.bytes.len());
                    if known.is_none() {
                        made.bytes.push(bytes);
                    }
                    made.code[pc] = Op::Fork(first, second, number as u32);
                }
            }
            Op::Span { set, least, most, all: false } => {
                let own = made.sets[set as usize].firsts();
                let all = least == most
                    || firsts(made, pc + 1).is_some_and(|after| !after.meets(&own))
                    || matches!(made.code[pc + 1], Op::Done);
                made.code[pc] = Op::Span { set, least, most, all };
            }
            _ => {}
        }
    }
}

/// Where a match can begin.
pub(super) fn follow(made: &Backtracker) -> Start {
    let mut at = 0;
    while matches!(made.code[at], Op::Save(slot) if slot > 1) {
        at += 1;
    }
    match made.code[at] {
        Op::Assert(Assertion::StartText) => return Start::Text,
        Op::Begun => return Start::Here,
        Op::Assert(Assertion::StartLineOniguruma { .. }) => return Start::Line,
        Op::Text(from, length) => {
            let text = &made.texts[from as usize..(from + length) as usize];
            return Start::Word(Box::new(memchr::memmem::Finder::new(text).into_owned()));
        }
        _ => {}
    }
    match firsts(made, 0) {
        None => Start::Anywhere,
        Some(bytes) => match bytes.only() {
            Some(byte) => Start::Byte(byte),
            None => Start::Bytes(bytes),
        },
    }
}

/// Whether a match may begin at a place.
#[inline]
pub(super) fn may_begin(start: &Start, text: &[u8], at: usize) -> bool {
    match start {
        Start::Byte(only) => text.get(at) == Some(only),
        Start::Bytes(bytes) => text.get(at).is_some_and(|byte| bytes.has(*byte)),
        Start::Word(word) => text[at..].starts_with(word.needle()),
        Start::Text => at == 0,
        Start::Line => at == 0 || text[at - 1] == b'\n',
        Start::Anywhere | Start::Here => true,
    }
}
