//! What an ended child used: processor time and memory.

use anyhow::{Result, bail};

/// What a child and all that it waited for used.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Usage {
    /// Processor milliseconds, of the program and of the kernel for it.
    pub(crate) cpu_ms: f64,
    /// Largest resident memory of one process, in kilobytes.
    pub(crate) peak_kb: i64,
    /// Exit code; -1 for a signal.
    pub(crate) code: i32,
}

/// Waits for a child that must succeed.
pub(crate) fn wait(pid: u32) -> Result<Usage> {
    let usage = wait_any(pid)?;
    if usage.code != 0 {
        bail!("the program failed");
    }
    Ok(usage)
}

/// Waits for a child, however it ends.
#[expect(unsafe_code, reason = "the standard library does not give what a child used")]
pub(crate) fn wait_any(pid: u32) -> Result<Usage> {
    let mut status = 0;
    // SAFETY: the structure is plain numbers.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: both pointers outlive the call, and the child is ours and not waited for.
    let done = unsafe { libc::wait4(pid as i32, &raw mut status, 0, &raw mut usage) };
    if done < 0 {
        bail!("the program could not be waited for");
    }
    let ms = |time: libc::timeval| time.tv_sec as f64 * 1e3 + time.tv_usec as f64 / 1e3;
    let code = if libc::WIFEXITED(status) { libc::WEXITSTATUS(status) } else { -1 };
    let cpu_ms = ms(usage.ru_utime) + ms(usage.ru_stime);
    Ok(Usage { cpu_ms, peak_kb: usage.ru_maxrss, code })
}
