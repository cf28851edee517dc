//! PostgreSQL as the engine: some connections, transactions that are as if one came after the
//! other, and are done again where another server's came first.

mod tls;

use std::sync::{Arc, Mutex, PoisonError};
use std::thread::sleep;
use std::time::Duration;

use ::postgres::config::{Host, SslMode};
use ::postgres::error::SqlState;
use ::postgres::types::private::BytesMut;
use ::postgres::types::{FromSql, IsNull, ToSql, Type, to_sql_checked};
use ::postgres::{Client, Config, IsolationLevel, NoTls, Transaction};
use rustls::ClientConfig;

use crate::engine::{Cell, Dialect, Engine, Error, Result, Row, Sql};

/// Connections that are kept while nobody uses them.
const KEPT: usize = 8;
/// A transaction that others get in the way of so often is given up.
const ATTEMPTS: u32 = 12;

/// Whether connections to a database are secured. Those by a socket never are.
#[derive(Clone, Debug, Default)]
pub enum Security {
    #[default]
    None,
    /// Where the database offers it.
    Preferred(Arc<ClientConfig>),
    /// A database that does not offer it is not spoken to.
    Required(Arc<ClientConfig>),
}

pub(crate) struct Postgres {
    config: Config,
    tls: Option<tls::Rustls>,
    free: Mutex<Vec<Client>>,
}

fn wrong(error: ::postgres::Error) -> Error {
    // The reason is in the source, which is not shown otherwise.
    let mut text = error.to_string();
    if let Some(cause) = error.as_db_error() {
        text = format!("{text}: {}", cause.message());
    } else if let Some(cause) = std::error::Error::source(&error) {
        text = format!("{text}: {cause}");
    }
    match error.code() {
        Some(code) if *code == SqlState::UNIQUE_VIOLATION => Error::Taken(text),
        Some(code)
            if *code == SqlState::T_R_SERIALIZATION_FAILURE
                || *code == SqlState::T_R_DEADLOCK_DETECTED =>
        {
            Error::Busy(text)
        }
        _ => Error::Engine(text),
    }
}

impl Postgres {
    pub(crate) fn open(url: &str, security: &Security) -> Result<Postgres> {
        let mut config: Config = url.parse().map_err(wrong)?;
        config.connect_timeout(Duration::from_secs(10)).application_name("fixpoint");
        let is_socket = |host: &Host| matches!(host, Host::Unix(_));
        let (mode, tls) = match security {
            _ if config.get_hosts().iter().all(is_socket) => (SslMode::Disable, None),
            Security::None => (SslMode::Disable, None),
            Security::Preferred(tls) => (SslMode::Prefer, Some(tls)),
            Security::Required(tls) => (SslMode::Require, Some(tls)),
        };
        config.ssl_mode(mode);
        let tls = tls.map(|config| tls::Rustls(Arc::clone(config)));
        let store = Postgres { config, tls, free: Mutex::default() };
        let client = store.connect()?;
        store.give_back(client);
        Ok(store)
    }

    fn connect(&self) -> Result<Client> {
        let client = match &self.tls {
            Some(tls) => self.config.connect(tls.clone()),
            None => self.config.connect(NoTls),
        };
        let mut client = client.map_err(wrong)?;
        // A commit is on disk before it is reported, whatever the database's own default is.
        client.batch_execute("SET synchronous_commit = on").map_err(wrong)?;
        Ok(client)
    }

    fn take(&self) -> Result<Client> {
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        while let Some(client) = free.pop() {
            if !client.is_closed() {
                return Ok(client);
            }
        }
        drop(free);
        self.connect()
    }

    fn give_back(&self, client: Client) {
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        if free.len() < KEPT && !client.is_closed() {
            free.push(client);
        }
    }

    /// Does the work in a transaction, again where others came first or the connection broke
    /// before anything was committed.
    fn transaction(
        &self,
        is_read: bool,
        work: &mut dyn FnMut(&mut dyn Sql) -> Result<()>,
    ) -> Result<()> {
        let level =
            if is_read { IsolationLevel::RepeatableRead } else { IsolationLevel::Serializable };
        let mut pause = Duration::from_millis(2);
        for attempt in 1.. {
            let mut client = self.take()?;
            let made = attempt_once(&mut client, level, is_read, work);
            let is_broken = client.is_closed();
            self.give_back(client);
            match made {
                Err(Failed::Work(Error::Busy(_)) | Failed::Commit(Error::Busy(_)))
                    if attempt < ATTEMPTS => {}
                // Nothing was committed: the same again is safe.
                Err(Failed::Work(Error::Engine(_))) if is_broken && attempt < 3 => {}
                Err(Failed::Work(error) | Failed::Commit(error)) => return Err(error),
                Ok(()) => return Ok(()),
            }
            sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(200));
        }
        Err(Error::Busy("others came first each time".into()))
    }
}

/// Where a transaction failed: only before its commit is it certain that nothing was stored.
enum Failed {
    Work(Error),
    Commit(Error),
}

fn attempt_once(
    client: &mut Client,
    level: IsolationLevel,
    is_read: bool,
    work: &mut dyn FnMut(&mut dyn Sql) -> Result<()>,
) -> std::result::Result<(), Failed> {
    let begun = client.build_transaction().isolation_level(level).read_only(is_read).start();
    let mut open = Open(begun.map_err(|error| Failed::Work(wrong(error)))?);
    work(&mut open).map_err(Failed::Work)?;
    open.0.commit().map_err(|error| Failed::Commit(wrong(error)))
}

impl Engine for Postgres {
    fn write(&self, work: &mut dyn FnMut(&mut dyn Sql) -> Result<()>) -> Result<()> {
        self.transaction(false, work)
    }

    fn dialect(&self) -> Dialect {
        Dialect::Postgres
    }

    fn read(&self, work: &mut dyn FnMut(&mut dyn Sql) -> Result<()>) -> Result<()> {
        self.transaction(true, work)
    }
}

struct Open<'a>(Transaction<'a>);

fn references<'a>(cells: &'a [Cell<'a>]) -> Vec<&'a (dyn ToSql + Sync)> {
    cells.iter().map(|cell| cell as &(dyn ToSql + Sync)).collect()
}

impl Sql for Open<'_> {
    fn run(&mut self, statement: &str, cells: &[Cell<'_>]) -> Result<u64> {
        self.0.execute(statement, &references(cells)).map_err(wrong)
    }

    fn script(&mut self, statements: &str) -> Result<()> {
        self.0.batch_execute(statements).map_err(wrong)
    }

    fn rows(&mut self, statement: &str, cells: &[Cell<'_>]) -> Result<Vec<Row>> {
        let found = self.0.query(statement, &references(cells)).map_err(wrong)?;
        found
            .into_iter()
            .map(|row| {
                let cells = (0..row.len()).map(|at| row.try_get::<_, Cell<'static>>(at));
                cells
                    .collect::<std::result::Result<Vec<Cell<'static>>, _>>()
                    .map(Row::new)
                    .map_err(wrong)
            })
            .collect()
    }

    fn dialect(&self) -> Dialect {
        Dialect::Postgres
    }
}

type Coding<T> = std::result::Result<T, Box<dyn std::error::Error + Sync + Send>>;

impl ToSql for Cell<'_> {
    fn to_sql(&self, kind: &Type, out: &mut BytesMut) -> Coding<IsNull> {
        match self {
            Cell::Null => Ok(IsNull::Yes),
            Cell::Int(number) => match *kind {
                Type::INT4 => i32::try_from(*number)?.to_sql(kind, out),
                Type::FLOAT8 => (*number as f64).to_sql(kind, out),
                _ => number.to_sql(kind, out),
            },
            Cell::Real(number) => number.to_sql(kind, out),
            // PostgreSQL has no text with a zero in it.
            Cell::Text(text) if *kind == Type::JSONB => {
                let version = [1];
                out.extend_from_slice(&version);
                out.extend_from_slice(text.replace("\\u0000", "\\ufffd").as_bytes());
                Ok(IsNull::No)
            }
            Cell::Text(text) if text.contains('\0') => {
                text.replace('\0', "\u{fffd}").as_str().to_sql(kind, out)
            }
            Cell::Text(text) => text.as_ref().to_sql(kind, out),
            Cell::Bytes(bytes) => bytes.as_ref().to_sql(kind, out),
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

impl<'a> FromSql<'a> for Cell<'static> {
    fn from_sql(kind: &Type, raw: &'a [u8]) -> Coding<Cell<'static>> {
        Ok(match *kind {
            Type::INT8 => Cell::Int(i64::from_sql(kind, raw)?),
            Type::INT4 => Cell::Int(i32::from_sql(kind, raw)?.into()),
            Type::BOOL => Cell::Int(bool::from_sql(kind, raw)?.into()),
            Type::FLOAT8 => Cell::Real(f64::from_sql(kind, raw)?),
            Type::BYTEA => Cell::Bytes(raw.to_vec().into()),
            Type::JSONB => match raw.split_first() {
                Some((1, text)) => Cell::Text(String::from_utf8(text.to_vec())?.into()),
                _ => return Err("JSON of an unknown version".into()),
            },
            _ => Cell::Text(String::from_utf8(raw.to_vec())?.into()),
        })
    }

    fn from_sql_null(_: &Type) -> Coding<Cell<'static>> {
        Ok(Cell::Null)
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}
