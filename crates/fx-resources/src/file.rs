//! A regular file: there or not, with this content, mode, owner and group.
//!
//! Content comes as bytes or as a copy of another local file. Fetching from elsewhere,
//! templates and edits are the languages' work.

pub(crate) mod apply;
pub mod backup;
pub(crate) mod observe;
mod stamp;
pub mod verify;

use std::path::PathBuf;
use std::rc::Rc;

use fx_engine::{Change, Failure, Resource, ResourceId, Target};
use fx_host::{Act, Look, Meta};

use crate::account::Account;
use crate::digest::Algorithm;
use crate::mode::Mode;

pub use backup::Backup;
pub use verify::Verify;

/// What a file should be. Properties that are `None` are not looked at.
#[derive(Clone, Debug, Default)]
pub struct Desired {
    /// Where, absolute.
    pub path: PathBuf,
    /// Whether it should be there.
    pub ensure: Ensure,
    /// What it should hold.
    pub content: Option<Content>,
    /// Permission bits.
    pub mode: Option<Mode>,
    /// Bits of a file that is created and has no `mode`, or that a symbolic mode starts
    /// from; 0600 where not given.
    pub create_mode: Option<u32>,
    /// Owner.
    pub owner: Option<Account>,
    /// Group.
    pub group: Option<Account>,
    /// Where the old content goes before it is replaced or removed.
    pub backup: Backup,
    /// What a symbolic link at the path stands for.
    pub links: Links,
    /// What happens to something else that has the name.
    pub obstruction: Obstruction,
    /// Content is given to a new file only; an old one keeps its own.
    pub create_only: bool,
    /// Commands that must accept new content before it gets its name.
    pub verify: Vec<Verify>,
    /// Which digest reports show.
    pub checksum: Algorithm,
    /// Keeps content and its digest out of all reports.
    pub sensitive: bool,
}

/// Whether a file should be there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ensure {
    /// It is made if it is missing.
    #[default]
    Present,
    /// It is managed if it is there, and its absence is fine.
    IfPresent,
    /// It is removed.
    Absent,
}

/// Where content comes from.
#[derive(Clone)]
pub enum Content {
    /// Exactly these bytes.
    Bytes(Rc<[u8]>),
    /// Those of another file on this machine.
    Copy {
        /// The other file.
        source: PathBuf,
    },
}

impl Content {
    /// Exactly these bytes.
    pub fn bytes(bytes: impl AsRef<[u8]>) -> Content {
        Content::Bytes(bytes.as_ref().into())
    }

    /// Those of another file on this machine.
    pub fn copy(source: impl Into<PathBuf>) -> Content {
        Content::Copy { source: source.into() }
    }
}

// Content may be secret, so its debug form says only where it comes from.
impl std::fmt::Debug for Content {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Content::Bytes(bytes) => write!(f, "Bytes({})", bytes.len()),
            Content::Copy { source } => write!(f, "Copy({source:?})"),
        }
    }
}

/// What a symbolic link at the path stands for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Links {
    /// The link is in the way and gives place to the file.
    #[default]
    Replace,
    /// The file it points to is meant.
    Follow,
}

/// What happens to something of another kind that has the name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Obstruction {
    /// Nothing; the attempt fails.
    #[default]
    Refuse,
    /// It is removed, a directory with all it holds.
    Remove,
}

/// A file with its desired state.
pub struct File {
    /// What it should be.
    pub desired: Desired,
    /// What the caller has just seen at the path, if it saw something.
    known: Option<Meta>,
    seen: Option<Seen>,
}

/// New content: in memory, or a file that is too large for that.
enum New {
    Bytes(Rc<[u8]>),
    CopyOf(PathBuf),
}

/// What `observe` found and worked out, kept for `apply`.
struct Seen {
    path: PathBuf,
    meta: Option<Meta>,
    new: Option<New>,
    mode: Option<u32>,
}

impl File {
    /// A file that should be like this.
    pub fn new(desired: Desired) -> File {
        File { desired, known: None, seen: None }
    }

    /// Spares the first observation the look at the path: the caller has just looked.
    pub fn with_known(mut self, there: Option<Meta>) -> File {
        self.known = there;
        self
    }
}

impl Resource for File {
    fn id(&self) -> ResourceId {
        ResourceId::new("file", self.desired.path.to_string_lossy())
    }

    fn target(&self) -> Target {
        Target::file(&self.desired.path)
    }

    fn observe(&mut self, host: &dyn Look) -> Result<Vec<Change>, Failure> {
        self.seen = None;
        let (seen, changes) = observe::observe(host, &self.desired, self.known.take())?;
        self.seen = Some(seen);
        Ok(changes)
    }

    fn apply(&mut self, host: &dyn Act, changes: &[Change]) -> Result<(), Failure> {
        match self.seen.take() {
            Some(seen) => apply::apply(host, &self.desired, seen, changes),
            None => Err(Failure::new("file was not observed before it was applied")),
        }
    }
}

#[cfg(test)]
mod tests;
