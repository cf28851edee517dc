//! CFEngine's own protocol: keys and what they are known by, transactions, requests and answers
//! of both of its forms, the store of hosts seen, and files encrypted for hosts.

mod address;
mod certificate;
pub mod classic;
mod frame;
mod identity;
mod keys;
mod lastseen;
mod listing;
mod request;
pub mod secret;
mod stat;
pub mod tls;

pub use address::HostPort;
pub use certificate::{public_key_of, self_signed};
pub use frame::{Broken, Frame, Frames, LARGEST, encode};
pub use identity::{Greeting, VERSION, identity_line, is_welcome, user_of, version_line};
pub use keys::{Digest, KeyError, PrivateKey, PublicKey};
pub use lastseen::{Contact, Direction, LastSeen, Removal};
pub use listing::{names, packets};
pub use request::{Bad, Request};
pub use stat::{FileKind, Stat};

/// The port that a server has unless policy says otherwise.
pub const PORT: u16 = 5308;

/// What ends lists and the output of commands.
pub const TERMINATOR: &[u8] = b"---cfXen/gine/cfXen/gine---";

/// The answer to all that is refused, whatever the reason.
pub const REFUSAL: &[u8] = b"BAD: Unspecified server refusal (see verbose server output)";

/// The answer to what is no request; the connection ends with it.
pub const ILLEGAL: &[u8] = b"BAD: Request denied";

/// The answer to a comparison: contents differ.
pub const DIFFERENT: &[u8] = b"CFD_TRUE";

/// The answer to a comparison: contents are the same.
pub const SAME: &[u8] = b"CFD_FALSE";
