//! The schema, and the steps that bring an older store to it.

use crate::engine::{Error, Result, Sql};

/// Each is one step; steps are only ever added at the end. `$BYTES` is the engine's type of bytes.
const STEPS: &[&str] = &[
    // 1: certificates, facts, catalogs, reports and contents.
    "
CREATE TABLE authority (
    id BIGINT PRIMARY KEY CHECK (id = 1),
    chain TEXT NOT NULL,
    next_serial BIGINT NOT NULL
);
CREATE TABLE revocation_list (
    id BIGINT PRIMARY KEY CHECK (id = 1),
    number BIGINT NOT NULL,
    written BIGINT NOT NULL,
    own TEXT NOT NULL,
    above TEXT NOT NULL
);
CREATE TABLE request (
    name TEXT PRIMARY KEY,
    received BIGINT NOT NULL,
    text TEXT NOT NULL
);
CREATE TABLE certificate (
    serial TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    text TEXT NOT NULL,
    not_before BIGINT NOT NULL,
    not_after BIGINT NOT NULL,
    is_current BIGINT NOT NULL
);
CREATE UNIQUE INDEX certificate_current ON certificate (name) WHERE is_current = 1;
CREATE TABLE revocation (
    serial TEXT PRIMARY KEY,
    at BIGINT NOT NULL
);
CREATE TABLE facts (
    node TEXT PRIMARY KEY,
    environment TEXT NOT NULL,
    received BIGINT NOT NULL,
    body $BYTES NOT NULL
);
CREATE TABLE catalog (
    node TEXT PRIMARY KEY,
    environment TEXT NOT NULL,
    received BIGINT NOT NULL,
    body $BYTES NOT NULL
);
CREATE TABLE exported (
    node TEXT NOT NULL,
    kind TEXT NOT NULL,
    title TEXT NOT NULL,
    body $BYTES NOT NULL,
    PRIMARY KEY (kind, node, title)
);
CREATE INDEX exported_node ON exported (node);
CREATE TABLE report (
    hash TEXT PRIMARY KEY,
    node TEXT NOT NULL,
    environment TEXT NOT NULL,
    status TEXT NOT NULL,
    is_noop BIGINT NOT NULL,
    received BIGINT NOT NULL,
    body $BYTES NOT NULL
);
CREATE INDEX report_node ON report (node, received);
CREATE INDEX report_received ON report (received);
CREATE TABLE blob (
    digest TEXT PRIMARY KEY,
    content $BYTES NOT NULL
);
CREATE TABLE blob_path (
    digest TEXT NOT NULL,
    path TEXT NOT NULL,
    PRIMARY KEY (digest, path)
);
",
    // Documents of Chef's server.
    "
CREATE TABLE document (
    scope TEXT NOT NULL,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    body $BYTES NOT NULL,
    PRIMARY KEY (scope, kind, name)
);
",
];

/// Brings the store to the newest schema.
pub(crate) fn migrate(sql: &mut dyn Sql) -> Result<()> {
    sql.script("CREATE TABLE IF NOT EXISTS schema_version (version BIGINT NOT NULL)")?;
    let found = sql.row("SELECT MAX(version) FROM schema_version", &[])?;
    let found = found.map_or(Ok(None), |mut row| row.number_opt())?.unwrap_or(0) as usize;
    if found > STEPS.len() {
        return Err(Error::Newer { found: found as i64, known: STEPS.len() as i64 });
    }
    for (at, step) in STEPS.iter().enumerate().skip(found) {
        sql.script(&step.replace("$BYTES", sql.bytes_type()))?;
        sql.run("INSERT INTO schema_version (version) VALUES ($1)", &[(at as u64 + 1).into()])?;
    }
    Ok(())
}
