//! Records of past runs: a line for each, and their steps.

use fx_host::Time;
use rusqlite::{OptionalExtension, Row, params};

use crate::{Store, StoreError};

/// What is known when a run begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunInfo {
    /// When it began.
    pub started: Time,
    /// What was asked for: a policy file, a cookbook.
    pub target: String,
    /// How: `run`, `plan`, `cf-agent`.
    pub verb: String,
}

/// A run as it is listed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub struct RunRecord {
    pub id: i64,
    pub info: RunInfo,
    /// `None` while it runs, or if it was killed.
    pub exit: Option<i64>,
    /// Digest of the policy's text.
    pub policy: String,
    pub elapsed_ms: Option<i64>,
    pub kept: u32,
    pub repaired: u32,
    pub would_repair: u32,
    pub failed: u32,
    pub skipped: u32,
}

/// A step of a run, as text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are those of the ledger")]
pub struct StepRecord {
    pub number: u32,
    pub parent: Option<u32>,
    pub phase: String,
    pub resource: String,
    pub action: String,
    pub outcome: String,
    /// Names of the changed properties, separated by commas.
    pub changed: String,
    pub why: String,
    pub origin: String,
    pub message: Option<String>,
    /// What a repair was due to: the first change, a change of the policy, drift.
    pub cause: String,
    pub elapsed_us: i64,
}

/// Outcome of a step that had begun and not ended when the record was last written.
pub const UNDER_WAY: &str = "under way";

/// Runs kept; older ones go when a new one ends.
const KEPT_RUNS: i64 = 200;

const COLUMNS: &str = "id, started, target, verb, exit, elapsed_ms, kept, repaired, would_repair, failed, skipped, policy";

fn record(row: &Row<'_>) -> rusqlite::Result<RunRecord> {
    Ok(RunRecord {
        id: row.get(0)?,
        info: RunInfo {
            started: Time::from_secs(row.get(1)?),
            target: row.get(2)?,
            verb: row.get(3)?,
        },
        exit: row.get(4)?,
        elapsed_ms: row.get(5)?,
        kept: row.get(6)?,
        repaired: row.get(7)?,
        would_repair: row.get(8)?,
        failed: row.get(9)?,
        skipped: row.get(10)?,
        policy: row.get(11)?,
    })
}

impl Store {
    /// Notes that a run has begun; its number.
    pub fn begin_run(&self, info: &RunInfo) -> Result<i64, StoreError> {
        let insert = "INSERT INTO runs (started, target, verb) VALUES (?1, ?2, ?3)";
        self.db
            .execute(insert, params![info.started.secs, info.target, info.verb])
            .map_err(|error| self.sql(error))?;
        Ok(self.db.last_insert_rowid())
    }

    /// Does several things of which all or none are kept.
    pub fn together<T>(
        &self,
        work: impl FnOnce() -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let change = self.db.unchecked_transaction().map_err(|error| self.sql(error))?;
        let done = work()?;
        change.commit().map_err(|error| self.sql(error))?;
        Ok(done)
    }

    /// Notes how far a run has come, or how it ended.
    pub fn update_run(&self, run: &RunRecord) -> Result<(), StoreError> {
        let update = "UPDATE runs SET exit = ?2, elapsed_ms = ?3, kept = ?4, repaired = ?5, would_repair = ?6, failed = ?7, skipped = ?8, policy = ?9 WHERE id = ?1";
        let values = params![
            run.id,
            run.exit,
            run.elapsed_ms,
            run.kept,
            run.repaired,
            run.would_repair,
            run.failed,
            run.skipped,
            run.policy
        ];
        let done = self.db.prepare_cached(update).and_then(|mut update| update.execute(values));
        done.map(drop).map_err(|error| self.sql(error))
    }

    /// Writes a step, over what was written of it while it was under way.
    pub fn put_step(&self, run: i64, step: &StepRecord) -> Result<(), StoreError> {
        let insert = "INSERT OR REPLACE INTO steps VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)";
        let values = params![
            run,
            step.number,
            step.parent,
            step.phase,
            step.resource,
            step.action,
            step.outcome,
            step.changed,
            step.why,
            step.origin,
            step.message,
            step.elapsed_us,
            step.cause
        ];
        let done = self.db.prepare_cached(insert).and_then(|mut insert| insert.execute(values));
        done.map(drop).map_err(|error| self.sql(error))
    }

    /// Corrects what the repair of a step was due to.
    pub fn set_cause(&self, run: i64, step: u32, cause: &str) -> Result<(), StoreError> {
        let update = "UPDATE steps SET cause = ?3 WHERE run = ?1 AND number = ?2";
        let done = self.db.prepare_cached(update).and_then(|mut q| q.execute((run, step, cause)));
        done.map(drop).map_err(|error| self.sql(error))
    }

    /// Forgets all but the latest runs.
    pub fn forget_old_runs(&self) -> Result<(), StoreError> {
        let old = "DELETE FROM runs WHERE id <= (SELECT max(id) FROM runs) - ?1";
        self.db.execute(old, [KEPT_RUNS]).map(drop).map_err(|error| self.sql(error))
    }

    /// Digest of the policy of the last run before a given one that had a resource in order.
    pub fn last_in_order(&self, resource: &str, run: i64) -> Result<Option<String>, StoreError> {
        let query = "SELECT runs.policy FROM steps JOIN runs ON runs.id = steps.run WHERE steps.resource = ?1 AND steps.run < ?2 AND steps.outcome IN ('kept', 'repaired') ORDER BY steps.run DESC LIMIT 1";
        let found = self
            .db
            .prepare_cached(query)
            .and_then(|mut query| query.query_row((resource, run), |row| row.get(0)).optional());
        found.map_err(|error| self.sql(error))
    }

    /// The latest runs, newest first.
    pub fn runs(&self, limit: u32) -> Result<Vec<RunRecord>, StoreError> {
        let query = format!("SELECT {COLUMNS} FROM runs ORDER BY id DESC LIMIT ?1");
        let mut query = self.db.prepare(&query).map_err(|error| self.sql(error))?;
        let rows = query.query_map([limit], record).map_err(|error| self.sql(error))?;
        rows.collect::<Result<_, _>>().map_err(|error| self.sql(error))
    }

    /// One run.
    pub fn run(&self, id: i64) -> Result<Option<RunRecord>, StoreError> {
        let query = format!("SELECT {COLUMNS} FROM runs WHERE id = ?1");
        self.db.query_row(&query, [id], record).optional().map_err(|error| self.sql(error))
    }

    /// The steps of a run, in order.
    pub fn steps(&self, run: i64) -> Result<Vec<StepRecord>, StoreError> {
        let query = "SELECT number, parent, phase, resource, action, outcome, changed, why, origin, message, elapsed_us, cause FROM steps WHERE run = ?1 ORDER BY number";
        let mut query = self.db.prepare(query).map_err(|error| self.sql(error))?;
        let rows = query.query_map([run], |row| {
            Ok(StepRecord {
                number: row.get(0)?,
                parent: row.get(1)?,
                phase: row.get(2)?,
                resource: row.get(3)?,
                action: row.get(4)?,
                outcome: row.get(5)?,
                changed: row.get(6)?,
                why: row.get(7)?,
                origin: row.get(8)?,
                message: row.get(9)?,
                elapsed_us: row.get(10)?,
                cause: row.get(11)?,
            })
        });
        rows.and_then(Iterator::collect).map_err(|error| self.sql(error))
    }
}
