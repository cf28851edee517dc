//! INT, TERM and HUP become the wish to stop; the run looks at it and ends cleanly.

use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

static LAST: AtomicI32 = AtomicI32::new(0);
static FLAG: OnceLock<Arc<AtomicBool>> = OnceLock::new();

extern "C" fn on_signal(signal: libc::c_int) {
    // A second signal means that somebody is tired of waiting.
    if LAST.swap(signal, Ordering::SeqCst) != 0 {
        #[expect(unsafe_code, reason = "leaving a process from a signal handler")]
        // SAFETY: _exit is allowed in a signal handler.
        unsafe {
            libc::_exit(128 + signal);
        }
    }
    if let Some(flag) = FLAG.get() {
        flag.store(true, Ordering::SeqCst);
    }
}

/// Catches INT, TERM and HUP from now on. The flag is set at the first; the second ends
/// the process at once.
#[expect(unsafe_code, reason = "installing a signal handler")]
pub fn stop_on_signals() -> Arc<AtomicBool> {
    let flag = FLAG.get_or_init(|| Arc::new(AtomicBool::new(false)));
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        // SAFETY: the action is zeroed and then filled; the handler touches atomics only.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = on_signal as *const () as usize;
            libc::sigaction(signal, &raw const action, std::ptr::null_mut());
        }
    }
    Arc::clone(flag)
}

static HANGUP: OnceLock<Arc<AtomicBool>> = OnceLock::new();

extern "C" fn on_hangup(_: libc::c_int) {
    if let Some(flag) = HANGUP.get() {
        flag.store(true, Ordering::SeqCst);
    }
}

/// From now on HUP sets this flag and ends nothing: a daemon reads its policy anew.
#[expect(unsafe_code, reason = "installing a signal handler")]
pub fn reload_on_hangup() -> Arc<AtomicBool> {
    let flag = HANGUP.get_or_init(|| Arc::new(AtomicBool::new(false)));
    // SAFETY: the action is zeroed and then filled; the handler touches atomics only.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = on_hangup as *const () as usize;
        libc::sigaction(libc::SIGHUP, &raw const action, std::ptr::null_mut());
    }
    Arc::clone(flag)
}

static USER: OnceLock<Arc<AtomicBool>> = OnceLock::new();

extern "C" fn on_user(signal: libc::c_int) {
    if signal == libc::SIGUSR1
        && let Some(flag) = USER.get()
    {
        flag.store(true, Ordering::SeqCst);
    }
}

/// From now on USR1 sets this flag, and neither it nor USR2 ends the process: a daemon is woken.
#[expect(unsafe_code, reason = "installing a signal handler")]
pub fn wake_on_user_signals() -> Arc<AtomicBool> {
    let flag = USER.get_or_init(|| Arc::new(AtomicBool::new(false)));
    for signal in [libc::SIGUSR1, libc::SIGUSR2] {
        // SAFETY: the action is zeroed and then filled; the handler touches atomics only.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = on_user as *const () as usize;
            libc::sigaction(signal, &raw const action, std::ptr::null_mut());
        }
    }
    Arc::clone(flag)
}

/// Ends the process at once: nothing is taken down or given back, since the kernel does
/// that faster. What is to be seen must have been written out before.
#[expect(unsafe_code, reason = "leaving a process without its exit handlers")]
pub fn leave(code: u8) -> ! {
    // SAFETY: a plain number; the call does not return.
    unsafe { libc::_exit(i32::from(code)) }
}

/// The signal that asked us to stop, if one did.
pub fn stop_signal() -> Option<i32> {
    Some(LAST.load(Ordering::SeqCst)).filter(|signal| *signal != 0)
}
