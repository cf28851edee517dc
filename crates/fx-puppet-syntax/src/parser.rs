//! Recursive descent over the tokens. Stops at the first syntax error, as the original
//! does; nesting is limited so that no input can exhaust the stack.

mod definition;
mod expression;
mod resource;
mod statement;

use std::rc::Rc;

use fx_source::{Diagnostic, FileId, Span};

use crate::ast::{Definition, Expr, ExprKind, Program, StringPart};
use crate::lexer::Lexer;
use crate::token::{RawPart, Tok, Token};

/// Deepest nesting of expressions and blocks.
const MAX_DEPTH: u32 = 150;

/// The code of the error that a text ends too early.
pub const END_OF_INPUT: &str = "puppet-syntax-end";

pub(crate) type Parsed<T> = Result<T, Box<Diagnostic>>;

/// Parses a manifest. On a syntax error the program is empty and the error is last.
pub fn parse(text: &[u8], file: FileId) -> (Program, Vec<Diagnostic>) {
    run(text, file, Parser::program)
}

/// Lexes and parses a text as a whole.
fn run(
    text: &[u8],
    file: FileId,
    work: fn(&mut Parser) -> Parsed<Expr>,
) -> (Program, Vec<Diagnostic>) {
    let lexed = match Lexer::new(text, file).run() {
        Ok(lexed) => lexed,
        Err(error) => return (Program::empty(file), vec![*error]),
    };
    let mut parser = Parser::new(lexed.tokens, lexed.strings);
    let parsed = work(&mut parser);
    finish(parser, parsed, lexed.warnings, file)
}

fn finish(
    parser: Parser,
    parsed: Parsed<Expr>,
    mut diagnostics: Vec<Diagnostic>,
    file: FileId,
) -> (Program, Vec<Diagnostic>) {
    crate::lexer::give_back(parser.tokens);
    match parsed {
        Ok(body) => {
            let definitions = tight(parser.definitions);
            (Program { body: Rc::new(body), definitions }, diagnostics)
        }
        Err(error) => {
            diagnostics.push(*error);
            (Program::empty(file), diagnostics)
        }
    }
}

impl Program {
    fn empty(file: FileId) -> Program {
        let body = Rc::new(Expr::new(ExprKind::Block(Vec::new()), Span::new(file, 0, 0)));
        Program { body, definitions: Vec::new() }
    }
}

/// A list without room for more: trees are kept as long as the process.
pub(crate) fn tight<T>(mut list: Vec<T>) -> Vec<T> {
    list.shrink_to_fit();
    list
}

pub(crate) struct Parser {
    tokens: Vec<Token>,
    strings: Vec<Vec<RawPart>>,
    at: usize,
    depth: u32,
    pub(crate) definitions: Vec<Definition>,
    /// Names of the classes around, for names inside them.
    namespace: Vec<Rc<str>>,
}

impl Parser {
    pub(crate) fn new(tokens: Vec<Token>, strings: Vec<Vec<RawPart>>) -> Parser {
        Parser { tokens, strings, at: 0, depth: 0, definitions: Vec::new(), namespace: Vec::new() }
    }

    pub(crate) fn program(&mut self) -> Parsed<Expr> {
        let body = self.statements_until(&|tok| *tok == Tok::End)?;
        let end = self.peek_span();
        let span = body.first().map_or(end, |first| first.span.to(end));
        Ok(Expr::new(ExprKind::Block(body), span))
    }

    pub(crate) fn peek(&self) -> &Tok {
        &self.tokens[self.at].kind
    }

    pub(crate) fn peek_at(&self, ahead: usize) -> &Tok {
        self.tokens.get(self.at + ahead).map_or(&Tok::End, |token| &token.kind)
    }

    pub(crate) fn peek_span(&self) -> Span {
        self.tokens[self.at].span
    }

    pub(crate) fn peek_spaced(&self) -> bool {
        self.tokens[self.at].spaced
    }

    pub(crate) fn last_span(&self) -> Span {
        self.tokens[self.at.saturating_sub(1)].span
    }

    pub(crate) fn bump(&mut self) -> Token {
        let token = self.tokens[self.at].clone();
        // The end stays, so that looking further is always possible.
        if self.at + 1 < self.tokens.len() {
            self.at += 1;
        }
        token
    }

    pub(crate) fn is(&self, symbol: &str) -> bool {
        matches!(self.peek(), Tok::Punct(found) if *found == symbol)
    }

    pub(crate) fn is_keyword(&self, word: &str) -> bool {
        matches!(self.peek(), Tok::Keyword(found) if *found == word)
    }

    pub(crate) fn eat(&mut self, symbol: &str) -> bool {
        let found = self.is(symbol);
        if found {
            self.bump();
        }
        found
    }

    pub(crate) fn eat_keyword(&mut self, word: &str) -> bool {
        let found = self.is_keyword(word);
        if found {
            self.bump();
        }
        found
    }

    pub(crate) fn expect(&mut self, symbol: &str) -> Parsed<Span> {
        if self.is(symbol) { Ok(self.bump().span) } else { Err(self.unexpected()) }
    }

    /// The error for the token at hand.
    pub(crate) fn unexpected(&self) -> Box<Diagnostic> {
        let token = &self.tokens[self.at];
        let (code, message) = match &token.kind {
            Tok::End => (END_OF_INPUT, "Syntax error at end of input".to_owned()),
            kind => ("puppet-syntax", format!("Syntax error at '{}'", kind.shown())),
        };
        Box::new(Diagnostic::error(code, message).label(token.span, "not expected here"))
    }

    /// Does some work one level deeper, or refuses.
    pub(crate) fn deeper<T>(&mut self, work: impl FnOnce(&mut Parser) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= MAX_DEPTH {
            return fail(self.peek_span(), "nesting is too deep");
        }
        self.depth += 1;
        let done = work(self);
        self.depth -= 1;
        done
    }

    /// The parts of a string, with their expressions parsed.
    pub(crate) fn string_parts(&mut self, index: usize) -> Parsed<Vec<StringPart>> {
        let raw = std::mem::take(&mut self.strings[index]);
        raw.into_iter().map(|part| self.string_part(part)).collect()
    }

    fn string_part(&mut self, part: RawPart) -> Parsed<StringPart> {
        Ok(match part {
            RawPart::Text(text) => StringPart::Text(text),
            RawPart::Variable(name, span) => {
                StringPart::Expr(Expr::new(ExprKind::Variable(name), span))
            }
            RawPart::Tokens(tokens, span) => {
                let (outer, at) = (
                    std::mem::replace(&mut self.tokens, tokens),
                    std::mem::replace(&mut self.at, 0),
                );
                let parsed = self.deeper(|parser| parser.interpolation(span));
                self.tokens = outer;
                self.at = at;
                StringPart::Expr(parsed?)
            }
        })
    }

    /// What stands between `${` and `}`: a first word names a variable.
    fn interpolation(&mut self, span: Span) -> Parsed<Expr> {
        if *self.peek() == Tok::End {
            return fail(self.peek_span(), "Syntax error at ''");
        }
        // A word of the language names a variable, too.
        if let (Tok::Keyword(word), Tok::End) = (self.peek().clone(), self.peek_at(1)) {
            let span = self.bump().span;
            if let "true" | "false" = word {
                let class = if word == "true" { "TrueClass" } else { "FalseClass" };
                let message = format!(
                    "undefined method `[]' for {word}:{class}\n\n      if name[0,1] =~ /[0-9]/\n             ^^^^^"
                );
                return Err(Box::new(Diagnostic::error("puppet-syntax", message)));
            }
            return Ok(Expr::new(ExprKind::Variable(word.into()), span));
        }
        // A number names a match variable, as written.
        if let (Tok::Number(text), Tok::End) = (self.peek().clone(), self.peek_at(1)) {
            let span = self.bump().span;
            return Ok(Expr::new(ExprKind::Variable(text), span));
        }
        let body = self.statements_until(&|tok| *tok == Tok::End)?;
        let mut body = body.into_iter();
        match (body.next(), body.len()) {
            (Some(only), 0) => Ok(as_variable(only)),
            (Some(first), _) => {
                let all: Vec<Expr> = std::iter::once(first).chain(body).collect();
                Ok(Expr::new(ExprKind::Block(all), span))
            }
            (None, _) => Ok(Expr::new(ExprKind::Nop, span)),
        }
    }
}

/// Inside `${}` a leading name, keyword or number stands for the variable of that name.
fn as_variable(expr: Expr) -> Expr {
    let span = expr.span;
    let variable = |name: Rc<str>| Expr::new(ExprKind::Variable(name), span);
    match expr.kind {
        ExprKind::Name(name) | ExprKind::Reserved(name) => variable(name),
        ExprKind::Default => variable("default".into()),
        ExprKind::Access { left, keys } => {
            Expr::new(ExprKind::Access { left: Box::new(as_variable(*left)), keys }, span)
        }
        // Only what a name is applied to: `${a + 1}` adds to the word.
        ExprKind::Binary { op, op_span, left, right }
            if matches!(left.kind, ExprKind::MethodCall { .. } | ExprKind::Access { .. }) =>
        {
            Expr::new(
                ExprKind::Binary { op, op_span, left: Box::new(as_variable(*left)), right },
                span,
            )
        }
        ExprKind::MethodCall { receiver, name, name_span, parens, args, lambda } => {
            let receiver = Box::new(as_variable(*receiver));
            let kind = ExprKind::MethodCall { receiver, name, name_span, parens, args, lambda };
            Expr::new(kind, span)
        }
        kind => Expr::new(kind, span),
    }
}

pub(crate) fn run_epp(
    tokens: Vec<Token>,
    strings: Vec<Vec<RawPart>>,
    file: FileId,
    warnings: Vec<Diagnostic>,
) -> (Program, Vec<Diagnostic>) {
    let mut parser = Parser::new(tokens, strings);
    let parsed = parser.epp();
    finish(parser, parsed, warnings, file)
}

/// The error for something wrong at a place.
pub(crate) fn fail<T>(span: Span, message: impl Into<String>) -> Parsed<T> {
    Err(Box::new(Diagnostic::error("puppet-syntax", message).label(span, "")))
}
