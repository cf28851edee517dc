//! Files that are given to others over the network. A path is resolved once, by the rules of the
//! walk; who may have it is decided about the resolved path; and that is opened without any link in
//! it. What somebody exchanges for a link in between is not found.

use std::ffi::OsString;
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Dir, OFlags};
use rustix::io::Errno;

use super::files::to_meta;
use super::path::{self, Intent, open_plain};
use crate::{HostError, Meta, Result};

fn open_at(path: &Path, flags: OFlags) -> Result<std::os::fd::OwnedFd> {
    let fail = |errno: Errno| HostError::io("open", path, errno);
    open_plain(path, flags | OFlags::NOFOLLOW).map_err(fail)?.ok_or_else(|| fail(Errno::LOOP))
}

/// A path with its links resolved. A link that leads nowhere stays the last part of it.
pub fn resolve_served(path: &Path) -> Result<PathBuf> {
    let resolved = path::resolve(path, Intent::Read);
    let (Err(error), Some(parent), Some(name)) = (&resolved, path.parent(), path.file_name())
    else {
        return resolved;
    };
    if !error.is_not_found() {
        return resolved;
    }
    let link = path::resolve(parent, Intent::Read)?.join(name);
    match look_served(&link) {
        Ok(meta) if meta.is_symlink() => Ok(link),
        _ => resolved,
    }
}

/// A path with its links resolved, and what it stands for.
pub fn find_served(path: &Path) -> Result<(PathBuf, Meta)> {
    // A plain path without a link in it is its own name, and most are.
    if path::is_plain(path)
        && let Ok(Some(fd)) = open_plain(path, OFlags::PATH)
        && let Ok(stat) = rustix::fs::fstat(&fd)
    {
        return Ok((path.to_owned(), to_meta(&stat)));
    }
    let resolved = resolve_served(path)?;
    let meta = look_served(&resolved)?;
    Ok((resolved, meta))
}

/// What a resolved path stands for.
pub fn look_served(path: &Path) -> Result<Meta> {
    let fail = |errno: Errno| HostError::io("stat", path, errno);
    let fd = open_at(path, OFlags::PATH)?;
    rustix::fs::fstat(&fd).map(|stat| to_meta(&stat)).map_err(fail)
}

/// A resolved path, open for reading, and what it was when it was opened. Waits for nobody.
pub fn open_served(path: &Path) -> Result<(File, Meta)> {
    let fail = |errno: Errno| HostError::io("open", path, errno);
    let fd = open_at(path, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY)?;
    let meta = to_meta(&rustix::fs::fstat(&fd).map_err(fail)?);
    Ok((File::from(fd), meta))
}

/// Names in a resolved directory, in its own order, with `.` and `..`.
pub fn list_served(path: &Path) -> Result<Vec<OsString>> {
    let fail = |errno: Errno| HostError::io("list", path, errno);
    let fd = open_at(path, OFlags::RDONLY | OFlags::DIRECTORY)?;
    let mut names = Vec::new();
    for entry in Dir::new(fd).map_err(fail)? {
        let entry = entry.map_err(fail)?;
        names.push(std::ffi::OsStr::from_bytes(entry.file_name().to_bytes()).to_owned());
    }
    Ok(names)
}
