//! The machine: files, commands, accounts, clock, environment and network. Station three.
//!
//! The only crate that touches the outside. Everything above gets a `&dyn Host` and works
//! the same on the real machine ([`OsHost`]), on a fake ([`MemoryHost`]) and through a
//! recorder ([`RecordingHost`]). It knows no language and no resource: it offers what the
//! kernel offers, made safe for a process that runs as root.
//!
//! All methods take `&self`, and no lock or borrow is held while a caller's code runs, so
//! a provider may come back in while it is being called.

mod accounts;
mod clock;
mod commands;
mod env;
mod error;
mod files;
mod memory;
mod net;
mod operation;
mod recording;

pub use accounts::{Accounts, Group, User};
pub use clock::{Clock, Time};
pub use commands::{Child, Commands, Ended, Exit, Line, Program, Spec, Stdin, Stream};
pub use env::{Env, Uname};
pub use error::HostError;
pub use files::{Entry, Files, FsSpace, Kind, Meta, Reader, WriteOptions};
pub use memory::{FaultOn, MemoryHost, Reply};
pub use net::{Interface, Net, Request, Response};
pub use operation::Operation;
pub use recording::{Record, RecordingHost};

/// Result of anything asked of the machine.
pub type Result<T> = std::result::Result<T, HostError>;

/// A machine: the sum of its parts.
pub trait Host: Files + Commands + Accounts + Clock + Env + Net {}

impl<T: Files + Commands + Accounts + Clock + Env + Net> Host for T {}
