//! Documents by scope, kind and name: what a server keeps as it was sent.

use std::collections::BTreeSet;

use crate::Fleet;
use crate::engine::{Error, Result, Row, Sql};

/// Documents within one transaction.
pub struct Documents<'a> {
    sql: &'a mut dyn Sql,
    /// Kinds of which something was written or removed.
    changed: BTreeSet<String>,
    is_scope_gone: bool,
}

/// A transaction that was given up, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stopped<E> {
    /// The caller's reason. Nothing was stored.
    Caller(E),
    Store(Error),
}

impl<E> From<Error> for Stopped<E> {
    fn from(error: Error) -> Stopped<E> {
        Stopped::Store(error)
    }
}

impl<'a> Documents<'a> {
    fn new(sql: &'a mut dyn Sql) -> Documents<'a> {
        Documents { sql, changed: BTreeSet::new(), is_scope_gone: false }
    }

    /// Whether this transaction changed documents of such kinds.
    pub fn has_changed(&self, is_such: impl Fn(&str) -> bool) -> bool {
        self.is_scope_gone || self.changed.iter().any(|kind| is_such(kind))
    }

    fn note(&mut self, kind: &str) {
        if !self.changed.contains(kind) {
            self.changed.insert(kind.to_owned());
        }
    }

    pub fn get(&mut self, scope: &str, kind: &str, name: &str) -> Result<Option<Vec<u8>>> {
        let row = self.sql.row(
            "SELECT body FROM document WHERE scope = $1 AND kind = $2 AND name = $3",
            &[scope.into(), kind.into(), name.into()],
        )?;
        row.map(|mut row| row.bytes()).transpose()
    }

    pub fn has(&mut self, scope: &str, kind: &str, name: &str) -> Result<bool> {
        let row = self.sql.row(
            "SELECT 1 FROM document WHERE scope = $1 AND kind = $2 AND name = $3",
            &[scope.into(), kind.into(), name.into()],
        )?;
        Ok(row.is_some())
    }

    pub fn put(&mut self, scope: &str, kind: &str, name: &str, body: &[u8]) -> Result<()> {
        self.note(kind);
        self.sql.run(
            "INSERT INTO document (scope, kind, name, body) VALUES ($1, $2, $3, $4)
             ON CONFLICT (scope, kind, name) DO UPDATE SET body = excluded.body",
            &[scope.into(), kind.into(), name.into(), body.into()],
        )?;
        Ok(())
    }

    /// Whether there was one.
    pub fn remove(&mut self, scope: &str, kind: &str, name: &str) -> Result<bool> {
        self.note(kind);
        let removed = self.sql.run(
            "DELETE FROM document WHERE scope = $1 AND kind = $2 AND name = $3",
            &[scope.into(), kind.into(), name.into()],
        )?;
        Ok(removed > 0)
    }

    /// Removes all that a scope holds.
    pub fn remove_scope(&mut self, scope: &str) -> Result<()> {
        self.is_scope_gone = true;
        self.sql.run("DELETE FROM document WHERE scope = $1", &[scope.into()])?;
        Ok(())
    }

    /// Sorted by their bytes.
    pub fn names(&mut self, scope: &str, kind: &str) -> Result<Vec<String>> {
        let rows = self.sql.rows(
            "SELECT name FROM document WHERE scope = $1 AND kind = $2",
            &[scope.into(), kind.into()],
        )?;
        let names = rows.into_iter().map(|mut row| row.text()).collect::<Result<Vec<String>>>();
        names.map(sorted)
    }

    /// Names and documents of a kind whose names begin with a text, sorted by name.
    pub fn beginning(
        &mut self,
        scope: &str,
        kind: &str,
        prefix: &str,
    ) -> Result<Vec<(String, Vec<u8>)>> {
        let name = self.sql.dialect().bytewise("name");
        // No name that begins so is after it.
        let end = format!("{prefix}{}", char::MAX);
        let rows = self.sql.rows(
            &format!(
                "SELECT name, body FROM document
                 WHERE scope = $1 AND kind = $2 AND {name} >= $3 AND {name} < $4"
            ),
            &[scope.into(), kind.into(), prefix.into(), (&end).into()],
        )?;
        named(rows)
    }

    /// Names and documents of a kind, sorted by name.
    pub fn all(&mut self, scope: &str, kind: &str) -> Result<Vec<(String, Vec<u8>)>> {
        let rows = self.sql.rows(
            "SELECT name, body FROM document WHERE scope = $1 AND kind = $2",
            &[scope.into(), kind.into()],
        )?;
        named(rows)
    }
}

fn named(rows: Vec<Row>) -> Result<Vec<(String, Vec<u8>)>> {
    let all = rows.into_iter().map(|mut row| Ok((row.text()?, row.bytes()?)));
    all.collect::<Result<Vec<(String, Vec<u8>)>>>().map(sorted)
}

/// Engines order text by rules of their own.
fn sorted<T: Ord>(mut all: Vec<T>) -> Vec<T> {
    all.sort_unstable();
    all
}

impl Fleet {
    /// Changes documents: all of it, or nothing where the work stops. It may be done more than
    /// once, where others got in its way.
    pub fn change_documents<T, E>(
        &self,
        mut work: impl FnMut(&mut Documents<'_>) -> std::result::Result<T, Stopped<E>>,
    ) -> std::result::Result<T, Stopped<E>> {
        let mut reason = None;
        let done = self.write(|sql| noted(work(&mut Documents::new(sql)), &mut reason));
        done.map_err(|error| given_up(error, reason))
    }

    /// Reads documents of one state of the store.
    pub fn read_documents<T, E>(
        &self,
        mut work: impl FnMut(&mut Documents<'_>) -> std::result::Result<T, Stopped<E>>,
    ) -> std::result::Result<T, Stopped<E>> {
        let mut reason = None;
        let done = self.read(|sql| noted(work(&mut Documents::new(sql)), &mut reason));
        done.map_err(|error| given_up(error, reason))
    }
}

/// Keeps the caller's reason aside, and ends the transaction for it.
fn noted<T, E>(done: std::result::Result<T, Stopped<E>>, reason: &mut Option<E>) -> Result<T> {
    done.map_err(|stopped| match stopped {
        Stopped::Store(error) => error,
        Stopped::Caller(own) => {
            *reason = Some(own);
            Error::Caller(String::new())
        }
    })
}

fn given_up<E>(error: Error, reason: Option<E>) -> Stopped<E> {
    match (error, reason) {
        (Error::Caller(_), Some(reason)) => Stopped::Caller(reason),
        (error, _) => Stopped::Store(error),
    }
}
