//! Files as a machine offers them. Paths are bytes; listings come in byte order.
//!
//! Every path is walked safely: a symbolic link on the way is followed only if its owner
//! is root, the running user or the owner of what it points to. For a change the owner of
//! the directory that holds the link must pass too, and no link counts in a directory that
//! everybody can write. Callers need no checks of their own.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::directory::{ByPath, Directory};
use crate::in_place::{InPlace, Opening};
use crate::{HostError, Lock, Result, Time, limits};

/// A stream of a file's bytes.
pub type Reader<'a> = Box<dyn Read + 'a>;

/// Hands out the content of a file piece by piece. It may be called more than once.
pub type Pieces<'a> = &'a dyn Fn(&mut dyn Write) -> io::Result<()>;

/// What kind of thing a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Symlink,
    /// A named pipe.
    Fifo,
    /// A socket.
    Socket,
    /// A character device.
    CharDevice,
    /// A block device.
    BlockDevice,
}

impl Kind {
    /// The word that reports, Ruby and what is written in it have for it.
    pub fn word(self) -> &'static str {
        match self {
            Kind::File => "file",
            Kind::Directory => "directory",
            Kind::Symlink => "link",
            Kind::Fifo => "fifo",
            Kind::Socket => "socket",
            Kind::CharDevice => "characterSpecial",
            Kind::BlockDevice => "blockSpecial",
        }
    }

    /// The bits that the kernel keeps with the mode.
    pub fn bits(self) -> u32 {
        match self {
            Kind::File => 0o100_000,
            Kind::Directory => 0o040_000,
            Kind::Symlink => 0o120_000,
            Kind::Fifo => 0o010_000,
            Kind::Socket => 0o140_000,
            Kind::CharDevice => 0o020_000,
            Kind::BlockDevice => 0o060_000,
        }
    }
}

/// What the kernel knows of a file. `mode` holds the permission bits only (07777).
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are those of stat(2)")]
pub struct Meta {
    pub kind: Kind,
    pub mode: u32,
    pub uid: u32,
    pub gid: u32,
    pub size: u64,
    pub dev: u64,
    pub ino: u64,
    pub nlink: u64,
    pub rdev: u64,
    pub blocks: u64,
    pub atime: Time,
    pub mtime: Time,
    pub ctime: Time,
}

impl Meta {
    /// Whether it is a regular file.
    pub fn is_file(&self) -> bool {
        self.kind == Kind::File
    }

    /// Whether it is a directory.
    pub fn is_dir(&self) -> bool {
        self.kind == Kind::Directory
    }

    /// Whether it is a symbolic link.
    pub fn is_symlink(&self) -> bool {
        self.kind == Kind::Symlink
    }
}

/// A name in a directory.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    /// The name alone.
    pub name: OsString,
    /// What it stands for, a link not followed; nothing where the file system does not say.
    pub kind: Option<Kind>,
}

/// Room on the file system that holds a path, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub struct FsSpace {
    pub total: u64,
    pub free: u64,
    pub available: u64,
    pub inodes: u64,
    pub inodes_free: u64,
}

/// How a file is replaced. The default keeps what the old file had, and gives a new one
/// mode 0600 owned by the running user: nobody else sees content before its mode is set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WriteOptions {
    /// Mode of the result; the old file's, or 0600, where not given.
    pub mode: Option<u32>,
    /// Owner of the result; the old file's, or the running user, where not given.
    pub uid: Option<u32>,
    /// Group of the result; the old file's, or the running group, where not given.
    pub gid: Option<u32>,
    /// Modification time of the result; now, where not given.
    pub mtime: Option<Time>,
}

/// Looking at files.
pub trait Files {
    /// What a path stands for, links followed.
    fn stat(&self, path: &Path) -> Result<Meta>;
    /// What a path stands for, a final link not followed.
    fn lstat(&self, path: &Path) -> Result<Meta>;
    /// The whole content, up to [`limits::WHOLE`].
    fn read(&self, path: &Path) -> Result<Vec<u8>>;
    /// What a path stands for and its whole content, links followed, seen at one moment.
    fn read_with_meta(&self, path: &Path) -> Result<(Meta, Vec<u8>)> {
        Ok((self.stat(path)?, self.read(path)?))
    }
    /// The whole content, or an error if there is more of it than the limit.
    fn read_limited(&self, path: &Path, limit: u64) -> Result<Vec<u8>> {
        let too_large = || HostError::TooLarge { path: path.to_owned(), limit };
        if self.stat(path)?.size > limit {
            return Err(too_large());
        }
        let content = self.read(path)?;
        if content.len() as u64 > limit { Err(too_large()) } else { Ok(content) }
    }

    /// Refuses a file or a directory that somebody else could write, or reach by a name that
    /// somebody else could change. For an ordinary user there is nobody else.
    fn check_trusted(&self, path: &Path) -> Result<()>;
    /// The whole content of a file that nobody else can write, up to a limit
    /// (see [`crate::limits`]). For all that is acted upon as root: policy, modules, plug-ins.
    fn read_trusted_up_to(&self, path: &Path, limit: u64) -> Result<Vec<u8>> {
        self.check_trusted(path)?;
        self.read_limited(path, limit)
    }
    /// A policy that nobody else can write.
    fn read_trusted(&self, path: &Path) -> Result<Vec<u8>> {
        self.read_trusted_up_to(path, limits::POLICY)
    }
    /// Data for policy that nobody else can write.
    fn read_trusted_data(&self, path: &Path) -> Result<Vec<u8>> {
        self.read_trusted_up_to(path, limits::DATA)
    }
    /// The first refusal of these calls, for a run that takes what it cannot read for absent:
    /// it must not go on without what was refused.
    fn refused(&self) -> Option<String>;
    /// The names in a directory to which nobody else can add any.
    fn list_trusted(&self, path: &Path) -> Result<Vec<Entry>> {
        self.check_trusted(path)?;
        self.list(path)
    }

    /// The content as a stream, for files of any size.
    fn open(&self, path: &Path) -> Result<Reader<'_>>;
    /// The target of a symbolic link, as written.
    fn read_link(&self, path: &Path) -> Result<PathBuf>;
    /// The names in a directory in byte order, without `.` and `..`.
    fn list(&self, path: &Path) -> Result<Vec<Entry>>;
    /// A directory of which many names are looked at.
    fn directory<'a>(&'a self, path: &Path) -> Result<Box<dyn Directory + 'a>> {
        Ok(Box::new(ByPath { files: self, path: path.to_owned() }))
    }
    /// The path with every link resolved, for looking.
    fn real_path(&self, path: &Path) -> Result<PathBuf>;
    /// The path with every link resolved under the stricter rule for changes: what a write
    /// behind a final link goes to.
    fn real_path_to_change(&self, path: &Path) -> Result<PathBuf>;
    /// Room on the file system that holds the path. A dead network file system costs no
    /// more than the limit and gives an error of kind `TimedOut`.
    fn space(&self, path: &Path, limit: Duration) -> Result<FsSpace>;

    /// Names of extended attributes, in byte order; none where the file system has none.
    fn xattrs(&self, path: &Path) -> Result<Vec<OsString>>;
    /// One extended attribute.
    fn xattr(&self, path: &Path, name: &str) -> Result<Option<Vec<u8>>>;

    /// Whether anything has this name; a link counts whatever it points to.
    fn exists(&self, path: &Path) -> Result<bool> {
        Ok(self.lstat_opt(path)?.is_some())
    }

    /// `stat`, with absence as `None`.
    fn stat_opt(&self, path: &Path) -> Result<Option<Meta>> {
        absent(self.stat(path))
    }

    /// `lstat`, with absence as `None`.
    fn lstat_opt(&self, path: &Path) -> Result<Option<Meta>> {
        absent(self.lstat(path))
    }

    /// `read`, with absence as `None`.
    fn read_opt(&self, path: &Path) -> Result<Option<Vec<u8>>> {
        absent(self.read(path))
    }

    /// `read_trusted`, with absence as `None`.
    fn read_trusted_opt(&self, path: &Path) -> Result<Option<Vec<u8>>> {
        absent(self.read_trusted(path))
    }

    /// `read_trusted_data`, with absence as `None`.
    fn read_trusted_data_opt(&self, path: &Path) -> Result<Option<Vec<u8>>> {
        absent(self.read_trusted_data(path))
    }

    /// `list_trusted`, with absence as `None`.
    fn list_trusted_opt(&self, path: &Path) -> Result<Option<Vec<Entry>>> {
        absent(self.list_trusted(path))
    }
}

/// Changing files. Reachable only where a change is made: see [`crate::Act`].
pub trait Edits: Files {
    /// Makes `path` a regular file with this content, replacing an old one as a whole: a
    /// reader, a kill and a power loss see the old or the new file. Keeps the old file's
    /// owner, mode, ACL, label and other extended attributes unless the caller says otherwise. A
    /// final link is replaced, not followed; resolve it first to write behind it.
    fn write(&self, path: &Path, content: &[u8], options: &WriteOptions) -> Result<()>;
    /// The same for content that is too large to be held in memory as a whole.
    fn write_pieces(&self, path: &Path, pieces: Pieces<'_>, options: &WriteOptions) -> Result<()> {
        let mut whole = Vec::new();
        pieces(&mut whole).map_err(|error| HostError::io("write", path, error))?;
        self.write(path, &whole, options)
    }
    /// Makes `to` a regular file with the content of another, of any size, by the rules of
    /// [`Edits::write`]. Links to the source are followed; its owner and mode do not count.
    fn copy_file(&self, from: &Path, to: &Path, options: &WriteOptions) -> Result<()> {
        self.write(to, &self.read(from)?, options)
    }
    /// Adds to the end of a file in place, making it first if needed. For logs.
    fn append(&self, path: &Path, content: &[u8], mode: u32) -> Result<()>;
    /// Opens a file to be changed where it is: the inode stays, and so do hard links and
    /// attributes. A final link is followed by the rules of the walk, unless the name is to
    /// be made exclusively. Never waits for the other end of a pipe.
    fn open_in_place(&self, path: &Path, how: &Opening) -> Result<Box<dyn InPlace>>;
    /// Makes a directory; its parent must be there. The mode is exact, whatever the umask.
    fn make_dir(&self, path: &Path, mode: u32) -> Result<()>;
    /// Makes a named pipe. The mode is exact, whatever the umask.
    fn make_fifo(&self, path: &Path, mode: u32) -> Result<()>;
    /// Removes a file, link, pipe, socket or device.
    fn remove_file(&self, path: &Path) -> Result<()>;
    /// Removes an empty directory.
    fn remove_dir(&self, path: &Path) -> Result<()>;
    /// Gives a file another name on the same file system, replacing what has it.
    fn rename(&self, from: &Path, to: &Path) -> Result<()>;
    /// Makes a symbolic link at `path`; fails if the name is taken.
    fn symlink(&self, target: &Path, path: &Path) -> Result<()>;
    /// Makes a second name for an existing file; fails if the name is taken.
    fn hard_link(&self, existing: &Path, path: &Path) -> Result<()>;
    /// Sets permission bits; a final link is refused.
    fn set_mode(&self, path: &Path, mode: u32) -> Result<()>;
    /// Sets owner and group; of a final link itself, never of what it points to.
    fn set_owner(&self, path: &Path, uid: Option<u32>, gid: Option<u32>) -> Result<()>;
    /// Sets access and modification time; of a final link itself.
    fn set_times(&self, path: &Path, atime: Option<Time>, mtime: Option<Time>) -> Result<()>;
    /// Sets or, with `None`, removes one extended attribute.
    fn set_xattr(&self, path: &Path, name: &str, value: Option<&[u8]>) -> Result<()>;

    /// Keeps other processes out that take the same lock, for a moment; `None` where they could
    /// not be kept out within the patience. There are no others on a fake machine.
    fn lock(&self, _path: &Path, _patience: Duration) -> Result<Option<Lock>> {
        Ok(None)
    }

    /// Puts every change made so far under its final name, for others to see. Called by
    /// the host itself before a command starts.
    fn settle(&self) -> Result<()>;
    /// Returns when every change made so far survives a power loss.
    fn commit(&self) -> Result<()>;
}

fn absent<T>(result: Result<T>) -> Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.is_not_found() => Ok(None),
        Err(error) => Err(error),
    }
}
