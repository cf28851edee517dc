//! The agents' side of the network: blocking clients that speak to servers. What is sent and what
//! comes back is formed in `fx-wire`.

#![forbid(unsafe_code)]

pub mod cfengine;
pub mod chef;
mod http;
mod proxy;
pub mod puppet;
mod tls;

pub use http::{Answer, CertificateProblem, Client, Content, NetError, Opened, Reach, Timeouts};
pub use tls::{Identity, Trust, config as tls_config};
