//! The agent: bundle sequence, passes in normal order, and one file a promise type.

pub(crate) mod action;
pub(crate) mod lock;
pub(crate) mod passes;
pub(crate) mod promise;
pub(crate) mod sequence;

use rustc_hash::FxHashMap;

use crate::text::Str;

/// What the agent remembers across promises of a run.
#[derive(Default)]
pub(crate) struct State {
    pub(crate) locks: lock::Locks,
    pub(crate) packages: promise::packages::State,
    pub(crate) processes: promise::processes::State,
    pub(crate) custom: promise::custom::State,
    pub(crate) monitors: FxHashMap<Str, Str>,
    pub(crate) renamed: u32,
    /// Names of packages looked at by a package manager, for inventories.
    pub(crate) edits: promise::files::EditState,
}
