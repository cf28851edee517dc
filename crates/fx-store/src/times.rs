//! When something was last done: `ifelapsed` and schedules ask for it.

use fx_host::Time;
use rusqlite::OptionalExtension;

use crate::{Store, StoreError};

impl Store {
    /// The last time noted for a key.
    pub fn last_time(&self, key: &str) -> Result<Option<Time>, StoreError> {
        let query = "SELECT at FROM times WHERE key = ?1";
        let found = self
            .db
            .prepare_cached(query)
            .and_then(|mut query| query.query_row([key], |row| row.get(0)).optional());
        found.map(|at| at.map(Time::from_secs)).map_err(|error| self.sql(error))
    }

    /// Notes the time for a key.
    pub fn set_last_time(&self, key: &str, at: Time) -> Result<(), StoreError> {
        let upsert = "INSERT INTO times VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET at = ?2";
        let done =
            self.db.prepare_cached(upsert).and_then(|mut upsert| upsert.execute((key, at.secs)));
        done.map(|_| ()).map_err(|error| self.sql(error))
    }

    /// Whether at least this many seconds have passed since the key's time. A clock that
    /// was set back makes it due: better once too often than never again.
    pub fn is_due(&self, key: &str, now: Time, seconds: i64) -> Result<bool, StoreError> {
        let last = self.last_time(key)?;
        Ok(last.is_none_or(|last| now < last || now.secs - last.secs >= seconds))
    }
}
