//! Chef's server: the API that clients, knife and policy tools use, as a function from a request to
//! a reply over a store.
//!
//! Knows no socket. A request is authenticated once (`authenticate.rs`), asks one table for its
//! rights (`rights.rs`), and changes the store in one transaction or not at all.

#![forbid(unsafe_code)]

mod acls;
mod artifacts;
mod associations;
mod authenticate;
mod authenticate_user;
mod buffers;
mod clients;
mod containers;
mod context;
mod cookbooks;
mod data_bags;
mod environments;
mod files;
mod groups;
mod ids;
mod keys;
mod known;
mod manifest;
mod message;
mod names;
mod nodes;
mod objects;
mod organizations;
mod outline;
mod policies;
mod principals;
mod rights;
mod roles;
mod routes;
mod run_list;
mod sandboxes;
mod search;
mod sent;
mod server;
mod solver;
mod universe;
mod users;
mod validation;
mod versions;

pub use buffers::Buffers;
pub use manifest::files_in as files_of;
pub use message::{Reply, Request};
pub use routes::endpoints;
pub use server::{Fill, NewKeys, Parts, Place, Server};
