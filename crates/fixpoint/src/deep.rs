//! Threads with a stack as large as the deepest policy allowed needs: recursion without end is
//! a message, not a crash. What runs on them is the caller's.

use std::io::Result;
use std::thread::{Builder, JoinHandle};

use crate::terminal;

/// Starts the work on a thread of its own.
pub(crate) fn spawn<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<JoinHandle<T>> {
    Builder::new().stack_size(fx_puppet::STACK).spawn(work)
}

/// Runs Ruby, which may go deeper still, and gives what it gives; nothing if it crashed or
/// could not be started, which is said.
pub(crate) fn ruby<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    match Builder::new().stack_size(fx_ruby::STACK).spawn(work) {
        Ok(thread) => thread.join().ok(),
        Err(error) => {
            let size = fx_ruby::STACK >> 20;
            terminal::complain(format_args!(
                "cannot start: a stack of {size} MiB was refused ({error}); is address space limited (ulimit -v)?"
            ));
            None
        }
    }
}
