//! Changes of past runs: what a step did to which thing, as data.

use rusqlite::params;

use crate::{Store, StoreError};

/// What became of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It was made.
    Made,
    /// It was found and not made.
    Withheld,
    /// It was tried and could not be made.
    Failed,
}

impl Fate {
    /// The word in the store and in reports.
    pub fn word(self) -> &'static str {
        match self {
            Fate::Made => "made",
            Fate::Withheld => "withheld",
            Fate::Failed => "failed",
        }
    }

    fn of(word: &str) -> Fate {
        [Fate::Made, Fate::Failed]
            .into_iter()
            .find(|fate| fate.word() == word)
            .unwrap_or(Fate::Withheld)
    }
}

/// One property of one thing that a step changed, would have changed or could not change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangeRecord {
    /// The step that did it.
    pub step: u32,
    /// What became of it.
    pub fate: Fate,
    /// Kind of the thing.
    pub kind: String,
    /// Its name, such as a path.
    pub name: Vec<u8>,
    /// Which property.
    pub property: String,
    /// What it was, as JSON; secrets are hidden.
    pub from: String,
    /// What it is now or was to become, as JSON.
    pub to: String,
}

impl Store {
    /// Writes the changes of a step that has ended.
    pub fn put_changes(&self, run: i64, changes: &[ChangeRecord]) -> Result<(), StoreError> {
        let insert = "INSERT OR REPLACE INTO changes VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
        let mut insert = self.db.prepare_cached(insert).map_err(|error| self.sql(error))?;
        for (place, change) in changes.iter().enumerate() {
            let values = params![
                run,
                change.step,
                place as i64,
                change.fate.word(),
                change.kind,
                change.name,
                change.property,
                change.from,
                change.to,
            ];
            insert.execute(values).map_err(|error| self.sql(error))?;
        }
        Ok(())
    }

    /// The changes of a run, in the order of its steps.
    pub fn changes(&self, run: i64) -> Result<Vec<ChangeRecord>, StoreError> {
        let query = "SELECT step, fate, kind, name, property, old, new FROM changes WHERE run = ?1 ORDER BY step, place";
        let mut query = self.db.prepare_cached(query).map_err(|error| self.sql(error))?;
        let rows = query.query_map([run], |row| {
            Ok(ChangeRecord {
                step: row.get(0)?,
                fate: Fate::of(&row.get::<_, String>(1)?),
                kind: row.get(2)?,
                name: row.get(3)?,
                property: row.get(4)?,
                from: row.get(5)?,
                to: row.get(6)?,
            })
        });
        rows.and_then(Iterator::collect).map_err(|error| self.sql(error))
    }
}
