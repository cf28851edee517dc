//! Files of the fake machine changed where they are. What is written to a file that has lost
//! its last name is forgotten, as nobody can look at it.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::State;
use super::files::{READ, WRITE};
use super::tree::{Body, Errno, Ino, Inode, Last};
use crate::in_place::{Access, InPlace, LockWish, Opening};
use crate::{HostError, Kind, Meta, Operation, Result, Time};

pub(super) struct Opened {
    pub(super) state: Rc<RefCell<State>>,
    pub(super) ino: Ino,
    pub(super) path: PathBuf,
}

impl State {
    pub(super) fn open_in_place(
        &mut self,
        path: &Path,
        how: &Opening,
    ) -> std::result::Result<Ino, Errno> {
        let last = if how.exclusive { Last::Keep } else { Last::Follow };
        let found = self.walk(path, last)?;
        let Some(ino) = found.ino else {
            let mode = how.create.ok_or(libc::ENOENT)?;
            self.writable(&found)?;
            let inode = self.fresh(Body::File(Vec::new()), mode);
            self.create(&found, inode);
            return self.walk(path, last)?.ino.ok_or(libc::ENOENT);
        };
        if how.exclusive {
            return Err(libc::EEXIST);
        }
        let inode = self.tree.get(ino);
        let needs = match how.access {
            Access::Attributes => {
                let owns = self.uid == 0 || inode.uid == self.uid;
                return if owns { Ok(ino) } else { Err(libc::EPERM) };
            }
            Access::Read => READ,
            Access::Write => WRITE,
            Access::ReadWrite => READ | WRITE,
        };
        match inode.kind() {
            Kind::Directory if how.access.changes() => return Err(libc::EISDIR),
            Kind::Socket => return Err(libc::ENXIO),
            Kind::Fifo if how.access == Access::Write => return Err(libc::ENXIO),
            _ => {}
        }
        if self.caller().may(inode, needs) { Ok(ino) } else { Err(libc::EACCES) }
    }
}

impl Opened {
    fn ask<T: Default>(
        &self,
        operation: Operation,
        work: impl FnOnce(&mut Inode, Time) -> T,
    ) -> Result<T> {
        let mut state = self.state.borrow_mut();
        if let Some(errno) = state.faults.check(operation) {
            let error = std::io::Error::from_raw_os_error(errno);
            return Err(HostError::io(operation.verb(), &self.path, error));
        }
        let now = state.now;
        Ok(state.tree.live_mut(self.ino).map(|inode| work(inode, now)).unwrap_or_default())
    }

    fn change(&self, work: impl FnOnce(&mut Vec<u8>)) -> Result<()> {
        self.ask(Operation::Write, |inode, now| {
            if let Body::File(content) = &mut inode.body {
                work(content);
                inode.mtime = now;
                inode.ctime = now;
            }
        })
    }
}

fn length(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

impl InPlace for Opened {
    fn meta(&self) -> Result<Meta> {
        let state = self.state.borrow();
        if state.tree.is_live(self.ino) {
            return Ok(state.tree.meta(self.ino));
        }
        let gone = std::io::Error::from_raw_os_error(libc::ESTALE);
        Err(HostError::io("stat", &self.path, gone))
    }

    fn read_from(&self, at: u64) -> Result<Vec<u8>> {
        self.ask(Operation::Read, |inode, _| match &inode.body {
            Body::File(content) => content.get(length(at)..).unwrap_or_default().to_vec(),
            _ => Vec::new(),
        })
    }

    fn write_at(&self, content: &[u8], at: u64) -> Result<()> {
        self.change(|old| {
            let (at, end) = (length(at), length(at) + content.len());
            if old.len() < end {
                old.resize(end, 0);
            }
            old[at..end].copy_from_slice(content);
        })
    }

    fn append(&self, content: &[u8]) -> Result<()> {
        self.change(|old| old.extend_from_slice(content))
    }

    fn reserve(&self, _at: u64, _length: u64) -> Result<()> {
        Ok(())
    }

    fn rewrite(&self, content: &[u8]) -> Result<()> {
        self.change(|old| *old = content.to_vec())
    }

    fn set_len(&self, wanted: u64) -> Result<()> {
        self.change(|old| old.resize(length(wanted), 0))
    }

    fn sync(&self) -> Result<()> {
        Ok(())
    }

    // Nobody else is on this machine.
    fn lock(&self, _wish: LockWish) -> Result<bool> {
        Ok(true)
    }

    fn set_mode(&self, mode: u32) -> Result<()> {
        self.ask(Operation::SetMode, |inode, now| {
            inode.mode = mode & 0o7777;
            inode.ctime = now;
        })
    }

    fn set_owner(&self, uid: Option<u32>, gid: Option<u32>) -> Result<()> {
        self.ask(Operation::SetOwner, |inode, now| {
            inode.uid = uid.unwrap_or(inode.uid);
            inode.gid = gid.unwrap_or(inode.gid);
            // As the kernel does: a change of owner takes the set-id bits of a file away.
            if matches!(inode.body, Body::File(_)) {
                inode.mode &= 0o1777;
            }
            inode.ctime = now;
        })
    }

    fn set_times(&self, atime: Option<Time>, mtime: Option<Time>) -> Result<()> {
        self.ask(Operation::SetTimes, |inode, now| {
            inode.atime = atime.unwrap_or(inode.atime);
            inode.mtime = mtime.unwrap_or(inode.mtime);
            inode.ctime = now;
        })
    }
}
