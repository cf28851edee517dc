//! Files of the fake machine: the same promises as the real one, in a tree of inodes.

use std::ffi::OsString;
use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::tree::{Body, Caller, Errno, Found, Ino, Inode, Last};
use super::{MemoryHost, State};
use crate::in_place::{InPlace, Opening};
use crate::{
    Edits, Entry, Files, FsSpace, HostError, Kind, Meta, Operation, Reader, Result, Time,
    WriteOptions,
};

pub(super) const READ: u32 = 4;
pub(super) const WRITE: u32 = 2;

impl MemoryHost {
    // Every request passes here: faults are counted, the state is borrowed for just the
    // one request, and an errno becomes an error that names the item.
    fn ask<T>(
        &self,
        operation: Operation,
        path: &Path,
        work: impl FnOnce(&mut State) -> std::result::Result<T, Errno>,
    ) -> Result<T> {
        let mut state = self.state.borrow_mut();
        state.requests.push((operation, path.to_owned()));
        let result = match state.faults.check(operation) {
            Some(errno) => Err(errno),
            None => work(&mut state),
        };
        result.map_err(|errno| {
            HostError::io(operation.verb(), path, std::io::Error::from_raw_os_error(errno))
        })
    }
}

impl State {
    pub(super) fn caller(&self) -> Caller {
        Caller { uid: self.uid, gid: self.gid }
    }

    pub(super) fn walk(&self, path: &Path, last: Last) -> std::result::Result<Found, Errno> {
        self.tree.walk(&self.cwd, path, last, self.caller())
    }

    pub(super) fn find(&self, path: &Path, last: Last) -> std::result::Result<Ino, Errno> {
        self.walk(path, last)?.ino.ok_or(libc::ENOENT)
    }

    // The place of a name that is about to change.
    fn place(&self, path: &Path) -> std::result::Result<Found, Errno> {
        let found = self.walk(path, Last::Keep)?;
        if found.name.is_empty() { Err(libc::EBUSY) } else { Ok(found) }
    }

    // Asked last, as the kernel does: a missing or taken name is an error for anybody.
    pub(super) fn writable(&self, place: &Found) -> std::result::Result<(), Errno> {
        let allowed = self.caller().may(self.tree.get(place.parent), WRITE | 1);
        if allowed { Ok(()) } else { Err(libc::EACCES) }
    }

    fn vacant(&self, path: &Path) -> std::result::Result<Found, Errno> {
        let found = self.place(path)?;
        if found.ino.is_some() {
            return Err(libc::EEXIST);
        }
        self.writable(&found)?;
        Ok(found)
    }

    fn owned(&self, path: &Path) -> std::result::Result<Ino, Errno> {
        let ino = self.find(path, Last::Keep)?;
        if self.uid == 0 || self.tree.get(ino).uid == self.uid { Ok(ino) } else { Err(libc::EPERM) }
    }

    pub(super) fn fresh(&self, body: Body, mode: u32) -> Inode {
        Inode {
            body,
            mode: mode & 0o7777,
            uid: self.uid,
            gid: self.gid,
            links: 1,
            atime: self.now,
            mtime: self.now,
            ctime: self.now,
            xattrs: std::collections::BTreeMap::new(),
        }
    }

    pub(super) fn create(&mut self, place: &Found, inode: Inode) {
        let ino = self.tree.add(inode);
        self.tree.enter(place.parent, &place.name, ino, self.now);
    }

    fn content(&self, path: &Path) -> std::result::Result<Vec<u8>, Errno> {
        let ino = self.find(path, Last::Follow)?;
        let inode = self.tree.get(ino);
        if !self.caller().may(inode, READ) {
            return Err(libc::EACCES);
        }
        match &inode.body {
            Body::File(content) => Ok(content.clone()),
            Body::Dir(_) => Err(libc::EISDIR),
            // A pipe is opened without waiting, and nobody writes to it.
            Body::Special(Kind::Fifo) => Ok(Vec::new()),
            Body::Symlink(_) | Body::Special(_) => Err(libc::ENXIO),
        }
    }

    fn write(
        &mut self,
        path: &Path,
        content: &[u8],
        options: &WriteOptions,
    ) -> std::result::Result<(), Errno> {
        let place = self.place(path)?;
        let mut inode = match place.ino.map(|ino| self.tree.get(ino)) {
            Some(old) if matches!(old.body, Body::Dir(_)) => return Err(libc::EISDIR),
            // Written into, never replaced; nobody reads a pipe of this machine.
            Some(old) if let Body::Special(kind) = old.body => {
                return match kind {
                    Kind::CharDevice | Kind::Fifo if !self.caller().may(old, WRITE) => {
                        Err(libc::EACCES)
                    }
                    Kind::CharDevice => Ok(()),
                    Kind::Fifo => Err(libc::ENXIO),
                    _ => Err(libc::EINVAL),
                };
            }
            Some(old) if matches!(old.body, Body::File(_)) => {
                Inode { links: 1, body: Body::File(content.to_vec()), ..old.clone() }
            }
            _ => self.fresh(Body::File(content.to_vec()), 0o600),
        };
        self.writable(&place)?;
        if self.uid != 0 && options.uid.is_some_and(|uid| uid != self.uid) {
            return Err(libc::EPERM);
        }
        let (uid, gid) = (options.uid.unwrap_or(inode.uid), options.gid.unwrap_or(inode.gid));
        // As the real machine: set-id bits of another owner's file do not stay.
        let kept = if (uid, gid) == (inode.uid, inode.gid) { 0o7777 } else { 0o1777 };
        inode.mode = options.mode.unwrap_or(inode.mode & kept) & 0o7777;
        (inode.uid, inode.gid) = (uid, gid);
        inode.mtime = options.mtime.unwrap_or(self.now);
        inode.ctime = self.now;
        self.create(&place, inode);
        Ok(())
    }

    fn append(&mut self, path: &Path, content: &[u8], mode: u32) -> std::result::Result<(), Errno> {
        let place = self.place(path)?;
        let Some(ino) = place.ino else {
            self.writable(&place)?;
            let inode = self.fresh(Body::File(content.to_vec()), mode);
            self.create(&place, inode);
            return Ok(());
        };
        if !self.caller().may(self.tree.get(ino), WRITE) {
            return Err(libc::EACCES);
        }
        let is_root = self.uid == 0;
        let inode = self.tree.get_mut(ino);
        match &mut inode.body {
            Body::File(old) => {
                old.extend_from_slice(content);
                // As the kernel does: a write by anybody but root takes set-id bits away.
                if !is_root {
                    let group = if inode.mode & 0o010 == 0 { 0 } else { 0o2000 };
                    inode.mode &= !(0o4000 | group);
                }
            }
            Body::Dir(_) => return Err(libc::EISDIR),
            Body::Symlink(_) => return Err(libc::ELOOP),
            Body::Special(_) => return Err(libc::ENXIO),
        }
        self.tree.touch(ino, self.now);
        Ok(())
    }

    fn rename(&mut self, from: &Path, to: &Path) -> std::result::Result<(), Errno> {
        let (source, target) = (self.place(from)?, self.place(to)?);
        let ino = source.ino.ok_or(libc::ENOENT)?;
        let moves_dir = self.tree.dir(ino).is_some();
        if target.ino == Some(ino) {
            return Ok(());
        }
        if moves_dir && target.real.starts_with(&source.real) {
            return Err(libc::EINVAL);
        }
        if target.ino.is_some() && source.real.starts_with(&target.real) {
            return Err(libc::ENOTEMPTY);
        }
        self.writable(&source)?;
        self.writable(&target)?;
        if let Some(old) = target.ino {
            match self.tree.dir(old) {
                Some(_) if !moves_dir => return Err(libc::EISDIR),
                Some(names) if !names.is_empty() => return Err(libc::ENOTEMPTY),
                None if moves_dir => return Err(libc::ENOTDIR),
                _ => {}
            }
        }
        // The link count covers the moment in which both names exist; a directory would be
        // dropped by the count, so it is moved by hand.
        if moves_dir {
            let inode = self.tree.get(ino).clone();
            let moved = self.tree.add(inode);
            self.tree.leave(source.parent, &source.name, self.now);
            self.tree.enter(target.parent, &target.name, moved, self.now);
        } else {
            self.tree.get_mut(ino).links += 1;
            self.tree.leave(source.parent, &source.name, self.now);
            self.tree.enter(target.parent, &target.name, ino, self.now);
        }
        Ok(())
    }
}

impl Files for MemoryHost {
    fn stat(&self, path: &Path) -> Result<Meta> {
        self.ask(Operation::Stat, path, |state| {
            Ok(state.tree.meta(state.find(path, Last::Follow)?))
        })
    }

    fn lstat(&self, path: &Path) -> Result<Meta> {
        self.ask(Operation::Lstat, path, |state| Ok(state.tree.meta(state.find(path, Last::Keep)?)))
    }

    fn read(&self, path: &Path) -> Result<Vec<u8>> {
        self.ask(Operation::Read, path, |state| state.content(path))
    }

    fn read_limited(&self, path: &Path, limit: u64) -> Result<Vec<u8>> {
        let content = self.read(path)?;
        if content.len() as u64 > limit {
            return Err(HostError::TooLarge { path: path.to_owned(), limit });
        }
        Ok(content)
    }

    fn open(&self, path: &Path) -> Result<Reader<'_>> {
        let content = self.ask(Operation::Open, path, |state| state.content(path))?;
        Ok(Box::new(Cursor::new(content)))
    }

    fn read_link(&self, path: &Path) -> Result<PathBuf> {
        self.ask(Operation::ReadLink, path, |state| {
            match &state.tree.get(state.find(path, Last::Keep)?).body {
                Body::Symlink(target) => Ok(target.clone()),
                _ => Err(libc::EINVAL),
            }
        })
    }

    fn list(&self, path: &Path) -> Result<Vec<Entry>> {
        self.ask(Operation::List, path, |state| {
            let ino = state.find(path, Last::Follow)?;
            let names = state.tree.dir(ino).ok_or(libc::ENOTDIR)?;
            if !state.caller().may(state.tree.get(ino), READ) {
                return Err(libc::EACCES);
            }
            let entry = |(name, ino): (&OsString, &Ino)| Entry {
                name: name.clone(),
                kind: Some(state.tree.get(*ino).kind()),
            };
            Ok(names.iter().map(entry).collect())
        })
    }

    // Nobody else is on this machine.
    fn check_trusted(&self, path: &Path) -> Result<()> {
        self.stat(path).map(drop)
    }

    fn refused(&self) -> Option<String> {
        None
    }

    fn real_path_to_change(&self, path: &Path) -> Result<PathBuf> {
        self.real_path(path)
    }

    fn real_path(&self, path: &Path) -> Result<PathBuf> {
        self.ask(Operation::RealPath, path, |state| {
            let found = state.walk(path, Last::Follow)?;
            found.ino.map(|_| found.real).ok_or(libc::ENOENT)
        })
    }

    fn space(&self, path: &Path, _limit: Duration) -> Result<FsSpace> {
        self.ask(Operation::Space, path, |state| {
            state.find(path, Last::Follow)?;
            Ok(state.space)
        })
    }

    fn xattrs(&self, path: &Path) -> Result<Vec<OsString>> {
        self.ask(Operation::Xattrs, path, |state| {
            let ino = state.find(path, Last::Keep)?;
            Ok(state.tree.get(ino).xattrs.keys().cloned().collect())
        })
    }

    fn xattr(&self, path: &Path, name: &str) -> Result<Option<Vec<u8>>> {
        self.ask(Operation::Xattr, path, |state| {
            let ino = state.find(path, Last::Keep)?;
            Ok(state.tree.get(ino).xattrs.get(std::ffi::OsStr::new(name)).cloned())
        })
    }
}

impl Edits for MemoryHost {
    fn write(&self, path: &Path, content: &[u8], options: &WriteOptions) -> Result<()> {
        self.ask(Operation::Write, path, |state| state.write(path, content, options))
    }

    fn append(&self, path: &Path, content: &[u8], mode: u32) -> Result<()> {
        self.ask(Operation::Append, path, |state| state.append(path, content, mode))
    }

    fn open_in_place(&self, path: &Path, how: &Opening) -> Result<Box<dyn InPlace>> {
        let state = std::rc::Rc::clone(&self.state);
        let ino = self.ask(Operation::Open, path, |state| state.open_in_place(path, how))?;
        Ok(Box::new(super::in_place::Opened { state, ino, path: path.to_owned() }))
    }

    fn make_dir(&self, path: &Path, mode: u32) -> Result<()> {
        self.ask(Operation::MakeDir, path, |state| {
            let place = state.vacant(path)?;
            let inode = state.fresh(Body::Dir(std::collections::BTreeMap::new()), mode);
            state.create(&place, inode);
            Ok(())
        })
    }

    fn make_fifo(&self, path: &Path, mode: u32) -> Result<()> {
        self.ask(Operation::MakeFifo, path, |state| {
            let place = state.vacant(path)?;
            let inode = state.fresh(Body::Special(Kind::Fifo), mode);
            state.create(&place, inode);
            Ok(())
        })
    }

    fn remove_file(&self, path: &Path) -> Result<()> {
        self.ask(Operation::RemoveFile, path, |state| {
            let place = state.place(path)?;
            let ino = place.ino.ok_or(libc::ENOENT)?;
            state.writable(&place)?;
            if state.tree.dir(ino).is_some() {
                return Err(libc::EISDIR);
            }
            state.tree.leave(place.parent, &place.name, state.now);
            Ok(())
        })
    }

    fn remove_dir(&self, path: &Path) -> Result<()> {
        self.ask(Operation::RemoveDir, path, |state| {
            let place = state.place(path)?;
            let ino = place.ino.ok_or(libc::ENOENT)?;
            state.writable(&place)?;
            let names = state.tree.dir(ino).ok_or(libc::ENOTDIR)?;
            if !names.is_empty() {
                return Err(libc::ENOTEMPTY);
            }
            state.tree.leave(place.parent, &place.name, state.now);
            Ok(())
        })
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        self.ask(Operation::Rename, from, |state| state.rename(from, to))
    }

    fn symlink(&self, target: &Path, path: &Path) -> Result<()> {
        self.ask(Operation::Symlink, path, |state| {
            let place = state.vacant(path)?;
            let inode = state.fresh(Body::Symlink(target.to_owned()), 0o777);
            state.create(&place, inode);
            Ok(())
        })
    }

    fn hard_link(&self, existing: &Path, path: &Path) -> Result<()> {
        self.ask(Operation::HardLink, path, |state| {
            let source = state.walk(existing, Last::Keep)?;
            let place = state.place(path)?;
            let ino = source.ino.ok_or(libc::ENOENT)?;
            if place.ino.is_some() {
                return Err(libc::EEXIST);
            }
            state.writable(&place)?;
            if state.tree.dir(ino).is_some() {
                return Err(libc::EPERM);
            }
            state.tree.get_mut(ino).links += 1;
            state.tree.enter(place.parent, &place.name, ino, state.now);
            Ok(())
        })
    }

    fn set_mode(&self, path: &Path, mode: u32) -> Result<()> {
        self.ask(Operation::SetMode, path, |state| {
            let ino = state.owned(path)?;
            let now = state.now;
            let inode = state.tree.get_mut(ino);
            if matches!(inode.body, Body::Symlink(_)) {
                return Err(libc::ELOOP);
            }
            inode.mode = mode & 0o7777;
            inode.ctime = now;
            Ok(())
        })
    }

    fn set_owner(&self, path: &Path, uid: Option<u32>, gid: Option<u32>) -> Result<()> {
        self.ask(Operation::SetOwner, path, |state| {
            let ino = state.owned(path)?;
            if state.uid != 0 && uid.is_some_and(|uid| uid != state.uid) {
                return Err(libc::EPERM);
            }
            let now = state.now;
            let inode = state.tree.get_mut(ino);
            inode.uid = uid.unwrap_or(inode.uid);
            inode.gid = gid.unwrap_or(inode.gid);
            // As the kernel does: a change of owner takes the set-id bits of a file away.
            if matches!(inode.body, Body::File(_)) {
                inode.mode &= 0o1777;
            }
            inode.ctime = now;
            Ok(())
        })
    }

    fn set_times(&self, path: &Path, atime: Option<Time>, mtime: Option<Time>) -> Result<()> {
        self.ask(Operation::SetTimes, path, |state| {
            let ino = state.owned(path)?;
            let now = state.now;
            let inode = state.tree.get_mut(ino);
            inode.atime = atime.unwrap_or(inode.atime);
            inode.mtime = mtime.unwrap_or(inode.mtime);
            inode.ctime = now;
            Ok(())
        })
    }

    fn set_xattr(&self, path: &Path, name: &str, value: Option<&[u8]>) -> Result<()> {
        self.ask(Operation::SetXattr, path, |state| {
            let ino = state.owned(path)?;
            let xattrs = &mut state.tree.get_mut(ino).xattrs;
            match value {
                Some(value) => xattrs.insert(name.into(), value.to_vec()),
                None => xattrs.remove(std::ffi::OsStr::new(name)),
            };
            Ok(())
        })
    }

    fn settle(&self) -> Result<()> {
        self.ask(Operation::Settle, Path::new("/"), |_| Ok(()))
    }

    fn commit(&self) -> Result<()> {
        self.ask(Operation::Commit, Path::new("/"), |_| Ok(()))
    }
}
