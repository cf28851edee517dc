//! Digests of files that did not change since they were taken: agents ask for all plug-ins of all
//! modules in each run.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use fx_host::{Meta, Time};

/// What makes a file the same one: any change of it changes one of these.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Known {
    algorithm: String,
    ino: u64,
    size: u64,
    mtime: (i64, u32),
    ctime: (i64, u32),
}

/// The digests by path.
#[derive(Default)]
pub(crate) struct Digests(Mutex<HashMap<PathBuf, (Known, String)>>);

/// More files than this are begun anew.
const MOST: usize = 1 << 17;
/// A file that changed so short ago may change again without that being seen.
const SETTLED: i64 = 2;

fn known(algorithm: &str, meta: &Meta) -> Known {
    Known {
        algorithm: algorithm.to_owned(),
        ino: meta.ino,
        size: meta.size,
        mtime: (meta.mtime.secs, meta.mtime.nanos),
        ctime: (meta.ctime.secs, meta.ctime.nanos),
    }
}

impl Digests {
    /// The digest of a file, taken by the function where it is not known.
    pub(crate) fn get<E>(
        &self,
        (algorithm, path, meta, now): (&str, &Path, &Meta, Time),
        take: impl FnOnce() -> Result<String, E>,
    ) -> Result<String, E> {
        let own = known(algorithm, meta);
        {
            let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some((key, digest)) = all.get(path)
                && *key == own
            {
                return Ok(digest.clone());
            }
        }
        let digest = take()?;
        if meta.ctime.secs.max(meta.mtime.secs) + SETTLED < now.secs {
            let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if all.len() >= MOST {
                all.clear();
            }
            all.insert(path.to_owned(), (own, digest.clone()));
        }
        Ok(digest)
    }
}
