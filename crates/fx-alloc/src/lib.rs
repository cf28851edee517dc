//! The allocator of the program: mimalloc, asked in the way that suits it. It knows nothing
//! else of the program.
//!
//! What must lie at a multiple of a word is asked for plainly: every block does. Asked with
//! an alignment, the library takes the next larger block for each size that is no power of
//! two, and the long way to it.

#![expect(unsafe_code, reason = "memory is handed out here")]

use std::alloc::{GlobalAlloc, Layout};

use libmimalloc_sys as mi;

/// Blocks of every size lie at multiples of this.
const WORD: usize = size_of::<usize>();

/// Hands out memory of mimalloc.
#[derive(Clone, Copy, Debug)]
pub struct Allocator;

// SAFETY: the library gives blocks of at least the size asked for, at multiples of a word or
// of the alignment asked for, and takes back and resizes its own blocks only.
unsafe impl GlobalAlloc for Allocator {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: any size may be asked for; the alignment is a power of two.
        unsafe {
            if layout.align() <= WORD {
                mi::mi_malloc(layout.size()).cast()
            } else {
                mi::mi_malloc_aligned(layout.size(), layout.align()).cast()
            }
        }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        unsafe {
            if layout.align() <= WORD {
                mi::mi_zalloc(layout.size()).cast()
            } else {
                mi::mi_zalloc_aligned(layout.size(), layout.align()).cast()
            }
        }
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, _: Layout) {
        // SAFETY: the caller gives back what it was given here.
        unsafe { mi::mi_free(block.cast()) }
    }

    #[inline]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller gives what it was given here.
        unsafe {
            if layout.align() <= WORD {
                mi::mi_realloc(block.cast(), size).cast()
            } else {
                mi::mi_realloc_aligned(block.cast(), size, layout.align()).cast()
            }
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
}
