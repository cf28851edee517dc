//! What the server needs of the machine it runs on.

use std::io::Read;
use std::sync::Arc;

use fx_cfengine_server::Rules;
use fx_wire::cfengine::{PrivateKey, PublicKey, Stat};

/// How important a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Importance {
    Error,
    Warning,
    Notice,
    Info,
    Verbose,
}

/// Whether the key of a client is one that we know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    Known,
    /// It is known from now on.
    New,
    Refused,
}

/// What is served of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileInfo {
    pub stat: Stat,
    /// The target of a link that leads nowhere.
    pub target: Option<Vec<u8>>,
}

/// A file that is open for reading.
pub struct Opened {
    pub stat: Stat,
    pub content: Box<dyn Read + Send>,
}

/// Paths of requests that came together. The way to a directory may be walked once for all of
/// them, so this is not kept for later ones.
pub trait Paths: Send {
    /// A path with its links resolved, as by [`Site::resolve`], and what it stands for.
    fn find(&mut self, path: &str) -> Option<(String, FileInfo)>;
    /// Opens a path that has no link in it and is its own resolved name; nothing where it is
    /// another.
    fn open_plain(&mut self, path: &str) -> Option<Opened>;
    /// Opens a resolved path.
    fn open(&mut self, path: &str) -> Option<Opened>;
}

/// The machine, for many threads at the same time. Paths are those that [`Site::resolve`] gave:
/// none of these calls follows a link in one.
pub trait Site: Send + Sync {
    /// What policy allows at this moment.
    fn rules(&self) -> Arc<Rules>;
    fn key(&self) -> &PrivateKey;
    /// Seconds since 1970.
    fn now(&self) -> i64;
    fn random(&self, buffer: &mut [u8]);
    /// Whether the key of a user is trusted; where it may be, a new one is.
    fn trust(&self, user: &str, key: &PublicKey, may_trust: bool) -> Trust;
    /// Records that a host called.
    fn saw(&self, key: &PublicKey, address: &str);
    /// The name of an address.
    fn name_of(&self, address: &str) -> Option<String>;
    /// A path with its links resolved; a link that leads nowhere stays. Nothing where there is
    /// nothing.
    fn resolve(&self, path: &str) -> Option<String>;
    /// Looks at the paths of requests that came together.
    fn paths(&self) -> Box<dyn Paths>;
    /// Names in a directory, with `.` and `..`.
    fn list(&self, path: &str) -> Option<Vec<Vec<u8>>>;
    /// The number of a user of this machine.
    fn uid_of(&self, user: &str) -> Option<u32>;
    /// Persistent classes.
    fn persistent_classes(&self) -> Vec<String>;
    /// Runs a command, each line of its output as it comes; its exit status.
    fn run(&self, words: &[String], line: &mut dyn FnMut(&[u8])) -> Result<i32, String>;
    fn log(&self, importance: Importance, address: &str, text: &str);
    /// Whether such messages are shown to anybody.
    fn logs(&self, importance: Importance) -> bool;
}
