//! What can go wrong when the machine is asked for something; always names the item.

use std::io;
use std::path::{Path, PathBuf};

/// A refusal or failure of the machine.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HostError {
    /// The kernel said no.
    #[error("cannot {op} '{}': {}", path.display(), answer)]
    Io {
        /// What was tried, as a verb: `read`, `create directory`.
        op: &'static str,
        /// On what.
        path: PathBuf,
        /// The kernel's answer.
        answer: Answer,
    },
    /// A component of the path could be swapped by somebody else, so it was not followed.
    #[error("refusing to follow '{}' on the way to '{}': {reason}", link.display(), path.display())]
    UnsafePath {
        /// The path asked for.
        path: PathBuf,
        /// The component that is not trusted.
        link: PathBuf,
        /// Why not.
        reason: String,
    },
    /// Somebody else can write what root was about to read and act upon.
    #[error(
        "refusing to read '{}' as root: '{}' {reason}; make it root's ({remedy} '{}'), or accept it by setting FIXPOINT_TRUST={}",
        path.display(), culprit.display(), culprit.display(), vouch(culprit, path)
    )]
    Untrusted {
        /// The file or directory asked for.
        path: PathBuf,
        /// What others can write: the file itself, or something on the way.
        culprit: PathBuf,
        /// Who can write it.
        reason: String,
        /// The command that mends it, without the path.
        remedy: &'static str,
    },
    /// A file is larger than what is read into memory.
    #[error("cannot read '{}': it is larger than {} MiB", path.display(), limit >> 20)]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The largest size accepted, in bytes.
        limit: u64,
    },
    /// A command could not be started, or its rules could not be kept.
    #[error("cannot run '{program}': {reason}")]
    Command {
        /// The program asked for.
        program: String,
        /// What stood in the way.
        reason: String,
        /// The kernel's answer, where there was one.
        kind: io::ErrorKind,
    },
    /// There is no copy of the machine.
    #[error("cannot make a copy of the machine: {step}: {}", answer)]
    Copy {
        /// What was being done.
        step: String,
        /// The kernel's answer.
        answer: Answer,
    },
    /// A request over the network failed.
    #[error("cannot fetch '{url}': {reason}")]
    Net {
        /// The address, without credentials.
        url: String,
        /// What went wrong.
        reason: String,
    },
    /// The host at hand does not offer this, as a fake machine without a network does not.
    #[error("{0} is not available on this host")]
    Unavailable(&'static str),
}

impl HostError {
    /// Wraps a kernel error with what was tried on which path.
    pub fn io(op: &'static str, path: impl AsRef<Path>, source: impl Into<io::Error>) -> HostError {
        HostError::Io { op, path: path.as_ref().to_owned(), answer: Answer::from(source.into()) }
    }

    /// The kind of the kernel's answer; `Other` where the kernel was not asked.
    pub fn kind(&self) -> io::ErrorKind {
        match self {
            HostError::Io { answer, .. } | HostError::Copy { answer, .. } => answer.kind,
            HostError::UnsafePath { .. } | HostError::Untrusted { .. } => {
                io::ErrorKind::PermissionDenied
            }
            HostError::TooLarge { .. } => io::ErrorKind::FileTooLarge,
            HostError::Command { kind, .. } => *kind,
            HostError::Net { .. } => io::ErrorKind::Other,
            HostError::Unavailable(_) => io::ErrorKind::Unsupported,
        }
    }

    /// Whether the item simply is not there.
    pub fn is_not_found(&self) -> bool {
        matches!(self.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
    }

    /// Whether links on the way lead in a circle.
    pub fn is_loop(&self) -> bool {
        self.errno() == Some(rustix::io::Errno::LOOP.raw_os_error())
    }

    /// The file or directory it is about, where it is about one.
    pub fn path(&self) -> Option<&Path> {
        match self {
            HostError::Io { path, .. }
            | HostError::UnsafePath { path, .. }
            | HostError::Untrusted { path, .. }
            | HostError::TooLarge { path, .. } => Some(path),
            _ => None,
        }
    }

    /// The kernel's number, for languages that show it.
    pub fn errno(&self) -> Option<i32> {
        match self {
            HostError::Io { answer, .. } => answer.errno,
            _ => None,
        }
    }
}

/// The directory to vouch for: what others can write, or where it lies.
fn vouch(culprit: &Path, asked: &Path) -> String {
    let dir = if culprit == asked { culprit.parent().unwrap_or(culprit) } else { culprit };
    dir.display().to_string()
}

/// An error of the kernel as data that can be kept and compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Its kind.
    pub kind: io::ErrorKind,
    /// Its number, where the kernel itself gave it.
    pub errno: Option<i32>,
    words: String,
}

impl From<io::Error> for Answer {
    fn from(error: io::Error) -> Answer {
        // As C's strerror words it, without Rust's "(os error N)".
        let text = error.to_string();
        let words = text.split(" (os error").next().unwrap_or(&text).to_owned();
        Answer { kind: error.kind(), errno: error.raw_os_error(), words }
    }
}

impl std::fmt::Display for Answer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.words)
    }
}
