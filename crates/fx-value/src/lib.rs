//! Plain data crossing from a language to the core: what a step's changes are made of.
//!
//! Not the value model of any language, and it carries no spans. Strings are bytes; text
//! is a claim made where they are shown. A [`Sensitive`] value prints redacted everywhere.

#![forbid(unsafe_code)]

mod bytes;
mod json;
mod yaml;
mod sensitive;
mod value;

pub use bytes::Bytes;
pub use sensitive::{REDACTED, Sensitive};
pub use value::{Map, Value};
