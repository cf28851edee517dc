//! A machine whose files can be changed without changing them: what is written goes to a
//! directory of its own, what was never written is read through.
//!
//! Only files are kept apart. Commands and the network are the machine's: who simulates must
//! not start what he does not want to happen. Works without root, unlike a [`crate::Sandbox`].

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use crate::in_place::{InPlace, Opening};
use crate::{
    Act, Edits, Entry, Files, FsSpace, HostError, Kind, Meta, Reader, Result, Time, WriteOptions,
};

/// As many links as the kernel follows on one path.
const MAX_LINKS: usize = 40;

/// Deeper trees are not copied when a directory is moved.
const MAX_DEPTH: usize = 128;

/// The machine under a layer of changes.
pub struct OverlayHost<'a> {
    inner: &'a dyn Act,
    upper: PathBuf,
    /// Paths whose lower side is hidden, with all below it.
    gone: RefCell<BTreeSet<PathBuf>>,
}

impl<'a> OverlayHost<'a> {
    /// Keeps changes below `upper`, a directory that is there and empty.
    pub fn new(inner: &'a dyn Act, upper: PathBuf) -> OverlayHost<'a> {
        OverlayHost { inner, upper, gone: RefCell::default() }
    }

    /// The machine as it is.
    pub fn below(&self) -> &'a dyn Act {
        self.inner
    }

    /// Where the changed copy of a path is, or would be, on the machine itself.
    pub fn inside(&self, path: &Path) -> PathBuf {
        let relative: PathBuf =
            path.components().filter(|part| !matches!(part, Component::RootDir)).collect();
        self.upper.join(relative)
    }

    /// Puts a path's copy, with what is below it, into the layer, so that a command can be
    /// pointed to it.
    pub fn bring_in(&self, path: &Path) -> Result<PathBuf> {
        let path = self.locate(path, true)?;
        self.copy_tree(&path, 0)?;
        self.inner.settle()?;
        Ok(self.inside(&path))
    }

    /// Takes over what a command did to a path's copy: if it is gone there, it is gone.
    pub fn take_over(&self, path: &Path) -> Result<()> {
        let path = self.locate(path, true)?;
        if self.inner.lstat_opt(&self.inside(&path))?.is_none() {
            self.gone.borrow_mut().insert(path);
        }
        Ok(())
    }

    /// Removes the layer with everything in it.
    pub fn discard(&self) -> Result<()> {
        self.inner.settle()?;
        remove_tree(self.inner, &self.upper, 0)
    }

    fn hidden(&self, path: &Path) -> bool {
        let gone = self.gone.borrow();
        !gone.is_empty() && path.ancestors().any(|part| gone.contains(part))
    }

    /// Where a path without links on the way really is, and what it is.
    fn find(&self, path: &Path) -> Result<Option<(PathBuf, Meta)>> {
        let inside = self.inside(path);
        if let Some(mut meta) = self.inner.lstat_opt(&inside)? {
            meta.dev = self.device(path)?.unwrap_or(meta.dev);
            return Ok(Some((inside, meta)));
        }
        if self.hidden(path) {
            return Ok(None);
        }
        Ok(self.inner.lstat_opt(path)?.map(|meta| (path.to_owned(), meta)))
    }

    // The layer may be on another device than what it covers; nobody is to see that.
    fn device(&self, path: &Path) -> Result<Option<u64>> {
        for place in path.ancestors() {
            if let Some(meta) = self.inner.lstat_opt(place)? {
                return Ok(Some(meta.dev));
            }
        }
        Ok(None)
    }

    fn need(&self, op: &'static str, path: &Path) -> Result<(PathBuf, Meta)> {
        self.find(path)?.ok_or_else(|| missing(op, path))
    }

    /// The path with every link on the way resolved in the changed view, and the last one
    /// if asked for.
    fn locate(&self, path: &Path, follow: bool) -> Result<PathBuf> {
        let whole = self.inner.cwd().join(path);
        let mut parts: VecDeque<OsString> = names(&whole);
        let mut out = PathBuf::from("/");
        let mut links = 0;
        while let Some(part) = parts.pop_front() {
            if part == ".." {
                out.pop();
                continue;
            }
            out.push(&part);
            if parts.is_empty() && !follow {
                break;
            }
            let Some((place, meta)) = self.find(&out)? else { continue };
            if !meta.is_symlink() {
                continue;
            }
            links += 1;
            if links > MAX_LINKS {
                let error = std::io::Error::from_raw_os_error(libc::ELOOP);
                return Err(HostError::io("follow", path, error));
            }
            let target = self.inner.read_link(&place)?;
            out.pop();
            if target.is_absolute() {
                out = PathBuf::from("/");
            }
            for name in names(&target).into_iter().rev() {
                parts.push_front(name);
            }
        }
        Ok(out)
    }

    /// Makes the directories above a path in the layer, as they are below it.
    fn make_way(&self, path: &Path) -> Result<()> {
        let above: Vec<&Path> = path.ancestors().skip(1).collect();
        for dir in above.into_iter().rev().filter(|dir| *dir != Path::new("/")) {
            let inside = self.inside(dir);
            if self.inner.lstat_opt(&inside)?.is_some() {
                continue;
            }
            let (_, meta) = self.need("enter", dir)?;
            self.inner.make_dir(&inside, meta.mode)?;
            self.adopt(&inside, &meta);
        }
        Ok(())
    }

    // Without root the copy stays ours, and some file systems keep no times.
    fn adopt(&self, inside: &Path, meta: &Meta) {
        let _ours = self.inner.set_owner(inside, Some(meta.uid), Some(meta.gid));
        let _now = self.inner.set_times(inside, Some(meta.atime), Some(meta.mtime));
    }

    /// Puts a copy of one thing into the layer, if it is not there yet.
    fn copy_up(&self, path: &Path) -> Result<PathBuf> {
        let (place, meta) = self.need("copy", path)?;
        let inside = self.inside(path);
        if place == inside {
            return Ok(inside);
        }
        self.make_way(path)?;
        match meta.kind {
            Kind::Directory => self.inner.make_dir(&inside, meta.mode)?,
            Kind::Symlink => self.inner.symlink(&self.inner.read_link(path)?, &inside)?,
            Kind::Fifo => self.inner.make_fifo(&inside, meta.mode)?,
            Kind::File => {
                let options = WriteOptions { mode: Some(meta.mode), ..WriteOptions::default() };
                self.inner.write(&inside, &self.inner.read(path)?, &options)?;
                for name in self.inner.xattrs(path).unwrap_or_default() {
                    let name = name.to_string_lossy();
                    let value = self.inner.xattr(path, &name).ok().flatten();
                    let _refused = self.inner.set_xattr(&inside, &name, value.as_deref());
                }
            }
            Kind::Socket | Kind::CharDevice | Kind::BlockDevice => {
                let error = std::io::Error::from(std::io::ErrorKind::Unsupported);
                return Err(HostError::io("copy", path, error));
            }
        }
        self.adopt(&inside, &meta);
        Ok(inside)
    }

    fn copy_tree(&self, path: &Path, depth: usize) -> Result<()> {
        self.copy_up(path)?;
        let (_, meta) = self.need("copy", path)?;
        if meta.is_dir() && depth < MAX_DEPTH {
            for entry in self.listed(path)? {
                self.copy_tree(&path.join(entry.name), depth + 1)?;
            }
        }
        Ok(())
    }

    fn listed(&self, path: &Path) -> Result<Vec<Entry>> {
        let inside = self.inside(path);
        let mut all: BTreeMap<OsString, Option<Kind>> = BTreeMap::new();
        if self.inner.lstat_opt(&inside)?.is_some() {
            let upper = self.inner.list(&inside)?;
            all.extend(upper.into_iter().map(|entry| (entry.name, entry.kind)));
        }
        if !self.hidden(path) && self.inner.lstat_opt(path)?.is_some() {
            let gone = self.gone.borrow();
            for entry in self.inner.list(path)? {
                if !gone.contains(&path.join(&entry.name)) {
                    all.entry(entry.name).or_insert(entry.kind);
                }
            }
        }
        Ok(all.into_iter().map(|(name, kind)| Entry { name, kind }).collect())
    }

    /// The place of something that is to be made: its way is there, the name is free.
    fn free(&self, op: &'static str, path: &Path) -> Result<PathBuf> {
        let path = self.locate(path, false)?;
        if self.find(&path)?.is_some() {
            return Err(HostError::io(op, path, std::io::Error::from_raw_os_error(libc::EEXIST)));
        }
        self.make_way(&path)?;
        Ok(self.inside(&path))
    }
}

fn names(path: &Path) -> VecDeque<OsString> {
    path.components()
        .filter_map(|part| match part {
            Component::Normal(name) => Some(name.to_owned()),
            Component::ParentDir => Some("..".into()),
            _ => None,
        })
        .collect()
}

fn missing(op: &'static str, path: &Path) -> HostError {
    HostError::io(op, path, std::io::Error::from_raw_os_error(libc::ENOENT))
}

fn remove_tree(host: &dyn Act, path: &Path, depth: usize) -> Result<()> {
    if !host.lstat(path)?.is_dir() {
        return host.remove_file(path);
    }
    // A simulated mode may keep even us from reading a directory.
    let _ours = host.set_mode(path, 0o700);
    if depth < MAX_DEPTH + 64 {
        for entry in host.list(path)? {
            remove_tree(host, &path.join(entry.name), depth + 1)?;
        }
    }
    host.remove_dir(path)
}

impl Files for OverlayHost<'_> {
    fn stat(&self, path: &Path) -> Result<Meta> {
        Ok(self.need("stat", &self.locate(path, true)?)?.1)
    }

    fn lstat(&self, path: &Path) -> Result<Meta> {
        Ok(self.need("stat", &self.locate(path, false)?)?.1)
    }

    fn read(&self, path: &Path) -> Result<Vec<u8>> {
        self.inner.read(&self.need("read", &self.locate(path, true)?)?.0)
    }

    fn read_limited(&self, path: &Path, limit: u64) -> Result<Vec<u8>> {
        self.inner.read_limited(&self.need("read", &self.locate(path, true)?)?.0, limit)
    }

    // What was simulated is ours; what lies below is judged with each link on the way.
    fn check_trusted(&self, path: &Path) -> Result<()> {
        let real = self.locate(path, true)?;
        if self.need("read", &real)?.0 == real { self.inner.check_trusted(path) } else { Ok(()) }
    }

    fn refused(&self) -> Option<String> {
        self.inner.refused()
    }

    fn open(&self, path: &Path) -> Result<Reader<'_>> {
        self.inner.open(&self.need("open", &self.locate(path, true)?)?.0)
    }

    fn read_link(&self, path: &Path) -> Result<PathBuf> {
        self.inner.read_link(&self.need("read link", &self.locate(path, false)?)?.0)
    }

    fn list(&self, path: &Path) -> Result<Vec<Entry>> {
        let path = self.locate(path, true)?;
        self.need("list", &path)?;
        self.listed(&path)
    }

    // Changes go to the layer, so no link of the machine can lead one astray.
    fn real_path_to_change(&self, path: &Path) -> Result<PathBuf> {
        self.real_path(path)
    }

    fn real_path(&self, path: &Path) -> Result<PathBuf> {
        let path = self.locate(path, true)?;
        self.need("resolve", &path)?;
        Ok(path)
    }

    fn space(&self, path: &Path, limit: Duration) -> Result<FsSpace> {
        self.inner.space(&self.need("stat", &self.locate(path, true)?)?.0, limit)
    }

    fn xattrs(&self, path: &Path) -> Result<Vec<OsString>> {
        self.inner.xattrs(&self.need("read attributes", &self.locate(path, true)?)?.0)
    }

    fn xattr(&self, path: &Path, name: &str) -> Result<Option<Vec<u8>>> {
        self.inner.xattr(&self.need("read attributes", &self.locate(path, true)?)?.0, name)
    }
}

impl Edits for OverlayHost<'_> {
    fn write(&self, path: &Path, content: &[u8], options: &WriteOptions) -> Result<()> {
        let path = self.locate(path, false)?;
        // What the old file had is kept, so it is brought up first.
        match self.find(&path)? {
            Some((_, meta)) if meta.is_file() => {
                self.copy_up(&path)?;
            }
            _ => self.make_way(&path)?,
        }
        self.inner.write(&self.inside(&path), content, options)
    }

    fn append(&self, path: &Path, content: &[u8], mode: u32) -> Result<()> {
        let path = self.locate(path, true)?;
        match self.find(&path)? {
            Some(_) => {
                self.copy_up(&path)?;
            }
            None => self.make_way(&path)?,
        }
        self.inner.append(&self.inside(&path), content, mode)
    }

    fn open_in_place(&self, path: &Path, how: &Opening) -> Result<Box<dyn InPlace>> {
        let path = self.locate(path, !how.exclusive)?;
        let found = self.find(&path)?;
        if !how.access.changes() {
            let (place, _) = found.ok_or_else(|| missing("open", &path))?;
            return self.inner.open_in_place(&place, how);
        }
        match found {
            // A device gets nothing; what is written to it stays in the layer.
            Some((_, meta)) if matches!(meta.kind, Kind::CharDevice | Kind::BlockDevice) => {
                self.make_way(&path)?;
                let how = Opening { create: Some(meta.mode), exclusive: false, ..*how };
                return self.inner.open_in_place(&self.inside(&path), &how);
            }
            Some(_) => {
                self.copy_up(&path)?;
            }
            None => self.make_way(&path)?,
        }
        self.inner.open_in_place(&self.inside(&path), how)
    }

    fn make_dir(&self, path: &Path, mode: u32) -> Result<()> {
        self.inner.make_dir(&self.free("create directory", path)?, mode)
    }

    fn make_fifo(&self, path: &Path, mode: u32) -> Result<()> {
        self.inner.make_fifo(&self.free("create pipe", path)?, mode)
    }

    fn remove_file(&self, path: &Path) -> Result<()> {
        let path = self.locate(path, false)?;
        let (place, meta) = self.need("remove", &path)?;
        if meta.is_dir() {
            return Err(HostError::io("remove", path, std::io::ErrorKind::IsADirectory));
        }
        if place != path {
            self.inner.remove_file(&place)?;
        }
        self.gone.borrow_mut().insert(path);
        Ok(())
    }

    fn remove_dir(&self, path: &Path) -> Result<()> {
        let path = self.locate(path, false)?;
        let (place, meta) = self.need("remove directory", &path)?;
        if !meta.is_dir() {
            return Err(HostError::io("remove directory", path, std::io::ErrorKind::NotADirectory));
        }
        if !self.listed(&path)?.is_empty() {
            let full = std::io::ErrorKind::DirectoryNotEmpty;
            return Err(HostError::io("remove directory", path, full));
        }
        if place != path {
            self.inner.remove_dir(&place)?;
        }
        self.gone.borrow_mut().insert(path);
        Ok(())
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        let (from, to) = (self.locate(from, false)?, self.locate(to, false)?);
        let (_, meta) = self.need("rename", &from)?;
        self.copy_tree(&from, 0)?;
        self.make_way(&to)?;
        if let Some((place, old)) = self.find(&to)?
            && old.is_dir()
        {
            if !meta.is_dir() || !self.listed(&to)?.is_empty() {
                return Err(HostError::io("rename", to, std::io::ErrorKind::DirectoryNotEmpty));
            }
            if place != to {
                self.inner.remove_dir(&place)?;
            }
        }
        self.inner.rename(&self.inside(&from), &self.inside(&to))?;
        let mut gone = self.gone.borrow_mut();
        gone.insert(to);
        gone.insert(from);
        Ok(())
    }

    fn symlink(&self, target: &Path, path: &Path) -> Result<()> {
        self.inner.symlink(target, &self.free("link", path)?)
    }

    fn hard_link(&self, existing: &Path, path: &Path) -> Result<()> {
        let existing = self.copy_up(&self.locate(existing, false)?)?;
        self.inner.hard_link(&existing, &self.free("link", path)?)
    }

    fn set_mode(&self, path: &Path, mode: u32) -> Result<()> {
        self.inner.set_mode(&self.copy_up(&self.locate(path, false)?)?, mode)
    }

    fn set_owner(&self, path: &Path, uid: Option<u32>, gid: Option<u32>) -> Result<()> {
        self.inner.set_owner(&self.copy_up(&self.locate(path, false)?)?, uid, gid)
    }

    fn set_times(&self, path: &Path, atime: Option<Time>, mtime: Option<Time>) -> Result<()> {
        self.inner.set_times(&self.copy_up(&self.locate(path, false)?)?, atime, mtime)
    }

    fn set_xattr(&self, path: &Path, name: &str, value: Option<&[u8]>) -> Result<()> {
        self.inner.set_xattr(&self.copy_up(&self.locate(path, true)?)?, name, value)
    }

    fn settle(&self) -> Result<()> {
        self.inner.settle()
    }

    // Nothing here is meant to last.
    fn commit(&self) -> Result<()> {
        self.inner.settle()
    }
}

pass_commands!(OverlayHost<'_>);
pass_surroundings!(OverlayHost<'_>);
pass_network!(OverlayHost<'_>);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MemoryHost;

    fn p(text: &str) -> &Path {
        Path::new(text)
    }

    fn machine() -> MemoryHost {
        let host = MemoryHost::linux();
        let options = WriteOptions { mode: Some(0o640), ..WriteOptions::default() };
        host.make_dir(p("/srv/"), 0o755).ok();
        host.make_dir(p("/srv/d"), 0o750).unwrap();
        host.make_dir(p("/layer"), 0o700).unwrap();
        host.write(p("/srv/d/a"), b"old", &options).unwrap();
        host.write(p("/srv/d/b"), b"b", &options).unwrap();
        host.symlink(p("d"), p("/srv/link")).unwrap();
        host
    }

    fn listing(host: &dyn Act, dir: &str) -> String {
        let names = host.list(p(dir)).unwrap();
        let names: Vec<_> = names.iter().map(|entry| entry.name.to_string_lossy()).collect();
        names.join(" ")
    }

    #[test]
    fn what_is_written_is_seen_above_and_not_below() {
        let lower = machine();
        let host = OverlayHost::new(&lower, "/layer".into());
        host.write(p("/srv/link/a"), b"new", &WriteOptions::default()).unwrap();
        assert_eq!(host.read(p("/srv/d/a")).unwrap(), b"new");
        assert_eq!(host.stat(p("/srv/d/a")).unwrap().mode, 0o640);
        assert_eq!(lower.read(p("/srv/d/a")).unwrap(), b"old");
        assert_eq!(lower.read(p("/layer/srv/d/a")).unwrap(), b"new");
        assert_eq!(lower.stat(p("/layer/srv/d")).unwrap().mode, 0o750);
        host.set_mode(p("/srv/d/b"), 0o600).unwrap();
        assert_eq!(lower.stat(p("/srv/d/b")).unwrap().mode, 0o640);
        host.append(p("/srv/d/log"), b"x", 0o600).unwrap();
        assert_eq!(listing(&host, "/srv/d"), "a b log");
        assert_eq!(listing(&lower, "/srv/d"), "a b");
        host.discard().unwrap();
        assert!(lower.stat(p("/layer")).is_err());
    }

    #[test]
    fn what_is_removed_stays_away_even_when_its_directory_is_made_again() {
        let lower = machine();
        let host = OverlayHost::new(&lower, "/layer".into());
        assert!(host.remove_dir(p("/srv/d")).is_err());
        host.remove_file(p("/srv/d/a")).unwrap();
        assert!(host.stat(p("/srv/d/a")).unwrap_err().is_not_found());
        host.remove_file(p("/srv/d/b")).unwrap();
        host.remove_dir(p("/srv/d")).unwrap();
        assert!(host.stat(p("/srv/link")).unwrap_err().is_not_found());
        host.make_dir(p("/srv/d"), 0o700).unwrap();
        assert_eq!(listing(&host, "/srv/d"), "");
        host.write(p("/srv/d/a"), b"2", &WriteOptions::default()).unwrap();
        assert_eq!(listing(&host, "/srv/link"), "a");
        assert_eq!(listing(&lower, "/srv/d"), "a b");
    }

    #[test]
    fn names_are_moved_and_linked_inside_the_layer() {
        let lower = machine();
        let host = OverlayHost::new(&lower, "/layer".into());
        host.rename(p("/srv/d"), p("/srv/e")).unwrap();
        assert_eq!(listing(&host, "/srv"), "e link");
        assert_eq!(listing(&host, "/srv/e"), "a b");
        host.hard_link(p("/srv/e/a"), p("/srv/c")).unwrap();
        host.symlink(p("/srv/c"), p("/srv/s")).unwrap();
        assert!(host.symlink(p("/srv/c"), p("/srv/s")).is_err());
        assert_eq!(host.read(p("/srv/s")).unwrap(), b"old");
        assert_eq!(host.real_path(p("/srv/s")).unwrap(), p("/srv/c"));
        assert_eq!(listing(&lower, "/srv"), "d link");
    }

    #[test]
    fn a_copy_can_be_handed_to_a_command_and_taken_back() {
        let lower = machine();
        let host = OverlayHost::new(&lower, "/layer".into());
        let copy = host.bring_in(p("/srv/d/a")).unwrap();
        assert_eq!(copy, p("/layer/srv/d/a"));
        lower.remove_file(&copy).unwrap();
        host.take_over(p("/srv/d/a")).unwrap();
        assert!(host.stat(p("/srv/d/a")).is_err());
        assert!(lower.stat(p("/srv/d/a")).is_ok());
    }
}
