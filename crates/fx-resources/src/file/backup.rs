//! Keeping the old content before it is replaced, in the convention policy expects.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use fx_engine::Failure;
use fx_host::{Act, Meta, WriteOptions};

use super::apply::with_suffix;
use super::stamp;
use crate::directory;

/// Where old content goes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Backup {
    /// Nowhere.
    #[default]
    None,
    /// Beside the file, with a suffix such as `.puppet-bak`; the last one wins.
    Suffix(String),
    /// In a directory that mirrors the tree, with the moment in the name, as Chef does:
    /// `dir/etc/motd.chef-20260101000000.000000`.
    Tree {
        /// The directory.
        dir: PathBuf,
        /// How many are kept.
        copies: u32,
        /// Local time as seconds from UTC.
        utc_offset: i32,
    },
}

/// Keeps the old content of a file, which is `old`, with its owner, mode and time, under a
/// name made from `path`.
pub fn keep(
    host: &dyn Act,
    backup: &Backup,
    path: &Path,
    old: &Path,
    meta: &Meta,
) -> Result<(), Failure> {
    let copy = |to: &Path| {
        let options = WriteOptions {
            mode: Some(meta.mode & 0o777),
            uid: Some(meta.uid),
            gid: Some(meta.gid),
            mtime: Some(meta.mtime),
        };
        host.copy_file(old, to, &options).map_err(Failure::from)
    };
    match backup {
        Backup::None => Ok(()),
        Backup::Suffix(suffix) => copy(&with_suffix(path, suffix)),
        Backup::Tree { dir, copies, utc_offset } => {
            let stamp = stamp::compact(host.now(), *utc_offset);
            let to = under(dir, path);
            directory::make_parents(host, &to, 0o700)?;
            copy(&with_suffix(&to, &format!(".chef-{stamp}")))?;
            drop_oldest(host, &to, *copies)
        }
    }
}

fn under(dir: &Path, path: &Path) -> PathBuf {
    dir.join(path.strip_prefix("/").unwrap_or(path))
}

fn drop_oldest(host: &dyn Act, base: &Path, copies: u32) -> Result<(), Failure> {
    let (Some(dir), Some(name)) = (base.parent(), base.file_name()) else { return Ok(()) };
    let mut prefix = name.as_bytes().to_vec();
    prefix.extend_from_slice(b".chef-");
    let entries = host.list(dir)?;
    let kept = entries.iter().filter(|entry| entry.name.as_bytes().starts_with(&prefix));
    // Names sort by time, so the oldest come first.
    let kept: Vec<_> = kept.collect();
    let surplus = kept.len().saturating_sub(copies as usize);
    for entry in &kept[..surplus] {
        host.remove_file(&dir.join(&entry.name))?;
    }
    Ok(())
}
