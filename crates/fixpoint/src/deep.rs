//! Threads with a stack as large as the deepest policy allowed needs: recursion without end is
//! a message, not a crash. What runs on them is the caller's.

use std::io::Result;
use std::thread::{Builder, JoinHandle};

/// Starts the work on a thread of its own.
pub(crate) fn spawn<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<JoinHandle<T>> {
    Builder::new().stack_size(fx_puppet::STACK).spawn(work)
}

/// Runs Ruby, which may go deeper still, and gives what it gives; nothing if it crashed.
pub(crate) fn ruby<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    fx_ruby::on_big_stack(work)
}
