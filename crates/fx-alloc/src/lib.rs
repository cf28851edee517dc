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
pub use wake::{expect_much, wake};

/// Blocks of every size lie at multiples of this.
const WORD: usize = size_of::<usize>();

/// Hands out memory, the first of it from the room, the rest from mimalloc.
#[derive(Clone, Copy, Debug)]
pub struct Allocator;

// SAFETY: room and library give blocks of at least the size asked for, at multiples of a word
// or of the alignment asked for; each takes back and resizes its own blocks only.
//
// Here is only what costs nothing where it is written out, at every place that takes or gives
// memory: the question for the room there made the program a megabyte larger.
unsafe impl GlobalAlloc for Allocator {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if layout.align() <= WORD { take(layout.size()) } else { take_aligned(layout) }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if layout.align() <= WORD { zeroed(layout.size()) } else { zeroed_aligned(layout) }
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, _: Layout) {
        // SAFETY: the caller gives back what it was given here.
        unsafe { give(block) }
    }

    #[inline]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller gives what it was given here, with this alignment.
        unsafe {
            if layout.align() <= WORD {
                resize(block, layout.size(), size)
            } else {
                resize_aligned(block, layout, size)
            }
        }
    }
}

#[inline(never)]
fn take(size: usize) -> *mut u8 {
    // SAFETY: any size may be asked for.
    FIRST.take(size, WORD).unwrap_or_else(|| unsafe { mi::mi_malloc(size).cast() })
}

#[inline(never)]
fn take_aligned(layout: Layout) -> *mut u8 {
    let (size, align) = (layout.size(), layout.align());
    let ask = || {
        // SAFETY: any size may be asked for; the alignment is a power of two.
        unsafe { mi::mi_malloc_aligned(size, align).cast() }
    };
    FIRST.take(size, align).unwrap_or_else(ask)
}

#[inline(never)]
fn zeroed(size: usize) -> *mut u8 {
    // Nothing of the room is given out twice: it is zero as the kernel made it.
    // SAFETY: any size may be asked for.
    FIRST.take(size, WORD).unwrap_or_else(|| unsafe { mi::mi_zalloc(size).cast() })
}

#[inline(never)]
fn zeroed_aligned(layout: Layout) -> *mut u8 {
    let (size, align) = (layout.size(), layout.align());
    let ask = || {
        // SAFETY: any size may be asked for; the alignment is a power of two.
        unsafe { mi::mi_zalloc_aligned(size, align).cast() }
    };
    FIRST.take(size, align).unwrap_or_else(ask)
}

/// # Safety
/// The block is of the allocator, and given back once.
#[inline(never)]
unsafe fn give(block: *mut u8) {
    if !FIRST.holds(block) {
        // SAFETY: a block of the library, by the caller's word.
        unsafe { mi::mi_free(block.cast()) }
    }
}

/// # Safety
/// The block is of the allocator, and as large as said.
#[inline(never)]
unsafe fn resize(block: *mut u8, old: usize, size: usize) -> *mut u8 {
    if FIRST.holds(block) {
        // SAFETY: both are as large as what is copied.
        return unsafe { copied(block, take(size), old.min(size)) };
    }
    // SAFETY: a block of the library.
    unsafe { mi::mi_realloc(block.cast(), size).cast() }
}

/// # Safety
/// The block is of the allocator and has this layout; the new size fits its alignment.
#[inline(never)]
unsafe fn resize_aligned(block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
    let align = layout.align();
    if FIRST.holds(block) {
        // SAFETY: both are as large as what is copied.
        return unsafe {
            let to = take_aligned(Layout::from_size_align_unchecked(size, align));
            copied(block, to, layout.size().min(size))
        };
    }
    // SAFETY: a block of the library.
    unsafe { mi::mi_realloc_aligned(block.cast(), size, align).cast() }
}

/// The new block with what the old one held; null where there is none.
///
/// # Safety
/// Both are as large as what is copied.
#[cold]
unsafe fn copied(from: *const u8, to: *mut u8, size: usize) -> *mut u8 {
    if !to.is_null() {
        // SAFETY: as said; one block is never a part of another.
        unsafe { to.copy_from_nonoverlapping(from, size) };
    }
    to
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
