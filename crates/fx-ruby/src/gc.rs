//! The garbage collector: mark and sweep over the arenas; objects do not move.
//!
//! A collection runs only at a safepoint of the evaluator (the end of a loop's round, the start
//! of a method or block), never inside an allocation. There every value that Ruby code may still
//! use is in a table of the machine, in a frame or on the value stack: the evaluator puts what it
//! holds over a nested evaluation there.
//!
//! Native code holds values in Rust variables, which nobody sees. So a call from native code into
//! Ruby (`send`, `yield1`, `call_proc` …) defers collections until it returns. A native method
//! that may run for long puts what it holds on the value stack and calls through [`Vm::open`],
//! which does not defer.

mod mark;
mod open;
mod roots;
mod sweep;
#[cfg(test)]
mod tests;
mod weak;

pub(crate) use mark::Marker;
pub use open::{Held, Open, Slot};
pub(crate) use weak::WeakTable;

use crate::value::Value;
use crate::vm::{Res, Vm};

/// What the collector remembers between collections.
#[derive(Default)]
pub struct Gc {
    /// Native calls into Ruby that hold values which are no roots. No collection while above 0.
    pub(crate) deferred: u32,
    pub(crate) disabled: bool,
    /// Collect at each so manyth safepoint and never use a slot again; 0 is off.
    pub(crate) stress: u32,
    until_stress: u32,
    pub(crate) count: u64,
    /// Objects that were freed in all, and live bytes after the last collection.
    pub(crate) freed: u64,
    pub(crate) live: usize,
    /// Values that code keeps with itself: literals made once.
    pub(crate) literals: Vec<Value>,
    /// Values that an embedder keeps.
    pub(crate) pins: Vec<Value>,
    pub(crate) weak: WeakTable,
    /// The number that `object_id` gave last.
    last_id: u64,
}

/// The variable that turns on collection at each so manyth safepoint.
pub(crate) const STRESS: &str = "FX_RUBY_GC_STRESS";

impl Vm {
    /// Where a collection may run: called by the evaluator with nothing in its hands.
    #[inline(always)]
    pub(crate) fn safepoint(&mut self) -> Res<()> {
        self.ticks = self.ticks.wrapping_add(1);
        if self.ticks & 0x3FF == 0 || self.heap.bytes >= self.heap.collect_at {
            return self.safepoint_due();
        }
        Ok(())
    }

    #[cold]
    fn safepoint_due(&mut self) -> Res<()> {
        self.check_spent()?;
        // Garbage does not count for the limit, nor for what is left after it.
        let due = self.heap.bytes >= self.heap.collect_at || self.heap.bytes > self.limits.heap;
        if due && self.gc.deferred == 0 && !self.gc.disabled {
            if self.gc.stress == 0 {
                self.collect();
            } else if self.gc.until_stress == 0 {
                self.gc.until_stress = self.gc.stress - 1;
                self.collect();
            } else {
                self.gc.until_stress -= 1;
            }
            self.run_finalizers();
        }
        if self.fibers.threads > 0 && self.ticks & 0x3FF == 0 {
            self.preempt()?;
        }
        self.check_limits()
    }

    /// Collects at each so manyth safepoint; freed slots are not used again, and in a build with
    /// assertions a use of one is a panic.
    pub fn set_gc_stress(&mut self, every: u32) {
        self.gc.stress = every;
        self.gc.until_stress = 0;
        self.heap.poison = every > 0;
        if every > 0 {
            self.heap.collect_at = 0;
        } else {
            self.heap.rest(0);
        }
    }

    /// Collects after a quarter of what was live was allocated, not after as much again: for a
    /// process that stays for long beside others of its kind.
    pub fn set_frugal(&mut self) {
        self.heap.frugal = true;
        self.heap.rest(0);
    }

    /// `GC.start`: collects now, or as soon as nothing in native code stands in the way.
    pub(crate) fn collect_soon(&mut self) {
        self.heap.collect_at = 0;
    }

    /// Runs native code during which nothing is freed: what it holds need not be seen.
    pub fn deferring<T>(&mut self, f: impl FnOnce(&mut Vm) -> T) -> T {
        self.gc.deferred += 1;
        let result = f(self);
        self.gc.deferred -= 1;
        result
    }

    /// Collects when that is due and no Ruby code runs: for an embedder between two calls, when
    /// the only values it holds are pinned.
    pub fn collect_between_calls(&mut self) {
        if self.frames.is_empty()
            && self.spent().is_none()
            && self.gc.deferred == 0
            && !self.gc.disabled
            && self.heap.bytes >= self.heap.collect_at
        {
            self.collect();
            self.run_finalizers();
        }
    }

    /// Keeps a value alive for an embedder as long as the machine lives.
    pub fn pin(&mut self, v: Value) -> Value {
        self.gc.pins.push(v);
        v
    }
}
