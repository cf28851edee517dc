//! The agent's side of CFEngine's protocol: a connection to a server, and the requests over it.
//! Blocking; requests that do not wait for each other are sent together.

mod classic;
mod connection;
mod execute;
mod transport;

pub use connection::{Connection, Found, Opened, Wish};
pub use execute::{Ending, Said};
pub use fx_wire::cfengine::tls::Offer;

use fx_wire::cfengine::PublicKey;

/// Which form of the protocol is spoken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    Classic,
    /// Inside TLS, up to this version.
    Tls(u8),
}

/// Why there is no connection, or no longer one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Lost {
    #[error("no answer in time")]
    Time,
    #[error("Connection was hung up!")]
    HungUp,
    #[error("{0}")]
    Broken(String),
    #[error("{0}")]
    Tls(String),
    /// The key of the server is not trusted.
    #[error("untrusted key: {}", .0.digest())]
    Untrusted(Box<PublicKey>),
    /// The server does not take us.
    #[error("Peer did not accept our identity! Responded: {0}")]
    Identity(String),
    #[error("the server speaks no version that we speak")]
    Version,
}

impl From<std::io::Error> for Lost {
    fn from(error: std::io::Error) -> Lost {
        use std::io::ErrorKind::{
            BrokenPipe, ConnectionAborted, ConnectionReset, TimedOut, UnexpectedEof, WouldBlock,
        };
        match error.kind() {
            TimedOut | WouldBlock => Lost::Time,
            UnexpectedEof | ConnectionReset | ConnectionAborted | BrokenPipe => Lost::HungUp,
            _ => match error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>()) {
                Some(tls) => Lost::Tls(tls.to_string()),
                None => Lost::Broken(error.to_string()),
            },
        }
    }
}
