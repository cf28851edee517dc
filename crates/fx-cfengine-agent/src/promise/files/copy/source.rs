//! Where a copy comes from: this machine, or another one.

use std::rc::Rc;

use fx_cfengine::eval::promise::Expanded;
use fx_engine::{Change, Failure};
use fx_host::{Act, Meta, WriteOptions};

use crate::agent::Agent;

/// What is known of a destination before it is looked at.
pub(super) enum Destination {
    Unknown,
    Absent,
    There(Meta),
}

/// What a copy needs of the place it comes from.
pub(super) trait Source {
    /// How messages name it.
    fn server(&self) -> &str;
    fn is_local(&self) -> bool;
    /// What a path stands for, links followed.
    fn stat(&self, ctx: &Agent<'_>, file: &str) -> Option<Meta>;
    /// What a path stands for, a final link not followed.
    fn lstat(&self, ctx: &Agent<'_>, file: &str) -> Option<Meta>;
    /// Names in a directory that is to be copied to another.
    fn list(
        &self,
        ctx: &Agent<'_>,
        promise: &Rc<Expanded>,
        dir: &str,
        to: &str,
    ) -> Option<Vec<String>>;
    fn link_target(&self, ctx: &Agent<'_>, file: &str) -> String;
    /// The path with links resolved, where that can be known here.
    fn real_path(&self, ctx: &Agent<'_>, file: &str) -> Option<String>;
    /// Whether a file of the same size holds something else here.
    fn differs(&self, ctx: &Agent<'_>, source: &str, file: &str) -> bool;
    /// What was found at a destination when its directory was listed, a moment ago and once; nothing
    /// where nobody looked. The directory is there then.
    fn destination(&self, _file: &str) -> Destination {
        Destination::Unknown
    }
    fn is_readable(&self, ctx: &Agent<'_>, source: &str) -> bool;
    /// The change of a copy.
    fn change(
        &self,
        ctx: &Agent<'_>,
        source: &str,
        file: &str,
        meta: &Meta,
        is_first: bool,
    ) -> Change;
    /// What is logged of content that was copied; with its mode where the promise has one.
    fn copied_words(&self, source: &str, new: &str, mode: Option<u32>) -> String;
    /// Brings the content here before anything is given up for it, as far as it is small.
    fn fetch(&self, ctx: &Agent<'_>, source: &str, meta: &Meta) -> Result<(), String>;
    /// Makes a file with the content of the source.
    fn write(
        &self,
        act: &dyn Act,
        source: &str,
        file: &str,
        meta: &Meta,
        options: &WriteOptions,
    ) -> Result<(), Failure>;
}
