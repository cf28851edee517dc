//! Chef: cookbooks as people wrote them, in the two passes of compile and converge.
//!
//! The class tree cookbooks see is Ruby of our own (`prelude/`), read piece by piece when a
//! name is first used; what touches the machine, counts or must be fast is here. It knows
//! no other language and prints nothing itself: output goes to the writers it is given.

#![forbid(unsafe_code)]

mod accounts;
mod actions;
mod change;
mod clock;
mod crontabs;
mod describe;
mod diff;
mod effects;
mod erubis;
mod event;
mod file_provider;
mod files;
mod formatter;
mod log;
mod machine;
mod masking;
mod merge;
mod ohai;
mod mounts;
mod network;
mod own_files;
mod packages;
mod prelude;
mod progress;
mod property;
mod ruby_data;
mod schema;
mod services;
mod shell;
mod spec;
mod trap;
mod wording;

pub use describe::{Described, describe};
pub use machine::{Machine, Request, Schedule, run};
pub use ohai::automatic;
#[cfg(feature = "live-prelude")]
pub use prelude::live;
pub use spec::lend;

/// The version of the client whose behaviour this is.
pub const VERSION: &str = "18.11.21";
