//! A Ruby runtime in safe Rust: heap, object model, evaluator, core classes, part of the
//! standard library, and the seam for embedding. It knows no tool that uses it.
//!
//! Reading order: `value`, `heap`, `object`, `vm`, `interp`, then `core` by need.

#![forbid(unsafe_code)]

mod bignum;
mod boot;
mod convert;
mod core;
pub mod embed;
mod encoding;
pub mod heap;
mod interp;
mod names;
pub mod object;
mod prelude;
mod raise;
mod regex;
mod stdlib;
pub mod value;
pub mod vm;

pub use embed::{Ended, Hooks, HostObject, Options, on_big_stack};
pub use value::Value;
pub use vm::{Args, Limits, R, Res, Vm};
