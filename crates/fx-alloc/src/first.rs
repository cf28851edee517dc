//! The room the first blocks of a run lie in: a piece of the program's own memory, given out
//! from the front. What is given back is not given out again, so the room is soon spent, and
//! is meant to be.
//!
//! Waking mimalloc costs a start 35 pages, a dozen system calls and four `cpuid`; a page here
//! holds blocks of all sizes. Printing a version needs a few kilobytes.
//!
//! Who finds the room too small wakes the library, before the room counts as spent: no other
//! thread can come to it in between.

use std::cell::UnsafeCell;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use crate::wake::wake;

/// How many bytes the room has.
const SIZE: usize = 64 << 10;

/// The room of the program.
pub(crate) static FIRST: Room =
    Room { bytes: UnsafeCell::new([0; SIZE]), used: AtomicUsize::new(0) };

#[repr(align(64))]
pub(crate) struct Room {
    bytes: UnsafeCell<[u8; SIZE]>,
    /// Bytes given out; all of them once a block did not fit.
    used: AtomicUsize,
}

// SAFETY: each byte is given out once, by an exchange only one thread wins.
unsafe impl Sync for Room {}

impl Room {
    fn base(&self) -> *mut u8 {
        self.bytes.get().cast()
    }

    /// A block of zeros, as long as there are any.
    #[inline]
    pub(crate) fn take(&self, size: usize, align: usize) -> Option<*mut u8> {
        let used = self.used.load(Acquire);
        if used == SIZE { None } else { self.take_from(used, size, align) }
    }

    /// As [`Self::take`], while some of the room is left.
    #[cold]
    fn take_from(&self, mut used: usize, size: usize, align: usize) -> Option<*mut u8> {
        loop {
            // Addresses are aligned, not offsets: the room itself lies at a multiple of 64.
            let address = (self.base().addr() + used).next_multiple_of(align);
            let start = address - self.base().addr();
            let end = start.checked_add(size).filter(|end| *end < SIZE);
            let Some(end) = end else {
                wake();
                self.used.store(SIZE, Release);
                return None;
            };
            match self.used.compare_exchange_weak(used, end, Relaxed, Acquire) {
                // SAFETY: start and end lie inside the room.
                Ok(_) => return Some(unsafe { self.base().add(start) }),
                Err(SIZE) => return None,
                Err(now) => used = now,
            }
        }
    }

    /// Whether a block is one of the room.
    #[inline]
    pub(crate) fn holds(&self, block: *const u8) -> bool {
        block.addr().wrapping_sub(self.base().addr()) < SIZE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A room of its own for a test.
    macro_rules! room {
        () => {{
            static ROOM: Room =
                Room { bytes: UnsafeCell::new([0; SIZE]), used: AtomicUsize::new(0) };
            &ROOM
        }};
    }

    #[test]
    fn blocks_follow_each_other_aligned() {
        let room = room!();
        let first = room.take(3, 8).unwrap();
        let second = room.take(100, 256).unwrap();
        assert!(second.addr() >= first.addr() + 3 && second.addr().is_multiple_of(256));
        assert!(room.holds(first) && room.holds(second) && !room.holds(std::ptr::null()));
    }

    #[test]
    fn a_block_too_large_ends_the_room() {
        let room = room!();
        assert!(room.take(8, 8).is_some());
        assert!(room.take(SIZE, 8).is_none());
        assert!(room.take(8, 8).is_none());
    }

    /// Threads that take at once get blocks that do not touch.
    #[test]
    fn threads_share_the_room() {
        let room = room!();
        let mut blocks: Vec<usize> = std::thread::scope(|scope| {
            let take = || std::iter::from_fn(|| room.take(40, 8)).map(<*mut u8>::addr);
            let threads: Vec<_> =
                (0..4).map(|_| scope.spawn(move || take().collect::<Vec<_>>())).collect();
            threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
        });
        blocks.sort_unstable();
        assert_eq!(blocks.len(), (SIZE - 1) / 40);
        assert!(blocks.windows(2).all(|pair| pair[1] - pair[0] == 40));
    }
}
