//! A directory of the real machine that is held open while its names are looked at.

use std::ffi::OsStr;
use std::fs::File;
use std::path::{Path, PathBuf};

use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::{Errno, retry_on_intr};

use super::OsHost;
use super::content::FromStart;
use super::files::to_meta;
use super::path::{open_dir_to_look, open_short};
use crate::directory::Directory;
use crate::{Files, HostError, Meta, Reader, Result};

struct Held<'a> {
    host: &'a OsHost,
    path: PathBuf,
    fd: OwnedFd,
}

/// Holds a directory. The walk to it is made once, over links as well.
pub(super) fn hold<'a>(host: &'a OsHost, path: &Path) -> Result<Box<dyn Directory + 'a>> {
    let fd = match open_short(path, OFlags::PATH | OFlags::DIRECTORY, "look into")? {
        Some(fd) => fd,
        None => open_dir_to_look(path)?,
    };
    Ok(Box::new(Held { host, path: path.to_owned(), fd }))
}

impl Held<'_> {
    // A file may wait for this name.
    fn is_awaited(&self, name: &OsStr) -> bool {
        self.host.stage.borrow().awaits(name)
    }
}

impl Directory for Held<'_> {
    fn lstat_opt(&self, name: &OsStr) -> Result<Option<Meta>> {
        if self.is_awaited(name) {
            return self.host.lstat_opt(&self.path.join(name));
        }
        match rustix::fs::statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(to_meta(&stat))),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(HostError::io("look at", self.path.join(name), errno)),
        }
    }

    fn open(&self, name: &OsStr) -> Result<Reader<'_>> {
        let by_path = || self.host.open(&self.path.join(name));
        if self.is_awaited(name) {
            return by_path();
        }
        let flags =
            OFlags::RDONLY | OFlags::NOCTTY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        match retry_on_intr(|| rustix::fs::openat(&self.fd, name, flags, Mode::empty())) {
            Ok(fd) => Ok(Box::new(FromStart { file: File::from(fd), at: 0 })),
            // A link: by the rules of the walk.
            Err(Errno::LOOP) => by_path(),
            Err(errno) => Err(HostError::io("read", self.path.join(name), errno)),
        }
    }
}
