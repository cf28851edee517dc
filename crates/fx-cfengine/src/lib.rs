//! CFEngine's language on the shared engine: load, evaluate, check and describe policy. A station
//! of the line between the syntax tree and the agent.
//!
//! It knows CFEngine's values, functions and words. It keeps no promise but those that define
//! variables and classes: the rest is `fx-cfengine-agent`. It prints nothing and exits nothing.

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

pub mod clock;
pub mod command;
pub mod config;
pub mod connect;
mod diagnose;
pub mod eval;
mod facts;
pub mod functions;
pub mod json;
mod lint;
pub mod load;
pub mod mode;
pub mod module_protocol;
mod monitor;
pub mod mustache;
pub mod outcome;
pub mod packages;
pub mod peers;
pub mod policy;
mod policy_json;
pub mod policy_text;
mod preamble;
pub mod process_table;
pub mod promise;
pub mod reason;
pub mod regex;
mod release;
pub mod server;
mod show;
pub mod start;
pub mod text;
mod turn;
pub mod vocabulary;
mod why;
mod yaml;

pub use config::{Request, Simulate};
pub use diagnose::diagnose;
pub use lint::{entries, text, texts};
pub use load::lower::Component;
pub use start::{Summary, check, lint};
pub use turn::why_of;

/// The language described as data, as `cf-promises -s json` prints it.
pub fn syntax_description() -> String {
    vocabulary::describe().pretty()
}
