//! Puppet's messages over HTTP: names, paths and forms as they are sent, and what they hold.

mod catalog_request;
mod encoding;
mod formats;
mod metadata;
mod names;
mod report;

pub use catalog_request::{CatalogRequest, NodeFacts, catalog_form};
pub use encoding::{Bad, Pairs, Segments, percent_decoded, percent_encoded};
pub use formats::{Format, accepted};
pub use metadata::{Checksum, FileKind, Metadata};
pub use names::{CertName, Environment, NameError};
pub use report::ReportHead;
