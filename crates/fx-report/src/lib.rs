//! From ledger and events to what people and machines read. Last station of the line.
//!
//! Sinks write to a writer they are given; where it leads, and whether it is a terminal,
//! is decided by the binary. Nothing here knows how anything was computed.

#![forbid(unsafe_code)]

pub mod console;
mod diff;
mod json;
mod status;
pub mod timeline;

pub use diff::unified;
pub use json::{JsonLines, SCHEMA};
pub use status::{Out, Screen};
