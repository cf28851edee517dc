//! The tables, by version. A newer store than we know is refused, an older one is brought
//! up step by step.

/// Version written by this program.
pub(crate) const VERSION: i64 = 3;

/// Statements that lead from version `n` to `n + 1`, at index `n`.
pub(crate) const STEPS: [&str; VERSION as usize] = [
    "
    CREATE TABLE runs (
        id INTEGER PRIMARY KEY,
        started INTEGER NOT NULL,
        elapsed_ms INTEGER,
        target TEXT NOT NULL,
        verb TEXT NOT NULL,
        exit INTEGER,
        kept INTEGER NOT NULL DEFAULT 0,
        repaired INTEGER NOT NULL DEFAULT 0,
        would_repair INTEGER NOT NULL DEFAULT 0,
        failed INTEGER NOT NULL DEFAULT 0,
        skipped INTEGER NOT NULL DEFAULT 0
    ) STRICT;
    CREATE TABLE steps (
        run INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
        number INTEGER NOT NULL,
        parent INTEGER,
        phase TEXT NOT NULL,
        resource TEXT NOT NULL,
        action TEXT NOT NULL,
        outcome TEXT NOT NULL,
        changed TEXT NOT NULL,
        why TEXT NOT NULL,
        origin TEXT NOT NULL,
        message TEXT,
        elapsed_us INTEGER NOT NULL,
        PRIMARY KEY (run, number)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE times (key TEXT PRIMARY KEY, at INTEGER NOT NULL) STRICT, WITHOUT ROWID;
    CREATE TABLE marks (
        space TEXT NOT NULL,
        name TEXT NOT NULL,
        value BLOB NOT NULL,
        expires INTEGER,
        PRIMARY KEY (space, name)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE baseline (
        resource TEXT NOT NULL,
        property TEXT NOT NULL,
        value TEXT NOT NULL,
        PRIMARY KEY (resource, property)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE backups (
        id INTEGER PRIMARY KEY,
        path BLOB NOT NULL,
        kept_at BLOB NOT NULL,
        digest TEXT NOT NULL,
        made INTEGER NOT NULL,
        run INTEGER
    ) STRICT;
    CREATE INDEX backups_by_path ON backups (path, made);
",
    "
    ALTER TABLE runs ADD COLUMN policy TEXT NOT NULL DEFAULT '';
    ALTER TABLE steps ADD COLUMN cause TEXT NOT NULL DEFAULT '';
    CREATE INDEX steps_by_resource ON steps (resource, run);
",
    "
    DROP TABLE times;
    DROP TABLE marks;
    DROP TABLE backups;
    CREATE TABLE changes (
        run INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
        step INTEGER NOT NULL,
        place INTEGER NOT NULL,
        fate TEXT NOT NULL,
        kind TEXT NOT NULL,
        name BLOB NOT NULL,
        property TEXT NOT NULL,
        old TEXT NOT NULL,
        new TEXT NOT NULL,
        PRIMARY KEY (run, step, place)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX changes_by_thing ON changes (kind, name, run);
",
];
