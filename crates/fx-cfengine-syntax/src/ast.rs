//! The syntax tree: bundles, bodies and promise blocks as written, spans on every node.

use std::rc::Rc;

use fx_source::Span;

/// A policy file.
#[derive(Clone, Debug, Default)]
pub struct File {
    /// Its blocks in written order.
    pub blocks: Vec<Block>,
    /// Lines that the preprocessor left out.
    pub skipped: Skipped,
}

/// Where the preprocessor left lines out, and how many: the original does not count them.
#[derive(Clone, Debug, Default)]
pub struct Skipped(pub(crate) Vec<(u32, u32)>);

impl Skipped {
    /// How many lines before this place were left out.
    pub fn before(&self, offset: u32) -> u32 {
        self.0.iter().filter(|(end, _)| *end <= offset).map(|(_, lines)| lines).sum()
    }
}

/// A top-level block.
#[derive(Clone, Debug)]
pub enum Block {
    /// `bundle TYPE NAME(…) { … }`.
    Bundle(Bundle),
    /// `body TYPE NAME(…) { … }` or `promise agent NAME { … }`.
    Settings(Settings),
}

/// Which keyword opened a settings block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockKind {
    /// `body`.
    Body,
    /// `promise`.
    Promise,
}

/// A word with its place.
#[derive(Clone, Debug)]
pub struct Name {
    /// The word.
    pub text: Rc<str>,
    /// Where it stands.
    pub span: Span,
}

/// A bundle.
#[derive(Clone, Debug)]
pub struct Bundle {
    /// `agent`, `common`, `edit_line` and so on.
    pub kind: Name,
    /// Its name, without namespace.
    pub name: Name,
    /// The namespace in force where it was written.
    pub namespace: Rc<str>,
    /// Formal parameters.
    pub args: Vec<Name>,
    /// Sections in written order; a type may come several times.
    pub sections: Vec<Section>,
    /// From keyword to closing brace.
    pub span: Span,
}

/// `vars:` and the promises below it.
#[derive(Clone, Debug)]
pub struct Section {
    /// Promise type.
    pub kind: Name,
    /// Promises in written order.
    pub promises: Vec<Promise>,
}

/// The class guard in force at a promise or attribute.
#[derive(Clone, Debug)]
pub enum Guard {
    /// `expr::`.
    Plain(Name),
    /// `"expr"::`, evaluated with variables expanded, for each iteration.
    Variable(Name),
}

/// One promise.
#[derive(Clone, Debug)]
pub struct Promise {
    /// The guard in force.
    pub guard: Option<Guard>,
    /// The promiser.
    pub promiser: Name,
    /// What stands after `->`.
    pub promisee: Option<Rval>,
    /// Attributes in written order.
    pub attributes: Vec<Attribute>,
    /// From promiser to semicolon.
    pub span: Span,
}

/// `name => value`.
#[derive(Clone, Debug)]
pub struct Attribute {
    /// Left-hand side.
    pub name: Name,
    /// Right-hand side.
    pub value: Rval,
    /// The guard in force; only in bodies.
    pub guard: Option<Guard>,
}

/// A body or promise block.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The keyword.
    pub block: BlockKind,
    /// Body type, or the component of a promise block.
    pub kind: Name,
    /// Its name, without namespace.
    pub name: Name,
    /// The namespace in force where it was written.
    pub namespace: Rc<str>,
    /// Formal parameters.
    pub args: Vec<Name>,
    /// Attributes in written order.
    pub attributes: Vec<Attribute>,
    /// From keyword to closing brace.
    pub span: Span,
}

/// A right-hand side with its place.
#[derive(Clone, Debug)]
pub struct Rval {
    /// What it is.
    pub kind: RvalKind,
    /// Where it stands.
    pub span: Span,
}

/// The forms a right-hand side takes.
#[derive(Clone, Debug)]
pub enum RvalKind {
    /// A bare word: name of a body, a bundle, or an identifier given to a function.
    Bare(Rc<str>),
    /// A quoted string, escapes already reduced.
    Quoted(Rc<str>),
    /// `$(x)` or `@(x)` without quotes.
    Naked(Rc<str>),
    /// `{ … }`.
    List(Vec<Rval>),
    /// `name(…)`; the name may be a naked variable.
    Call {
        /// Function, body or bundle name.
        name: Rc<str>,
        /// Actual arguments.
        args: Vec<Rval>,
    },
}
