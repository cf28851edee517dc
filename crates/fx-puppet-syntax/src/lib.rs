//! Puppet's language and EPP templates: text to an owned tree, with diagnostics.
//!
//! Knows no values, no machine and no catalog. Parsing stops at the first syntax error, as
//! the original does; [`validate`] then finds everything else that is wrong in one pass.

#![forbid(unsafe_code)]
#![expect(
    clippy::unnecessary_box_returns,
    reason = "errors are rare and large, so results carry them boxed"
)]

mod token;
mod names;
mod lexer;
mod escape;
mod heredoc;
mod ast;
mod parser;
mod epp;
mod dump;
pub mod pn;
mod validate;
#[cfg(test)]
mod tests;

pub use ast::{
    AttributeOp, BinaryOp, Body, CaseOption, Definition, DefinitionKind, Expr, ExprKind, Form,
    Lambda, NodeDefinition, Param, Program, QueryForm, RelationOp, ResourceBody, StringPart,
};
pub use dump::dump;
pub use epp::parse_epp;
pub use parser::{END_OF_INPUT, parse};
pub use validate::{Strictness, validate};
