//! CFEngine's server: connections, who is on the other side, and the answers to requests.
//!
//! Connections are asynchronous ([`serve_cfengine`]); answers are plain functions over a
//! [`Site`], on threads of their own.

mod classic;
mod execute;
mod files;
mod listen;
mod session;
mod site;

pub use listen::{Limits, Listening, serve_cfengine};
pub use site::{FileInfo, Importance, Opened, Paths, Site, Trust};
