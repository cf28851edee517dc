//! CFEngine policy on the shared engine: load, evaluate, and keep promises. A station of
//! the line between the syntax tree and the step.
//!
//! It knows CFEngine's order, values and words. It prints nothing and exits nothing: what
//! is said goes to the ledger, and the caller gets an exit status.

#![forbid(unsafe_code)]
#![allow(
    clippy::format_push_string,
    reason = "messages are built once; `write!` would only add unused results"
)]
#![allow(clippy::assigning_clones, reason = "the plain assignment says what it does")]
#![allow(clippy::manual_let_else, reason = "a match keeps the reason of a failure next to it")]
#![allow(clippy::struct_field_names, reason = "`lines` of `Lines` is the best name")]
#![allow(
    clippy::case_sensitive_file_extension_comparisons,
    reason = "names are lowered before they are compared"
)]

pub(crate) mod agent;
pub(crate) mod clock;
mod config;
pub(crate) mod connect;
mod diagnose;
pub(crate) mod edit;
pub(crate) mod eval;
pub(crate) mod facts;
pub(crate) mod functions;
pub(crate) mod json;
mod lint;
pub(crate) mod load;
pub(crate) mod mode;
pub(crate) mod mustache;
pub(crate) mod outcome;
pub(crate) mod policy;
pub(crate) mod policy_json;
mod policy_text;
mod preamble;
pub(crate) mod regex;
mod release;
mod run;
mod show;
pub(crate) mod text;
pub(crate) mod vocabulary;
pub(crate) mod wording;
pub(crate) mod yaml;

pub use config::{Request, Simulate};
pub use diagnose::diagnose;
pub use run::{Summary, check, run};

/// The language described as data, as `cf-promises -s json` prints it.
pub fn syntax_description() -> String {
    vocabulary::describe().pretty()
}
