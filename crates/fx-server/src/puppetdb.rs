//! PuppetDB's endpoints over the store of the fleet: commands, queries, and the forms in which
//! catalogs and reports of nodes are kept.

mod catalog;
mod commands;
mod paths;
mod queries;
mod records;
mod report;
mod same_catalogs;

pub use catalog::kept_resources;
pub(crate) use catalog::{Circumstances, catalog_payload};
pub(crate) use queries::puppetdb_version;
pub(crate) use records::{catalog_record, facts_payload, facts_record, report_record};
pub(crate) use report::report_payload;
pub(crate) use same_catalogs::SameCatalogs;
