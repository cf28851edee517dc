//! Reports of runs and the events in them.

use crate::Fleet;
use crate::engine::{Result, Row, Sql};
use crate::nodes::see;

/// A report.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReportRecord {
    /// Names the report: the same report has the same hash and is kept once.
    pub hash: String,
    pub node: String,
    pub environment: String,
    pub status: String,
    pub is_noop: bool,
    pub is_noop_pending: Option<bool>,
    pub is_corrective: Option<bool>,
    /// Milliseconds since 1970, as all times are.
    pub received: u64,
    pub produced: u64,
    pub started: u64,
    pub ended: u64,
    pub producer: Option<String>,
    pub puppet_version: Option<String>,
    pub report_format: Option<u64>,
    pub configuration_version: Option<String>,
    pub transaction_uuid: Option<String>,
    pub catalog_uuid: Option<String>,
    pub code_id: Option<String>,
    pub job_id: Option<String>,
    pub cached_catalog_status: Option<String>,
    /// An object in JSON with `logs` and `metrics`.
    pub body: Vec<u8>,
    pub events: Vec<EventRecord>,
}

/// What happened to a property of a resource.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventRecord {
    pub status: String,
    pub at: u64,
    pub resource_type: String,
    pub resource_title: String,
    pub property: Option<String>,
    pub name: Option<String>,
    /// JSON.
    pub new_value: Option<String>,
    /// JSON.
    pub old_value: Option<String>,
    pub message: Option<String>,
    pub file: Option<String>,
    pub line: Option<u64>,
    /// A list in JSON.
    pub containment_path: Option<String>,
    pub containing_class: Option<String>,
    pub is_corrective: Option<bool>,
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

fn save_head(sql: &mut dyn Sql, record: &ReportRecord) -> Result<u64> {
    sql.run(
        "INSERT INTO report (hash, node, environment, status, is_noop, is_noop_pending,
         is_corrective, received, produced, started, ended, producer, puppet_version,
         report_format, configuration_version, transaction_uuid, catalog_uuid, code_id, job_id,
         cached_catalog_status, body)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18,
         $19, $20, $21) ON CONFLICT DO NOTHING",
        &[
            (&record.hash).into(),
            (&record.node).into(),
            (&record.environment).into(),
            (&record.status).into(),
            record.is_noop.into(),
            record.is_noop_pending.into(),
            record.is_corrective.into(),
            record.received.into(),
            record.produced.into(),
            record.started.into(),
            record.ended.into(),
            record.producer.as_ref().into(),
            record.puppet_version.as_ref().into(),
            record.report_format.into(),
            record.configuration_version.as_ref().into(),
            record.transaction_uuid.as_ref().into(),
            record.catalog_uuid.as_ref().into(),
            record.code_id.as_ref().into(),
            record.job_id.as_ref().into(),
            record.cached_catalog_status.as_ref().into(),
            record.body.as_slice().into(),
        ],
    )
}

fn save_event(sql: &mut dyn Sql, report: &ReportRecord, one: &EventRecord) -> Result<()> {
    sql.run(
        "INSERT INTO event (report, node, status, at, resource_type, resource_title, property,
         name, new_value, old_value, message, file, line, containment_path, containing_class,
         is_corrective)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)",
        &[
            (&report.hash).into(),
            (&report.node).into(),
            (&one.status).into(),
            one.at.into(),
            (&one.resource_type).into(),
            (&one.resource_title).into(),
            one.property.as_ref().into(),
            one.name.as_ref().into(),
            one.new_value.as_ref().into(),
            one.old_value.as_ref().into(),
            one.message.as_ref().into(),
            one.file.as_ref().into(),
            one.line.into(),
            one.containment_path.as_ref().into(),
            one.containing_class.as_ref().into(),
            one.is_corrective.into(),
        ],
    )
    .map(drop)
}

impl Fleet {
    pub fn save_report(&self, record: &ReportRecord) -> Result<()> {
        self.write(|sql| {
            see(sql, &record.node, record.produced)?;
            if save_head(sql, record)? == 0 {
                return Ok(());
            }
            for one in &record.events {
                save_event(sql, record, one)?;
            }
            sql.run(
                "UPDATE node SET latest_report = $2 WHERE name = $1 AND NOT EXISTS
                 (SELECT 1 FROM report r WHERE r.hash = node.latest_report AND r.produced > $3)",
                &[(&record.node).into(), (&record.hash).into(), record.produced.into()],
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
        self.write(|sql| {
            let old = "SELECT hash FROM report WHERE received < $1";
            sql.run(&format!("DELETE FROM event WHERE report IN ({old})"), &[before.into()])?;
            sql.run("DELETE FROM report WHERE received < $1", &[before.into()])
        })
    }
}
