//! A file opened to be changed where it is: same inode, same hard links, same attributes.
//!
//! [`crate::Edits::write`] replaces a file as a whole, which is right for configuration. A
//! program that opens a file and writes into it means that very file: others have it open,
//! it has a second name, or it is not a file of a disk at all (`/proc`, `/sys`, a device).

use crate::{Meta, Result, Time};

/// What an opened file is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Owner, mode and times alone; the content is not touched.
    Attributes,
    /// Reading and locks.
    Read,
    /// Writing.
    Write,
    /// Both.
    ReadWrite,
}

impl Access {
    /// Whether the file may be changed through it.
    pub fn changes(self) -> bool {
        self != Access::Read
    }
}

/// How a file is opened to be changed where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opening {
    /// What for.
    pub access: Access,
    /// Every write lands behind what is there at that moment.
    pub append: bool,
    /// Made with exactly this mode where it is missing; an error where not given.
    pub create: Option<u32>,
    /// With `create`: an error where the name is taken, by a link as well.
    pub exclusive: bool,
}

impl Opening {
    /// An existing file, for one use.
    pub fn of(access: Access) -> Opening {
        Opening { access, append: false, create: None, exclusive: false }
    }
}

/// What is requested of a lock on an open file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are those of flock(2)")]
pub enum LockWish {
    Shared { wait: bool },
    Exclusive { wait: bool },
    Release,
}

/// A file opened by [`crate::Edits::open_in_place`]. Every error is returned, none is kept
/// for later. It stays open until it is dropped, whatever happens to its name.
pub trait InPlace {
    /// What it is.
    fn meta(&self) -> Result<Meta>;
    /// The whole content from a position on.
    fn read_from(&self, at: u64) -> Result<Vec<u8>>;
    /// Writes at a position. What has no positions, as a pipe, gets it as it comes.
    fn write_at(&self, content: &[u8], at: u64) -> Result<()>;
    /// Writes behind what is there.
    fn append(&self, content: &[u8]) -> Result<()>;
    /// Makes sure that there is room for so many bytes at a position, without a change that
    /// can be seen. Where the file system does not know, the answer is yes.
    fn reserve(&self, at: u64, length: u64) -> Result<()>;
    /// Gives it this as its whole content. If that fails for want of room, the old content
    /// is still there.
    fn rewrite(&self, content: &[u8]) -> Result<()>;
    /// Cuts it, or fills it up with zeros.
    fn set_len(&self, length: u64) -> Result<()>;
    /// Returns when what was written survives a power loss.
    fn sync(&self) -> Result<()>;
    /// Takes or releases an advisory lock; false if another holds it and waiting was not
    /// asked for.
    fn lock(&self, wish: LockWish) -> Result<bool>;
    /// Sets permission bits.
    fn set_mode(&self, mode: u32) -> Result<()>;
    /// Sets owner and group.
    fn set_owner(&self, uid: Option<u32>, gid: Option<u32>) -> Result<()>;
    /// Sets access and modification time.
    fn set_times(&self, atime: Option<Time>, mtime: Option<Time>) -> Result<()>;
}
