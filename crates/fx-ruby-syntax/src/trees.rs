//! Where trees are kept: pieces of memory that are filled from one end and never given back.
//!
//! A tree is thousands of small parts of some thirty sizes, which live as long as the program. Beside
//! each other they cost a few instructions each and no page that is half empty.

use bumpalo::Bump;

thread_local! {
    static TREES: &'static Bump = Box::leak(Box::new(Bump::new()));
}

/// The memory for trees of this thread.
pub(crate) fn trees() -> &'static Bump {
    TREES.with(|trees| *trees)
}

pub(crate) fn keep<T>(value: T) -> &'static T {
    trees().alloc(value)
}

pub(crate) fn keep_all<T>(values: Vec<T>) -> &'static [T] {
    if values.is_empty() { &[] } else { trees().alloc_slice_fill_iter(values) }
}
