//! Clock and environment of our own process.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::time::Duration;

use rustix::rand::GetRandomFlags;
use rustix::time::{ClockId, clock_gettime};

use super::OsHost;
use crate::{Clock, Env, Time, Uname};

impl Clock for OsHost {
    fn now(&self) -> Time {
        let now = clock_gettime(ClockId::Realtime);
        Time { secs: now.tv_sec, nanos: now.tv_nsec as u32 }
    }

    fn monotonic(&self) -> Duration {
        self.started.elapsed()
    }

    fn sleep(&self, duration: Duration) {
        // In slices, so that a cancelled run ends at once.
        let until = self.monotonic() + duration;
        while !self.cancelled.load(Ordering::SeqCst) {
            let Some(left) = until.checked_sub(self.monotonic()).filter(|left| !left.is_zero())
            else {
                return;
            };
            std::thread::sleep(left.min(Duration::from_millis(100)));
        }
    }
}

impl Env for OsHost {
    fn var(&self, name: &OsStr) -> Option<OsString> {
        std::env::var_os(name)
    }

    fn vars(&self) -> Vec<(OsString, OsString)> {
        let mut vars: Vec<_> = std::env::vars_os().collect();
        vars.sort();
        vars
    }

    fn cwd(&self) -> PathBuf {
        std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/"))
    }

    fn euid(&self) -> u32 {
        rustix::process::geteuid().as_raw()
    }

    fn egid(&self) -> u32 {
        rustix::process::getegid().as_raw()
    }

    fn pid(&self) -> u32 {
        std::process::id()
    }

    fn uname(&self) -> Uname {
        let uname = rustix::system::uname();
        let text = |part: &std::ffi::CStr| part.to_string_lossy().into_owned();
        Uname {
            sysname: text(uname.sysname()),
            nodename: text(uname.nodename()),
            release: text(uname.release()),
            version: text(uname.version()),
            machine: text(uname.machine()),
        }
    }

    fn random(&self, buffer: &mut [u8]) {
        fill_random(buffer);
    }

    fn cpus(&self) -> usize {
        std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
    }
}

/// Random bytes from the kernel. There is no other source, and no continuing without one.
pub(super) fn fill_random(buffer: &mut [u8]) {
    let mut filled = 0;
    while filled < buffer.len() {
        match rustix::rand::getrandom(&mut buffer[filled..], GetRandomFlags::empty()) {
            Ok(count) => filled += count,
            Err(rustix::io::Errno::INTR) => {}
            Err(errno) => panic!("the kernel gives no random bytes: {errno}"),
        }
    }
}
