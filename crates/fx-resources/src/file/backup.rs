//! Keeping the old content before it is replaced, in the convention policy expects.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use fx_engine::Failure;
use fx_host::{Act, Meta, WriteOptions};

use super::apply::with_suffix;
use super::stamp;
use crate::digest::Algorithm;
use crate::directory;

/// Where old content goes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Backup {
    /// Nowhere.
    #[default]
    None,
    /// Beside the file, with a suffix such as `.cfsaved`, `.cf-before-edit` or
    /// `.puppet-bak`; the last one wins.
    Suffix(String),
    /// Beside the file, with the moment and a suffix: CFEngine's `backup => "timestamp"`
    /// names it `file_1767225600_Thu_Jan__1_00_00_00_2026.cfsaved`.
    Timestamp {
        /// What ends the name.
        suffix: String,
        /// Local time as seconds from UTC.
        utc_offset: i32,
    },
    /// Beside the file, as `file.cfsaved.1` (the newest) up to `.n`.
    Rotate {
        /// What stands before the number.
        suffix: String,
        /// How many are kept.
        copies: u32,
    },
    /// In one directory under the file's full name with `/` and other characters made
    /// `_`, as CFEngine's backup repository does.
    Repository {
        /// The directory.
        dir: PathBuf,
        /// What ends the name.
        suffix: String,
    },
    /// In a store by digest, as Puppet's filebucket lays it out: eight directories of one
    /// character, the digest, then `contents` and `paths`.
    Bucket {
        /// The store.
        dir: PathBuf,
        /// The digest that names it.
        algorithm: Algorithm,
    },
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
        Backup::Timestamp { suffix, utc_offset } => {
            let now = host.now();
            let date = canonical(stamp::ctime(now, *utc_offset).as_bytes());
            let tail = format!("_{}_{}{suffix}", now.secs, date.display());
            copy(&with_suffix(path, &tail))
        }
        Backup::Rotate { suffix, copies } => {
            for number in (1..*copies).rev() {
                let from = with_suffix(path, &format!("{suffix}.{number}"));
                if host.exists(&from)? {
                    host.rename(&from, &with_suffix(path, &format!("{suffix}.{}", number + 1)))?;
                }
            }
            copy(&with_suffix(path, &format!("{suffix}.1")))
        }
        Backup::Repository { dir, suffix } => {
            let name = canonical(with_suffix(path, suffix).as_os_str().as_bytes());
            let to = dir.join(name);
            directory::make_parents(host, &to, 0o700)?;
            copy(&to)
        }
        Backup::Bucket { dir, algorithm } => keep_by_digest(host, dir, *algorithm, path, old),
        Backup::Tree { dir, copies, utc_offset } => {
            let stamp = stamp::compact(host.now(), *utc_offset);
            let to = under(dir, path);
            directory::make_parents(host, &to, 0o700)?;
            copy(&with_suffix(&to, &format!(".chef-{stamp}")))?;
            drop_oldest(host, &to, *copies)
        }
    }
}

// As CFEngine's CanonifyName: everything that is no letter, digit or `_` becomes `_`.
fn canonical(name: &[u8]) -> OsString {
    let plain = name.iter().map(|byte| if byte.is_ascii_alphanumeric() { *byte } else { b'_' });
    OsString::from_vec(plain.collect())
}

fn under(dir: &Path, path: &Path) -> PathBuf {
    dir.join(path.strip_prefix("/").unwrap_or(path))
}

fn keep_by_digest(
    host: &dyn Act,
    dir: &Path,
    algorithm: Algorithm,
    path: &Path,
    old: &Path,
) -> Result<(), Failure> {
    let digest = algorithm.hex_of_file(host, old)?;
    let mut place = dir.to_owned();
    place.extend(digest.chars().take(8).map(String::from));
    place.push(&digest);
    let contents = place.join("contents");
    directory::make_parents(host, &contents, 0o770)?;
    if !host.exists(&contents)? {
        let options = WriteOptions { mode: Some(0o440), ..WriteOptions::default() };
        host.copy_file(old, &contents, &options)?;
    }
    let paths = place.join("paths");
    let known = host.read_opt(&paths)?.unwrap_or_default();
    let new = crate::text::append_if_missing(&known, path.as_os_str().as_bytes());
    if new != known {
        let options = WriteOptions { mode: Some(0o640), ..WriteOptions::default() };
        host.write(&paths, &new, &options)?;
    }
    Ok(())
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
