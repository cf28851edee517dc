//! The wish to stop, set from a signal handler or a caller and looked at between steps.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A flag that is set once. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Not cancelled.
    pub fn new() -> Cancel {
        Cancel::default()
    }

    /// A handle over a flag that somebody else, such as a signal handler, sets.
    pub fn from_flag(flag: Arc<AtomicBool>) -> Cancel {
        Cancel(flag)
    }

    /// Asks the run to stop at the next step.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    /// Whether the run should stop.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}
