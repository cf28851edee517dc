//! The agent: bundle sequence, passes in normal order, and one file a promise type.

pub(crate) mod action;
pub(crate) mod change;
pub(crate) mod lock;
pub(crate) mod passes;
pub(crate) mod promise;
pub(crate) mod resolve;
pub(crate) mod sequence;
pub(crate) mod simulate;
mod why;
pub(crate) mod why_not;

/// What the agent remembers across promises of a run.
#[derive(Default)]
pub(crate) struct State {
    pub(crate) locks: lock::Locks,
    pub(crate) words: passes::Words,
    pub(crate) tally: passes::Tally,
    /// Why the promise at hand is not kept, as far as is known.
    pub(crate) why: why::Why,
    /// A promise whose banner is not logged yet.
    pub(crate) banner: Option<std::rc::Rc<crate::eval::promise::Expanded>>,
    pub(crate) packages: promise::packages::State,
    /// What `changes` of files promises remembers.
    pub(crate) changes: promise::files::Memory,
    pub(crate) processes: promise::processes::State,
    pub(crate) custom: promise::custom::State,
    /// Names of packages looked at by a package manager, for inventories.
    pub(crate) edits: promise::files::EditState,
    /// Commands that go on while other promises are kept.
    pub(crate) background: Vec<promise::commands::Background>,
    /// Whether fstab has lines that are not mounted yet.
    pub(crate) mount_all: bool,
}
