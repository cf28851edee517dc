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
use super::path::open_plain;
use crate::directory::{ByPath, Directory};
use crate::{Files, HostError, Meta, Reader, Result};

struct Held<'a> {
    host: &'a OsHost,
    path: PathBuf,
    fd: OwnedFd,
}

/// Holds a directory that a path without links leads to; others are looked into by the walk.
pub(super) fn hold<'a>(host: &'a OsHost, path: &Path) -> Result<Box<dyn Directory + 'a>> {
    let fd = open_plain(path, OFlags::PATH | OFlags::DIRECTORY);
    let path = path.to_owned();
    match fd.map_err(|errno| HostError::io("look into", &path, errno))? {
        Some(fd) => Ok(Box::new(Held { host, path, fd })),
        None => Ok(Box::new(ByPath { files: host, path })),
    }
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
