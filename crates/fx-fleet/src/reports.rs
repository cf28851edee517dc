//! Reports of runs.

use crate::Fleet;
use crate::engine::{Result, Row};

/// A report; the body is the caller's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportRecord {
    /// Names the report: the same report has the same hash and is kept once.
    pub hash: String,
    pub node: String,
    pub environment: String,
    pub status: String,
    pub is_noop: bool,
    /// Milliseconds since 1970.
    pub received: u64,
    pub body: Vec<u8>,
}

/// A report without its body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportSummary {
    pub hash: String,
    pub node: String,
    pub environment: String,
    pub status: String,
    pub is_noop: bool,
    pub received: u64,
}

fn summary(row: &mut Row) -> Result<ReportSummary> {
    Ok(ReportSummary {
        hash: row.text()?,
        node: row.text()?,
        environment: row.text()?,
        status: row.text()?,
        is_noop: row.flag()?,
        received: row.number()?,
    })
}

impl Fleet {
    pub fn save_report(&self, record: &ReportRecord) -> Result<()> {
        self.write(|sql| {
            sql.run(
                "INSERT INTO report (hash, node, environment, status, is_noop, received, body)
                 VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING",
                &[
                    (&record.hash).into(),
                    (&record.node).into(),
                    (&record.environment).into(),
                    (&record.status).into(),
                    record.is_noop.into(),
                    record.received.into(),
                    record.body.as_slice().into(),
                ],
            )
            .map(drop)
        })
    }

    /// All reports of a node, the newest first.
    pub fn reports(&self, node: &str) -> Result<Vec<ReportSummary>> {
        let select = "SELECT hash, node, environment, status, is_noop, received FROM report
            WHERE node = $1 ORDER BY received DESC, hash";
        self.read(|sql| sql.rows(select, &[node.into()])?.iter_mut().map(summary).collect())
    }

    /// The body of a report.
    pub fn report(&self, hash: &str) -> Result<Option<Vec<u8>>> {
        let select = "SELECT body FROM report WHERE hash = $1";
        self.read(|sql| sql.row(select, &[hash.into()])?.map(|mut row| row.bytes()).transpose())
    }

    /// Removes reports that came before a time; how many they were.
    pub fn forget_reports(&self, before: u64) -> Result<u64> {
        self.write(|sql| sql.run("DELETE FROM report WHERE received < $1", &[before.into()]))
    }
}
