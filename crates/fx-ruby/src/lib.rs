//! A Ruby runtime in safe Rust: heap, object model, evaluator, core classes, part of the
//! standard library, and the seam for embedding. It knows no tool that uses it.
//!
//! Reading order: `value`, `heap`, `object`, `vm`, `interp`, then `core` by need.

#![forbid(unsafe_code)]
#![allow(
    clippy::inline_always,
    clippy::float_cmp,
    clippy::default_trait_access,
    clippy::format_push_string,
    clippy::type_complexity,
    clippy::wrong_self_convention,
    clippy::unused_self,
    clippy::map_unwrap_or,
    clippy::match_wildcard_for_single_variants,
    clippy::case_sensitive_file_extension_comparisons,
    clippy::assigning_clones,
    clippy::verbose_bit_mask,
    reason = "an interpreter: hot paths are inlined by measurement, floats compare as Ruby's do, native methods share one signature"
)]

mod bignum;
mod boot;
mod convert;
mod core;
pub mod embed;
mod encoding;
mod fiber;
pub mod gc;
pub mod heap;
mod interp;
mod limits;
mod names;
mod natives;
pub mod object;
mod prelude;
mod raise;
mod regex;
mod report;
mod stdlib;
pub mod value;
pub mod vm;
mod wording;

pub use embed::{Ended, Hooks, HostObject, Options, STACK, on_big_stack};
pub use fx_ruby_syntax::Sym;
pub use limits::Bound;
pub use regex::{Simple, Slots, TooLong, engine as regex_engine};
pub use value::Value;
pub use vm::{Args, Limits, R, Res, Shipped, Unwind, Vm};
pub use wording::Wording;
