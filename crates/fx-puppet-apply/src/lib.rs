//! Puppet, from a catalog to the machine: order, turns, notifications, the log and the report.
//!
//! [`run`] compiles by `fx-puppet` and applies what comes of it. Of the language it knows values,
//! the catalog and [`fx_puppet::Compiled`], nothing of its evaluation.

#![forbid(unsafe_code)]
#![expect(clippy::format_push_string, reason = "text is put together where speed is no matter")]
#![expect(clippy::type_complexity, reason = "short tuples of well-known types")]

mod attempt;
mod attributes;
mod audit;
mod augeas;
mod autorequire;
mod backup;
mod base_service;
pub mod bucket;
mod check;
mod corrective;
mod debug;
mod engine_resource;
mod execs;
mod files;
mod generate;
mod graph;
mod keys;
mod log;
mod logging;
mod names;
mod order;
mod own_files;
mod recurse;
mod refresh;
mod report;
mod request;
mod ruby;
mod run;
mod schedule;
mod secrets;
mod selinux;
mod sourced;
mod state;
mod status;
mod system_types;
mod transaction;
mod wording;
mod yumrepo;

pub use report::name_of as uuid;
pub use request::{AgentRun, Request, Summary};
pub use run::run;
