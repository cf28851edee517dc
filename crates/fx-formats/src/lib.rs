//! Forms that text and data are written in, each once: hexadecimal digits, base64, unified
//! diffs, patterns of names, templates of times, Ruby's `format`, YAML as libyaml and Psych write it, files of
//! LMDB.
//!
//! Knows no language, no file and no machine: text in, text out.

#![forbid(unsafe_code)]

pub mod base64;
pub mod decimal;
mod diff;
pub mod glob;
mod hex;
pub mod lmdb;
pub mod printf;
pub mod strftime;
pub mod yaml;

pub use diff::{Sides, unified, unified_text};
pub use hex::hex;
