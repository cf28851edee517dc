//! SQLite as the engine: one connection writes, some read, in WAL mode.

use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::types::{ToSqlOutput, Value, ValueRef};
use rusqlite::{Connection, ErrorCode, ToSql, Transaction, TransactionBehavior};

use crate::engine::{Cell, Engine, Error, Result, Row, Sql};

/// Connections that read.
const READERS: usize = 4;

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
    // A commit is on disk before it is reported, also when the power fails right after it.
    db.execute_batch(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;",
    )
    .map_err(wrong)?;
    Ok(db)
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
        let mut db = locked(&self.writer);
        let mut transaction =
            Open(db.transaction_with_behavior(TransactionBehavior::Immediate).map_err(wrong)?);
        work(&mut transaction)?;
        transaction.0.commit().map_err(wrong)
    }

    fn read(&self, work: &mut dyn FnMut(&mut dyn Sql) -> Result<()>) -> Result<()> {
        let free = self.readers.iter().find_map(|reader| reader.try_lock().ok());
        let mut db = free.unwrap_or_else(|| locked(&self.readers[0]));
        let transaction = db.transaction().map_err(wrong)?;
        work(&mut Open(transaction))
    }
}

struct Open<'a>(Transaction<'a>);

impl ToSql for Cell {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self {
            Cell::Null => ToSqlOutput::Owned(Value::Null),
            Cell::Int(number) => ToSqlOutput::Owned(Value::Integer(*number)),
            Cell::Text(text) => ToSqlOutput::Borrowed(ValueRef::Text(text.as_bytes())),
            Cell::Bytes(bytes) => ToSqlOutput::Borrowed(ValueRef::Blob(bytes)),
        })
    }
}

impl Sql for Open<'_> {
    fn run(&mut self, statement: &str, cells: &[Cell]) -> Result<u64> {
        let mut statement = self.0.prepare_cached(statement).map_err(wrong)?;
        let changed = statement.execute(rusqlite::params_from_iter(cells)).map_err(wrong)?;
        Ok(changed as u64)
    }

    fn script(&mut self, statements: &str) -> Result<()> {
        self.0.execute_batch(statements).map_err(wrong)
    }

    fn rows(&mut self, statement: &str, cells: &[Cell]) -> Result<Vec<Row>> {
        let mut statement = self.0.prepare_cached(statement).map_err(wrong)?;
        let width = statement.column_count();
        let found = statement.query_map(rusqlite::params_from_iter(cells), |row| {
            let cells = (0..width).map(|at| {
                Ok(match row.get_ref(at)? {
                    ValueRef::Null => Cell::Null,
                    ValueRef::Integer(number) => Cell::Int(number),
                    ValueRef::Real(number) => Cell::Text(number.to_string()),
                    ValueRef::Text(text) => Cell::Text(String::from_utf8_lossy(text).into_owned()),
                    ValueRef::Blob(bytes) => Cell::Bytes(bytes.to_vec()),
                })
            });
            cells.collect::<rusqlite::Result<Vec<Cell>>>().map(Row::new)
        });
        found.map_err(wrong)?.collect::<rusqlite::Result<_>>().map_err(wrong)
    }

    fn bytes_type(&self) -> &'static str {
        "BLOB"
    }
}
