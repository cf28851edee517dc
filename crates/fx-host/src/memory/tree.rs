//! The inodes of the fake machine and the walk along a path, links followed with a limit.
//!
//! Knows nothing of faults, clocks or commands; permission is checked here because the
//! walk is where the kernel checks it.

use std::collections::{BTreeMap, VecDeque};
use std::ffi::{OsStr, OsString};
use std::path::{Component, Path, PathBuf};

use crate::{Kind, Meta, Time};

/// The kernel gives up after this many links in one walk.
const LINK_LIMIT: u32 = 40;

pub(super) type Ino = usize;
pub(super) type Errno = i32;

/// What an inode holds.
#[derive(Clone, Debug)]
pub(super) enum Body {
    File(Vec<u8>),
    Dir(BTreeMap<OsString, Ino>),
    Symlink(PathBuf),
    Special(Kind),
}

#[derive(Clone, Debug)]
pub(super) struct Inode {
    pub(super) body: Body,
    pub(super) mode: u32,
    pub(super) uid: u32,
    pub(super) gid: u32,
    pub(super) links: u64,
    pub(super) atime: Time,
    pub(super) mtime: Time,
    pub(super) ctime: Time,
    pub(super) xattrs: BTreeMap<OsString, Vec<u8>>,
}

impl Inode {
    pub(super) fn kind(&self) -> Kind {
        match &self.body {
            Body::File(_) => Kind::File,
            Body::Dir(_) => Kind::Directory,
            Body::Symlink(_) => Kind::Symlink,
            Body::Special(kind) => *kind,
        }
    }
}

/// Who asks; root may do everything.
#[derive(Clone, Copy, Debug)]
pub(super) struct Caller {
    pub(super) uid: u32,
    pub(super) gid: u32,
}

impl Caller {
    /// Whether the caller may use the inode with these bits (4 read, 2 write, 1 search).
    pub(super) fn may(self, inode: &Inode, bits: u32) -> bool {
        let shift = match self {
            Caller { uid: 0, .. } => return true,
            Caller { uid, .. } if uid == inode.uid => 6,
            Caller { gid, .. } if gid == inode.gid => 3,
            _ => 0,
        };
        inode.mode >> shift & bits == bits
    }
}

/// Where a walk ended: the directory, the last name, and what has that name.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) parent: Ino,
    pub(super) name: OsString,
    pub(super) ino: Option<Ino>,
    /// The path with every link on the way resolved.
    pub(super) real: PathBuf,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Last {
    Follow,
    Keep,
}

/// All inodes; number one is the root directory, zero is never used.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    inodes: Vec<Option<Inode>>,
}

pub(super) const ROOT: Ino = 1;

impl Tree {
    pub(super) fn new() -> Tree {
        let root = Inode {
            body: Body::Dir(BTreeMap::new()),
            mode: 0o755,
            uid: 0,
            gid: 0,
            links: 2,
            atime: Time::default(),
            mtime: Time::default(),
            ctime: Time::default(),
            xattrs: BTreeMap::new(),
        };
        Tree { inodes: vec![None, Some(root)] }
    }

    pub(super) fn get(&self, ino: Ino) -> &Inode {
        self.inodes[ino].as_ref().expect("a name points to a live inode")
    }

    pub(super) fn get_mut(&mut self, ino: Ino) -> &mut Inode {
        self.inodes[ino].as_mut().expect("a name points to a live inode")
    }

    pub(super) fn is_live(&self, ino: Ino) -> bool {
        self.inodes.get(ino).is_some_and(Option::is_some)
    }

    /// An inode that may have lost its last name.
    pub(super) fn live_mut(&mut self, ino: Ino) -> Option<&mut Inode> {
        self.inodes.get_mut(ino)?.as_mut()
    }

    pub(super) fn dir(&self, ino: Ino) -> Option<&BTreeMap<OsString, Ino>> {
        match &self.get(ino).body {
            Body::Dir(names) => Some(names),
            _ => None,
        }
    }

    fn dir_mut(&mut self, ino: Ino) -> &mut BTreeMap<OsString, Ino> {
        match &mut self.get_mut(ino).body {
            Body::Dir(names) => names,
            _ => unreachable!("callers look up the parent as a directory first"),
        }
    }

    pub(super) fn meta(&self, ino: Ino) -> Meta {
        let inode = self.get(ino);
        let size = match &inode.body {
            Body::File(content) => content.len() as u64,
            Body::Dir(names) => 4096.max(names.len() as u64),
            Body::Symlink(target) => target.as_os_str().len() as u64,
            Body::Special(_) => 0,
        };
        let links = match &inode.body {
            Body::Dir(names) => {
                2 + names.values().filter(|child| self.dir(**child).is_some()).count() as u64
            }
            _ => inode.links,
        };
        Meta {
            kind: inode.kind(),
            mode: inode.mode,
            uid: inode.uid,
            gid: inode.gid,
            size,
            dev: 1,
            ino: ino as u64,
            nlink: links,
            rdev: 0,
            blocks: size.div_ceil(512),
            atime: inode.atime,
            mtime: inode.mtime,
            ctime: inode.ctime,
        }
    }

    /// Walks a path. A missing last name is no error; a missing directory is.
    pub(super) fn walk(
        &self,
        cwd: &Path,
        path: &Path,
        last: Last,
        caller: Caller,
    ) -> Result<Found, Errno> {
        if path.as_os_str().is_empty() {
            return Err(libc::ENOENT);
        }
        let mut todo = VecDeque::new();
        queue(&mut todo, &cwd.join(path));
        let mut stack: Vec<(OsString, Ino)> = vec![(OsString::new(), ROOT)];
        let mut links = 0;
        while let Some(part) = todo.pop_front() {
            let here = stack.last().map_or(ROOT, |(_, ino)| *ino);
            let names = self.dir(here).ok_or(libc::ENOTDIR)?;
            if !caller.may(self.get(here), 1) {
                return Err(libc::EACCES);
            }
            if part == ".." {
                if stack.len() > 1 {
                    stack.pop();
                }
                continue;
            }
            let is_last = todo.is_empty();
            let Some(ino) = names.get(&part).copied() else {
                if is_last {
                    let real = joined(&stack).join(&part);
                    return Ok(Found { parent: here, name: part, ino: None, real });
                }
                return Err(libc::ENOENT);
            };
            match &self.get(ino).body {
                Body::Symlink(target) if !is_last || last == Last::Follow => {
                    links += 1;
                    if links > LINK_LIMIT {
                        return Err(libc::ELOOP);
                    }
                    if target.is_absolute() {
                        stack.truncate(1);
                    }
                    queue(&mut todo, target);
                }
                _ => stack.push((part, ino)),
            }
        }
        let real = joined(&stack);
        let (name, ino) = stack.pop().expect("the root never leaves the stack");
        let parent = stack.last().map_or(ROOT, |(_, ino)| *ino);
        Ok(Found { parent, name, ino: Some(ino), real })
    }

    /// Gives an inode a name, replacing what has it.
    pub(super) fn enter(&mut self, parent: Ino, name: &OsStr, ino: Ino, now: Time) {
        let old = self.dir_mut(parent).insert(name.to_owned(), ino);
        self.touch(parent, now);
        if let Some(old) = old {
            self.unref(old);
        }
    }

    /// Takes a name away.
    pub(super) fn leave(&mut self, parent: Ino, name: &OsStr, now: Time) {
        if let Some(ino) = self.dir_mut(parent).remove(name) {
            self.touch(parent, now);
            self.unref(ino);
        }
    }

    pub(super) fn add(&mut self, inode: Inode) -> Ino {
        self.inodes.push(Some(inode));
        self.inodes.len() - 1
    }

    pub(super) fn touch(&mut self, ino: Ino, now: Time) {
        let inode = self.get_mut(ino);
        inode.mtime = now;
        inode.ctime = now;
    }

    fn unref(&mut self, ino: Ino) {
        let inode = self.get_mut(ino);
        inode.links = inode.links.saturating_sub(1);
        if inode.links == 0 || matches!(inode.body, Body::Dir(_)) {
            self.inodes[ino] = None;
        }
    }
}

// Puts the parts of a path in front of what is still to be walked.
fn queue(todo: &mut VecDeque<OsString>, path: &Path) {
    for part in path.components().rev() {
        match part {
            Component::Normal(name) => todo.push_front(name.to_owned()),
            Component::ParentDir => todo.push_front("..".into()),
            Component::RootDir | Component::CurDir | Component::Prefix(_) => {}
        }
    }
}

fn joined(stack: &[(OsString, Ino)]) -> PathBuf {
    let mut path = PathBuf::from("/");
    path.extend(stack.iter().skip(1).map(|(name, _)| name));
    path
}
