//! Bounds of one run: crossing one is a Ruby exception, once. Who goes on past the room that is
//! left after it ends, and nothing in Ruby takes that end.

use std::time::Duration;

use crate::object::c;
use crate::vm::{Pending, Res, Unwind, Vm};

/// Bounds of one run.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    pub time: Option<Duration>,
    pub heap: usize,
    pub depth: u32,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { time: None, heap: 2 << 30, depth: 10_000 }
    }
}

/// The bound that ended a run for good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    Time,
    Memory,
}

impl std::fmt::Display for Bound {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Bound::Time => "the program went on past its time limit",
            Bound::Memory => "the program went on past its memory limit",
        })
    }
}

/// What is on its way up. The end of a run stays, whatever is put in its place: code that drops
/// an error by mistake cannot drop that one.
#[derive(Clone, Copy, Debug, Default)]
pub struct Way(Pending);

impl Way {
    #[inline]
    pub fn get(self) -> Pending {
        self.0
    }

    #[inline]
    pub fn set(&mut self, pending: Pending) {
        if !matches!(self.0, Pending::Spent) {
            self.0 = pending;
        }
    }

    /// What is on its way, taken off it.
    pub fn take(&mut self) -> Pending {
        let pending = self.0;
        self.set(Pending::None);
        pending
    }
}

/// What is left of the bounds of a run.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Budget {
    /// When the time of the run is up.
    end: Option<Duration>,
    /// Whether the program was told that it is, and of its memory.
    told_time: bool,
    told_memory: bool,
    spent: Option<Bound>,
}

/// What is left after an exception of a limit, to report it and to clean up: a tenth of the
/// time, and a quarter of the memory.
fn grace(time: Duration) -> Duration {
    (time / 10).max(Duration::from_millis(200))
}

fn room(heap: usize) -> usize {
    heap / 4 + (16 << 20)
}

impl Vm {
    /// The time of the run begins.
    pub(crate) fn start_clock(&mut self) {
        if let Some(limit) = self.limits.time {
            self.budget.end = Some(self.host.monotonic() + limit);
        }
    }

    /// The bound that ended the run, if one did. A machine that is spent runs no Ruby code any
    /// more: every call into it fails.
    pub fn spent(&self) -> Option<Bound> {
        self.budget.spent
    }

    /// When whoever waits must look up: at the end of the run's time, or of a `Timeout.timeout`.
    pub(crate) fn next_deadline(&self) -> Option<Duration> {
        match (self.budget.end, self.deadline) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }

    /// Called by loops of native code; cheap but for one time in a thousand.
    #[inline(always)]
    pub fn tick(&mut self) -> Res<()> {
        self.ticks = self.ticks.wrapping_add(1);
        if self.ticks & 0x3FF == 0 { self.check_limits() } else { Ok(()) }
    }

    #[cold]
    pub fn check_limits(&mut self) -> Res<()> {
        self.check_spent()?;
        if self.heap.bytes > self.limits.heap {
            return self.memory_up();
        }
        if self.next_deadline().is_none() {
            return Ok(());
        }
        let now = self.host.monotonic();
        if self.budget.end.is_some_and(|end| now > end) {
            if self.budget.told_time {
                return self.spend(Bound::Time);
            }
            self.budget.told_time = true;
            self.budget.end = self.limits.time.map(|limit| now + grace(limit));
            return self.time_up();
        }
        if self.deadline.is_some_and(|deadline| now > deadline) {
            self.deadline = None;
            return self.time_up();
        }
        Ok(())
    }

    /// Fails if the run has ended.
    pub(crate) fn check_spent(&mut self) -> Res<()> {
        if self.budget.spent.is_some() {
            self.pending.set(Pending::Spent);
            return Err(Unwind);
        }
        Ok(())
    }

    #[cold]
    fn spend<T>(&mut self, bound: Bound) -> Res<T> {
        self.budget.spent = Some(bound);
        // From now on every safepoint comes here.
        self.heap.collect_at = 0;
        self.pending.set(Pending::Spent);
        Err(Unwind)
    }

    /// Refuses an allocation that would cross the limit, before it is made.
    pub fn reserve(&mut self, bytes: usize) -> Res<()> {
        if self.heap.bytes.saturating_add(bytes) <= self.limits.heap {
            return Ok(());
        }
        if bytes > self.limits.heap {
            // More than there ever is: nothing was used up by asking.
            return self.fail(c::NO_MEMORY, "failed to allocate memory");
        }
        self.memory_up()
    }

    #[cold]
    fn memory_up(&mut self) -> Res<()> {
        if self.budget.told_memory {
            return self.spend(Bound::Memory);
        }
        self.budget.told_memory = true;
        self.limits.heap += room(self.limits.heap);
        // What the handler no longer needs is freed first.
        self.collect_soon();
        self.fail(c::NO_MEMORY, "failed to allocate memory")
    }

    /// The result, or none where an exception was raised, which is forgotten: for code that goes
    /// on without one. The end of a run is not forgotten.
    pub fn forgetting<T>(&mut self, code: impl FnOnce(&mut Vm) -> Res<T>) -> Res<Option<T>> {
        let saved = self.pending.get();
        let height = self.stack.len();
        match code(self) {
            Ok(value) => Ok(Some(value)),
            Err(Unwind) => {
                self.pending.set(saved);
                self.check_spent()?;
                self.stack.truncate(height);
                Ok(None)
            }
        }
    }
}
