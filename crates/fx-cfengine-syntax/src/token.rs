//! Tokens: kind, place, and for words and strings the text they stand for.

use std::rc::Rc;

use fx_source::Span;

/// What a token is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Bundle,
    Body,
    Promise,
    /// `name` or `ns:name`.
    Id(Rc<str>),
    FatArrow,
    ThinArrow,
    /// `expr::`, without the colons.
    Class(Rc<str>),
    /// `"expr"::`, without quotes and colons.
    VarClass(Rc<str>),
    /// `type:`, without the colon.
    PromiseType(Rc<str>),
    Quoted(Rc<str>),
    Naked(Rc<str>),
    /// Any other byte.
    Char(u8),
    End,
}

#[derive(Clone, Debug)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    pub(crate) span: Span,
}
