//! A new file without a name, or with one that nobody can guess, in the directory where
//! its content will end up. Never the shared temporary directory.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::rc::Rc;

use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{AtFlags, CWD, Mode, OFlags};
use rustix::io::{Errno, retry_on_intr};

use super::path::Dir;

/// A file being made. Dropping it unlinks the name it may have.
pub(super) struct Temp {
    pub(super) file: File,
    dir: Rc<Dir>,
    name: Option<OsString>,
}

impl Temp {
    /// Makes a file in `dir`, readable by us alone.
    pub(super) fn new(dir: &Rc<Dir>) -> io::Result<Temp> {
        let private = Mode::from_raw_mode(0o600);
        let made = |fd: OwnedFd, name| Temp { file: File::from(fd), dir: Rc::clone(dir), name };
        let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
        match retry_on_intr(|| rustix::fs::openat(dir, ".", flags, private)) {
            Ok(fd) => return Ok(made(fd, None)),
            // File systems that cannot make unnamed files say so in several ways.
            Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::NOENT | Errno::INVAL) => {}
            Err(errno) => return Err(errno.into()),
        }
        let name = random_name();
        let flags =
            OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::RDWR | OFlags::CLOEXEC;
        let fd = retry_on_intr(|| rustix::fs::openat(dir, &name, flags, private))?;
        Ok(made(fd, Some(name)))
    }

    /// The directory it is in.
    pub(super) fn dir(&self) -> &Rc<Dir> {
        &self.dir
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

    // The direct form needs a capability that an ordinary user lacks, who is told that there is
    // no such file; through /proc, as open(2) shows for O_TMPFILE, costs a walk and works for all.
    fn link_as(&self, name: &OsString) -> io::Result<()> {
        use std::os::fd::AsRawFd;
        let flags = AtFlags::EMPTY_PATH;
        match rustix::fs::linkat(self.file.as_fd(), "", &self.dir, name, flags) {
            Err(Errno::NOENT) => {
                let by_proc = format!("/proc/self/fd/{}", self.file.as_raw_fd());
                let flags = AtFlags::SYMLINK_FOLLOW;
                Ok(rustix::fs::linkat(CWD, by_proc, &self.dir, name, flags)?)
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
