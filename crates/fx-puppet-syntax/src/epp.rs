//! EPP templates: text with tags, turned into the same tokens as a manifest.

use std::rc::Rc;

use fx_source::{Diagnostic, FileId, Severity};

use crate::ast::{Expr, ExprKind, Param, Program};
use crate::lexer::{LexResult, Lexed, Lexer};
use crate::names;
use crate::parser::{END_OF_INPUT, Parsed, Parser, run_epp};
use crate::token::{Tok, Token};

/// Parses a template. On a syntax error the program is empty and the error is last.
pub fn parse_epp(text: &[u8], file: FileId) -> (Program, Vec<Diagnostic>) {
    let nothing = || crate::parse(b"", file).0;
    match lex(text, file) {
        Ok((lexed, unclosed)) => {
            let tokens = drop_code_ends(lexed.tokens);
            let (program, mut found) = run_epp(tokens, lexed.strings, file, lexed.warnings);
            let Some(unclosed) = unclosed else { return (program, found) };
            // What is wrong before the end is found first.
            let is_error = |one: &Diagnostic| one.severity == Severity::Error;
            if found.last().is_some_and(|last| is_error(last) && last.code == END_OF_INPUT) {
                found.pop();
            }
            if !found.iter().any(is_error) {
                found.push(*unclosed);
            }
            (nothing(), found)
        }
        Err(error) => (nothing(), vec![*error]),
    }
}

/// The tokens of a template, and what is wrong if its last tag is not closed.
fn lex(text: &[u8], file: FileId) -> LexResult<(Lexed, Option<Box<Diagnostic>>)> {
    let mut lexer = Lexer::new(text, file);
    let mut trim_next = false;
    let mut is_closed = true;
    while is_closed {
        let literal = literal(&mut lexer, &mut trim_next)?;
        let Some(tag) = literal else { break };
        is_closed = code(&mut lexer, tag, &mut trim_next)?;
    }
    let end = text.len();
    lexer.push(Tok::End, end, end, false);
    let unclosed = (!is_closed)
        .then(|| lexer.error(end, "Unbalanced epp tag, reached <eof> without closing tag."));
    let lexed = Lexed { tokens: lexer.tokens, strings: lexer.strings, warnings: lexer.warnings };
    Ok((lexed, unclosed))
}

/// Which tag opens code.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Tag {
    Code,
    Expression,
}

/// Pushes the text up to the next tag of code; `None` at the end.
fn literal(lexer: &mut Lexer<'_>, trim_next: &mut bool) -> LexResult<Option<Tag>> {
    let start = lexer.at;
    let mut text: Vec<u8> = Vec::new();
    let bytes = lexer.bytes;
    if std::mem::take(trim_next) {
        lexer.at += trimmed(&bytes[lexer.at..]);
    }
    let tag = loop {
        let rest = &bytes[lexer.at..];
        let Some(open) = rest.windows(2).position(|pair| pair == b"<%") else {
            text.extend_from_slice(&unescape_close(rest));
            lexer.at = bytes.len();
            break None;
        };
        text.extend_from_slice(&unescape_close(&rest[..open]));
        lexer.at += open + 2;
        match bytes.get(lexer.at) {
            Some(b'%') => {
                text.extend_from_slice(b"<%");
                lexer.at += 1;
            }
            Some(b'#') => {
                // `%%>` does not end a comment.
                let Some(close) = bytes[lexer.at..]
                    .windows(3)
                    .position(|part| part[0] != b'%' && &part[1..] == b"%>")
                else {
                    return Err(
                        lexer.error(lexer.at, "Reaching end after opening <%# without seeing %>")
                    );
                };
                if bytes.get(lexer.at + 1) == Some(&b'-') {
                    drop_blanks(&mut text);
                }
                let trims = bytes[lexer.at + close] == b'-';
                lexer.at += close + 3;
                if trims {
                    lexer.at += trimmed(&bytes[lexer.at..]);
                }
            }
            Some(b'-') => {
                lexer.at += 1;
                drop_blanks(&mut text);
                break Some(Tag::Code);
            }
            Some(b'=') => {
                lexer.at += 1;
                break Some(Tag::Expression);
            }
            Some(_) => break Some(Tag::Code),
            None => {
                let message =
                    "Unbalanced embedded expression - opening <% and reaching end of input";
                return Err(lexer.error(lexer.at, message));
            }
        }
    };
    if !text.is_empty() {
        let end = lexer.at;
        lexer.push(Tok::RenderText(names::text(&text)), start, end, false);
    }
    Ok(tag)
}

/// How much `-%>` takes of the text behind it: blanks, and the end of the line.
fn trimmed(rest: &[u8]) -> usize {
    let blanks = rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    let rest = &rest[blanks..];
    let end = rest.strip_prefix(b"\r").unwrap_or(rest);
    let taken = rest.len() - end.len() + usize::from(end.first() == Some(&b'\n'));
    blanks + taken
}

fn drop_blanks(text: &mut Vec<u8>) {
    while text.last().is_some_and(|byte| matches!(byte, b' ' | b'\t')) {
        text.pop();
    }
}

fn unescape_close(text: &[u8]) -> Vec<u8> {
    String::from_utf8_lossy(text).replace("%%>", "%>").into_bytes()
}

/// Lexes code up to the closing tag; whether there is one. A comment hides what is behind it on
/// its line, the closing tag too.
fn code(lexer: &mut Lexer<'_>, tag: Tag, trim_next: &mut bool) -> LexResult<bool> {
    let start = lexer.at;
    if tag == Tag::Expression {
        lexer.push(Tok::RenderExprStart, start - 3, start, true);
    }
    loop {
        let spaced = lexer.skip_blank()?;
        let at = lexer.at;
        let rest = &lexer.bytes[at..];
        let close = [&b"-%>"[..], b"%>"].into_iter().find(|close| rest.starts_with(close));
        if let Some(close) = close {
            lexer.at = at + close.len();
            *trim_next = close.len() == 3;
            lexer.push(Tok::EppEnd, at, lexer.at, true);
            return Ok(true);
        }
        if !lexer.token(spaced)? {
            return Ok(false);
        }
    }
}

impl Parser {
    pub(crate) fn epp(&mut self) -> Parsed<Expr> {
        let start = self.peek_span();
        let mut params: Vec<Param> = Vec::new();
        let mut params_given = false;
        // Only blank text may stand before the parameters.
        let blank = matches!(self.peek(), Tok::RenderText(text) if text.trim().is_empty())
            && *self.peek_at(1) == Tok::Punct("|");
        if blank {
            self.bump();
        }
        if self.is("|") {
            self.bump();
            params = self.params_until("|")?;
            self.expect("|")?;
            params_given = true;
        }
        let body = self.statements_until(&|tok| *tok == Tok::End)?;
        let span = start.to(self.peek_span());
        let body = Rc::new(Expr::new(ExprKind::Block(body), span));
        Ok(Expr::new(ExprKind::Epp { params: params.into(), params_given, body }, span))
    }

    /// `<%= expression %>`
    pub(crate) fn render_expression(&mut self) -> Parsed<Expr> {
        let start = self.bump().span;
        let value = self.assignment()?;
        if *self.peek() != Tok::EppEnd {
            return Err(self.unexpected());
        }
        let end = self.bump().span;
        Ok(Expr::new(ExprKind::RenderExpr(Box::new(value)), start.to(end)))
    }
}

/// The end of a tag of code says nothing: what is open goes on in the next tag.
fn drop_code_ends(tokens: Vec<Token>) -> Vec<Token> {
    let mut open_expression = false;
    tokens
        .into_iter()
        .filter(|token| match token.kind {
            Tok::RenderExprStart => {
                open_expression = true;
                true
            }
            Tok::EppEnd => std::mem::take(&mut open_expression),
            _ => true,
        })
        .collect()
}
