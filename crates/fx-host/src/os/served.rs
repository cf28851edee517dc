//! Files that are given to others over the network. A path is resolved once, by the rules of the
//! walk; who may have it is decided about the resolved path; and that is opened without any link in
//! it. What somebody exchanges for a link in between is not found.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags};
use rustix::io::{Errno, retry_on_intr};

use super::files::to_meta;
use super::path::{self, Intent, open_plain};
use crate::{HostError, Meta, Result};

const READ: OFlags = OFlags::RDONLY.union(OFlags::NONBLOCK).union(OFlags::NOCTTY);

fn open_at(path: &Path, flags: OFlags) -> Result<OwnedFd> {
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

/// Files of requests that came together. Most of them lie in one directory, to which the walk is
/// made once: it is held open until the next directory is named.
#[derive(Default)]
pub struct Served {
    held: Option<(PathBuf, OwnedFd)>,
}

impl Served {
    /// A path with its links resolved, and what it stands for.
    pub fn find(&mut self, path: &Path) -> Result<(PathBuf, Meta)> {
        // A plain path without a link in it is its own name, and most are.
        if let Some((dir, name)) = self.hold(path)
            && let Ok(stat) = rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW)
            && !FileType::from_raw_mode(stat.st_mode).is_symlink()
        {
            return Ok((path.to_owned(), to_meta(&stat)));
        }
        let resolved = resolve_served(path)?;
        let meta = look_served(&resolved)?;
        Ok((resolved, meta))
    }

    /// A path that has no link in it and is written without detours, open for reading; nothing
    /// where it is another or cannot be opened. Waits for nobody.
    pub fn open_plain(&mut self, path: &Path) -> Option<(File, Meta)> {
        let (dir, name) = self.hold(path)?;
        let flags = READ | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let open = || rustix::fs::openat(dir, name, flags, Mode::empty());
        let fd = retry_on_intr(open).ok()?;
        let stat = rustix::fs::fstat(&fd).ok()?;
        Some((File::from(fd), to_meta(&stat)))
    }

    // The directory of a plain path, and the name in it.
    fn hold<'a>(&mut self, path: &'a Path) -> Option<(&OwnedFd, &'a OsStr)> {
        let (dir, name) = (path.parent()?, path.file_name()?);
        if !path::is_plain(path) {
            return None;
        }
        let is_held = |held: &(PathBuf, OwnedFd)| held.0.as_os_str() == dir.as_os_str();
        if !self.held.as_ref().is_some_and(is_held) {
            let fd = open_plain(dir, OFlags::PATH | OFlags::DIRECTORY).ok()??;
            self.held = Some((dir.to_owned(), fd));
        }
        self.held.as_ref().map(|(_, fd)| (fd, name))
    }
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
    let fd = open_at(path, READ)?;
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
        names.push(OsStr::from_bytes(entry.file_name().to_bytes()).to_owned());
    }
    Ok(names)
}
