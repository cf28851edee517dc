//! Puppet: evaluates manifests to values and resources.
//!
//! Knows the engine and resources, not the other languages. What it does not do yet is
//! said by an error that names it.

#![forbid(unsafe_code)]

pub mod facter;
mod value;
mod regex;
mod semver;
mod random;
mod types;
mod eval;
mod functions;
mod compile;
mod apply;

pub use apply::{Request, Summary, run};
pub use compile::Settings;
pub use regex::Regex;
pub use types::Type;
pub use value::{Hash, Value};

/// The version of the original that this equals.
pub const VERSION: &str = "7.23.0";
