//! The machine: files, commands, accounts, clock, environment and network. Station three.
//!
//! The only crate that touches the outside. Everything above gets a `&dyn Host` and works
//! the same on the real machine ([`OsHost`]), on a fake ([`MemoryHost`]) and through a
//! recorder ([`RecordingHost`]). It knows no language and no resource: it offers what the
//! kernel offers, made safe for a process that runs as root.
//!
//! All methods take `&self`, and no lock or borrow is held while a caller's code runs, so
//! a provider may come back in while it is being called.

#![expect(clippy::disallowed_methods, reason = "this is the crate the others are sent to")]

#[macro_use]
mod passing;
mod error;
pub mod limits;
mod directory;
mod files;
mod in_place;
mod commands;
mod accounts;
mod account_files;
mod clock;
mod daemon;
mod env;
mod net;
mod os;
mod lock;
mod inherited;
mod signals;
mod system_log;
mod sandbox;
mod overlay;
mod memory;
mod operation;
mod recording;
mod looking;
mod watching;

pub use account_files::{parse_group, parse_passwd};
pub use accounts::{Accounts, Group, User};
pub use clock::{Clock, Time};
pub use commands::{Child, Commands, Ended, Exit, Line, Program, Queries, Spec, Stdin, Stream};
pub use daemon::{detach, into_background};
pub use directory::Directory;
pub use env::{Env, Uname};
pub use error::{Answer, HostError};
pub use files::{Edits, Entry, Files, FsSpace, Kind, Meta, Pieces, Reader, WriteOptions};
pub use in_place::{Access, InPlace, LockWish, Opening};
pub use inherited::close_inherited;
pub use lock::{Holder, Lock, Locked};
pub use looking::LookingHost;
pub use memory::{FaultOn, MemoryHost, Reply};
pub use net::{Address, Counters, Interface, Neighbour, Net, Request, Requests, Response, Route};
pub use operation::Operation;
pub use os::{OsHost, Served, list_served, look_served, open_served, resolve_served};
pub use overlay::OverlayHost;
pub use recording::{Record, RecordingHost};
pub use sandbox::{
    Attributes, ChangeKind, Changes, FsChange, Layer, LeftOut, ORIGINALS, Sandbox, SandboxOptions,
};
pub use signals::{leave, reload_on_hangup, stop_on_signals, stop_signal, wake_on_user_signals};
pub use system_log::{Priority, SystemLog, SystemLogKind};

pub use watching::{About, WatchingHost};

/// Result of any request to the machine.
pub type Result<T, E = HostError> = std::result::Result<T, E>;

/// A machine that is only looked at. What evaluates, guards and compares gets this.
pub trait Look: Files + Queries + Accounts + Clock + Env + Net {}

impl<T: Files + Queries + Accounts + Clock + Env + Net> Look for T {}

/// A machine that can be changed. Languages get it only inside a recorded change, or for what
/// their evaluation itself does; the engine hands it out.
pub trait Act: Look + Edits + Commands + Requests {}

impl<T: Look + Edits + Commands + Requests> Act for T {}

/// A machine: the sum of its parts. For whoever assembles a run.
pub trait Host: Act {}

impl<T: Act> Host for T {}
