//! The server that agents talk to: TLS, HTTP, who may do what, and the answers.
//!
//! Does not know how anything is compiled ([`Code`]) or kept ([`fx_fleet::Fleet`]). Connections
//! are asynchronous ([`serve`]); answers are plain functions from a request to a reply
//! ([`App::answer`]), which run on threads of their own.

#![forbid(unsafe_code)]

mod app;
mod backend;
mod body;
mod ca;
mod caller;
mod chef;
pub mod cfengine;
mod code;
mod connections;
mod dates;
mod http;
mod linger;
mod listing;
mod message;
mod metrics;
mod packed;
mod puppet;
mod puppetdb;
mod revoked;
mod routes;
mod rules;
mod serve;
mod status;
mod tls;

pub use app::{App, Parts};
pub use backend::PuppetDb;
pub use body::Content;
pub use ca::{Autosign, Signing, SigningOptions, issued};
pub use caller::{Caller, Identity, serial_text};
pub use chef::serve_chef;
pub use code::{
    CatalogMade, CatalogWish, Code, EnvironmentInfo, FileWish, NodeInfo, Refusal, Tree,
};
pub use listing::Listing;
pub use message::{Head, Reply, Request};
pub use puppetdb::kept_resources;
pub use revoked::RevokedSerials;
pub use routes::endpoints;
pub use rules::{Access, Pattern, Rule, Rules, Who};
pub use serve::{Limits, ServeError, serve};
pub use tls::{Tls, TlsError};
