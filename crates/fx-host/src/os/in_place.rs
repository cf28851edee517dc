//! Files of the real machine changed where they are. Links are followed by the rules of the
//! walk, the last name is opened without following, and nothing here waits for a pipe.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, FallocateFlags, FileType, FlockOperation, Mode, OFlags, Stat};
use rustix::io::{Errno, retry_on_intr};

use super::OsHost;
use super::attributes;
use super::files::to_meta;
use super::path::{Intent, Leaf, Place, place};
use super::pour::check_pipe;
use crate::in_place::{Access, InPlace, LockWish, Opening};
use crate::{Edits, HostError, Meta, Result, Time, limits};

/// Old content up to this size is kept while a file is refilled on a file system that cannot
/// reserve room.
const MAX_KEPT: u64 = 16 << 20;
/// Writing over a block takes another one there, so reserving room is no promise.
const BTRFS: rustix::fs::FsWord = 0x9123_683e;
/// How often a name that is made and removed by others at the same time is tried.
const TRIES: u32 = 16;

/// Opens a path by the rules of the walk.
pub(super) fn open(host: &OsHost, path: &Path, how: &Opening) -> Result<Box<dyn InPlace>> {
    if let Some(fd) = standard(path) {
        let fd = fd.map_err(|errno| HostError::io(op(how.access), path, errno))?;
        // Written as it comes, wherever the caller's own output stands.
        return Ok(Box::new(Opened {
            file: File::from(fd),
            path: path.to_owned(),
            regular: false,
        }));
    }
    let leaf = if how.exclusive { Leaf::Itself } else { Leaf::Followed };
    let intent = if how.access.changes() { Intent::Change } else { Intent::Read };
    let place = place(path, leaf, intent)?;
    let waits = {
        let stage = host.stage.borrow();
        // A file named later in a directory would stamp the directory again.
        let stamps = how.access == Access::Attributes && !stage.is_empty();
        let copied = how.access.changes() && stage.holds_copy_of(path);
        stamps || copied || stage.find(&place.dir, &place.name).is_some()
    };
    if waits {
        host.settle()?;
    }
    let failed = |errno: Errno| HostError::io(op(how.access), path, errno);
    let fd = open_or_make(&place, how).map_err(failed)?;
    let stat = rustix::fs::fstat(&fd).map_err(failed)?;
    let kind = FileType::from_raw_mode(stat.st_mode);
    if kind == FileType::Fifo && how.access.changes() {
        let dir = place.dir.stat().map_err(failed)?;
        check_pipe(&stat, dir).map_err(|error| HostError::io("write", path, error))?;
    }
    if how.access.changes() {
        let touched = host.stage.borrow_mut().touch(&place.dir);
        touched.map_err(|error| HostError::io("change", path, error))?;
    }
    // The kernel refuses to open a link with NOFOLLOW, but not as a path alone.
    if kind == FileType::Symlink {
        return Err(failed(Errno::LOOP));
    }
    let file = File::from(fd);
    Ok(Box::new(Opened { file, path: path.to_owned(), regular: kind == FileType::RegularFile }))
}

/// What this process was started with, where a path names it: these lead to pipes and other
/// things that no walk can reach.
fn standard(path: &Path) -> Option<Result<OwnedFd, Errno>> {
    let fd = match path.to_str()? {
        "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0" => rustix::stdio::stdin(),
        "/dev/stdout" | "/dev/fd/1" | "/proc/self/fd/1" => rustix::stdio::stdout(),
        "/dev/stderr" | "/dev/fd/2" | "/proc/self/fd/2" => rustix::stdio::stderr(),
        _ => return None,
    };
    Some(rustix::io::fcntl_dupfd_cloexec(fd, 3))
}

fn op(access: Access) -> &'static str {
    if access == Access::Read { "read" } else { "change" }
}

fn open_or_make(place: &Place, how: &Opening) -> Result<OwnedFd, Errno> {
    let common = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let mut flags = match how.access {
        Access::Attributes => OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC,
        Access::Read => common | OFlags::RDONLY,
        Access::Write => common | OFlags::WRONLY,
        Access::ReadWrite => common | OFlags::RDWR,
    };
    if how.append {
        flags |= OFlags::APPEND;
    }
    let open =
        |flags, mode| retry_on_intr(|| rustix::fs::openat(&place.dir, &place.name, flags, mode));
    for _ in 0..TRIES {
        if !how.exclusive {
            match open(flags, Mode::empty()) {
                Err(Errno::NOENT) if how.create.is_some() => {}
                result => return result,
            }
        }
        let Some(mode) = how.create else { return open(flags, Mode::empty()) };
        // Nobody else gets a descriptor before the mode is what was asked for.
        let made = open(flags | OFlags::CREATE | OFlags::EXCL, Mode::from_raw_mode(0o600));
        match made {
            Err(Errno::EXIST) if !how.exclusive => {}
            Err(errno) => return Err(errno),
            Ok(fd) => {
                rustix::fs::fchmod(&fd, Mode::from_raw_mode(mode))?;
                return Ok(fd);
            }
        }
    }
    Err(Errno::AGAIN)
}

struct Opened {
    file: File,
    path: PathBuf,
    regular: bool,
}

impl Opened {
    fn failed(&self, error: impl Into<io::Error>) -> HostError {
        HostError::io("write", &self.path, error)
    }

    fn stat(&self) -> Result<Stat> {
        rustix::fs::fstat(&self.file).map_err(|errno| self.failed(errno))
    }

    fn magic_path(&self) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}", self.file.as_raw_fd()))
    }

    /// Whether room was reserved; `false` where the file system knows no such thing.
    fn allocate(&self, at: u64, length: u64) -> Result<bool> {
        if !self.regular || length == 0 {
            return Ok(true);
        }
        let call = || rustix::fs::fallocate(&self.file, FallocateFlags::KEEP_SIZE, at, length);
        match retry_on_intr(call) {
            Ok(()) => Ok(true),
            Err(Errno::OPNOTSUPP | Errno::NODEV | Errno::NOSYS | Errno::INVAL | Errno::SPIPE) => {
                Ok(false)
            }
            Err(errno) => {
                // Blocks reserved behind the end before room ran out are given back.
                let size = u64::try_from(self.stat()?.st_size).unwrap_or(0);
                self.file.set_len(size).map_err(|error| self.failed(error))?;
                Err(self.failed(errno))
            }
        }
    }

    fn copies_on_write(&self) -> bool {
        rustix::fs::fstatfs(&self.file).is_ok_and(|fs| fs.f_type == BTRFS)
    }

    /// The content, to put it back after a failure; `None` where that cannot be done.
    fn keep(&self, size: u64) -> Option<Vec<u8>> {
        // A look at a file of the kernel can be an effect of its own.
        let kernels = self.path.starts_with("/proc") || self.path.starts_with("/sys");
        if size == 0 || size > MAX_KEPT || kernels {
            return None;
        }
        let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
        let flags = i32::try_from(flags.bits()).ok()?;
        let file = File::options().read(true).custom_flags(flags).open(self.magic_path()).ok()?;
        let mut content = Vec::new();
        file.take(MAX_KEPT).read_to_end(&mut content).ok()?;
        Some(content)
    }

    fn pour(&self, content: &[u8]) -> Result<()> {
        (&self.file).write_all(content).map_err(|error| self.failed(error))
    }

    fn refill(&self, content: &[u8], size: u64) -> Result<()> {
        let kept = self.keep(size);
        let filled = self.file.set_len(0).and_then(|()| self.file.write_all_at(content, 0));
        if filled.is_err()
            && let Some(kept) = kept
        {
            // The first failure is the one to report.
            let _room_was_freed =
                self.file.set_len(0).and_then(|()| self.file.write_all_at(&kept, 0));
        }
        filled.map_err(|error| self.failed(error))
    }
}

impl InPlace for Opened {
    fn meta(&self) -> Result<Meta> {
        self.stat().map(|stat| to_meta(&stat))
    }

    fn read_from(&self, at: u64) -> Result<Vec<u8>> {
        let mut content = Vec::new();
        let mut file = &self.file;
        if self.regular {
            file.seek(SeekFrom::Start(at)).map_err(|error| self.failed(error))?;
        }
        let most = limits::WHOLE + 1;
        match file.take(most).read_to_end(&mut content) {
            Ok(count) if count as u64 == most => {
                Err(HostError::TooLarge { path: self.path.clone(), limit: limits::WHOLE })
            }
            // A pipe or a terminal that has nothing now.
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(content),
            Err(error) => Err(HostError::io("read", &self.path, error)),
            Ok(_) => Ok(content),
        }
    }

    fn write_at(&self, content: &[u8], at: u64) -> Result<()> {
        if !self.regular {
            return self.pour(content);
        }
        self.allocate(at, content.len() as u64)?;
        self.file.write_all_at(content, at).map_err(|error| self.failed(error))
    }

    fn append(&self, content: &[u8]) -> Result<()> {
        if self.regular {
            let size = u64::try_from(self.stat()?.st_size).unwrap_or(0);
            self.allocate(size, content.len() as u64)?;
            // For a file that was not opened to be appended to.
            (&self.file).seek(SeekFrom::End(0)).map_err(|error| self.failed(error))?;
        }
        self.pour(content)
    }

    fn reserve(&self, at: u64, length: u64) -> Result<()> {
        self.allocate(at, length).map(drop)
    }

    fn rewrite(&self, content: &[u8]) -> Result<()> {
        if !self.regular {
            return self.pour(content);
        }
        let size = u64::try_from(self.stat()?.st_size).unwrap_or(0);
        let length = content.len() as u64;
        if !self.allocate(0, length)? || self.copies_on_write() {
            return self.refill(content, size);
        }
        self.file.write_all_at(content, 0).map_err(|error| self.failed(error))?;
        if size > length { self.set_len(length) } else { Ok(()) }
    }

    fn set_len(&self, length: u64) -> Result<()> {
        self.file.set_len(length).map_err(|error| self.failed(error))
    }

    fn sync(&self) -> Result<()> {
        match self.file.sync_all() {
            // A pipe or a file of the kernel has nothing to sync.
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(()),
            result => result.map_err(|error| self.failed(error)),
        }
    }

    fn lock(&self, wish: LockWish) -> Result<bool> {
        let operation = match wish {
            LockWish::Shared { wait: true } => FlockOperation::LockShared,
            LockWish::Shared { wait: false } => FlockOperation::NonBlockingLockShared,
            LockWish::Exclusive { wait: true } => FlockOperation::LockExclusive,
            LockWish::Exclusive { wait: false } => FlockOperation::NonBlockingLockExclusive,
            LockWish::Release => FlockOperation::Unlock,
        };
        match retry_on_intr(|| rustix::fs::flock(&self.file, operation)) {
            Ok(()) => Ok(true),
            Err(Errno::WOULDBLOCK) => Ok(false),
            Err(errno) => Err(HostError::io("lock", &self.path, errno)),
        }
    }

    // Through the descriptor's name in /proc: it may be open as a path alone.
    fn set_mode(&self, mode: u32) -> Result<()> {
        rustix::fs::chmod(self.magic_path(), Mode::from_raw_mode(mode))
            .map_err(|errno| HostError::io("set mode of", &self.path, errno))
    }

    fn set_owner(&self, uid: Option<u32>, gid: Option<u32>) -> Result<()> {
        attributes::hand_over(&self.file, uid, gid)
            .map_err(|errno| HostError::io("set owner of", &self.path, errno))
    }

    fn set_times(&self, atime: Option<Time>, mtime: Option<Time>) -> Result<()> {
        let times = attributes::timestamps(atime, mtime);
        rustix::fs::utimensat(rustix::fs::CWD, self.magic_path(), &times, AtFlags::empty())
            .map_err(|errno| HostError::io("set times of", &self.path, errno))
    }
}
