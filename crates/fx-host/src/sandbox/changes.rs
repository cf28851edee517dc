//! What a box changed: the copy-on-write layers read back and held against the machine.
//!
//! Both sides are walked by descriptors and no link is followed. Time, depth and number are
//! bounded; what was not looked at is named.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, Stat, openat, readlinkat, statat};

use super::{Layer, Sandbox, reading};

/// Most paths that are reported.
const MOST: usize = 1_000_000;
/// Longest path that the machine could name in one call.
const LONGEST: usize = 4095;
/// Larger files are taken as the same if size and time are.
const COMPARED: u64 = 1 << 30;

/// One path that is not as it is outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FsChange {
    /// The path, as seen inside and outside.
    pub path: PathBuf,
    /// What became of it.
    pub kind: ChangeKind,
    /// Permission bits, owner and group outside; `None` if it is not there.
    pub before: Option<Attributes>,
    /// The same inside.
    pub after: Option<Attributes>,
    layer: usize,
}

/// What became of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    /// It is new.
    Added,
    /// It is gone.
    Deleted,
    /// It holds something else, or is something else.
    Content,
    /// Only its mode or owner differ.
    Attributes,
}

/// What a listing shows of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are those of stat(2)")]
pub struct Attributes {
    pub is_dir: bool,
    pub mode: u32,
    pub uid: u32,
    pub gid: u32,
}

/// All that differs from the machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// Every path found, in byte order.
    pub found: Vec<FsChange>,
    /// Directories and files that were not looked at: too deep, too many, or not readable.
    pub not_read: Vec<PathBuf>,
}

impl Attributes {
    fn of(stat: &Stat) -> Attributes {
        Attributes {
            is_dir: kind(stat) == FileType::Directory,
            mode: stat.st_mode & 0o7777,
            uid: stat.st_uid,
            gid: stat.st_gid,
        }
    }
}

fn kind(stat: &Stat) -> FileType {
    FileType::from_raw_mode(stat.st_mode)
}

impl Sandbox {
    /// Every path that differs from the machine. Files that were written with the same content
    /// and attributes are not among them. Ends early when the run is to stop.
    pub fn changes(&self) -> Changes {
        let mut out = Changes::default();
        for (number, layer) in self.layers().iter().enumerate() {
            match self.sides(layer) {
                Ok((upper, lower)) if layer.is_file => {
                    out.file(number, &layer.mount, (&upper, lower.as_ref()));
                }
                Ok((upper, lower)) => {
                    Walk { number, mount: &layer.mount, upper: &upper, lower: lower.as_ref() }
                        .take(&mut out);
                }
                Err(_) => out.not_read.push(layer.mount.clone()),
            }
        }
        out.found.sort_by(|a, b| a.path.cmp(&b.path));
        out.not_read.sort();
        out
    }

    /// Old and new bytes of a file that is not larger than the limit; a file that is new or
    /// gone is empty on the other side.
    pub fn contents(&self, change: &FsChange, limit: u64) -> Option<(Vec<u8>, Vec<u8>)> {
        let layer = self.layers().get(change.layer)?;
        let (upper, lower) = self.sides(layer).ok()?;
        let relative = change.path.strip_prefix(&layer.mount).ok()?;
        if layer.is_file {
            let fd = reading::beneath(self.base.as_fd(), &layer.upper, OFlags::RDONLY).ok()?;
            let old = reading::regular(&layer.mount, limit).ok()?;
            return Some((old, read_limited(fd, limit)?));
        }
        let read = |side: OwnedFd| {
            read_limited(reading::beneath(side.as_fd(), relative, OFlags::RDONLY).ok()?, limit)
        };
        let new = if change.kind == ChangeKind::Deleted { Vec::new() } else { read(upper)? };
        let old = if change.kind == ChangeKind::Added { Vec::new() } else { read(lower?)? };
        Some((old, new))
    }

    /// The changed side of a layer, and the machine's.
    fn sides(&self, layer: &Layer) -> io::Result<(OwnedFd, Option<OwnedFd>)> {
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let upper = openat(&self.base, &layer.upper, flags, Mode::empty())?;
        let lower = openat(CWD, &layer.mount, flags, Mode::empty()).ok();
        Ok((upper, lower))
    }
}

fn read_limited(fd: OwnedFd, limit: u64) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    reading::plain(fd).ok()?.take(limit + 1).read_to_end(&mut bytes).ok()?;
    (bytes.len() as u64 <= limit).then_some(bytes)
}

/// One layer on its way.
struct Walk<'a> {
    number: usize,
    mount: &'a Path,
    upper: &'a OwnedFd,
    lower: Option<&'a OwnedFd>,
}

impl Walk<'_> {
    /// Looks at directory after directory; a list instead of calls, since nobody knows how
    /// deep the tree is.
    fn take(&self, out: &mut Changes) {
        let mut todo = vec![PathBuf::new()];
        while let Some(dir) = todo.pop() {
            if crate::stop_signal().is_some() {
                return;
            }
            let too_much = out.found.len() >= MOST || dir.as_os_str().len() > LONGEST;
            if too_much || self.directory(&dir, &mut todo, out).is_err() {
                out.not_read.push(self.mount.join(&dir));
            }
        }
    }

    fn directory(&self, dir: &Path, todo: &mut Vec<PathBuf>, out: &mut Changes) -> io::Result<()> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY;
        let upper = reading::beneath(self.upper.as_fd(), dir, flags)?;
        let lower = self.lower.and_then(|fd| reading::beneath(fd.as_fd(), dir, flags).ok());
        let names = names(&upper)?;
        for name in &names {
            let path = dir.join(name);
            let Ok(new) = statat(&upper, name, AtFlags::SYMLINK_NOFOLLOW) else {
                out.not_read.push(self.mount.join(path));
                continue;
            };
            let old =
                lower.as_ref().and_then(|fd| statat(fd, name, AtFlags::SYMLINK_NOFOLLOW).ok());
            if kind(&new) == FileType::Directory {
                todo.push(path.clone());
            }
            let same = match (&old, &lower) {
                (Some(old), Some(lower)) => same((&upper, &new), (lower, old), name),
                _ => false,
            };
            self.push(path, (old.as_ref(), &new), same, out);
        }
        // A directory that was deleted and made again hides all that was in it.
        if let Some(lower) = lower.filter(|_| is_opaque(&upper)) {
            for name in self::names(&lower)? {
                if names.binary_search(&name).is_err() {
                    let before = statat(&lower, &name, AtFlags::SYMLINK_NOFOLLOW).ok();
                    out.found.push(FsChange {
                        path: self.mount.join(dir).join(&name),
                        kind: ChangeKind::Deleted,
                        before: before.as_ref().map(Attributes::of),
                        after: None,
                        layer: self.number,
                    });
                }
            }
        }
        Ok(())
    }

    fn push(
        &self,
        path: PathBuf,
        (old, new): (Option<&Stat>, &Stat),
        same: bool,
        out: &mut Changes,
    ) {
        // The kernel marks a deletion by a character device of number zero.
        let deleted = kind(new) == FileType::CharacterDevice && new.st_rdev == 0;
        let (before, after) = (old.map(Attributes::of), Attributes::of(new));
        let kind = match (before, deleted) {
            (None, true) => return,
            (Some(_), true) => ChangeKind::Deleted,
            (None, false) => ChangeKind::Added,
            _ if !same => ChangeKind::Content,
            (Some(before), _) if before != after => ChangeKind::Attributes,
            _ => return,
        };
        let after = (!deleted).then_some(after);
        let path = self.mount.join(path);
        out.found.push(FsChange { path, kind, before, after, layer: self.number });
    }
}

impl Changes {
    /// A file that is mounted by itself and has no layer: the copy is held against it.
    fn file(&mut self, number: usize, mount: &Path, (upper, lower): (&OwnedFd, Option<&OwnedFd>)) {
        let stat = |fd: &OwnedFd| rustix::fs::fstat(fd).ok();
        let (Some(new), old) = (stat(upper), lower.and_then(stat)) else {
            self.not_read.push(mount.to_owned());
            return;
        };
        let opened = |fd: &OwnedFd| {
            // Through the descriptor, which is already at the right file.
            let path = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(fd));
            let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
            openat(CWD, path, flags, Mode::empty()).map_err(io::Error::from)
        };
        let same = lower.is_some_and(|lower| {
            opened(upper).and_then(|a| same_bytes(a, opened(lower)?)).unwrap_or(false)
        });
        let whole = Walk { number, mount, upper, lower };
        whole.push(PathBuf::new(), (old.as_ref(), &new), same, self);
        if let Some(last) = self.found.last_mut().filter(|last| last.layer == number) {
            // Joined with nothing, a path would end in a slash.
            mount.clone_into(&mut last.path);
        }
    }
}

fn names(dir: &OwnedFd) -> io::Result<Vec<OsString>> {
    let mut names = Vec::new();
    for entry in Dir::read_from(dir)? {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if name != b"." && name != b".." {
            names.push(OsStr::from_bytes(name).to_owned());
        }
        if names.len() > MOST {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
    }
    names.sort();
    Ok(names)
}

/// Whether both are the same kind of thing with the same bytes or target.
fn same(new: (&OwnedFd, &Stat), old: (&OwnedFd, &Stat), name: &OsStr) -> bool {
    if kind(new.1) != kind(old.1) {
        return false;
    }
    match kind(new.1) {
        FileType::Symlink => {
            let target = |dir: &OwnedFd| readlinkat(dir, name, Vec::new()).ok();
            target(new.0) == target(old.0)
        }
        FileType::RegularFile if new.1.st_size != old.1.st_size => false,
        FileType::RegularFile if new.1.st_size as u64 > COMPARED => {
            let time = |stat: &Stat| (stat.st_mtime, stat.st_mtime_nsec);
            time(new.1) == time(old.1)
        }
        FileType::RegularFile => {
            let open =
                |dir: &OwnedFd| reading::beneath(dir.as_fd(), Path::new(name), OFlags::RDONLY);
            open(new.0).and_then(|a| same_bytes(a, open(old.0)?)).unwrap_or(false)
        }
        _ => true,
    }
}

fn same_bytes(a: OwnedFd, b: OwnedFd) -> io::Result<bool> {
    let (mut a, mut b) = (reading::plain(a)?, reading::plain(b)?);
    let (mut left, mut right) = (vec![0; 64 * 1024], vec![0; 64 * 1024]);
    let mut seen = 0;
    loop {
        let count = a.read(&mut left)?;
        if count == 0 {
            return Ok(true);
        }
        seen += count as u64;
        if seen > COMPARED {
            // It grows while it is read.
            return Ok(false);
        }
        b.read_exact(&mut right[..count])?;
        if left[..count] != right[..count] {
            return Ok(false);
        }
    }
}

fn is_opaque(dir: &OwnedFd) -> bool {
    let mut value = [0; 1];
    rustix::fs::fgetxattr(dir, "trusted.overlay.opaque", &mut value).is_ok() && value == *b"y"
}
