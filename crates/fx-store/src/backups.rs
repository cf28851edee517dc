//! Where copies of replaced files were put. The copies themselves are files.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use fx_host::Time;

use crate::{Store, StoreError};

/// A copy that was made before a file was replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Backup {
    /// The file that was replaced.
    pub path: PathBuf,
    /// Where its copy lies.
    pub kept_at: PathBuf,
    /// Digest of the copy, with its method.
    pub digest: String,
    /// When it was made.
    pub made: Time,
    /// By which run.
    pub run: Option<i64>,
}

impl Store {
    /// Notes a copy.
    pub fn add_backup(&self, backup: &Backup) -> Result<(), StoreError> {
        let insert =
            "INSERT INTO backups (path, kept_at, digest, made, run) VALUES (?1, ?2, ?3, ?4, ?5)";
        let (path, kept_at) =
            (backup.path.as_os_str().as_bytes(), backup.kept_at.as_os_str().as_bytes());
        let done =
            self.db.execute(insert, (path, kept_at, &backup.digest, backup.made.secs, backup.run));
        done.map(|_| ()).map_err(|error| self.sql(error))
    }

    /// The copies of a file, newest first.
    pub fn backups(&self, path: &Path) -> Result<Vec<Backup>, StoreError> {
        let work = || -> rusqlite::Result<_> {
            let query = "SELECT path, kept_at, digest, made, run FROM backups WHERE path = ?1 ORDER BY made DESC, id DESC";
            let mut query = self.db.prepare_cached(query)?;
            let to_path = |bytes: Vec<u8>| PathBuf::from(OsStr::from_bytes(&bytes));
            let rows = query.query_map([path.as_os_str().as_bytes()], |row| {
                Ok(Backup {
                    path: to_path(row.get(0)?),
                    kept_at: to_path(row.get(1)?),
                    digest: row.get(2)?,
                    made: Time::from_secs(row.get(3)?),
                    run: row.get(4)?,
                })
            })?;
            rows.collect()
        };
        work().map_err(|error| self.sql(error))
    }
}
