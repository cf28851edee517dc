//! CFEngine policy text to a syntax tree, with several errors per run. Station two.
//!
//! It knows the grammar only: which attributes exist, what types they have and which
//! bodies are defined is the vocabulary's business, in `fx-cfengine`.

#![forbid(unsafe_code)]

mod ast;
mod lexer;
mod macros;
mod parser;
mod recovery;
mod token;

pub use ast::{
    Attribute, Block, BlockKind, Bundle, File, Guard, Name, Promise, Rval, RvalKind, Section,
    Settings, Skipped,
};
pub use parser::parse;
pub use recovery::{Event, line_start, replay, token_end};

/// The code of an error of which no more can be said than that the text does not fit.
pub const UNSPECIFIC: &str = "cf-grammar";

/// Most errors shown for one file; after that the rest is noise.
pub const MAX_ERRORS: usize = 12;

/// Deepest nesting of function calls that is read.
pub const MAX_NESTING: usize = 10;
