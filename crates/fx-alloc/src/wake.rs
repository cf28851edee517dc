//! The library's own start, which `.cargo/config.toml` keeps it from making before `main`.
//!
//! It takes the thread that wakes it for the main one, which must live as long as the program:
//! a later thread at the same address would be taken for it. Woken by another thread it is
//! therefore told less: what threads hold when they end then stays theirs, which wastes
//! memory and breaks nothing.

use std::sync::Once;

use rustix::process::getpid;
use rustix::thread::gettid;

use crate::space;

unsafe extern "C" {
    /// All that is to be done at the start of the program, on its main thread.
    fn _mi_auto_process_init();
    /// Of it what the first block needs.
    fn mi_process_init();
}

/// Says that much memory will be needed, and wakes the library.
pub fn expect_much() {
    static GIVEN: Once = Once::new();
    wake();
    GIVEN.call_once(space::give);
}

/// Wakes the library, once. The main thread calls this or [`expect_much`] before it starts the
/// thread that does the work; where it does the work itself, the library wakes when the first
/// room is spent.
pub fn wake() {
    static AWAKE: Once = Once::new();
    AWAKE.call_once(|| {
        // SAFETY: both may be called at any time, and again.
        unsafe { if gettid() == getpid() { _mi_auto_process_init() } else { mi_process_init() } }
    });
}
