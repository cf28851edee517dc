//! The errors of a file as the original's parser finds them, one after the other.
//!
//! The parser proper reads good policy fast and stops early in bad policy. For a file with
//! errors this one drives a table over the tokens instead, and goes on after an error where
//! the original does, so that the same messages come out at the same places. It makes no tree.

mod automaton;
mod grammar;

use fx_source::{FileId, Span};

use crate::MAX_ERRORS;
use crate::lexer::Lexer;
use crate::token::{Kind, Token};
use automaton::{Automaton, ERROR};
use grammar::{Action, After, RULES};

/// One thing that happened on the way, at the end of the token read last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// Something is reported.
    Error(String),
    /// No more can be said than that the text does not fit the grammar.
    Unspecific,
    /// Nothing of the current bundle is installed from here on.
    Skip,
    /// An attribute is left without a value: type of the block, type of the promise where it
    /// is one, and the attribute's name where it has one.
    NoValue(String, Option<String>, Option<String>),
    /// The name of an attribute of a promise was read: type of the bundle, type of the promise, name.
    Attribute(String, String, String),
    /// A bundle ended; what follows is installed again.
    BundleEnd,
    /// The file is given up here.
    Stop,
}

/// Goes over a file with errors; what happened, in order.
pub fn replay(file: FileId, text: &[u8]) -> Vec<(Span, Event)> {
    let mut driver = Driver {
        automaton: Automaton::new(),
        lexer: Lexer::new(file, text),
        text,
        states: vec![0],
        token: None,
        last: Span::new(file, 0, 0),
        recovering: 0,
        errors: 0,
        valueless: false,
        block: String::new(),
        section: None,
        attribute: None,
        events: Vec::new(),
    };
    // Given up, or at the end: either way it is over.
    let _over = driver.run();
    driver.events
}

/// The end of the token that begins at or after `offset`: how far the original has read when
/// it had to look one token ahead.
pub fn token_end(file: FileId, text: &[u8], offset: u32) -> u32 {
    let mut lexer = Lexer::at(file, text, offset as usize);
    lexer.next().span.end
}

/// Where the line of a place begins as the original counts: line ends inside a token do not
/// begin a line.
pub fn line_start(file: FileId, text: &[u8], offset: u32) -> u32 {
    let physical = |offset: u32| {
        let before = text.get(..offset as usize).unwrap_or(text);
        before.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at as u32 + 1)
    };
    let mut lexer = Lexer::new(file, text);
    let mut start = 0;
    let mut end = 0;
    loop {
        let span = lexer.next().span;
        if span.start >= offset || span.end <= end {
            break;
        }
        let line = physical(span.start);
        // On the line on which a token of several lines ended its line goes on.
        if line > end || end == 0 {
            start = line;
        }
        end = span.end;
    }
    let line = physical(offset);
    if line > end || end == 0 { line } else { start }
}

struct Stop;

struct Driver<'a> {
    automaton: Automaton,
    lexer: Lexer<'a>,
    text: &'a [u8],
    states: Vec<usize>,
    /// The token ahead, if one was read.
    token: Option<Kind>,
    last: Span,
    /// Tokens still to be taken before another error is reported as such.
    recovering: u32,
    errors: usize,
    /// The value read last was none.
    valueless: bool,
    block: String,
    section: Option<String>,
    attribute: Option<String>,
    events: Vec<(Span, Event)>,
}

/// The number of a token in the grammar.
fn terminal(kind: &Kind) -> usize {
    match kind {
        Kind::End => 0,
        Kind::Id(_) => 2,
        Kind::Quoted(_) => 3,
        Kind::Class(_) | Kind::VarClass(_) => 4,
        Kind::PromiseType(_) => 5,
        Kind::Bundle => 6,
        Kind::Body => 7,
        Kind::Promise => 8,
        Kind::FatArrow => 9,
        Kind::ThinArrow => 10,
        Kind::Naked(_) => 11,
        Kind::Char(b'(') => 12,
        Kind::Char(b')') => 13,
        Kind::Char(b',') => 14,
        Kind::Char(b'{') => 15,
        Kind::Char(b'}') => 16,
        Kind::Char(b';') => 17,
        Kind::Char(_) => 18,
    }
}

impl Driver<'_> {
    fn run(&mut self) -> Result<(), Stop> {
        loop {
            let at = *self.states.last().ok_or(Stop)?;
            let state = &self.automaton.states[at];
            let rule = if state.shifts.is_empty() && state.reductions.is_empty() {
                state.default
            } else {
                let token = self.peek()?;
                let state = &self.automaton.states[at];
                if let Some(next) = state.shifts.get(&token).copied() {
                    if token == 0 {
                        return Ok(());
                    }
                    self.recovering = self.recovering.saturating_sub(1);
                    self.token = None;
                    self.states.push(next);
                    continue;
                }
                state.reductions.get(&token).copied().or(state.default)
            };
            match rule {
                Some(rule) => self.reduce(rule)?,
                None => self.recover()?,
            }
        }
    }

    fn peek(&mut self) -> Result<usize, Stop> {
        if self.token.is_none() {
            let Token { kind, span } = self.lexer.next();
            self.last = span;
            for error in std::mem::take(&mut self.lexer.errors) {
                self.say(error.message)?;
            }
            self.token = Some(kind);
        }
        Ok(self.token.as_ref().map_or(0, terminal))
    }

    fn say(&mut self, message: impl Into<String>) -> Result<(), Stop> {
        self.report(Event::Error(message.into()))
    }

    fn report(&mut self, event: Event) -> Result<(), Stop> {
        self.events.push((self.last, event));
        self.errors += 1;
        if self.errors > MAX_ERRORS { Err(Stop) } else { Ok(()) }
    }

    // The token read last, as it is written.
    fn shown(&self) -> String {
        let bytes = &self.text[self.last.start as usize..self.last.end as usize];
        String::from_utf8_lossy(bytes).into_owned()
    }

    fn reduce(&mut self, rule: usize) -> Result<(), Stop> {
        self.act(RULES[rule].2)?;
        match (RULES[rule].0, RULES[rule].1) {
            ("rval", body) => self.valueless = body == "error",
            ("type_id", _) => (self.block, self.section) = (self.shown(), None),
            ("promise_type", _) => {
                self.section = Some(self.shown().trim_end_matches(':').to_owned());
            }
            ("constraint_id" | "selection_id", body) => {
                self.attribute = (body == "id").then(|| self.shown());
                if let (Some(section), Some(name)) = (&self.section, &self.attribute) {
                    let event = Event::Attribute(self.block.clone(), section.clone(), name.clone());
                    self.events.push((self.last, event));
                }
            }
            ("constraint" | "selection", _)
                if std::mem::take(&mut self.valueless) || self.attribute.is_none() =>
            {
                let event = Event::NoValue(
                    self.block.clone(),
                    self.section.clone(),
                    self.attribute.clone(),
                );
                self.events.push((self.last, event));
            }
            _ => {}
        }
        let (head, length) = self.automaton.rules[rule];
        let keep = self.states.len().saturating_sub(length);
        self.states.truncate(keep);
        let below = *self.states.last().ok_or(Stop)?;
        let next = *self.automaton.states[below].gotos.get(&head).ok_or(Stop)?;
        self.states.push(next);
        Ok(())
    }

    // As yacc's skeleton does it: report, pass over the token if it was the cause before, and
    // go back to a state that takes an error up.
    fn recover(&mut self) -> Result<(), Stop> {
        if self.recovering == 0 {
            self.report(Event::Unspecific)?;
        } else if self.recovering == 3 {
            if self.token == Some(Kind::End) {
                self.events.push((self.last, Event::Stop));
                return Err(Stop);
            }
            self.token = None;
        }
        self.recovering = 3;
        loop {
            let at = *self.states.last().ok_or(Stop)?;
            if let Some(next) = self.automaton.states[at].shifts.get(&ERROR).copied() {
                self.states.push(next);
                return Ok(());
            }
            if self.states.len() == 1 {
                self.events.push((self.last, Event::Stop));
                return Err(Stop);
            }
            self.states.pop();
        }
    }

    fn act(&mut self, action: Action) -> Result<(), Stop> {
        let token = self.token.clone();
        let is = |kind: Kind| token.as_ref() == Some(&kind);
        let id = matches!(token, Some(Kind::Id(_)));
        let (message, after) = match action {
            Action::None => return Ok(()),
            Action::BundleEnd => {
                self.events.push((self.last, Event::BundleEnd));
                return Ok(());
            }
            Action::Say(message, after) => (message, after),
            Action::SayPromise => (
                match () {
                    () if is(Kind::Char(b'-')) || is(Kind::Char(b'>')) => "Expected '->', got '%'",
                    () if id => "Expected attribute, got '%'",
                    () if is(Kind::Char(b',')) => {
                        "Expected attribute, got '%' (comma after promiser is not allowed since 3.5.0)"
                    }
                    () => "Expected ';', got '%'",
                },
                After::Clear,
            ),
            Action::SayPromiser if is(Kind::Bundle) || is(Kind::Body) => {
                ("Expected '}', got '%'", After::Skip)
            }
            Action::SayPromiser => ("Expected promiser string, got '%'", After::Skip),
            Action::SayConstraints if id => {
                ("Check previous line, Expected ',', got '%'", After::Clear)
            }
            Action::SayConstraints => ("Check previous line, Expected ';', got '%'", After::Clear),
            Action::SaySelection if is(Kind::Bundle) || is(Kind::Body) => {
                ("Expected '}', got '%'", After::Clear)
            }
            Action::SaySelection => ("Expected attribute, got '%'", After::Clear),
            Action::SayListItem => (
                match () {
                    () if is(Kind::Char(b';')) => "Expected '}', wrong input '%'",
                    () if is(Kind::FatArrow) => {
                        "Check list statement previous line, Expected '}', wrong input '%'"
                    }
                    () => "Expected ',', wrong input '%'",
                },
                After::Clear,
            ),
            Action::SayArgument => (
                match () {
                    () if is(Kind::Char(b';')) => "Expected ')', wrong input '%'",
                    () if is(Kind::FatArrow) => {
                        "Check function statement  previous line, Expected ')', wrong input '%'"
                    }
                    () => "Invalid function argument, wrong input '%'",
                },
                After::Clear,
            ),
        };
        let shown = self.shown();
        if after == After::Skip {
            self.events.push((self.last, Event::Skip));
        }
        self.say(message.replacen('%', &shown, 1))?;
        match after {
            After::Keep => {}
            After::Clear | After::Skip => self.token = None,
            After::Abort => {
                self.events.push((self.last, Event::Stop));
                return Err(Stop);
            }
        }
        Ok(())
    }
}
