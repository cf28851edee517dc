//! What agents and servers say to each other: certificates, and the messages of the three
//! protocols. Bytes in, types out, and back.
//!
//! Knows no socket, no file and no store; the time and random bytes come from the caller.

#![forbid(unsafe_code)]

mod signatures;
pub mod chef;
pub mod cfengine;
pub mod puppet;
pub mod x509;
