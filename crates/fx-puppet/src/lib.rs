//! Puppet: evaluates manifests to values and resources.
//!
//! Knows the engine and resources, not the other languages. What it does not do yet is
//! said by an error that names it.

#![forbid(unsafe_code)]

pub mod facter;
mod value;
mod regex;
mod semver;
mod types;

pub use regex::Regex;
pub use types::Type;
pub use value::{Hash, Value};
