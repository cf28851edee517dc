//! The tokens of a text as CRuby 3.1's Ripper gives them. The tree says where literals are (see
//! [`super::marks`]); between them a plain scanner suffices.

use ruby_prism as p;

use super::lex_state::{
    ARG, ARG_ANY, BEG, CLASS, CMDARG, DOT, END, ENDARG, ENDFN, FITEM, FNAME, LABEL, LABELED, State,
};
use super::marks::{Mark, Marks, marks};
use super::{Lines, is_backref, is_keyword};

/// Place (line from 1, column in bytes), event without its `on_`, text, state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    pub line: u32,
    pub column: u32,
    pub event: &'static str,
    pub start: u32,
    pub end: u32,
    pub state: u16,
}

/// The tokens of a text, whether it is a program or not.
pub fn lex(source: &[u8]) -> Vec<Token> {
    let options = p::Options::default().version(p::Version::CRuby3_3).main_script(true).build();
    let result = p::parse_with_options(source, &options);
    let lines = Lines::of(source);
    let root = result.node();
    // In the tree of a broken text even places may be wrong; there the bytes alone must do.
    let broken =
        result.errors().any(|error| !super::is_late(&String::from_utf8_lossy(error.message())));
    let marks = if !broken && crate::locals::analyse(&root).is_ok() {
        marks(source, &root, &lines)
    } else {
        Marks::default()
    };
    let mut lexer = Lexer {
        source,
        lines: &lines,
        marks,
        at: 0,
        tokens: Vec::new(),
        state: State { now: BEG, command: true },
        strings: Vec::new(),
        heredocs: Vec::new(),
        broken,
    };
    while lexer.at < source.len() {
        if !lexer.step() {
            break;
        }
    }
    lexer.tokens
}

struct Lexer<'s> {
    source: &'s [u8],
    lines: &'s Lines,
    marks: Marks,
    at: usize,
    tokens: Vec<Token>,
    state: State,
    /// States to go back to when an insertion ends.
    strings: Vec<State>,
    /// Openings of here documents and the states they were met in.
    heredocs: Vec<(u32, State)>,
    /// The text is no program, and nothing is known but its bytes.
    broken: bool,
}

impl Lexer<'_> {
    fn peek(&self, ahead: usize) -> u8 {
        self.source.get(self.at + ahead).copied().unwrap_or_default()
    }

    fn rest(&self) -> &[u8] {
        &self.source[self.at..]
    }

    /// Adds a token with the present state.
    fn add(&mut self, event: &'static str, end: usize) {
        let (line, column) = self.lines.place(self.at as u32);
        let (start, end) = (self.at as u32, end.max(self.at + 1).min(self.source.len()) as u32);
        self.tokens.push(Token { line, column, event, start, end, state: self.state.now });
        self.at = end as usize;
    }

    /// One token; false at the end of the program.
    fn step(&mut self) -> bool {
        let here = self.at as u32;
        if let Some((opening, _)) = self.marks.bodies.remove(&here) {
            self.body(opening);
        }
        if let Some((end, mark)) = self.marks.at.get(&here).copied()
            && self.marked(end as usize, mark)
        {
            return true;
        }
        if self.broken && self.literal_by_bytes() {
            return true;
        }
        let first = self.peek(0);
        match first {
            b'\n' => self.newline(),
            b' ' | b'\t' | b'\r' | b'\x0b' | b'\x0c' => self.space(),
            b'\\' if self.peek(1) == b'\n' => self.add("sp", self.at + 2),
            b'\\' if self.rest().starts_with(b"\\\r\n") => self.add("sp", self.at + 3),
            b'#' => self.comment(),
            b'=' if self.at_line_start() && self.is_document() => self.document(),
            b'_' if self.at_line_start() && self.is_end() => {
                self.add("__end__", self.at + b"__END__\n".len());
                return false;
            }
            b'@' => self.sigil(if self.peek(1) == b'@' { "cvar" } else { "ivar" }),
            b'$' => self.global(),
            b'0'..=b'9' => self.number(),
            b'a'..=b'z' | b'A'..=b'Z' | b'_' | 0x80.. => self.word(),
            b'(' | b')' | b'[' | b']' | b'{' | b'}' | b',' | b';' => self.bracket(first),
            b'`' => self.backtick(),
            _ => self.operator(),
        }
        true
    }

    /// A text in quotes, a label or a symbol, as far as its bytes show it.
    fn literal_by_bytes(&mut self) -> bool {
        let quote = self.peek(0);
        if matches!(quote, b'"' | b'\'') {
            self.add("tstring_beg", self.at + 1);
            let (rest, mut length) = (self.rest(), 0);
            while rest.get(length).is_some_and(|byte| *byte != quote) {
                length += if rest[length] == b'\\' { 2 } else { 1 };
            }
            let end = (self.at + length).min(self.source.len());
            if end > self.at {
                self.add("tstring_content", end);
            }
            self.state.set(END);
            if self.at < self.source.len() {
                self.add("tstring_end", self.at + 1);
            }
            return true;
        }
        let word = self.rest().iter().take_while(|byte| is_word(**byte)).count();
        if word > 0 && self.peek(word) == b':' && self.peek(word + 1) != b':' && !self.state.is(DOT)
        {
            self.state.set(ARG | LABELED);
            self.add("label", self.at + word + 1);
            return true;
        }
        if quote == b':' && is_word(self.peek(1)) && !self.state.is(END | ENDFN | DOT) {
            self.symbol(END);
            return true;
        }
        false
    }

    fn at_line_start(&self) -> bool {
        self.at == 0 || self.source[self.at - 1] == b'\n'
    }

    /// A here document begins: its state is that of its opening.
    fn body(&mut self, opening: u32) {
        let Some(index) = self.heredocs.iter().position(|(at, _)| *at == opening) else { return };
        let (_, state) = self.heredocs.remove(index);
        self.strings.push(self.state);
        self.state = state;
    }

    fn marked(&mut self, end: usize, mark: Mark) -> bool {
        match mark {
            Mark::Open(event) => {
                if event == "symbeg" {
                    let long = self.rest().starts_with(b"%");
                    self.state.set(if long { FNAME | FITEM } else { FNAME });
                }
                self.state.command = false;
                self.add(event, end);
            }
            Mark::Content => self.add("tstring_content", end),
            Mark::Indentation => self.add("ignored_sp", end),
            Mark::Separator => self.add("words_sep", end),
            Mark::Close("regexp_end") => {
                self.add("regexp_end", end);
                self.state.set(END);
            }
            Mark::Close(event) => {
                self.state.set(if event == "label_end" { BEG | LABEL } else { END });
                self.add(event, end);
            }
            Mark::InsertOpen => {
                self.add("embexpr_beg", end);
                self.strings.push(self.state);
                self.state.line();
            }
            Mark::InsertClose => {
                self.add("embexpr_end", end);
                if let Some(state) = self.strings.pop() {
                    self.state = state;
                }
            }
            Mark::InsertVariable => {
                self.add("embvar", end);
                self.state.set(BEG);
                self.step();
            }
            Mark::HeredocOpen => {
                let state = State { command: false, ..self.state };
                self.heredocs.push((self.at as u32, state));
                self.add("heredoc_beg", end);
                self.state.set(END);
            }
            Mark::HeredocClose => {
                let line = self.rest().iter().position(|byte| *byte == b'\n');
                let end = line.map_or(self.source.len(), |length| self.at + length + 1);
                self.add("heredoc_end", end);
                if let Some(state) = self.strings.pop() {
                    self.state = state;
                }
            }
            Mark::Char => {
                self.state.set(END);
                self.add("CHAR", end);
            }
            Mark::Label => {
                self.state.set(ARG | LABELED);
                self.add("label", end);
            }
            Mark::Symbol => self.symbol(END),
            Mark::AliasSymbol => self.symbol(FNAME | FITEM),
            Mark::HashOpen => {
                self.state.set(BEG | LABEL);
                self.add("lbrace", end);
            }
            Mark::LambdaOpen => {
                self.state.line();
                self.add("tlambeg", end);
            }
            Mark::ParametersClose => {
                self.state.set(ENDFN);
                self.add("rparen", end);
                self.state.line();
            }
            Mark::Parent => {
                self.state.set(BEG);
                self.add("op", end);
                self.state.line();
            }
            Mark::Pattern => {
                let event = if self.peek(0) == b'=' { "op" } else { "kw" };
                self.state.set(BEG);
                self.add(event, end);
                self.state.set(BEG | LABEL);
            }
            Mark::Forwarded => {
                self.state.set(ENDARG);
                self.add("op", end);
            }
            Mark::Defined | Mark::DefinedOn => self.defined(end, mark),
            Mark::BarsClose => {
                self.state = State { now: BEG | LABEL, command: true };
                self.add("op", end);
            }
            Mark::UndefComma => {
                self.state.set(BEG | LABEL);
                self.add("comma", end);
                self.state.set(FNAME | FITEM);
            }
            Mark::Alias => self.aliased(end, FNAME | FITEM),
            Mark::AliasLast => self.aliased(end, END),
            Mark::Parameter => {
                self.state.name(false);
                self.add("ident", end);
                if self.state.now == END {
                    self.state.now |= LABEL;
                }
            }
            Mark::Local => {
                self.state.name(true);
                self.add("ident", end);
            }
        }
        true
    }

    fn symbol(&mut self, after: u16) {
        self.state.set(FNAME);
        self.add("symbeg", self.at + 1);
        if self.at >= self.source.len() {
            return;
        }
        let (start, end) = (self.at, self.symbol_end().min(self.source.len()));
        let event = self.name_event(start, end);
        self.state.set(if event == "op" { ARG } else { ENDFN });
        if matches!(event, "gvar" | "backref") {
            self.state.set(END);
        }
        self.add(event, end);
        self.state.set(after);
    }

    fn name_event(&self, start: usize, end: usize) -> &'static str {
        let text = self.source.get(start..end).unwrap_or_default();
        if is_keyword(text) { "kw" } else { super::name_kind(text).trim_start_matches('@') }
    }

    fn symbol_end(&self) -> usize {
        let rest = self.rest();
        if is_word(self.peek(0)) || matches!(self.peek(0), b'@' | b'$') {
            let mut length = rest.iter().take_while(|b| matches!(b, b'@' | b'$')).count();
            length += rest[length..].iter().take_while(|byte| is_word(**byte)).count().max(1);
            let next = rest.get(length).copied().unwrap_or_default();
            let after = rest.get(length + 1).copied().unwrap_or_default();
            let named = is_word(self.peek(0));
            let suffix = matches!(next, b'?' | b'!') && after != b'='
                || matches!(next, b'?' | b'!') && rest.get(length + 2) == Some(&b'>')
                || next == b'=' && !matches!(after, b'=' | b'~' | b'>');
            return self.at + length + usize::from(named && suffix);
        }
        self.at + method_operator(rest)
    }

    /// The name after `def`, or after the dot of its receiver.
    fn defined(&mut self, end: usize, mark: Mark) {
        let event = self.name_event(self.at, end);
        self.state.set(if event == "op" { ARG } else { ENDFN });
        self.add(event, end);
        self.state.set(if mark == Mark::DefinedOn { ENDFN | LABEL } else { ENDFN });
    }

    fn aliased(&mut self, end: usize, after: u16) {
        let event = self.name_event(self.at, end);
        self.state.set(match event {
            "op" => ARG,
            "kw" => ENDFN,
            _ => END,
        });
        self.add(event, end);
        self.state.set(after);
    }

    /// The end of a line is a token of the grammar where a statement can end.
    fn newline(&mut self) {
        let waits = self.state.is(BEG | CLASS | FNAME | DOT)
            && self.state.now & (ARG | LABELED) != ARG | LABELED;
        if waits || goes_on(self.next_line(1)) {
            self.add("ignored_nl", self.at + 1);
            return;
        }
        let before = self.state;
        self.state.line();
        self.add("nl", self.at + 1);
        self.keep_over_comment(before);
    }

    /// The text from so many bytes on, without here documents that begin there.
    fn next_line(&self, ahead: usize) -> &[u8] {
        let mut at = (self.at + ahead) as u32;
        while let Some((_, end)) = self.marks.bodies.get(&at) {
            at = *end;
        }
        self.source.get(at as usize..).unwrap_or_default()
    }

    /// Whoever looks for a dot on the next lines reads their comments in the state of this one.
    fn keep_over_comment(&mut self, before: State) {
        let rest = self.next_line(0);
        let spaces = rest.iter().take_while(|byte| is_space(**byte)).count();
        if rest.get(spaces) == Some(&b'#') {
            self.state = before;
        }
    }

    fn space(&mut self) {
        let length = self.rest().iter().take_while(|byte| is_space(**byte)).count();
        self.add("sp", self.at + length);
    }

    fn comment(&mut self) {
        let length = self.rest().iter().position(|byte| *byte == b'\n');
        let end = length.map_or(self.source.len(), |length| self.at + length + 1);
        // The comment takes the end of the line with it, and the statement ends nevertheless.
        let ends = length.is_some_and(|length| {
            let waits = self.state.is(BEG | CLASS | FNAME | DOT)
                && self.state.now & (ARG | LABELED) != ARG | LABELED;
            !waits && !goes_on(self.next_line(length + 1))
        });
        let before = self.state;
        self.add("comment", end);
        if ends {
            self.state.line();
            self.keep_over_comment(before);
        }
    }

    fn is_document(&self) -> bool {
        let rest = self.rest();
        rest.starts_with(b"=begin") && rest.get(6).is_none_or(u8::is_ascii_whitespace)
    }

    fn document(&mut self) {
        let mut event = "embdoc_beg";
        loop {
            let length = self.rest().iter().position(|byte| *byte == b'\n');
            let end = length.map_or(self.source.len(), |length| self.at + length + 1);
            if event == "embdoc" && self.rest().starts_with(b"=end") {
                self.add("embdoc_end", end);
                return;
            }
            self.add(event, end);
            event = "embdoc";
            if self.at >= self.source.len() {
                return;
            }
        }
    }

    fn is_end(&self) -> bool {
        let rest = self.rest();
        rest.starts_with(b"__END__") && matches!(rest.get(7), None | Some(b'\n' | b'\r'))
    }

    fn sigil(&mut self, event: &'static str) {
        let signs = self.rest().iter().take_while(|byte| **byte == b'@').count();
        let word = self.rest()[signs..].iter().take_while(|byte| is_word(**byte)).count();
        self.state.set(if self.state.is(FNAME) { ENDFN } else { END });
        self.add(event, self.at + signs + word);
    }

    fn global(&mut self) {
        let rest = &self.rest()[1..];
        let length = match rest.first() {
            Some(b'-') => 2,
            Some(byte) if is_word(*byte) => {
                if byte.is_ascii_digit() && *byte != b'0' {
                    rest.iter().take_while(|byte| byte.is_ascii_digit()).count()
                } else {
                    rest.iter().take_while(|byte| is_word(**byte)).count()
                }
            }
            _ => 1,
        };
        let end = (self.at + 1 + length).min(self.source.len());
        let event = if is_backref(&self.source[self.at..end]) { "backref" } else { "gvar" };
        self.state.set(END);
        self.add(event, end);
    }

    fn number(&mut self) {
        let (event, length) = number(self.rest());
        self.state.set(END);
        self.add(event, self.at + length);
    }

    fn word(&mut self) {
        let rest = self.rest();
        let mut length = rest.iter().take_while(|byte| is_word(**byte)).count();
        let next = rest.get(length).copied().unwrap_or_default();
        let after = rest.get(length + 1).copied().unwrap_or_default();
        let third = rest.get(length + 2).copied().unwrap_or_default();
        if matches!(next, b'?' | b'!')
            && (after != b'=' || matches!(third, b'=' | b'~' | b'>'))
            && !(next == b'?' && after == b':' && third == b':')
        {
            length += 1;
        }
        let end = self.at + length;
        let text = &self.source[self.at..end];
        if is_keyword(text) && !self.state.is(DOT) {
            let text = text.to_vec();
            self.state.keyword(&text);
            self.add("kw", end);
            return;
        }
        let event = super::name_kind(text).trim_start_matches('@');
        self.state.name(false);
        self.add(event, end);
    }

    fn bracket(&mut self, byte: u8) {
        let event = match byte {
            b'(' => "lparen",
            b')' => "rparen",
            b'[' => "lbracket",
            b']' => "rbracket",
            b'{' => "lbrace",
            b'}' => "rbrace",
            b',' => "comma",
            _ => "semicolon",
        };
        let name = self.state.is(FNAME | DOT);
        if byte == b'[' && name && self.peek(1) == b']' {
            let length = if self.peek(2) == b'=' && self.peek(3) != b'=' { 3 } else { 2 };
            self.state.set(ARG);
            return self.add("op", self.at + length);
        }
        match byte {
            b'(' | b'[' => self.state.set(BEG | LABEL),
            b',' => self.state.set(BEG | LABEL),
            b')' => self.state.set(ENDFN),
            b']' | b'}' => self.state.set(END),
            _ => self.state.line(),
        }
        self.add(event, self.at + 1);
    }

    fn backtick(&mut self) {
        let (command, dot) = (self.state.command, self.state.is(DOT));
        if self.state.is(FNAME) {
            self.state.set(ENDFN);
        } else if dot {
            self.state.set(if command { CMDARG } else { ARG });
        }
        self.add("backtick", self.at + 1);
    }

    fn operator(&mut self) {
        let name = self.state.is(FNAME | DOT);
        let rest = self.rest();
        let length = if name && !rest.starts_with(b"::") && !rest.starts_with(b".") {
            method_operator(rest)
        } else {
            operator(rest)
        };
        // `||` where parameters of a block may stand is two bars.
        let bars = rest.starts_with(b"||") && !rest.starts_with(b"||=") && self.state.is(BEG);
        let signed = matches!(rest[0], b'+') && rest.get(1).is_some_and(u8::is_ascii_digit);
        if signed && self.state.at_beginning() {
            let (event, length) = number(&rest[1..]);
            self.state.set(END);
            return self.add(event, self.at + length + 1);
        }
        let length = if bars { 1 } else { length };
        let text = rest[..length].to_vec();
        let event = match text.as_slice() {
            b"." => "period",
            b"->" => "tlambda",
            _ => "op",
        };
        let spaced = self.at > 0 && is_space(self.source[self.at - 1]);
        if text == b"::" && spaced && self.state.is(ARG_ANY) {
            self.state.set(BEG);
        }
        self.state.operator(&text);
        if bars {
            self.state.set(BEG);
        }
        self.add(event, self.at + length);
    }
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\x0b' | b'\x0c')
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

const OPERATORS: &[&[u8]] = &[
    b"**=", b"<=>", b"===", b"...", b"<<=", b">>=", b"&&=", b"||=", b"**", b"==", b"!=", b"=~",
    b"!~", b">=", b"<=", b"&&", b"||", b"<<", b">>", b"..", b"->", b"::", b"=>", b"&.", b"+=",
    b"-=", b"*=", b"/=", b"%=", b"&=", b"|=", b"^=",
];

fn operator(rest: &[u8]) -> usize {
    OPERATORS.iter().find(|operator| rest.starts_with(operator)).map_or(1, |found| found.len())
}

const METHOD_OPERATORS: &[&[u8]] = &[
    b"[]=", b"[]", b"**", b"<=>", b"===", b"==", b"=~", b"!~", b"!=", b"+@", b"-@", b"~@", b"!@",
    b"<<", b">>", b"<=", b">=",
];

fn method_operator(rest: &[u8]) -> usize {
    METHOD_OPERATORS
        .iter()
        .find(|operator| rest.starts_with(operator))
        .map_or(1, |found| found.len())
}

/// Event and length of a number.
fn number(rest: &[u8]) -> (&'static str, usize) {
    let digits = |from: usize, hex: bool| {
        let ok = |byte: &u8| {
            *byte == b'_' || if hex { byte.is_ascii_hexdigit() } else { byte.is_ascii_digit() }
        };
        from + rest.get(from..).unwrap_or_default().iter().take_while(|byte| ok(byte)).count()
    };
    let at = |index: usize| rest.get(index).copied().unwrap_or_default();
    let mut event = "int";
    let mut end = if at(0) == b'0' && matches!(at(1), b'x' | b'X') {
        digits(2, true)
    } else if at(0) == b'0' && matches!(at(1), b'b' | b'B' | b'o' | b'O' | b'd' | b'D') {
        digits(2, false)
    } else {
        digits(0, false)
    };
    if at(end) == b'.' && at(end + 1).is_ascii_digit() {
        event = "float";
        end = digits(end + 1, false);
    }
    let exponent = usize::from(matches!(at(end + 1), b'+' | b'-')) + 1;
    if matches!(at(end), b'e' | b'E') && at(end + exponent).is_ascii_digit() {
        event = "float";
        end = digits(end + exponent, false);
    }
    if at(end) == b'r' && !is_word(at(end + 1)) || at(end) == b'r' && at(end + 1) == b'i' {
        event = "rational";
        end += 1;
    }
    if at(end) == b'i' && !is_word(at(end + 1)) {
        event = "imaginary";
        end += 1;
    }
    (event, end)
}

/// Whether the next line begins with a call's dot.
fn goes_on(rest: &[u8]) -> bool {
    let mut rest = rest;
    loop {
        let spaces = rest.iter().take_while(|byte| is_space(**byte)).count();
        rest = &rest[spaces..];
        match rest {
            [b'#', ..] => {
                let Some(end) = rest.iter().position(|byte| *byte == b'\n') else {
                    return false;
                };
                rest = &rest[end + 1..];
            }
            [b'&', b'.', ..] => return true,
            [b'.', b'.', ..] => return false,
            [b'.', ..] => return true,
            _ => return false,
        }
    }
}
