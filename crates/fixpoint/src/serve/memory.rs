//! Memory of a server: what an answer took is given back when the answer is gone.

use std::os::unix::process::CommandExt;
use std::process::Command;

/// The allocator reads it before `main`. Otherwise a thread gives memory back when it has work again,
/// and a server whose threads take turns holds all that each of them ever had.
pub(super) const AT_ONCE: &str = "MIMALLOC_PURGE_DELAY";

/// SQLite asks the C library for memory, which gives back whatever is free at its end from 128 kB on:
/// a statement with a document of a node would wait for each page of it again. A thread keeps so many
/// bytes of it.
const KEPT: [(&str, &str); 2] =
    [("MALLOC_TRIM_THRESHOLD_", "2097152"), ("MALLOC_MMAP_THRESHOLD_", "1048576")];

/// Begins this process anew, with the same number and the same arguments, as one that gives memory
/// back at once. Where that cannot be done it goes on as it is.
#[allow(clippy::disallowed_methods, reason = "our own program in our own place")]
pub(crate) fn give_back_at_once() {
    let mut args = std::env::args_os();
    let Some(name) = args.next() else { return };
    if std::env::var_os(AT_ONCE).is_some() {
        return;
    }
    let mut again = Command::new("/proc/self/exe");
    let _ = again.arg0(name).args(args).env(AT_ONCE, "0").envs(KEPT).exec();
}
