//! SQLite as the engine: one connection writes, some read, in WAL mode.

use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use regex::Regex;
use rusqlite::functions::FunctionFlags;
use rusqlite::types::{ToSqlOutput, Value, ValueRef};
use rusqlite::{Connection, ErrorCode, ToSql};

use crate::engine::{Cell, Dialect, Engine, Error, Result, Row, Sql};

/// Connections that read.
const READERS: usize = 4;

/// Statements that a connection keeps prepared: more than the requests of agents use.
const STATEMENTS: usize = 64;

pub(crate) struct Sqlite {
    writer: Mutex<Connection>,
    readers: Vec<Mutex<Connection>>,
}

impl Sqlite {
    pub(crate) fn open(path: &Path) -> Result<Sqlite> {
        let writer = Mutex::new(connect(path)?);
        let readers = (0..READERS).map(|_| connect(path).map(Mutex::new)).collect::<Result<_>>()?;
        Ok(Sqlite { writer, readers })
    }
}

fn connect(path: &Path) -> Result<Connection> {
    let db = Connection::open(path).map_err(wrong)?;
    db.busy_timeout(Duration::from_secs(10)).map_err(wrong)?;
    db.set_prepared_statement_cache_capacity(STATEMENTS);
    // A commit is on disk before it is reported, also when the power fails right after it.
    db.execute_batch(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;",
    )
    .map_err(wrong)?;
    add_functions(&db).map_err(wrong)?;
    Ok(db)
}

/// Functions that queries use and SQLite does not have.
fn add_functions(db: &Connection) -> rusqlite::Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    db.create_scalar_function("regexp", 2, flags, |arguments| {
        // One pattern is compiled once for all rows.
        let pattern = arguments.get_or_create_aux(0, |pattern| -> Result<Regex> {
            let text = pattern.as_str().map_err(|error| Error::Engine(error.to_string()))?;
            Regex::new(text).map_err(|error| Error::Caller(error.to_string()))
        })?;
        Ok(match arguments.get_raw(1) {
            ValueRef::Text(text) => Some(pattern.is_match(&String::from_utf8_lossy(text))),
            _ => None,
        })
    })?;
    db.create_scalar_function("time_text", 2, flags, |arguments| {
        let (time, template) = (arguments.get::<Option<i64>>(0)?, arguments.get::<String>(1)?);
        Ok(time.map(|time| crate::times::by_template(time, &template)))
    })
}

fn wrong(error: rusqlite::Error) -> Error {
    match error.sqlite_error_code() {
        Some(ErrorCode::ConstraintViolation) => Error::Taken(error.to_string()),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Error::Busy(error.to_string()),
        _ => Error::Engine(error.to_string()),
    }
}

fn locked(connection: &Mutex<Connection>) -> MutexGuard<'_, Connection> {
    // A transaction of a thread that panicked was rolled back when it was dropped.
    connection.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Engine for Sqlite {
    fn write(&self, work: &mut dyn FnMut(&mut dyn Sql) -> Result<()>) -> Result<()> {
        let db = locked(&self.writer);
        let mut transaction = Open::begin(&db, "BEGIN IMMEDIATE")?;
        work(&mut transaction)?;
        transaction.end("COMMIT")
    }

    fn dialect(&self) -> Dialect {
        Dialect::Sqlite
    }

    fn reads_at_once(&self) -> bool {
        self.readers.iter().any(|reader| reader.try_lock().is_ok())
    }

    fn read(&self, work: &mut dyn FnMut(&mut dyn Sql) -> Result<()>) -> Result<()> {
        let free = self.readers.iter().find_map(|reader| reader.try_lock().ok());
        let db = free.unwrap_or_else(|| locked(&self.readers[0]));
        let mut transaction = Open::begin(&db, "BEGIN")?;
        work(&mut transaction)?;
        transaction.end("COMMIT")
    }
}

/// A transaction, which is rolled back where it was not ended. The statements around it are kept
/// prepared like all others: reading them anew costs as much as reading a document.
struct Open<'a> {
    db: &'a Connection,
    is_ended: bool,
}

impl<'a> Open<'a> {
    fn begin(db: &'a Connection, how: &str) -> Result<Open<'a>> {
        db.prepare_cached(how).and_then(|mut begin| begin.execute(())).map_err(wrong)?;
        Ok(Open { db, is_ended: false })
    }

    fn end(mut self, how: &str) -> Result<()> {
        let ended = self.db.prepare_cached(how).and_then(|mut end| end.execute(()));
        self.is_ended = ended.is_ok();
        ended.map(drop).map_err(wrong)
    }
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        // Some failures end a transaction by themselves.
        if !self.is_ended && !self.db.is_autocommit() {
            // The next transaction of this connection cannot begin and says so.
            drop(self.db.execute_batch("ROLLBACK"));
        }
    }
}

/// `$2` is a name to SQLite, bound in the order in which names appear; `?2` is the second cell.
fn numbered(statement: &str) -> String {
    statement.replace('$', "?")
}

impl ToSql for Cell<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self {
            Cell::Null => ToSqlOutput::Owned(Value::Null),
            Cell::Int(number) => ToSqlOutput::Owned(Value::Integer(*number)),
            Cell::Real(number) => ToSqlOutput::Owned(Value::Real(*number)),
            Cell::Text(text) => ToSqlOutput::Borrowed(ValueRef::Text(text.as_bytes())),
            Cell::Bytes(bytes) => ToSqlOutput::Borrowed(ValueRef::Blob(bytes)),
        })
    }
}

impl Sql for Open<'_> {
    fn run(&mut self, statement: &str, cells: &[Cell<'_>]) -> Result<u64> {
        let mut statement = self.db.prepare_cached(&numbered(statement)).map_err(wrong)?;
        let changed = statement.execute(rusqlite::params_from_iter(cells)).map_err(wrong)?;
        Ok(changed as u64)
    }

    fn script(&mut self, statements: &str) -> Result<()> {
        self.db.execute_batch(statements).map_err(wrong)
    }

    fn rows(&mut self, statement: &str, cells: &[Cell<'_>]) -> Result<Vec<Row>> {
        let mut statement = self.db.prepare_cached(&numbered(statement)).map_err(wrong)?;
        let width = statement.column_count();
        let found = statement.query_map(rusqlite::params_from_iter(cells), |row| {
            let cells = (0..width).map(|at| {
                Ok(match row.get_ref(at)? {
                    ValueRef::Null => Cell::Null,
                    ValueRef::Integer(number) => Cell::Int(number),
                    ValueRef::Real(number) => Cell::Real(number),
                    ValueRef::Text(text) => {
                        Cell::Text(String::from_utf8_lossy(text).into_owned().into())
                    }
                    ValueRef::Blob(bytes) => Cell::Bytes(bytes.to_vec().into()),
                })
            });
            cells.collect::<rusqlite::Result<Vec<Cell<'static>>>>().map(Row::new)
        });
        found.map_err(wrong)?.collect::<rusqlite::Result<_>>().map_err(wrong)
    }

    fn dialect(&self) -> Dialect {
        Dialect::Sqlite
    }
}
