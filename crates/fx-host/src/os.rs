//! The real machine: Linux through system calls made safe for a process that runs as root.
//!
//! Minimum kernel 4.18. `openat2` (5.6) makes path walks one call; without it every walk
//! goes component by component with the same rules.

mod accounts;
mod attributes;
mod child;
mod content;
mod conversation;
mod directory;
mod files;
mod identity;
mod in_place;
mod known_links;
mod netlink;
mod network;
mod path;
mod pour;
mod process;
mod served;
mod stage;
mod strays;
mod temp;
mod trust;

pub use served::{Served, list_served, look_served, open_served, resolve_served};

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use stage::Stage;

pub(crate) use child::run as run_prepared;
pub(crate) use strays::Awaited;

/// The machine we run on. Not shared between threads: files written are staged in it and
/// appear under their final names in groups (see [`crate::Edits::settle`]).
pub struct OsHost {
    started: Instant,
    cancelled: Arc<AtomicBool>,
    stage: RefCell<Stage>,
    accounts: accounts::Cache,
    trust: trust::Trust,
    on_settled: RefCell<Option<OnSettled>>,
    on_command: RefCell<Option<OnCommand>>,
}

/// Called when files have got their names.
type OnSettled = std::rc::Rc<dyn Fn()>;

/// Called before a command is started.
type OnCommand = std::rc::Rc<dyn Fn(&crate::Spec)>;

impl OsHost {
    /// The machine, with nothing staged and nobody to cancel it.
    pub fn new() -> OsHost {
        OsHost::cancelled_by(Arc::new(AtomicBool::new(false)))
    }

    /// The machine; commands and sleeps end early once the flag is set.
    pub fn cancelled_by(flag: Arc<AtomicBool>) -> OsHost {
        OsHost {
            started: Instant::now(),
            cancelled: flag,
            stage: RefCell::new(Stage::default()),
            accounts: accounts::Cache::default(),
            trust: trust::Trust::default(),
            on_settled: RefCell::new(None),
            on_command: RefCell::new(None),
        }
    }
}

impl OsHost {
    /// Whether every file written so far is under its final name.
    pub fn is_settled(&self) -> bool {
        self.stage.borrow().is_empty()
    }

    /// How many files were written so far, for [`OsHost::lacks_names`].
    pub fn files_written(&self) -> u64 {
        self.stage.borrow().written()
    }

    /// Whether a file written after the first of these counts, up to the second, is not under
    /// its final name: it waits, or could not be put in place.
    pub fn lacks_names(&self, after: u64, to: u64) -> bool {
        self.stage.borrow().is_nameless(after, to)
    }

    /// Has something done each time everything written so far is under its final name, before
    /// a command starts as well. It must not call this machine.
    pub fn on_settled(&self, call: std::rc::Rc<dyn Fn()>) {
        *self.on_settled.borrow_mut() = Some(call);
    }

    /// Has something done before each command is started. It must not call this machine.
    pub fn on_command(&self, call: std::rc::Rc<dyn Fn(&crate::Spec)>) {
        *self.on_command.borrow_mut() = Some(call);
    }

    fn announce(&self, spec: &crate::Spec) {
        let call = self.on_command.borrow().clone();
        if let Some(call) = call {
            call(spec);
        }
    }

    fn tell_settled(&self) {
        let call = self.on_settled.borrow().clone();
        if let Some(call) = call {
            call();
        }
    }
}

impl Default for OsHost {
    fn default() -> OsHost {
        OsHost::new()
    }
}

// What was written and not settled would vanish with its unnamed files. Whoever ends a run
// calls `commit` and hears of errors; this is for early returns, where nobody listens.
impl Drop for OsHost {
    fn drop(&mut self) {
        let _ = crate::Edits::settle(self);
    }
}
