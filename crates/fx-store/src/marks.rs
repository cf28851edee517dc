//! Named values that outlive a run, some for a time only: persistent classes and the like.

use fx_host::Time;

use crate::{Store, StoreError};

/// A named value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    /// Its name.
    pub name: String,
    /// Whatever the caller wants to know again.
    pub value: Vec<u8>,
    /// Until when; for good without.
    pub expires: Option<Time>,
}

impl Store {
    /// Sets a mark in a name space, until a time or for good.
    pub fn set_mark(
        &self,
        space: &str,
        name: &str,
        value: &[u8],
        expires: Option<Time>,
    ) -> Result<(), StoreError> {
        let upsert = "INSERT INTO marks VALUES (?1, ?2, ?3, ?4) ON CONFLICT (space, name) DO UPDATE SET value = ?3, expires = ?4";
        let done = self
            .db
            .prepare_cached(upsert)
            .and_then(|mut upsert| upsert.execute((space, name, value, expires.map(|at| at.secs))));
        done.map(|_| ()).map_err(|error| self.sql(error))
    }

    /// Removes a mark; whether it was there.
    pub fn remove_mark(&self, space: &str, name: &str) -> Result<bool, StoreError> {
        let removed =
            self.db.execute("DELETE FROM marks WHERE space = ?1 AND name = ?2", (space, name));
        removed.map(|count| count > 0).map_err(|error| self.sql(error))
    }

    /// The marks of a name space that are in force, by name. Expired ones are removed.
    pub fn marks(&self, space: &str, now: Time) -> Result<Vec<Mark>, StoreError> {
        let work = || -> rusqlite::Result<_> {
            self.db.execute("DELETE FROM marks WHERE expires <= ?1", [now.secs])?;
            let mut query = self.db.prepare_cached(
                "SELECT name, value, expires FROM marks WHERE space = ?1 ORDER BY name",
            )?;
            let rows = query.query_map([space], |row| {
                let expires: Option<i64> = row.get(2)?;
                Ok(Mark {
                    name: row.get(0)?,
                    value: row.get(1)?,
                    expires: expires.map(Time::from_secs),
                })
            })?;
            rows.collect()
        };
        work().map_err(|error| self.sql(error))
    }
}
