//! The one form of SQL that all records are written in, and what an engine does with it.

use std::borrow::Cow;

/// What went wrong with the store.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The engine refused.
    #[error("fleet store: {0}")]
    Engine(String),
    /// A value that must be there once only is there already.
    #[error("fleet store: {0}")]
    Taken(String),
    /// Another server's transaction came first; the same again may succeed.
    #[error("fleet store: {0}")]
    Busy(String),
    /// Written by a later version of this program.
    #[error(
        "the fleet store is of version {found}, this program knows up to {known}; use the newer program"
    )]
    Newer { found: i64, known: i64 },
    /// What is stored makes no sense.
    #[error("fleet store: {0}")]
    Broken(String),
    /// The caller's part of a transaction failed, and nothing was stored.
    #[error("{0}")]
    Caller(String),
}

pub type Result<T> = std::result::Result<T, Error>;

/// A value of a row. What goes into a statement is borrowed: a document of a node is large.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Cell<'a> {
    Null,
    Int(i64),
    Real(f64),
    Text(Cow<'a, str>),
    Bytes(Cow<'a, [u8]>),
}

impl From<i64> for Cell<'_> {
    fn from(number: i64) -> Self {
        Cell::Int(number)
    }
}

impl From<f64> for Cell<'_> {
    fn from(number: f64) -> Self {
        Cell::Real(number)
    }
}

impl From<u64> for Cell<'_> {
    fn from(number: u64) -> Self {
        Cell::Int(i64::try_from(number).unwrap_or(i64::MAX))
    }
}

impl From<bool> for Cell<'_> {
    fn from(on: bool) -> Self {
        Cell::Int(i64::from(on))
    }
}

impl<'a> From<&'a str> for Cell<'a> {
    fn from(text: &'a str) -> Self {
        Cell::Text(Cow::Borrowed(text))
    }
}

impl<'a> From<&'a String> for Cell<'a> {
    fn from(text: &'a String) -> Self {
        Cell::Text(Cow::Borrowed(text))
    }
}

impl From<String> for Cell<'_> {
    fn from(text: String) -> Self {
        Cell::Text(Cow::Owned(text))
    }
}

impl<'a> From<&'a [u8]> for Cell<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        Cell::Bytes(Cow::Borrowed(bytes))
    }
}

impl<'a, T: Into<Cell<'a>>> From<Option<T>> for Cell<'a> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Cell::Null, Into::into)
    }
}

/// A row, read from its first cell on.
pub(crate) struct Row(std::vec::IntoIter<Cell<'static>>);

impl Row {
    pub(crate) fn new(cells: Vec<Cell<'static>>) -> Row {
        Row(cells.into_iter())
    }

    /// The next cell, whatever it is.
    pub(crate) fn next(&mut self) -> Result<Cell<'static>> {
        self.0.next().ok_or_else(|| Error::Broken("a row is too short".into()))
    }

    pub(crate) fn text(&mut self) -> Result<String> {
        match self.next()? {
            Cell::Text(text) => Ok(text.into_owned()),
            other => Err(Error::Broken(format!("text was expected, not {other:?}"))),
        }
    }

    pub(crate) fn text_opt(&mut self) -> Result<Option<String>> {
        match self.next()? {
            Cell::Text(text) => Ok(Some(text.into_owned())),
            Cell::Null => Ok(None),
            other => Err(Error::Broken(format!("text was expected, not {other:?}"))),
        }
    }

    pub(crate) fn bytes(&mut self) -> Result<Vec<u8>> {
        match self.next()? {
            Cell::Bytes(bytes) => Ok(bytes.into_owned()),
            other => Err(Error::Broken(format!("bytes were expected, not {other:?}"))),
        }
    }

    pub(crate) fn number(&mut self) -> Result<u64> {
        self.number_opt()?.ok_or_else(|| Error::Broken("a number is missing".into()))
    }

    pub(crate) fn number_opt(&mut self) -> Result<Option<u64>> {
        match self.next()? {
            Cell::Int(number) => Ok(Some(u64::try_from(number).unwrap_or(0))),
            Cell::Null => Ok(None),
            other => Err(Error::Broken(format!("a number was expected, not {other:?}"))),
        }
    }

    pub(crate) fn flag(&mut self) -> Result<bool> {
        Ok(self.number()? != 0)
    }
}

/// What engines write differently; all else is written once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    Sqlite,
    Postgres,
}

impl Dialect {
    /// The type of bytes.
    pub(crate) fn bytes(self) -> &'static str {
        match self {
            Dialect::Sqlite => "BLOB",
            Dialect::Postgres => "BYTEA",
        }
    }

    /// The type of JSON, whose members `->` and `->>` give.
    pub(crate) fn json(self) -> &'static str {
        match self {
            Dialect::Sqlite => "TEXT",
            Dialect::Postgres => "JSONB",
        }
    }

    /// A text that is compared by its bytes.
    pub(crate) fn bytewise(self, text: &str) -> String {
        match self {
            Dialect::Sqlite => text.to_owned(),
            Dialect::Postgres => format!("{text} COLLATE \"C\""),
        }
    }

    /// Whether a text matches a regular expression.
    pub(crate) fn matches(self, text: &str, pattern: &str) -> String {
        match self {
            Dialect::Sqlite => format!("({text} REGEXP {pattern})"),
            Dialect::Postgres => format!("({text} ~ {pattern})"),
        }
    }

    /// Whether a text has another in it.
    pub(crate) fn contains(self, text: &str, part: &str) -> String {
        match self {
            Dialect::Sqlite => format!("(instr({text}, {part}) > 0)"),
            Dialect::Postgres => format!("(strpos({text}, {part}) > 0)"),
        }
    }

    /// A time in milliseconds by a template of the original.
    pub(crate) fn time_text(self, time: &str, template: &str) -> String {
        match self {
            Dialect::Sqlite => format!("time_text({time}, {template})"),
            Dialect::Postgres => {
                format!("to_char(to_timestamp({time} / 1000.0) AT TIME ZONE 'UTC', {template})")
            }
        }
    }
}

/// Statements of one transaction. Placeholders are `$1`, `$2` … in the order of the cells.
pub(crate) trait Sql {
    /// Runs a statement; how many rows it changed.
    fn run(&mut self, statement: &str, cells: &[Cell<'_>]) -> Result<u64>;
    /// Runs several statements without placeholders.
    fn script(&mut self, statements: &str) -> Result<()>;
    fn rows(&mut self, statement: &str, cells: &[Cell<'_>]) -> Result<Vec<Row>>;
    /// What the engine writes in its own way.
    fn dialect(&self) -> Dialect;
}

impl dyn Sql + '_ {
    /// The first row.
    pub(crate) fn row(&mut self, statement: &str, cells: &[Cell<'_>]) -> Result<Option<Row>> {
        Ok(self.rows(statement, cells)?.into_iter().next())
    }
}

/// What keeps the records.
pub(crate) trait Engine: Send + Sync {
    /// Carries out a transaction, durably, before it returns.
    fn write(&self, work: &mut dyn FnMut(&mut dyn Sql) -> Result<()>) -> Result<()>;
    fn dialect(&self) -> Dialect;
    /// Whether a reader is free, and what it reads is on this machine.
    fn reads_at_once(&self) -> bool {
        false
    }
    /// Reads one state.
    fn read(&self, work: &mut dyn FnMut(&mut dyn Sql) -> Result<()>) -> Result<()>;
}
