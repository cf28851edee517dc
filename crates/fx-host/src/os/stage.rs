//! Files written but not yet under their final names, and the one sync that orders them.
//!
//! Content must be on disk before a name points to it, or a power loss shows an empty file;
//! one fsync per file costs fifteen times as much as one for all. So a write makes an
//! unnamed file, and `settle` syncs the file system once and then names the whole group.
//! Our own reads look here first; a command starts only after `settle`.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{Mode, OFlags, Stat};
use rustix::io::{Errno, retry_on_intr};

use super::path::{Dir, Place, is_plain};
use super::temp::Temp;

/// A group is put in place when it has this many files …
const MAX_FILES: usize = 200;
/// … or holds a half of the descriptors that the process may have, two for each file …
const DESCRIPTORS_PER_FILE: u64 = 4;
/// … or this many bytes.
const MAX_BYTES: u64 = 64 << 20;

struct Staged {
    /// Device and inode of the directory: its identity, whatever path leads to it.
    dir: (u64, u64),
    name: OsString,
    path: PathBuf,
    temp: Temp,
    /// The file it is a copy of, which may be a backup and all there will be of the old one.
    copy_of: Option<PathBuf>,
    number: u64,
}

/// Files waiting for their names.
#[derive(Default)]
pub(super) struct Stage {
    /// In the order they were written.
    waiting: BTreeMap<u64, Staged>,
    turn: u64,
    /// Which of them was written to a path last, and which wait for a name in any directory.
    by_path: BTreeMap<OsString, u64>,
    by_name: BTreeMap<OsString, Vec<u64>>,
    bytes: u64,
    /// Files that could not get their names.
    lost: Vec<(PathBuf, io::Error)>,
    /// How many files were written, and which of them never got their names.
    written: u64,
    nameless: Vec<u64>,
    /// One open directory per file system that was changed, for the final sync.
    touched: Vec<(u64, OwnedFd)>,
}

fn is_in(staged: &Staged, dir: &Stat) -> bool {
    staged.dir == (dir.st_dev, dir.st_ino)
}

impl Stage {
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    fn turn_of(&self, dir: &Dir, name: &OsStr) -> Option<u64> {
        let same = self.by_name.get(name)?;
        let dir = dir.stat().ok()?;
        same.iter().rev().copied().find(|turn| is_in(&self.waiting[turn], dir))
    }

    // Forgets a file; dropping it gives up what was written.
    fn forget(&mut self, turn: u64) -> Option<Staged> {
        let staged = self.waiting.remove(&turn)?;
        if let Some(same) = self.by_name.get_mut(&staged.name) {
            same.retain(|other| *other != turn);
            if same.is_empty() {
                self.by_name.remove(&staged.name);
            }
        }
        if self.by_path.get(staged.path.as_os_str()) == Some(&turn) {
            self.by_path.remove(staged.path.as_os_str());
        }
        Some(staged)
    }

    /// Whether a file waits for such a name in any directory. Where none does, a path that
    /// ends in it and has no links is what the kernel says it is.
    pub(super) fn awaits(&self, name: &OsStr) -> bool {
        self.by_name.contains_key(name)
    }

    fn last_written_to(&self, path: &Path) -> Option<u64> {
        // A relative path means another file once the working directory is another.
        let wanted = Some(path).filter(|path| path.is_absolute())?.as_os_str();
        self.by_path.get(wanted).copied()
    }

    /// The file that was written to this very path and waits for its name. Whatever could
    /// make the path lead elsewhere puts all files in place first.
    pub(super) fn written_to(&self, path: &Path) -> Option<&File> {
        self.last_written_to(path).map(|turn| &self.waiting[&turn].temp.file)
    }

    /// The place of a path beside the file that was written last: its directory is held open
    /// until that file has its name, and the walk to it need not be made again.
    pub(super) fn beside(&self, path: &Path) -> Option<Place> {
        let (_, last) = self.waiting.last_key_value()?;
        let parent = |path: &Path| path.parent().map(|parent| parent.as_os_str().len());
        let (here, length) = (path.as_os_str().as_bytes(), parent(path)?);
        let same = parent(&last.path) == Some(length)
            && last.path.as_os_str().as_bytes()[..length] == here[..length];
        if !same || !is_plain(path) {
            return None;
        }
        Some(Place { dir: Rc::clone(last.temp.dir()), name: path.file_name()?.to_owned() })
    }

    /// The file that waits for this name.
    pub(super) fn find(&self, dir: &Dir, name: &OsStr) -> Option<&File> {
        self.turn_of(dir, name).map(|turn| &self.waiting[&turn].temp.file)
    }

    /// Forgets the file that was written to this very path and waits for its name.
    pub(super) fn discard_written_to(&mut self, path: &Path) {
        if let Some(turn) = self.last_written_to(path) {
            drop(self.forget(turn));
        }
    }

    /// Forgets the file that waits for this name; whether there was one.
    pub(super) fn discard(&mut self, dir: &Dir, name: &OsStr) -> bool {
        self.turn_of(dir, name).and_then(|turn| self.forget(turn)).is_some()
    }

    /// Adds a finished file; a file that waited for the same name is dropped.
    pub(super) fn add(
        &mut self,
        place: Place,
        path: PathBuf,
        temp: Temp,
        bytes: u64,
        copy_of: Option<&Path>,
    ) -> io::Result<()> {
        let Place { dir, name } = place;
        if let Some(turn) = self.turn_of(&dir, &name) {
            drop(self.forget(turn));
        }
        let stat = dir.stat()?;
        self.touch_device(stat.st_dev, &dir)?;
        self.turn += 1;
        let (copy_of, number) = (copy_of.map(Path::to_owned), self.next_number());
        self.by_path.insert(path.as_os_str().to_owned(), self.turn);
        self.by_name.entry(name.clone()).or_default().push(self.turn);
        let dir = (stat.st_dev, stat.st_ino);
        self.waiting.insert(self.turn, Staged { dir, name, path, temp, copy_of, number });
        self.bytes += bytes;
        Ok(())
    }

    /// Whether a file waits that was written to a path below this one.
    pub(super) fn holds_below(&self, path: &Path) -> bool {
        self.waiting.values().any(|staged| staged.path.starts_with(path) && staged.path != path)
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
            || self.waiting.values().any(|staged| within(staged.number))
    }

    /// Whether a copy of this file waits for its name, and the file must outlive the wait.
    pub(super) fn holds_copy_of(&self, path: &Path) -> bool {
        self.waiting.values().any(|staged| staged.copy_of.as_deref() == Some(path))
    }

    /// Notes that a file that waits already was written again.
    pub(super) fn rewritten(&mut self, path: &Path, bytes: u64) {
        self.bytes += bytes;
        let number = self.next_number();
        let turn = self.last_written_to(path);
        if let Some(staged) = turn.and_then(|turn| self.waiting.get_mut(&turn)) {
            staged.number = number;
        }
    }

    pub(super) fn is_full(&self) -> bool {
        self.waiting.len() >= most_files() || self.bytes >= MAX_BYTES
    }

    /// Remembers that something on this directory's file system changed.
    pub(super) fn touch(&mut self, dir: &Dir) -> io::Result<()> {
        self.touch_device(dir.stat()?.st_dev, dir)
    }

    fn touch_device(&mut self, dev: u64, dir: &Dir) -> io::Result<()> {
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
        for staged in self.waiting.values() {
            if synced.contains(&staged.dir.0) {
                continue;
            }
            synced.push(staged.dir.0);
            retry_on_intr(|| rustix::fs::syncfs(staged.temp.file.as_fd()))
                .map_err(|errno| (staged.path.clone(), errno.into()))?;
        }
        self.bytes = 0;
        self.by_path.clear();
        self.by_name.clear();
        let mut first_error = None;
        let mut uncopied: Vec<PathBuf> = Vec::new();
        for mut staged in std::mem::take(&mut self.waiting).into_values() {
            let published = if uncopied.contains(&staged.path) {
                Err(io::Error::other("a copy of the old file could not be put in place"))
            } else {
                staged.temp.publish(&staged.name)
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
