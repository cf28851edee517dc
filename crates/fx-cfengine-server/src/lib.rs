//! What a CFEngine server allows: `body server control` and the access and roles promises of server
//! bundles as one value that does not change. Pure: knows no socket and no file.

#![forbid(unsafe_code)]

mod access;
mod address;
mod command;
mod policy;
mod rules;

pub use access::{Access, Entry, Peer, Who};
pub use address::matches_address;
pub use command::{split_command, without_quotes};
pub use fx_cfengine::regex::full as matches_pattern;
pub use policy::from_policy;
pub use rules::{Control, Refusal, Rules, RunWish};
