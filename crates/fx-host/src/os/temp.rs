//! A new file without a name, or with one that nobody can guess, in the directory where
//! its content will end up. Never the shared temporary directory.

use std::ffi::OsString;
use std::io;

use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{AtFlags, CWD, Mode, OFlags};
use rustix::io::{Errno, retry_on_intr};

/// A file being made. Dropping it unlinks the name it may have.
pub(super) struct Temp {
    pub(super) fd: OwnedFd,
    dir: OwnedFd,
    name: Option<OsString>,
}

impl Temp {
    /// Makes a file in `dir`, readable by us alone.
    pub(super) fn new(dir: &OwnedFd) -> io::Result<Temp> {
        let private = Mode::from_raw_mode(0o600);
        let held = dir.try_clone()?;
        let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
        match retry_on_intr(|| rustix::fs::openat(dir, ".", flags, private)) {
            Ok(fd) => return Ok(Temp { fd, dir: held, name: None }),
            // File systems that cannot make unnamed files say so in several ways.
            Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::NOENT | Errno::INVAL) => {}
            Err(errno) => return Err(errno.into()),
        }
        let name = random_name();
        let flags =
            OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::RDWR | OFlags::CLOEXEC;
        let fd = retry_on_intr(|| rustix::fs::openat(dir, &name, flags, private))?;
        Ok(Temp { fd, dir: held, name: Some(name) })
    }

    /// Puts the file under its final name, replacing what has it.
    pub(super) fn publish(&mut self, name: &OsString) -> io::Result<()> {
        if self.name.is_none() {
            match self.link_as(name) {
                Ok(()) => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
            let interim = random_name();
            self.link_as(&interim)?;
            self.name = Some(interim);
        }
        let interim = self.name.as_ref().expect("a temporary name was just given");
        retry_on_intr(|| rustix::fs::renameat(&self.dir, interim, &self.dir, name))?;
        self.name = None;
        Ok(())
    }

    // The descriptor is named through /proc, as open(2) shows for O_TMPFILE; the direct
    // form needs a capability that an ordinary user lacks, so it is second.
    fn link_as(&self, name: &OsString) -> io::Result<()> {
        use std::os::fd::AsRawFd;
        let by_proc = format!("/proc/self/fd/{}", self.fd.as_raw_fd());
        match rustix::fs::linkat(CWD, by_proc, &self.dir, name, AtFlags::SYMLINK_FOLLOW) {
            Err(Errno::NOENT) => {
                Ok(rustix::fs::linkat(self.fd.as_fd(), "", &self.dir, name, AtFlags::EMPTY_PATH)?)
            }
            result => Ok(result?),
        }
    }
}

impl Drop for Temp {
    fn drop(&mut self) {
        if let Some(name) = &self.name {
            let _ = rustix::fs::unlinkat(&self.dir, name, AtFlags::empty());
        }
    }
}

/// A name of 128 random bits that marks its maker.
pub(super) fn random_name() -> OsString {
    use std::fmt::Write;
    let mut bits = [0; 16];
    super::identity::fill_random(&mut bits);
    let mut name = String::from(".fx-");
    for byte in bits {
        let _ = write!(name, "{byte:02x}");
    }
    name.into()
}
