//! Time: the wall clock for people and file stamps, a monotonic one for durations.

use std::time::Duration;

/// A moment on the wall clock, UTC, as the kernel stamps files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Time {
    /// Seconds since 1970-01-01T00:00:00Z.
    pub secs: i64,
    /// Nanoseconds within the second.
    pub nanos: u32,
}

impl Time {
    /// A moment at a full second.
    pub fn from_secs(secs: i64) -> Time {
        Time { secs, nanos: 0 }
    }
}

/// Asking for the time.
pub trait Clock {
    /// The wall clock. May jump; never use it for durations.
    fn now(&self) -> Time;
    /// Time since some fixed moment; never goes back.
    fn monotonic(&self) -> Duration;
    /// Waits, unless the run is cancelled before.
    fn sleep(&self, duration: Duration);
}
