//! Desired states of things on the machine: observe, changes, apply. Station six.
//!
//! Each module holds a `Desired` with public fields and a `Default`, and a type that
//! implements [`fx_engine::Resource`]. A language fills in what it needs and leaves the
//! rest. It knows no language; options that do not touch the machine stay out.

#![forbid(unsafe_code)]

pub mod account;
pub mod command;
pub mod digest;
pub mod mode;
pub mod text;

pub mod acl;
pub mod directory;
pub mod exec;
pub mod file;
pub mod group;
pub mod link;
pub mod package;
pub mod service;
pub mod user;

pub mod cron;
pub mod host_entry;
pub mod known_host;
mod line;
pub mod mount;
pub mod ssh_key;

use fx_engine::Change;

/// Whether a change of this property is among those to be made.
fn wanted(changes: &[Change], property: &str) -> bool {
    changes.iter().any(|change| change.property == property)
}
