//! Text to tokens, all at once. Strings with expressions keep the tokens of each
//! expression; the parser turns them into trees.

use std::cell::Cell;
use std::rc::Rc;

use fx_source::{Diagnostic, FileId, Span};

use crate::escape::{DOUBLE_QUOTED, Escapes, Resolved, resolve};
use crate::names;
use crate::token::{KEYWORDS, RawPart, Tok, Token};

/// Most strings inside strings.
const MAX_DEPTH: u32 = 100;

/// What lexing yields.
pub(crate) struct Lexed {
    pub(crate) tokens: Vec<Token>,
    pub(crate) strings: Vec<Vec<RawPart>>,
    pub(crate) warnings: Vec<Diagnostic>,
}

pub(crate) type LexResult<T> = Result<T, Box<Diagnostic>>;

pub(crate) struct Lexer<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) file: FileId,
    pub(crate) at: usize,
    /// For text whose margin was cut: pairs of offset here and offset in the file.
    pub(crate) map: Option<Vec<(usize, usize)>>,
    pub(crate) tokens: Vec<Token>,
    pub(crate) strings: Vec<Vec<RawPart>>,
    pub(crate) warnings: Vec<Diagnostic>,
    /// Warnings of a string that is not read to its end yet.
    pub(crate) unplaced: Vec<Diagnostic>,
    /// Where the text after the heredocs of this line goes on.
    pub(crate) after_heredocs: Option<usize>,
    pub(crate) depth: u32,
}

thread_local! {
    /// Room for tokens, from one file to the next.
    static SPARE: Cell<Vec<Token>> = const { Cell::new(Vec::new()) };
}

/// Takes back the room of tokens that are no longer needed.
pub(crate) fn give_back(mut tokens: Vec<Token>) {
    tokens.clear();
    SPARE.set(tokens);
}

impl<'a> Lexer<'a> {
    pub(crate) fn new(bytes: &'a [u8], file: FileId) -> Lexer<'a> {
        Lexer {
            bytes,
            file,
            at: 0,
            map: None,
            tokens: SPARE.take(),
            strings: Vec::new(),
            warnings: Vec::new(),
            unplaced: Vec::new(),
            after_heredocs: None,
            depth: 0,
        }
    }

    /// All tokens to the end of the text.
    pub(crate) fn run(mut self) -> LexResult<Lexed> {
        while self.next_token()? {}
        let end = self.bytes.len();
        self.push(Tok::End, end, end, false);
        Ok(Lexed { tokens: self.tokens, strings: self.strings, warnings: self.warnings })
    }

    pub(crate) fn place(&self, offset: usize) -> usize {
        let Some(map) = &self.map else { return offset };
        let line = map.partition_point(|(here, _)| *here <= offset).saturating_sub(1);
        map.get(line).map_or(offset, |(here, there)| there + (offset - here))
    }

    pub(crate) fn span(&self, start: usize, end: usize) -> Span {
        let (start, end) = (self.place(start), self.place(end));
        Span::new(self.file, start as u32, end.max(start) as u32)
    }

    pub(crate) fn error(&self, at: usize, message: impl Into<String>) -> Box<Diagnostic> {
        let end = self.bytes.len().min(at + 1);
        Box::new(Diagnostic::error("puppet-syntax", message).label(self.span(at.min(end), end), ""))
    }

    pub(crate) fn push(&mut self, kind: Tok, start: usize, end: usize, spaced: bool) {
        let span = self.span(start, end);
        self.tokens.push(Token { kind, span, spaced });
    }

    /// Lexes one token; whether there was one.
    pub(crate) fn next_token(&mut self) -> LexResult<bool> {
        let spaced = self.skip_blank()?;
        self.token(spaced)
    }

    /// The same where blanks were skipped before, if there were any.
    pub(crate) fn token(&mut self, spaced: bool) -> LexResult<bool> {
        let start = self.at;
        let Some(byte) = self.bytes.get(start).copied() else { return Ok(false) };
        let first = self.tokens.is_empty();
        let spaced = spaced || first;
        match byte {
            b'\'' => self.single_quoted(spaced)?,
            b'"' => self.double_quoted(spaced)?,
            b'$' => self.variable(spaced)?,
            b'@' if self.bytes.get(start + 1) == Some(&b'(') => self.heredoc(spaced)?,
            b'0'..=b'9' => self.number(spaced)?,
            b'/' if self.regex_allowed() && self.regex(spaced) => {}
            _ if is_word_start(self.bytes, start) => self.word(spaced)?,
            _ => {
                let rest = &self.bytes[start..];
                let Some(symbol) = punctuation(rest) else {
                    let text = String::from_utf8_lossy(rest);
                    let shown = text.chars().next().unwrap_or(' ');
                    if shown == '\u{feff}' {
                        return Err(Box::new(Diagnostic::error(
                            "puppet-syntax",
                            "Illegal UTF-8 Byte Order mark at beginning of input: [EF BB BF] - remove these from the puppet source",
                        )));
                    }
                    return Err(self.error(start, "Syntax error at ''"));
                };
                self.at += symbol.len();
                // Only a parenthesis that begins a line is no call of what is before it.
                let spaced = if symbol == "(" { self.begins_line(start) } else { spaced };
                self.push(Tok::Punct(symbol), start, start + symbol.len(), spaced);
            }
        }
        Ok(true)
    }

    /// Whether nothing but blanks stands before a place on its line.
    fn begins_line(&self, at: usize) -> bool {
        let before = self.bytes[..at].iter().rev();
        let mut rest = before.skip_while(|byte| matches!(byte, b' ' | b'\t' | b'\r'));
        rest.next().is_none_or(|byte| *byte == b'\n')
    }

    fn regex_allowed(&self) -> bool {
        self.tokens.last().is_none_or(|token| token.kind.regex_may_follow())
    }

    /// Skips blanks, comments and, at the end of a line, the texts of its heredocs.
    pub(crate) fn skip_blank(&mut self) -> LexResult<bool> {
        let start = self.at;
        while let Some(byte) = self.bytes.get(self.at) {
            match byte {
                b'\n' => {
                    self.at += 1;
                    if let Some(after) = self.after_heredocs.take() {
                        self.at = after;
                    }
                }
                b' ' | b'\t' | b'\r' => self.at += 1,
                b'#' => {
                    self.at +=
                        self.bytes[self.at..].iter().take_while(|byte| **byte != b'\n').count();
                }
                b'/' if self.bytes.get(self.at + 1) == Some(&b'*') => {
                    let body = &self.bytes[self.at + 2..];
                    let Some(end) = body.windows(2).position(|pair| pair == b"*/") else {
                        return Err(self.error(self.at, "Unclosed multiline comment"));
                    };
                    self.at += end + 4;
                }
                // A no-break space or byte-order mark is nobody's intention.
                0xc2 if self.bytes.get(self.at + 1) == Some(&0xa0) => self.at += 2,
                _ => break,
            }
        }
        Ok(self.at > start)
    }

    fn single_quoted(&mut self, spaced: bool) -> LexResult<()> {
        let start = self.at;
        let mut at = start + 1;
        let plain = self.bytes[at..].iter().take_while(|byte| !matches!(byte, b'\'' | b'\\'));
        at += plain.count();
        if self.bytes.get(at) == Some(&b'\'') {
            self.at = at + 1;
            let text = names::text(&self.bytes[start + 1..at]);
            self.push(Tok::String(text), start, at + 1, spaced);
            return Ok(());
        }
        let mut text = self.bytes[start + 1..at].to_vec();
        loop {
            match self.bytes.get(at) {
                None => return Err(self.unclosed(start, "'")),
                Some(b'\'') => break,
                Some(b'\\') if matches!(self.bytes.get(at + 1), Some(b'\'' | b'\\')) => {
                    text.push(self.bytes[at + 1]);
                    at += 2;
                }
                Some(byte) => {
                    text.push(*byte);
                    at += 1;
                }
            }
        }
        self.at = at + 1;
        self.push(Tok::String(names::text(&text)), start, at + 1, spaced);
        Ok(())
    }

    fn unclosed(&self, start: usize, quote: &str) -> Box<Diagnostic> {
        let text: String =
            String::from_utf8_lossy(&self.bytes[start + 1..]).chars().take(9).collect();
        let follow = if text.is_empty() {
            "'<eof>'".to_owned()
        } else {
            format!("'{}...'", text.replace('\n', "\\n"))
        };
        let quote = if quote == "\"" { "'\"'".to_owned() } else { format!("{quote:?}") };
        self.error(start + 1, format!("Unclosed quote after {quote} followed by {follow}"))
    }

    fn double_quoted(&mut self, spaced: bool) -> LexResult<()> {
        let start = self.at;
        self.at += 1;
        let parts = self.string_parts(start, Some(b'"'), &DOUBLE_QUOTED, true)?;
        let end = self.at;
        self.push_parts(parts, start, end, spaced);
        Ok(())
    }

    pub(crate) fn push_parts(
        &mut self,
        mut parts: Vec<RawPart>,
        start: usize,
        end: usize,
        spaced: bool,
    ) {
        if parts.is_empty() {
            parts.push(RawPart::Text("".into()));
        }
        if let [RawPart::Text(text)] = &parts[..] {
            let text = Rc::clone(text);
            self.push(Tok::String(text), start, end, spaced);
        } else {
            self.strings.push(parts);
            let index = self.strings.len() - 1;
            self.push(Tok::Interpolated(index), start, end, spaced);
        }
    }

    /// Text and expressions up to a closing quote, or to the end of the text.
    pub(crate) fn string_parts(
        &mut self,
        start: usize,
        quote: Option<u8>,
        escapes: &Escapes,
        interpolate: bool,
    ) -> LexResult<Vec<RawPart>> {
        let mut parts = Vec::new();
        let mut text = Vec::new();
        loop {
            let at = self.at;
            let Some(byte) = self.bytes.get(at).copied() else {
                if quote.is_some() {
                    return Err(self.unclosed(start, "\""));
                }
                break;
            };
            if Some(byte) == quote {
                self.at += 1;
                break;
            }
            if byte == b'\\' {
                self.escape(escapes, &mut text)?;
            } else if byte == b'$' && interpolate && self.bytes.get(at + 1) == Some(&b'{') {
                flush(&mut text, &mut parts);
                parts.push(self.expression_part()?);
            } else if byte == b'$' && interpolate && variable_length(&self.bytes[at + 1..]) > 0 {
                flush(&mut text, &mut parts);
                let length = variable_length(&self.bytes[at + 1..]);
                let name = names::name(&self.bytes[at + 1..at + 1 + length]);
                self.at += 1 + length;
                parts.push(RawPart::Variable(name, self.span(at, self.at)));
            } else {
                let special = |byte: &&u8| !matches!(**byte, b'\\' | b'$') && Some(**byte) != quote;
                let run = 1 + self.bytes[at + 1..].iter().take_while(special).count();
                text.extend_from_slice(&self.bytes[at..at + run]);
                self.at += run;
            }
        }
        flush(&mut text, &mut parts);
        // What is wrong inside a string is reported at its end.
        let end = self.span(self.at, self.at + 1);
        for warning in std::mem::take(&mut self.unplaced) {
            self.warnings.push(warning.label(end, ""));
        }
        Ok(parts)
    }

    fn escape(&mut self, escapes: &Escapes, text: &mut Vec<u8>) -> LexResult<()> {
        match resolve(&self.bytes[self.at..], escapes) {
            Resolved::Text(resolved, length) => {
                text.extend_from_slice(resolved.as_bytes());
                self.at += length;
            }
            Resolved::BadUnicode => {
                if escapes.warn {
                    let warning = Diagnostic::warning(
                        "puppet-escape",
                        "Unicode escape '\\u' was not followed by 4 hex digits or 1-6 hex digits in {} or was > 10ffff",
                    );
                    self.unplaced.push(warning);
                }
                text.push(b'\\');
                self.at += 1;
            }
            Resolved::Unknown => {
                let shown = String::from_utf8_lossy(&self.bytes[self.at..])
                    .chars()
                    .take(2)
                    .collect::<String>();
                if escapes.warn && shown.len() > 1 {
                    let warning = Diagnostic::warning(
                        "puppet-escape",
                        format!("Unrecognized escape sequence '{shown}'"),
                    );
                    self.unplaced.push(warning);
                }
                text.push(b'\\');
                self.at += 1;
            }
        }
        Ok(())
    }

    /// `${ … }`, lexed by the same rules up to its closing brace.
    fn expression_part(&mut self) -> LexResult<RawPart> {
        let start = self.at;
        if self.depth >= MAX_DEPTH {
            return Err(self.error(start, "strings are nested too deeply"));
        }
        self.at += 2;
        self.depth += 1;
        let outer = std::mem::take(&mut self.tokens);
        let mut open = 0usize;
        loop {
            let before = self.tokens.len();
            if !self.next_token()? {
                return Err(self.error(start, "Unclosed interpolation: '${' without '}'"));
            }
            match self.tokens.get(before).map(|token| &token.kind) {
                Some(Tok::Punct("{")) => open += 1,
                Some(Tok::Punct("}")) if open == 0 => break,
                Some(Tok::Punct("}")) => open -= 1,
                _ => {}
            }
        }
        self.depth -= 1;
        let mut inner = std::mem::replace(&mut self.tokens, outer);
        if let Some(last) = inner.last_mut() {
            last.kind = Tok::End;
        }
        let span = self.span(start, self.at);
        Ok(RawPart::Tokens(inner, span))
    }

    fn variable(&mut self, spaced: bool) -> LexResult<()> {
        let start = self.at;
        let length = variable_length(&self.bytes[start + 1..]);
        if length == 0 {
            return Err(self.error(start, "Illegal variable name, The given name '' does not conform to the naming rule /^((::)?[a-z]\\w*)*((::)?[a-z_]\\w*)$/"));
        }
        let name = names::name(&self.bytes[start + 1..start + 1 + length]);
        self.at += 1 + length;
        self.push(Tok::Variable(name), start, start + 1 + length, spaced);
        Ok(())
    }

    fn number(&mut self, spaced: bool) -> LexResult<()> {
        let start = self.at;
        let rest = &self.bytes[start..];
        let digits =
            |from: usize| rest[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let mut length = if rest.len() > 2 && rest[0] == b'0' && matches!(rest[1], b'x' | b'X') {
            2 + rest[2..].iter().take_while(|byte| byte.is_ascii_hexdigit()).count()
        } else {
            let mut length = digits(0);
            if rest.get(length) == Some(&b'.') && digits(length + 1) > 0 {
                length += 1 + digits(length + 1);
            }
            if matches!(rest.get(length), Some(b'e' | b'E')) {
                let sign = usize::from(rest.get(length + 1) == Some(&b'-'));
                let exponent = digits(length + 1 + sign);
                if exponent > 0 {
                    length += 1 + sign + exponent;
                }
            }
            length
        };
        // Letters right behind belong to it and make it wrong.
        let tail = rest[length..]
            .iter()
            .take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_')
            .count();
        if tail > 0 {
            length += tail;
            let text = String::from_utf8_lossy(&rest[..length]).into_owned();
            let message = if text.starts_with("0x") || text.starts_with("0X") {
                format!("Not a valid hex number {text}")
            } else if text.starts_with('0') {
                format!("Not a valid octal number {text}")
            } else {
                format!("Illegal number '{text}'")
            };
            return Err(self.error(start, message));
        }
        let text = names::text(&rest[..length]);
        let plain = text.bytes().all(|byte| byte.is_ascii_digit());
        if plain && text.len() > 1 && text.starts_with('0') && text.bytes().any(|byte| byte > b'7')
        {
            return Err(self.error(start, format!("Not a valid octal number {text}")));
        }
        self.at += length;
        self.push(Tok::Number(text), start, start + length, spaced);
        Ok(())
    }

    /// A regular expression, if there is a slash that closes it. It may have several lines.
    fn regex(&mut self, spaced: bool) -> bool {
        let start = self.at;
        let mut text = Vec::new();
        let mut at = start + 1;
        loop {
            match self.bytes.get(at) {
                None => return false,
                Some(b'/') => break,
                Some(b'\\') if self.bytes.get(at + 1) == Some(&b'/') => {
                    text.push(b'/');
                    at += 2;
                }
                Some(b'\\') if at + 1 < self.bytes.len() => {
                    text.extend_from_slice(&self.bytes[at..at + 2]);
                    at += 2;
                }
                Some(byte) => {
                    text.push(*byte);
                    at += 1;
                }
            }
        }
        self.at = at + 1;
        self.push(Tok::Regex(names::text(&text)), start, at + 1, spaced);
        true
    }

    /// Names, references, keywords and bare words.
    fn word(&mut self, spaced: bool) -> LexResult<()> {
        let start = self.at;
        let mut at = start;
        let mut capital = None;
        loop {
            if self.bytes[at..].starts_with(b"::") {
                at += 2;
            }
            let segment = at;
            capital = capital.or_else(|| self.bytes.get(segment).map(u8::is_ascii_uppercase));
            while let Some(byte) = self.bytes.get(at) {
                let dash_inside = *byte == b'-'
                    && self.bytes.get(at + 1).is_some_and(|next| {
                        next.is_ascii_alphanumeric() || *next == b'_' || *next == b'-'
                    });
                if byte.is_ascii_alphanumeric()
                    || *byte == b'_'
                    || (dash_inside && capital == Some(false))
                {
                    at += 1;
                } else {
                    break;
                }
            }
            if !(self.bytes[at..].starts_with(b"::") && is_word_start(self.bytes, at)) {
                break;
            }
        }
        let text = &self.bytes[start..at];
        self.at = at;
        let kind = if capital == Some(true) {
            Tok::Reference(names::name(text))
        } else if let Some(word) = KEYWORDS.iter().find(|word| word.as_bytes() == text) {
            Tok::Keyword(word)
        } else if is_plain_name(text) {
            Tok::Name(names::name(text))
        } else {
            Tok::Word(names::name(text))
        };
        if matches!(kind, Tok::Word(_))
            && self.bytes[start..at].iter().any(u8::is_ascii_uppercase)
            && self.bytes[start..at]
                .windows(3)
                .any(|w| w.starts_with(b"::") && w[2].is_ascii_uppercase())
        {
            return Err(self.error(
                start,
                format!("Illegal fully qualified name '{}'", names::name(&self.bytes[start..at])),
            ));
        }
        self.push(kind, start, at, spaced);
        Ok(())
    }
}

/// The longest sign that the text begins with.
fn punctuation(text: &[u8]) -> Option<&'static str> {
    let signs: &[&str] = match text.first()? {
        b'<' => &["<<|", "<|", "<-", "<~", "<=", "<<", "<"],
        b'|' => &["|>>", "|>", "|"],
        b'=' => &["=>", "==", "=~", "="],
        b'+' => &["+>", "+=", "+"],
        b'-' => &["->", "-=", "-"],
        b'~' => &["~>", "~"],
        b'!' => &["!=", "!~", "!"],
        b'>' => &[">=", ">>", ">"],
        b'@' => &["@@", "@"],
        b':' => &["::", ":"],
        b'*' => &["*"],
        b'/' => &["/"],
        b'%' => &["%"],
        b'(' => &["("],
        b')' => &[")"],
        b'[' => &["["],
        b']' => &["]"],
        b'{' => &["{"],
        b'}' => &["}"],
        b',' => &[","],
        b';' => &[";"],
        b'.' => &["."],
        b'?' => &["?"],
        b'&' => &["&"],
        b'^' => &["^"],
        b'`' => &["`"],
        b'\\' => &["\\"],
        _ => return None,
    };
    signs.iter().copied().find(|sign| text.starts_with(sign.as_bytes()))
}

fn flush(text: &mut Vec<u8>, parts: &mut Vec<RawPart>) {
    if !text.is_empty() {
        parts.push(RawPart::Text(names::text(text)));
        text.clear();
    }
}

/// Whether a word is a name: no dash in it, each part begun by a letter.
fn is_plain_name(text: &[u8]) -> bool {
    let mut begins = true;
    text.iter().all(|byte| {
        let fits = match byte {
            b'-' => false,
            b'_' | b'0'..=b'9' => !begins,
            _ => true,
        };
        begins = *byte == b':';
        fits
    })
}

/// Whether a name can begin here: a letter or underscore, after colons or not.
fn is_word_start(bytes: &[u8], at: usize) -> bool {
    let at = if bytes[at..].starts_with(b"::") { at + 2 } else { at };
    bytes.get(at).is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_')
}

/// Length of a variable's name after the dollar. It never ends in
/// colons, which a text may have behind it.
fn variable_length(bytes: &[u8]) -> usize {
    let word = |at: usize| {
        bytes[at..].iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count()
    };
    let mut length = if bytes.starts_with(b"::") { 2 } else { 0 };
    let first = word(length);
    if first == 0 {
        return 0;
    }
    length += first;
    while bytes[length..].starts_with(b"::") && word(length + 2) > 0 {
        length += 2 + word(length + 2);
    }
    length
}
