//! Bytes to tokens by longest match, as the original's lexer decides it.
//!
//! A guard may hold blanks and colons, so `reports: linux::` on one line is one guard:
//! that is the language, not a defect. Policy text is bytes; strings become text with bad
//! sequences replaced.

use std::borrow::Cow;
use std::cell::RefCell;
use std::rc::Rc;

use fx_source::{Diagnostic, FileId, Span, find_byte};
use rustc_hash::FxHashSet;

use crate::ast::Skipped;
use crate::macros::{self, Macro};
use crate::token::{Kind, Token};

pub(crate) struct Lexer<'a> {
    text: &'a [u8],
    file: FileId,
    at: usize,
    in_if: bool,
    pub(crate) errors: Vec<Diagnostic>,
    pub(crate) skipped: Skipped,
    fatal: bool,
    /// No guard begins before this place: the text up to it was looked at and has no `::`.
    no_guard_to: usize,
}

const WORD: u8 = 1;
const CLASS: u8 = 2;
const BLANK: u8 = 4;

/// What a byte can be part of.
const BYTES: [u8; 256] = {
    let mut table = [0; 256];
    let mut at = 0;
    while at < 256 {
        let byte = at as u8;
        table[at] = match byte {
            b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | b'_' | 0x80.. => WORD | CLASS,
            b'.' | b'|' | b'&' | b'!' | b'(' | b')' | b':' => CLASS,
            b' ' | b'\t' => BLANK,
            _ => 0,
        };
        at += 1;
    }
    table
};

fn is_word(byte: u8) -> bool {
    BYTES[byte as usize] & WORD != 0
}

fn is_class_byte(byte: u8) -> bool {
    BYTES[byte as usize] & CLASS != 0
}

impl<'a> Lexer<'a> {
    pub(crate) fn new(file: FileId, text: &'a [u8]) -> Lexer<'a> {
        Lexer {
            text,
            file,
            at: 0,
            in_if: false,
            errors: Vec::new(),
            skipped: Skipped::default(),
            fatal: false,
            no_guard_to: 0,
        }
    }

    /// One that begins in the middle of a text.
    pub(crate) fn at(file: FileId, text: &'a [u8], at: usize) -> Lexer<'a> {
        Lexer { at: at.min(text.len()), ..Lexer::new(file, text) }
    }

    fn span(&self, start: usize, end: usize) -> Span {
        Span::new(self.file, start as u32, end as u32)
    }

    fn error(&mut self, start: usize, message: &str) {
        let end = self.at.max(start);
        let span = self.span(start, end);
        self.errors.push(Diagnostic::error("cf-syntax", message).label(span, ""));
    }

    fn peek(&self, offset: usize) -> Option<u8> {
        self.text.get(self.at + offset).copied()
    }

    /// The next token; `End` for ever once the text is over or a fatal error was met.
    pub(crate) fn next(&mut self) -> Token {
        self.skip_blank();
        let start = self.at;
        if self.fatal || start >= self.text.len() {
            if self.in_if && !self.fatal {
                self.in_if = false;
                self.error(start, "EOF seen while @if was waiting for @endif without ignore_state");
            }
            let end = self.text.len().min(start);
            return Token { kind: Kind::End, span: self.span(end, end) };
        }
        let (kind, length) = self.longest(start);
        self.at = start + length;
        Token { kind, span: self.span(start, self.at) }
    }

    fn skip_blank(&mut self) {
        while let Some(byte) = self.peek(0) {
            match byte {
                b' ' | b'\t' | b'\n' => {
                    let rest = self.text[self.at..].iter();
                    let blank = |byte: &&u8| matches!(**byte, b' ' | b'\t' | b'\n');
                    self.at += rest.take_while(blank).count();
                }
                b'\r' if self.peek(1) == Some(b'\n') => self.at += 2,
                b'#' => {
                    let rest = &self.text[self.at..];
                    self.at += find_byte(rest, b'\n').unwrap_or(rest.len());
                }
                b'@' => {
                    if !self.preprocess() {
                        return;
                    }
                }
                _ => return,
            }
        }
    }

    // Whether a preprocessor line stood here and was taken.
    fn preprocess(&mut self) -> bool {
        let Some((found, length)) = macros::read(&self.text[self.at..]) else { return false };
        let start = self.at;
        self.at += length;
        let first = start == 0 || self.text[start - 1] == b'\n';
        match found {
            Macro::If(_) if !first => {
                self.fail(start, "fatal: macro @if must be at beginning of the line.")
            }
            Macro::If(_) if self.in_if => {
                self.fail(start, "fatal: nested @if macros are not allowed")
            }
            Macro::If(holds) => {
                self.in_if = true;
                if !holds {
                    self.skip_lines();
                }
            }
            Macro::Else if !self.in_if => {
                self.fail(start, "fatal: @else macro without a matching @if are not allowed");
            }
            Macro::Else => self.skip_lines(),
            Macro::Endif if !self.in_if => {
                self.fail(start, "fatal: @endif macros without a matching @if are not allowed");
            }
            Macro::Endif => self.in_if = false,
        }
        true
    }

    fn fail(&mut self, start: usize, message: &str) {
        self.error(start, message);
        self.fatal = true;
    }

    // Skips to the next `@else` or `@endif` at the start of a line; text between is not read.
    fn skip_lines(&mut self) {
        let mut lines = 0;
        loop {
            while self.peek(0).is_some_and(|byte| byte != b'\n') {
                self.at += 1;
            }
            if self.peek(0).is_none() {
                self.in_if = false;
                self.fail(self.at, "EOF seen while @if was waiting for @endif in ignore_state");
                return;
            }
            self.at += 1;
            lines += 1;
            let rest = &self.text[self.at..];
            let ends = rest.starts_with(b"@endif");
            if ends || rest.starts_with(b"@else") {
                self.skipped.0.push((self.at as u32, lines));
                self.in_if = !ends;
                self.at += if ends { 6 } else { 5 };
                return;
            }
        }
    }

    fn longest(&mut self, start: usize) -> (Kind, usize) {
        let text = &self.text[start..];
        if is_class_byte(text[0])
            && start >= self.no_guard_to
            && let Some(length) = self.guard_length(start)
        {
            let guard = String::from_utf8_lossy(&text[..length - 2]).into_owned();
            if words_without_operator(&guard) {
                self.at = start + length;
                self.error(
                    start,
                    "class names can't be separated by whitespace without an intervening operator",
                );
            }
            return (Kind::Class(guard.into()), length);
        }
        match text[0] {
            byte if is_word(byte) => self.word(text),
            b'"' | b'\'' | b'`' => string(text),
            b'=' if text.get(1) == Some(&b'>') => (Kind::FatArrow, 2),
            b'-' if text.get(1) == Some(&b'>') => (Kind::ThinArrow, 2),
            b'$' | b'@' => match naked_length(text) {
                Some(length) => (Kind::Naked(lossy(&text[..length])), length),
                None => (Kind::Char(text[0]), 1),
            },
            byte => (Kind::Char(byte), 1),
        }
    }

    // The longest guard that begins here; where there is none, none begins further on in the
    // same run of words either.
    fn guard_length(&mut self, start: usize) -> Option<usize> {
        let text = &self.text[start..];
        let mut length = None;
        let mut at = 0;
        while let Some(byte) = text.get(at)
            && BYTES[*byte as usize] & (CLASS | BLANK) != 0
        {
            if *byte == b':' && at > 0 && text.get(at + 1) == Some(&b':') {
                length = Some(at + 2);
            }
            at += 1;
        }
        if length.is_none() {
            self.no_guard_to = start + at;
        }
        length
    }

    fn word(&mut self, text: &[u8]) -> (Kind, usize) {
        let length = text.iter().position(|byte| !is_word(*byte)).unwrap_or(text.len());
        if text.get(length) == Some(&b':') {
            let after = &text[length + 1..];
            let second = after.iter().position(|byte| !is_word(*byte)).unwrap_or(after.len());
            if second > 0 {
                let whole = length + 1 + second;
                return (Kind::Id(lossy(&text[..whole])), whole);
            }
            if text[..length].iter().all(|byte| byte.is_ascii_alphabetic() || *byte == b'_') {
                return (Kind::PromiseType(lossy(&text[..length])), length + 1);
            }
        }
        let kind = match &text[..length] {
            b"bundle" => Kind::Bundle,
            b"body" => Kind::Body,
            b"promise" => Kind::Promise,
            word => Kind::Id(lossy(word)),
        };
        if length > 1023 {
            self.error(self.at, "identifier too long");
        }
        (kind, length)
    }
}

fn string(text: &[u8]) -> (Kind, usize) {
    let quote = text[0];
    let plain = find_byte(&text[1..], quote).map(|at| at + 2);
    let simple = plain.is_some_and(|length| find_byte(&text[..length], b'\\').is_none());
    let escaped = if quote == b'`' || simple { plain } else { quoted_length(text) };
    // `"expr"::` knows no escapes; it wins only if it is the longer match.
    if quote != b'`'
        && let Some(length) = plain
        && text[length..].starts_with(b"::")
        && escaped.is_none_or(|other| length + 2 > other)
    {
        return (Kind::VarClass(lossy(&text[1..length - 1])), length + 2);
    }
    match escaped {
        Some(length) if simple => (Kind::Quoted(lossy(&text[1..length - 1])), length),
        Some(length) => (Kind::Quoted(unescape(&text[1..length - 1])), length),
        None => (Kind::Char(quote), 1),
    }
}

/// Longer texts are hardly ever said twice.
const SHARED_LENGTH: usize = 24;

thread_local! {
    /// Short texts of all files read so far: policy says `string` and `true` thousands of
    /// times, and one copy of each is enough.
    static SHARED: RefCell<FxHashSet<Rc<str>>> = RefCell::default();
}

fn lossy(bytes: &[u8]) -> Rc<str> {
    // Nearly all text is good, and seeing that is cheaper than looking for what is bad.
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => String::from_utf8_lossy(bytes),
    };
    if text.len() > SHARED_LENGTH {
        return text.into();
    }
    SHARED.with_borrow_mut(|shared| {
        if let Some(known) = shared.get(&*text) {
            return Rc::clone(known);
        }
        let new: Rc<str> = text.into();
        shared.insert(Rc::clone(&new));
        new
    })
}

fn words_without_operator(guard: &str) -> bool {
    let bytes = guard.as_bytes();
    let mut previous: Option<u8> = None;
    let mut blank = false;
    for byte in bytes {
        if matches!(byte, b' ' | b'\t') {
            blank = previous.is_some();
        } else {
            if blank && is_word(*byte) && previous.is_some_and(is_word) {
                return true;
            }
            previous = Some(*byte);
            blank = false;
        }
    }
    false
}

fn quoted_length(text: &[u8]) -> Option<usize> {
    let quote = text[0];
    let mut at = 1;
    while let Some(byte) = text.get(at) {
        match byte {
            b'\\' => at += 2,
            byte if *byte == quote => return Some(at + 1),
            _ => at += 1,
        }
    }
    None
}

fn naked_length(text: &[u8]) -> Option<usize> {
    let (open, close) = match text.get(1)? {
        b'(' => (b'(', b')'),
        b'{' => (b'{', b'}'),
        _ => return None,
    };
    debug_assert!(open != close, "brackets differ");
    let simple = |byte: u8| is_word(byte) || matches!(byte, b'[' | b']' | b'.' | b':');
    let body = text[2..].iter().position(|byte| !simple(*byte)).map_or(text.len(), |at| at + 2);
    if body > 2 && text.get(body) == Some(&close) {
        return Some(body + 1);
    }
    // The second form takes one index that may itself hold variables.
    let plain = |byte: u8| is_word(byte) || matches!(byte, b'.' | b':');
    let name = text[2..].iter().position(|byte| !plain(*byte)).map_or(text.len(), |at| at + 2);
    if name == 2 || text.get(name) != Some(&b'[') {
        return None;
    }
    let inner = |byte: u8| plain(byte) || matches!(byte, b'$' | b'(' | b')' | b'{' | b'}');
    let index = text[name + 1..].iter().position(|byte| !inner(*byte)).map(|at| at + name + 1)?;
    if index == name + 1 || text.get(index) != Some(&b']') {
        return None;
    }
    let end = text[index..].iter().position(|byte| *byte != b']').map(|at| at + index)?;
    (text.get(end) == Some(&close)).then_some(end + 1)
}

// A backslash escapes quotes and itself; before a line end it removes both.
fn unescape(bytes: &[u8]) -> Rc<str> {
    if !bytes.contains(&b'\\') {
        return lossy(bytes);
    }
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        if byte == b'\\' {
            match bytes.get(at + 1) {
                Some(b'\n') => {
                    at += 2;
                    continue;
                }
                Some(next @ (b'\\' | b'"' | b'\'')) => {
                    out.push(*next);
                    at += 2;
                    continue;
                }
                _ => {}
            }
        }
        out.push(byte);
        at += 1;
    }
    lossy(&out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fx_source::SourceMap;

    fn kinds(text: &str) -> Vec<Kind> {
        let map = SourceMap::new();
        let id = map.add("t.cf", text.as_bytes());
        let mut lexer = Lexer::new(id, text.as_bytes());
        let mut kinds = Vec::new();
        loop {
            let token = lexer.next();
            if token.kind == Kind::End {
                return kinds;
            }
            kinds.push(token.kind);
        }
    }

    #[test]
    fn the_longest_match_wins() {
        let id = |text: &str| Kind::Id(text.into());
        let table = [
            ("reports: linux:: x", vec![Kind::Class("reports: linux".into()), id("x")]),
            (
                "vars:\n a::b",
                vec![Kind::PromiseType("vars".into()), Kind::Class("a".into()), id("b")],
            ),
            ("ns:name(", vec![id("ns:name"), Kind::Char(b'(')]),
            ("\"$(x)\":: 'a'", vec![Kind::VarClass("$(x)".into()), Kind::Quoted("a".into())]),
            (r#""a\"b\n""#, vec![Kind::Quoted("a\"b\\n".into())]),
            ("@(x) ${a[$(b)]}", vec![Kind::Naked("@(x)".into()), Kind::Naked("${a[$(b)]}".into())]),
            ("a => -> b", vec![id("a"), Kind::FatArrow, Kind::ThinArrow, id("b")]),
            ("a # c\nb", vec![id("a"), id("b")]),
            ("@if minimum_version(9)\nx\n@else\ny\n@endif\nz", vec![id("y"), id("z")]),
        ];
        for (text, expected) in table {
            assert_eq!(kinds(text), expected, "{text}");
        }
    }
}
