//! The schema, and the steps that bring an older store to it.

use crate::engine::{Error, Result, Sql};

/// Each is one step; steps are only ever added at the end. `$BYTES` and `$JSON` are
/// the engine's types of bytes and of JSON.
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
    // 2: nodes, single facts, resources, edges and events, which queries are about.
    "
CREATE TABLE node (
    name TEXT PRIMARY KEY,
    deactivated BIGINT,
    expired BIGINT,
    latest_report TEXT
);
INSERT INTO node (name)
    SELECT node FROM facts UNION SELECT node FROM catalog UNION SELECT node FROM report;
ALTER TABLE facts ADD COLUMN produced BIGINT NOT NULL DEFAULT 0;
ALTER TABLE facts ADD COLUMN producer TEXT;
ALTER TABLE facts ADD COLUMN hash TEXT;
CREATE TABLE fact (
    node TEXT NOT NULL,
    path TEXT NOT NULL,
    name TEXT NOT NULL,
    depth BIGINT NOT NULL,
    kind TEXT NOT NULL,
    value TEXT NOT NULL,
    text TEXT,
    number DOUBLE PRECISION,
    PRIMARY KEY (node, path)
);
CREATE INDEX fact_path ON fact (path);
CREATE INDEX fact_name ON fact (name, depth);
DROP TABLE exported;
ALTER TABLE catalog DROP COLUMN body;
ALTER TABLE catalog ADD COLUMN version TEXT;
ALTER TABLE catalog ADD COLUMN transaction_uuid TEXT;
ALTER TABLE catalog ADD COLUMN catalog_uuid TEXT;
ALTER TABLE catalog ADD COLUMN code_id TEXT;
ALTER TABLE catalog ADD COLUMN job_id TEXT;
ALTER TABLE catalog ADD COLUMN produced BIGINT NOT NULL DEFAULT 0;
ALTER TABLE catalog ADD COLUMN producer TEXT;
ALTER TABLE catalog ADD COLUMN hash TEXT;
CREATE TABLE resource (
    node TEXT NOT NULL,
    kind TEXT NOT NULL,
    title TEXT NOT NULL,
    is_exported BIGINT NOT NULL,
    file TEXT,
    line BIGINT,
    tags TEXT NOT NULL,
    parameters $JSON NOT NULL,
    hash TEXT NOT NULL
);
CREATE INDEX resource_node ON resource (node);
CREATE INDEX resource_kind ON resource (kind);
CREATE INDEX resource_exported ON resource (kind) WHERE is_exported = 1;
CREATE TABLE edge (
    node TEXT NOT NULL,
    relationship TEXT NOT NULL,
    source_type TEXT NOT NULL,
    source_title TEXT NOT NULL,
    target_type TEXT NOT NULL,
    target_title TEXT NOT NULL
);
CREATE INDEX edge_node ON edge (node);
ALTER TABLE report ADD COLUMN produced BIGINT NOT NULL DEFAULT 0;
ALTER TABLE report ADD COLUMN started BIGINT NOT NULL DEFAULT 0;
ALTER TABLE report ADD COLUMN ended BIGINT NOT NULL DEFAULT 0;
ALTER TABLE report ADD COLUMN producer TEXT;
ALTER TABLE report ADD COLUMN puppet_version TEXT;
ALTER TABLE report ADD COLUMN report_format BIGINT;
ALTER TABLE report ADD COLUMN configuration_version TEXT;
ALTER TABLE report ADD COLUMN transaction_uuid TEXT;
ALTER TABLE report ADD COLUMN catalog_uuid TEXT;
ALTER TABLE report ADD COLUMN code_id TEXT;
ALTER TABLE report ADD COLUMN job_id TEXT;
ALTER TABLE report ADD COLUMN cached_catalog_status TEXT;
ALTER TABLE report ADD COLUMN is_noop_pending BIGINT;
ALTER TABLE report ADD COLUMN is_corrective BIGINT;
CREATE TABLE event (
    report TEXT NOT NULL,
    node TEXT NOT NULL,
    status TEXT NOT NULL,
    at BIGINT NOT NULL,
    resource_type TEXT NOT NULL,
    resource_title TEXT NOT NULL,
    property TEXT,
    name TEXT,
    new_value TEXT,
    old_value TEXT,
    message TEXT,
    file TEXT,
    line BIGINT,
    containment_path TEXT,
    containing_class TEXT,
    is_corrective BIGINT
);
CREATE INDEX event_report ON event (report);
CREATE INDEX event_at ON event (at);
",
    // 3: documents of Chef's server.
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
        let dialect = sql.dialect();
        let step = step.replace("$BYTES", dialect.bytes()).replace("$JSON", dialect.json());
        sql.script(&step)?;
        sql.run("INSERT INTO schema_version (version) VALUES ($1)", &[(at as u64 + 1).into()])?;
    }
    Ok(())
}
