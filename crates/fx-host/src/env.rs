//! What surrounds our own process: variables, identity, kernel name, randomness.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

/// What uname(2) says.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
#[expect(missing_docs, reason = "the names are those of uname(2)")]
pub struct Uname {
    pub sysname: String,
    pub nodename: String,
    pub release: String,
    pub version: String,
    pub machine: String,
}

/// Asking about our own process and the kernel.
pub trait Env {
    /// One environment variable.
    fn var(&self, name: &OsStr) -> Option<OsString>;
    /// All environment variables, in byte order of their names.
    fn vars(&self) -> Vec<(OsString, OsString)>;
    /// The directory we were started in.
    fn cwd(&self) -> PathBuf;
    /// Effective user.
    fn euid(&self) -> u32;
    /// Effective group.
    fn egid(&self) -> u32;
    /// Our own process id.
    fn pid(&self) -> u32;
    /// Kernel and node names.
    fn uname(&self) -> Uname;
    /// Fills the buffer with random bytes fit for secrets.
    fn random(&self, buffer: &mut [u8]);
    /// Number of usable processors.
    fn cpus(&self) -> usize;
}
