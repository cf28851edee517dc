//! The allocator of the program: mimalloc, asked in the way that suits it. It knows nothing
//! else of the program.
//!
//! What must lie at a multiple of a word is asked for plainly: every block does. Asked with
//! an alignment, the library takes the next larger block for each size that is no power of
//! two, and the long way to it.
//!
//! The first blocks of all come from a room of our own (`first`): a start that needs few
//! never wakes the library.

#![expect(unsafe_code, reason = "memory is handed out here")]

mod first;
mod space;
mod wake;

use std::alloc::{GlobalAlloc, Layout};

use libmimalloc_sys as mi;

use first::FIRST;
pub use wake::wake;

/// Blocks of every size lie at multiples of this.
const WORD: usize = size_of::<usize>();

/// Hands out memory, the first of it from the room, the rest from mimalloc.
#[derive(Clone, Copy, Debug)]
pub struct Allocator;

// SAFETY: room and library give blocks of at least the size asked for, at multiples of a word
// or of the alignment asked for; each takes back and resizes its own blocks only.
//
// None of it is inlined: the question for the room at every place that takes or gives memory
// made the program a megabyte and a half larger.
unsafe impl GlobalAlloc for Allocator {
    #[inline(never)]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if let Some(block) = FIRST.take(layout) {
            return block;
        }
        // SAFETY: any size may be asked for; the alignment is a power of two.
        unsafe {
            if layout.align() <= WORD {
                mi::mi_malloc(layout.size()).cast()
            } else {
                mi::mi_malloc_aligned(layout.size(), layout.align()).cast()
            }
        }
    }

    #[inline(never)]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // Nothing of the room is given out twice: it is zero as the kernel made it.
        if let Some(block) = FIRST.take(layout) {
            return block;
        }
        // SAFETY: as above.
        unsafe {
            if layout.align() <= WORD {
                mi::mi_zalloc(layout.size()).cast()
            } else {
                mi::mi_zalloc_aligned(layout.size(), layout.align()).cast()
            }
        }
    }

    #[inline(never)]
    unsafe fn dealloc(&self, block: *mut u8, _: Layout) {
        if !FIRST.holds(block) {
            // SAFETY: the caller gives back what it was given here, and not by the room.
            unsafe { mi::mi_free(block.cast()) }
        }
    }

    #[inline(never)]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if FIRST.holds(block) {
            // SAFETY: the block is the room's, and has the layout the caller says.
            return unsafe { self.leave_the_room(block, layout, size) };
        }
        // SAFETY: the caller gives what it was given here, and not by the room.
        unsafe {
            if layout.align() <= WORD {
                mi::mi_realloc(block.cast(), size).cast()
            } else {
                mi::mi_realloc_aligned(block.cast(), size, layout.align()).cast()
            }
        }
    }
}

impl Allocator {
    /// A block of the room with another size: where it lies if it is the last and there is
    /// room behind it, else copied.
    ///
    /// # Safety
    /// The block is one of the room, given out with this layout.
    #[cold]
    unsafe fn leave_the_room(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if size <= layout.size() || FIRST.grow(block, layout.size(), size) {
            return block;
        }
        // SAFETY: the new size is not zero, being larger; both blocks hold the old size.
        unsafe {
            let to = self.alloc(Layout::from_size_align_unchecked(size, layout.align()));
            if !to.is_null() {
                to.copy_from_nonoverlapping(block, layout.size());
            }
            to
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Blocks hold what is asked for, where it is asked for, and keep it when they grow.
    #[test]
    fn blocks_are_as_large_and_as_aligned_as_asked() {
        for size in 1..600 {
            for align in [1, 2, 4, 8, 16, 64, 4096] {
                let layout = Layout::from_size_align(size, align).unwrap();
                // SAFETY: each block is filled to its size and given back with its layout.
                unsafe {
                    let block = Allocator.alloc(layout);
                    assert!(!block.is_null() && block.addr().is_multiple_of(align), "{layout:?}");
                    block.write_bytes(7, size);
                    let grown = Allocator.realloc(block, layout, size * 3);
                    assert!(grown.addr().is_multiple_of(align), "{layout:?}");
                    assert!((0..size).all(|at| grown.add(at).read() == 7), "{layout:?}");
                    let whole = Layout::from_size_align(size * 3, align).unwrap();
                    Allocator.dealloc(grown, whole);
                    let zeroed = Allocator.alloc_zeroed(layout);
                    assert!((0..size).all(|at| zeroed.add(at).read() == 0), "{layout:?}");
                    Allocator.dealloc(zeroed, layout);
                }
            }
        }
    }

    /// Blocks outlive the thread that took them, the one that woke the library included, and
    /// are given back by another, which may lie where that one lay.
    #[test]
    fn blocks_outlive_their_threads() {
        let layouts = || (1..2000).map(|at| Layout::from_size_align(at * 7 % 900 + 1, 8).unwrap());
        let take = move || {
            let fill = |(at, layout): (usize, Layout)| {
                // SAFETY: the block is filled to its size.
                unsafe {
                    let block = Allocator.alloc(layout);
                    block.write_bytes(at as u8, layout.size());
                    block.expose_provenance()
                }
            };
            layouts().enumerate().map(fill).collect::<Vec<usize>>()
        };
        let give = move |blocks: Vec<usize>| {
            for ((at, layout), block) in layouts().enumerate().zip(blocks) {
                let block: *mut u8 = std::ptr::with_exposed_provenance_mut(block);
                // SAFETY: the block was taken with this layout, and is given back once.
                unsafe {
                    assert_eq!(block.add(layout.size() - 1).read(), at as u8);
                    Allocator.dealloc(block, layout);
                }
            }
        };
        for _ in 0..20 {
            let takers = [(); 3].map(|()| std::thread::spawn(take));
            let givers = takers.map(|taker| {
                let blocks = taker.join().unwrap();
                std::thread::spawn(move || give(blocks))
            });
            for giver in givers {
                giver.join().unwrap();
            }
        }
    }
}
