//! The last facts and the last catalog of each node, and what nodes export.

use crate::Fleet;
use crate::engine::{Result, Row};

/// Facts of a node; the body is the caller's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FactsRecord {
    pub node: String,
    pub environment: String,
    /// Milliseconds since 1970.
    pub received: u64,
    pub body: Vec<u8>,
}

/// The catalog of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CatalogRecord {
    pub node: String,
    pub environment: String,
    /// Milliseconds since 1970.
    pub received: u64,
    pub body: Vec<u8>,
}

/// A resource that a node exports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportedRecord {
    pub node: String,
    pub kind: String,
    pub title: String,
    pub body: Vec<u8>,
}

fn facts(mut row: Row) -> Result<FactsRecord> {
    Ok(FactsRecord {
        node: row.text()?,
        environment: row.text()?,
        received: row.number()?,
        body: row.bytes()?,
    })
}

fn catalog(mut row: Row) -> Result<CatalogRecord> {
    Ok(CatalogRecord {
        node: row.text()?,
        environment: row.text()?,
        received: row.number()?,
        body: row.bytes()?,
    })
}

/// Puts a row into a table that keeps the latest of each node.
fn latest(table: &'static str) -> String {
    format!(
        "INSERT INTO {table} (node, environment, received, body) VALUES ($1, $2, $3, $4)
         ON CONFLICT (node) DO UPDATE SET environment = excluded.environment,
         received = excluded.received, body = excluded.body"
    )
}

impl Fleet {
    /// Replaces the facts of a node.
    pub fn save_facts(&self, record: &FactsRecord) -> Result<()> {
        self.write(|sql| {
            let values = [
                (&record.node).into(),
                (&record.environment).into(),
                record.received.into(),
                record.body.as_slice().into(),
            ];
            sql.run(&latest("facts"), &values).map(drop)
        })
    }

    pub fn facts(&self, node: &str) -> Result<Option<FactsRecord>> {
        let select = "SELECT node, environment, received, body FROM facts WHERE node = $1";
        self.read(|sql| sql.row(select, &[node.into()])?.map(facts).transpose())
    }

    /// Replaces the catalog of a node and what it exports.
    pub fn save_catalog(&self, record: &CatalogRecord, exported: &[ExportedRecord]) -> Result<()> {
        self.write(|sql| {
            let values = [
                (&record.node).into(),
                (&record.environment).into(),
                record.received.into(),
                record.body.as_slice().into(),
            ];
            sql.run(&latest("catalog"), &values)?;
            sql.run("DELETE FROM exported WHERE node = $1", &[(&record.node).into()])?;
            for one in exported {
                sql.run(
                    "INSERT INTO exported (node, kind, title, body) VALUES ($1, $2, $3, $4)",
                    &[
                        (&one.node).into(),
                        (&one.kind).into(),
                        (&one.title).into(),
                        one.body.as_slice().into(),
                    ],
                )?;
            }
            Ok(())
        })
    }

    pub fn catalog(&self, node: &str) -> Result<Option<CatalogRecord>> {
        let select = "SELECT node, environment, received, body FROM catalog WHERE node = $1";
        self.read(|sql| sql.row(select, &[node.into()])?.map(catalog).transpose())
    }

    /// Names of all nodes that left something, sorted.
    pub fn nodes(&self) -> Result<Vec<String>> {
        let select = "SELECT node FROM facts UNION SELECT node FROM catalog
            UNION SELECT node FROM report ORDER BY 1";
        self.read(|sql| sql.rows(select, &[])?.into_iter().map(|mut row| row.text()).collect())
    }

    /// What other nodes export of a kind, by node and title.
    pub fn exported(&self, kind: &str, not_of: &str) -> Result<Vec<ExportedRecord>> {
        let select = "SELECT node, kind, title, body FROM exported
            WHERE kind = $1 AND node <> $2 ORDER BY node, title";
        let read = |mut row: Row| {
            Ok(ExportedRecord {
                node: row.text()?,
                kind: row.text()?,
                title: row.text()?,
                body: row.bytes()?,
            })
        };
        self.read(|sql| {
            sql.rows(select, &[kind.into(), not_of.into()])?.into_iter().map(read).collect()
        })
    }
}
