//! Tokens, and the rule which of them a regular expression may follow.

use std::rc::Rc;

use fx_source::Span;

/// A token with its place and whether blank space stands before it.
#[derive(Clone, Debug)]
pub(crate) struct Token {
    pub(crate) kind: Tok,
    pub(crate) span: Span,
    pub(crate) spaced: bool,
}

/// Pieces of a string before its expressions are parsed.
#[derive(Clone, Debug)]
pub(crate) enum RawPart {
    Text(Rc<str>),
    /// `$name`
    Variable(Rc<str>, Span),
    /// `${ … }`: the tokens between the braces, ended by `End`.
    Tokens(Vec<Token>, Span),
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Tok {
    Name(Rc<str>),
    /// A bare word with dashes or a leading underscore.
    Word(Rc<str>),
    Reference(Rc<str>),
    Variable(Rc<str>),
    Number(Rc<str>),
    /// Escapes resolved, nothing to interpolate.
    String(Rc<str>),
    /// Index into the lexer's list of strings with parts.
    Interpolated(usize),
    /// Syntax name, and the index of its text.
    Heredoc(Rc<str>, usize),
    Regex(Rc<str>),
    /// EPP: text between tags; `<%=`'s marks; the parameter bars reuse `Pipe`.
    RenderText(Rc<str>),
    RenderExprStart,
    EppEnd,
    Keyword(&'static str),
    /// Punctuation and operators, as written.
    Punct(&'static str),
    End,
}

pub(crate) const KEYWORDS: [&str; 20] = [
    "case", "class", "default", "define", "if", "elsif", "else", "inherits", "node", "and", "or",
    "undef", "false", "true", "in", "unless", "function", "type", "attr", "private",
];

impl Tok {
    /// Whether a `/` after this token begins a regular expression, not a division.
    pub(crate) fn regex_may_follow(&self) -> bool {
        !matches!(
            self,
            Tok::Name(_)
                | Tok::Word(_)
                | Tok::Reference(_)
                | Tok::Variable(_)
                | Tok::Number(_)
                | Tok::String(_)
                | Tok::Interpolated(_)
                | Tok::Heredoc(..)
                | Tok::Regex(_)
                | Tok::Keyword("true" | "false")
                | Tok::Punct(")" | "]" | "|>" | "|>>")
        )
    }

    /// As a syntax error names it.
    pub(crate) fn shown(&self) -> String {
        match self {
            Tok::Name(text)
            | Tok::Word(text)
            | Tok::Reference(text)
            | Tok::Number(text)
            | Tok::String(text) => text.to_string(),
            Tok::Variable(name) => name.to_string(),
            Tok::Regex(text) => format!("(?-mix:{text})"),
            // Signs that mean nothing are not named.
            Tok::Punct("&" | "^" | "`" | "\\") => String::new(),
            Tok::Keyword(word) | Tok::Punct(word) => (*word).to_owned(),
            Tok::Interpolated(_) | Tok::Heredoc(..) => String::new(),
            Tok::RenderText(text) => text.to_string(),
            Tok::RenderExprStart => "<%=".to_owned(),
            Tok::EppEnd => "%>".to_owned(),
            Tok::End => "end of input".to_owned(),
        }
    }
}
