//! Opening the store: private to its owner, checked, brought to the current version.

use std::path::{Path, PathBuf};
use std::time::Duration;

use fx_host::{Host, HostError};
use rusqlite::Connection;
use rusqlite::TransactionBehavior::Immediate;

use crate::schema;

/// Trouble with the store. None of it stops a run.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The directory or file cannot be used.
    #[error(transparent)]
    Host(#[from] HostError),
    /// SQLite said no.
    #[error("state store '{}': {source}", path.display())]
    Sql {
        /// The store's file.
        path: PathBuf,
        /// SQLite's answer.
        source: rusqlite::Error,
    },
    /// Written by a later version of this program.
    #[error("state store '{}' is of version {found}, this program knows up to {known}; use the newer program or another state directory", path.display())]
    Newer {
        /// The store's file.
        path: PathBuf,
        /// Its version.
        found: i64,
        /// Ours.
        known: i64,
    },
}

/// The open store.
pub struct Store {
    pub(crate) db: Connection,
    path: PathBuf,
}

/// A store, and where a broken one was moved to if there was one.
pub struct Opened {
    /// The store, ready for use.
    pub store: Store,
    /// The broken one's new name.
    pub moved_aside: Option<PathBuf>,
}

impl Store {
    /// Opens or makes the store in a state directory, which is made private if it is new.
    pub fn open(host: &dyn Host, dir: &Path) -> Result<Opened, StoreError> {
        if !host.exists(dir)? {
            make_private_dir(host, dir)?;
        }
        let path = dir.join("state.db");
        match Store::open_patiently(host, &path) {
            Ok(store) => Ok(Opened { store, moved_aside: None }),
            Err(error) if is_broken(&error) => {
                let aside = move_aside(host, &path)?;
                Ok(Opened { store: Store::open_file(&path)?, moved_aside: Some(aside) })
            }
            Err(error) => Err(error),
        }
    }

    /// A store that is forgotten at the end, for runs that may not leave anything behind.
    pub fn in_memory() -> Result<Store, StoreError> {
        Store::prepare(Connection::open_in_memory(), Path::new(":memory:"))
    }

    /// Two programs that make the store at the same time get in each other's way where SQLite
    /// does not wait by itself.
    fn open_patiently(host: &dyn Host, path: &Path) -> Result<Store, StoreError> {
        for _ in 0..100 {
            match Store::open_file(path) {
                Err(error) if is_busy(&error) => host.sleep(Duration::from_millis(10)),
                result => return result,
            }
        }
        Store::open_file(path)
    }

    fn open_file(path: &Path) -> Result<Store, StoreError> {
        Store::prepare(Connection::open(path), path)
    }

    fn prepare(db: rusqlite::Result<Connection>, path: &Path) -> Result<Store, StoreError> {
        let sql = |source| StoreError::Sql { path: path.to_owned(), source };
        let mut db = db.map_err(sql)?;
        db.busy_timeout(Duration::from_secs(5)).map_err(sql)?;
        db.execute_batch(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON;",
        )
        .map_err(sql)?;
        let found: i64 = db.query_row("PRAGMA user_version", [], |row| row.get(0)).map_err(sql)?;
        if found > schema::VERSION {
            return Err(StoreError::Newer { path: path.to_owned(), found, known: schema::VERSION });
        }
        if found < schema::VERSION {
            // Another program may have begun to make the tables since we looked.
            let change = db.transaction_with_behavior(Immediate).map_err(sql)?;
            let found: i64 =
                change.query_row("PRAGMA user_version", [], |row| row.get(0)).map_err(sql)?;
            for step in schema::STEPS.get(found as usize..).unwrap_or_default() {
                change.execute_batch(step).map_err(sql)?;
            }
            change.pragma_update(None, "user_version", schema::VERSION).map_err(sql)?;
            change.commit().map_err(sql)?;
        }
        // One look at the tables: a store cut in half opens well and fails here.
        db.query_row("SELECT count(*) FROM runs", [], |_| Ok(())).map_err(sql)?;
        Ok(Store { db, path: path.to_owned() })
    }

    /// Where the store lies.
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn sql(&self, source: rusqlite::Error) -> StoreError {
        StoreError::Sql { path: self.path.clone(), source }
    }
}

fn make_private_dir(host: &dyn Host, dir: &Path) -> Result<(), HostError> {
    if let Some(parent) = dir.parent()
        && !host.exists(parent)?
    {
        make_parents(host, parent)?;
    }
    host.make_dir(dir, 0o700)
}

fn make_parents(host: &dyn Host, dir: &Path) -> Result<(), HostError> {
    let mut missing: Vec<&Path> =
        dir.ancestors().take_while(|path| !host.exists(path).unwrap_or(true)).collect();
    missing.reverse();
    missing.into_iter().try_for_each(|path| host.make_dir(path, 0o755))
}

fn is_busy(error: &StoreError) -> bool {
    use rusqlite::ErrorCode::{DatabaseBusy, DatabaseLocked};
    let StoreError::Sql { source, .. } = error else { return false };
    matches!(source.sqlite_error_code(), Some(DatabaseBusy | DatabaseLocked))
}

fn is_broken(error: &StoreError) -> bool {
    use rusqlite::ErrorCode::{DatabaseCorrupt, NotADatabase};
    let StoreError::Sql { source, .. } = error else { return false };
    match source {
        rusqlite::Error::SqliteFailure(failure, message) => {
            // A half-made store lacks tables or has some of them already.
            let half_made = message.as_deref().is_some_and(|text| {
                text.contains("no such table") || text.contains("already exists")
            });
            matches!(failure.code, DatabaseCorrupt | NotADatabase) || half_made
        }
        _ => false,
    }
}

fn move_aside(host: &dyn Host, path: &Path) -> Result<PathBuf, HostError> {
    let stamp = host.now().secs;
    let named = |suffix: &str| PathBuf::from(format!("{}{suffix}", path.display()));
    let aside = named(&format!(".broken-{stamp}"));
    host.rename(path, &aside)?;
    // The log of the broken store must not be played into the new one.
    for suffix in ["-wal", "-shm"] {
        match host.remove_file(&named(suffix)) {
            Ok(()) => {}
            Err(error) if error.is_not_found() => {}
            Err(error) => return Err(error),
        }
    }
    host.settle()?;
    Ok(aside)
}
