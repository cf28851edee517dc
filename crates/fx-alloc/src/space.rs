//! The address space for runs that need much: the front in small pages, as some touch little
//! after all, the rest in large ones where the kernel gives them. What the library asks for
//! when this is full is its own affair.
//!
//! A fault costs the same for a page of 4 KiB as for one of 2 MiB but for the zeros to write:
//! a heap of 16 MiB came at 2 us a page in small ones, at 0.4 in large ones. A run that stays
//! small pays with memory: the library keeps larger blocks apart, which then take a large page
//! each.

use std::ffi::{c_int, c_void};
use std::ptr::null_mut;

use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous};

/// All of it.
const SIZE: usize = 64 << 20;

/// How much of it is in small pages.
const SMALL: usize = 8 << 20;

/// What a large page measures, and where it may lie.
const LARGE_PAGE: usize = 2 << 20;

unsafe extern "C" {
    fn mi_manage_os_memory(
        start: *mut c_void,
        size: usize,
        is_committed: bool,
        is_pinned: bool,
        is_zero: bool,
        numa_node: c_int,
    ) -> bool;
}

/// Gives the space to the library. Where it cannot be had, the library asks for its own.
pub(crate) fn give() {
    let flags = MapFlags::PRIVATE | MapFlags::NORESERVE;
    // SAFETY: fresh memory that nobody else knows, given away for good; the part that gets
    // large pages lies inside it.
    unsafe {
        let access = ProtFlags::READ | ProtFlags::WRITE;
        let Ok(start) = mmap_anonymous(null_mut(), SIZE + LARGE_PAGE, access, flags) else {
            return;
        };
        let start = start.byte_add(start.addr().next_multiple_of(LARGE_PAGE) - start.addr());
        // A kernel without large pages says so, and gives small ones.
        let _advised = madvise(start.byte_add(SMALL), SIZE - SMALL, Advice::LinuxHugepage);
        mi_manage_os_memory(start, SIZE, true, false, true, -1);
    }
}
