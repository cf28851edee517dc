//! Chef's messages over HTTP: signed requests.

mod signing;

pub use signing::{Bad, Described, Protocol, Signable, SigningKey, Verifier, sign};
