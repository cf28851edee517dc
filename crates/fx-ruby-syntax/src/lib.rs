//! Ruby text to an owned tree: prism parses, this crate lowers. Knows no values, no machine.
//!
//! Locals become slots, captured locals become environment slots, and call sites carry
//! room for the inline caches that the runtime fills. The tree is leaked on purpose: one
//! run keeps its code until it ends, and plain references make frames and caches cheap.

#![allow(clippy::unused_self, reason = "every lowering step is a method of the lowerer")]

pub mod ast;
mod image;
mod image_nodes;
mod intern;
mod locals;
mod lower;
mod ripper;
mod scene;
mod ship;
mod spot;
mod trees;

pub use image::{Image, Later, Stored};
pub use intern::{Interner, Sym};
pub use lower::{ParseError, Parsed, Request, errors, parse};
pub use ripper::{Sexp, Token, lex, tree};
pub use scene::{Scene, scene};
pub use ship::{Lowered, lower_prelude, ship_prelude};
pub use spot::spot;
