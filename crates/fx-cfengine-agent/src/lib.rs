//! CFEngine's agent: the bundle sequence, passes in normal order, and one file a promise type.
//!
//! What policy means is known by `fx-cfengine`; here its promises are kept, each as a step of
//! the ledger. It prints nothing and exits nothing: what is logged is in the ledger, and the
//! caller gets an exit status. [`run`] is the one entry.

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

mod action;
mod agent;
mod change;
mod edit;
mod lock;
mod network;
mod passes;
mod promise;
mod run;
mod sequence;
mod simulate;
mod wording;

pub use run::{FAILSAFE, run};
