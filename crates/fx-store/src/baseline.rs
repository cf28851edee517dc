//! What a property was after it was last in order: a change against it is drift, a change
//! of the wish alone is not.

use rusqlite::OptionalExtension;

use crate::{Store, StoreError};

impl Store {
    /// The value a property had when it was last in order, as text without secrets.
    pub fn baseline(&self, resource: &str, property: &str) -> Result<Option<String>, StoreError> {
        let query = "SELECT value FROM baseline WHERE resource = ?1 AND property = ?2";
        let found = self.db.prepare_cached(query).and_then(|mut query| {
            query.query_row((resource, property), |row| row.get(0)).optional()
        });
        found.map_err(|error| self.sql(error))
    }

    /// Remembers the value a property has now.
    pub fn set_baseline(
        &self,
        resource: &str,
        property: &str,
        value: &str,
    ) -> Result<(), StoreError> {
        let upsert = "INSERT INTO baseline VALUES (?1, ?2, ?3) ON CONFLICT (resource, property) DO UPDATE SET value = ?3";
        let done = self
            .db
            .prepare_cached(upsert)
            .and_then(|mut upsert| upsert.execute((resource, property, value)));
        done.map(|_| ()).map_err(|error| self.sql(error))
    }
}
