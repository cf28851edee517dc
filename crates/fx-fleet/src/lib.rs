//! What a fleet of machines leaves with its server: certificates, facts, catalogs, reports and
//! contents by digest, as typed records in one schema.
//!
//! Knows no protocol; the language of its queries is PuppetDB's. A method that returned has made its change durable.

#![forbid(unsafe_code)]

mod blobs;
mod certificates;
mod documents;
mod engine;
mod nodes;
mod postgres;
mod query;
mod reports;
mod schema;
mod sqlite;
mod times;

use std::path::Path;
use std::sync::Arc;

pub use blobs::Blob;
pub use certificates::{Added, AuthorityRecord, Issued, ListRecord, RequestRecord, State};
pub use documents::{Documents, Stopped};
pub use engine::{Error, Result};
pub use nodes::{CatalogRecord, EdgeRecord, FactsRecord, ResourceRecord};
pub use postgres::Security;
pub use query::{
    Column, Counted, Counting, Entity, Field, Filter, Function, Op, Order, Page, Query, QueryError,
    Source, Summary, Unanswered,
};
pub use reports::{EventRecord, ReportRecord, ReportSummary};
pub use times::{parse as parse_time, shown as shown_time};

use engine::{Engine, Sql};

/// The store of a fleet. A copy is another handle of the same store, for another thread.
#[derive(Clone)]
pub struct Fleet(Arc<dyn Engine>);

impl std::fmt::Debug for Fleet {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("Fleet")
    }
}

impl Fleet {
    /// Opens the store in a file, which is made where it is not there. The directory is the
    /// caller's and should be private.
    pub fn sqlite(path: &Path) -> Result<Fleet> {
        let fleet = Fleet(Arc::new(sqlite::Sqlite::open(path)?));
        fleet.migrate()?;
        Ok(fleet)
    }

    /// Opens the store in a PostgreSQL database: `postgresql://user@host/name`, or
    /// `postgresql:///name?host=/run/postgresql` for a socket.
    pub fn postgres(url: &str) -> Result<Fleet> {
        Fleet::postgres_over(url, &Security::None)
    }

    /// The same over connections that are secured.
    pub fn postgres_over(url: &str, security: &Security) -> Result<Fleet> {
        let fleet = Fleet(Arc::new(postgres::Postgres::open(url, security)?));
        fleet.migrate()?;
        Ok(fleet)
    }

    fn dialect(&self) -> engine::Dialect {
        self.0.dialect()
    }

    /// Whether a document can be read without waiting for another machine or another reader.
    pub fn reads_at_once(&self) -> bool {
        self.0.reads_at_once()
    }

    fn migrate(&self) -> Result<()> {
        self.write(|sql| schema::migrate(sql))
    }

    /// Does all of the work or nothing of it. The work may be done more than once, where others
    /// got in its way.
    fn write<T>(&self, mut work: impl FnMut(&mut dyn Sql) -> Result<T>) -> Result<T> {
        let mut result = None;
        self.0.write(&mut |sql| {
            result = Some(work(sql)?);
            Ok(())
        })?;
        result.ok_or_else(|| Error::Broken("the transaction was not carried out".into()))
    }

    /// Reads one state of the store.
    fn read<T>(&self, mut work: impl FnMut(&mut dyn Sql) -> Result<T>) -> Result<T> {
        let mut result = None;
        self.0.read(&mut |sql| {
            result = Some(work(sql)?);
            Ok(())
        })?;
        result.ok_or_else(|| Error::Broken("the transaction was not carried out".into()))
    }
}
