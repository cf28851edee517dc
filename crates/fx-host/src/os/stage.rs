//! Files written but not yet under their final names, and the one sync that orders them.
//!
//! Content must be on disk before a name points to it, or a power loss shows an empty file;
//! one fsync per file costs fifteen times as much as one for all. So a write makes an
//! unnamed file, and `settle` syncs the file system once and then names the whole group.
//! Our own reads look here first; a command starts only after `settle`.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};

use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{Mode, OFlags, Stat};
use rustix::io::{Errno, retry_on_intr};

use super::temp::Temp;

/// A group is put in place when it has this many files …
const MAX_FILES: usize = 200;
/// … or holds a half of the descriptors that the process may have, two for each file …
const DESCRIPTORS_PER_FILE: u64 = 4;
/// … or this many bytes.
const MAX_BYTES: u64 = 64 << 20;

/// Identity of a directory entry, whatever path leads to it.
type Key = (u64, u64, OsString);

struct Staged {
    key: Key,
    path: PathBuf,
    temp: Temp,
    /// The file it is a copy of, which may be a backup and all there will be of the old one.
    copy_of: Option<PathBuf>,
    number: u64,
}

/// Files waiting for their names, in the order they were written.
#[derive(Default)]
pub(super) struct Stage {
    waiting: Vec<Staged>,
    bytes: u64,
    /// Files that could not get their names.
    lost: Vec<(PathBuf, io::Error)>,
    /// How many files were written, and which of them never got their names.
    written: u64,
    nameless: Vec<u64>,
    /// One open directory per file system that was changed, for the final sync.
    touched: Vec<(u64, OwnedFd)>,
}

impl Stage {
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    fn position(&self, dir: &OwnedFd, name: &OsStr) -> Option<usize> {
        if !self.awaits(name) {
            return None;
        }
        self.position_at(&rustix::fs::fstat(dir).ok()?, name)
    }

    fn position_at(&self, dir: &Stat, name: &OsStr) -> Option<usize> {
        self.waiting.iter().rposition(|staged| {
            staged.key.1 == dir.st_ino && staged.key.0 == dir.st_dev && staged.key.2 == name
        })
    }

    /// Whether a file waits for such a name in any directory. Where none does, a path that
    /// ends in it and has no links is what the kernel says it is.
    pub(super) fn awaits(&self, name: &OsStr) -> bool {
        self.waiting.iter().rev().any(|staged| staged.key.2 == name)
    }

    /// The file that was written to this very path and waits for its name. Whatever could
    /// make the path lead elsewhere puts all files in place first.
    pub(super) fn written_to(&self, path: &Path) -> Option<&OwnedFd> {
        // A relative path means another file once the working directory is another.
        let wanted = Some(path).filter(|path| path.is_absolute())?.as_os_str();
        self.waiting
            .iter()
            .rev()
            .find(|staged| staged.path.as_os_str() == wanted)
            .map(|staged| &staged.temp.fd)
    }

    /// The file that waits for this name.
    pub(super) fn find(&self, dir: &OwnedFd, name: &OsStr) -> Option<&OwnedFd> {
        if self.waiting.is_empty() {
            return None;
        }
        self.position(dir, name).map(|index| &self.waiting[index].temp.fd)
    }

    /// Forgets the file that was written to this very path and waits for its name.
    pub(super) fn discard_written_to(&mut self, path: &Path) {
        if let Some(index) = self.waiting.iter().rposition(|staged| staged.path == path) {
            drop(self.waiting.remove(index));
        }
    }

    /// Forgets the file that waits for this name; whether there was one.
    pub(super) fn discard(&mut self, dir: &OwnedFd, name: &OsStr) -> bool {
        if self.waiting.is_empty() {
            return false;
        }
        let found = self.position(dir, name);
        if let Some(index) = found {
            drop(self.waiting.remove(index));
        }
        found.is_some()
    }

    /// Adds a finished file; a file that waited for the same name is dropped.
    pub(super) fn add(
        &mut self,
        dir: &OwnedFd,
        name: &OsStr,
        path: PathBuf,
        temp: Temp,
        bytes: u64,
        copy_of: Option<&Path>,
    ) -> io::Result<()> {
        let stat = rustix::fs::fstat(dir)?;
        if let Some(index) = self.position_at(&stat, name) {
            drop(self.waiting.remove(index));
        }
        self.touch_device(stat.st_dev, dir)?;
        let key = (stat.st_dev, stat.st_ino, name.to_owned());
        let (copy_of, number) = (copy_of.map(Path::to_owned), self.next_number());
        self.waiting.push(Staged { key, path, temp, copy_of, number });
        self.bytes += bytes;
        Ok(())
    }

    /// Whether a file waits that was written to a path below this one.
    pub(super) fn holds_below(&self, path: &Path) -> bool {
        self.waiting.iter().any(|staged| staged.path.starts_with(path) && staged.path != path)
    }

    fn next_number(&mut self) -> u64 {
        self.written += 1;
        self.written
    }

    /// How many files were written so far.
    pub(super) fn written(&self) -> u64 {
        self.written
    }

    /// Which of the files in this range of numbers has no name, if any.
    pub(super) fn is_nameless(&self, after: u64, to: u64) -> bool {
        let within = |number: u64| number > after && number <= to;
        self.nameless.iter().any(|number| within(*number))
            || self.waiting.iter().any(|staged| within(staged.number))
    }

    /// Whether a copy of this file waits for its name, and the file must outlive the wait.
    pub(super) fn holds_copy_of(&self, path: &Path) -> bool {
        self.waiting.iter().any(|staged| staged.copy_of.as_deref() == Some(path))
    }

    /// Notes that a file that waits already was written again.
    pub(super) fn rewritten(&mut self, path: &Path, bytes: u64) {
        self.bytes += bytes;
        let number = self.next_number();
        if let Some(staged) = self.waiting.iter_mut().rfind(|staged| staged.path == path) {
            staged.number = number;
        }
    }

    pub(super) fn is_full(&self) -> bool {
        self.waiting.len() >= most_files() || self.bytes >= MAX_BYTES
    }

    /// Remembers that something on this directory's file system changed.
    pub(super) fn touch(&mut self, dir: &OwnedFd) -> io::Result<()> {
        let dev = rustix::fs::fstat(dir)?.st_dev;
        self.touch_device(dev, dir)
    }

    fn touch_device(&mut self, dev: u64, dir: &OwnedFd) -> io::Result<()> {
        if self.touched.iter().any(|(known, _)| *known == dev) {
            return Ok(());
        }
        // A path-only descriptor cannot be synced, so the directory is opened for reading.
        let fd = rustix::fs::openat(
            dir,
            ".",
            OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC,
            Mode::empty(),
        );
        match fd {
            Ok(fd) => self.touched.push((dev, fd)),
            // A user may change a directory that they may not read; what they wrote is synced
            // before it gets its name all the same.
            Err(Errno::ACCESS) => {}
            Err(errno) => return Err(errno.into()),
        }
        Ok(())
    }

    /// Syncs contents, then gives every waiting file its name. If contents cannot be
    /// synced, all of them wait on: without it a name could point to what is not there. A
    /// file that cannot get its name is lost, and remembered for [`Stage::take_lost`]; the
    /// rest is put in place, but for what would replace a file whose copy was lost: that may
    /// have been its backup. The first trouble is returned with its path.
    pub(super) fn settle(&mut self) -> Result<(), (PathBuf, io::Error)> {
        let mut synced: Vec<u64> = Vec::new();
        for staged in &self.waiting {
            if synced.contains(&staged.key.0) {
                continue;
            }
            synced.push(staged.key.0);
            retry_on_intr(|| rustix::fs::syncfs(staged.temp.fd.as_fd()))
                .map_err(|errno| (staged.path.clone(), errno.into()))?;
        }
        self.bytes = 0;
        let mut first_error = None;
        let mut uncopied: Vec<PathBuf> = Vec::new();
        for mut staged in std::mem::take(&mut self.waiting) {
            let published = if uncopied.contains(&staged.path) {
                Err(io::Error::other("a copy of the old file could not be put in place"))
            } else {
                staged.temp.publish(&staged.key.2)
            };
            if let Err(error) = published {
                uncopied.extend(staged.copy_of);
                self.nameless.push(staged.number);
                let same = error.raw_os_error().map(io::Error::from_raw_os_error);
                let same = same.unwrap_or_else(|| io::Error::new(error.kind(), error.to_string()));
                self.lost.push((staged.path.clone(), same));
                first_error.get_or_insert((staged.path, error));
            }
        }
        first_error.map_or(Ok(()), Err)
    }

    /// A file whose writing was reported as done and then could not get its name. A run
    /// that meets one must not report success, whoever heard of it first.
    pub(super) fn take_lost(&mut self) -> Option<(PathBuf, io::Error)> {
        std::mem::take(&mut self.lost).into_iter().next()
    }

    /// Makes all changes so far survive a power loss.
    pub(super) fn sync(&mut self) -> io::Result<()> {
        for (_, fd) in std::mem::take(&mut self.touched) {
            retry_on_intr(|| rustix::fs::syncfs(&fd))?;
        }
        Ok(())
    }
}

fn most_files() -> usize {
    static MOST: std::sync::OnceLock<usize> = std::sync::OnceLock::new();
    *MOST.get_or_init(|| {
        let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
        let share = limit.unwrap_or(u64::MAX) / DESCRIPTORS_PER_FILE;
        usize::try_from(share).unwrap_or(MAX_FILES).clamp(1, MAX_FILES)
    })
}
