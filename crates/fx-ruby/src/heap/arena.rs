//! The slots of one kind of object: which are in use, and which the collector has emptied.

use std::ops::{Index, IndexMut};

/// A set of slot numbers, one bit each.
#[derive(Default)]
pub(crate) struct Bits(Vec<u64>);

impl Bits {
    pub(crate) fn for_slots(slots: usize) -> Bits {
        Bits(vec![0; slots.div_ceil(64)])
    }

    #[inline]
    pub(crate) fn has(&self, slot: usize) -> bool {
        self.0.get(slot / 64).is_some_and(|word| word >> (slot % 64) & 1 == 1)
    }

    /// Adds a slot; true when it was not there.
    #[inline]
    pub(crate) fn add(&mut self, slot: usize) -> bool {
        let at = slot / 64;
        if at >= self.0.len() {
            self.0.resize(at + 1, 0);
        }
        let word = &mut self.0[at];
        let bit = 1 << (slot % 64);
        let new = *word & bit == 0;
        *word |= bit;
        new
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Takes all slots away.
    pub(crate) fn clear(&mut self) {
        self.0.fill(0);
    }
}

/// What an arena can hold.
pub trait Slot {
    /// What stands in a slot that nothing uses; it owns no memory.
    fn empty() -> Self;
    /// Bytes that the slot and what it owns take.
    fn bytes(&self) -> usize;
}

/// The objects of one kind. A number once given stays that object's until the collector finds
/// that nothing refers to it.
pub struct Arena<T> {
    slots: Vec<T>,
    free: Vec<u32>,
    /// Emptied slots that are never used again: only while the collector is tested.
    poisoned: Bits,
}

impl<T> Default for Arena<T> {
    fn default() -> Arena<T> {
        Arena { slots: Vec::new(), free: Vec::new(), poisoned: Bits::default() }
    }
}

impl<T: Slot> Arena<T> {
    /// An arena with room for so many objects. Memory that nothing was put into yet is not taken,
    /// and what never moves is not copied.
    pub(crate) fn with_room(slots: usize) -> Arena<T> {
        Arena { slots: Vec::with_capacity(slots), ..Arena::default() }
    }

    #[inline]
    pub fn add(&mut self, item: T) -> usize {
        if let Some(slot) = self.free.pop() {
            self.slots[slot as usize] = item;
            return slot as usize;
        }
        self.slots.push(item);
        self.slots.len() - 1
    }

    /// A slot to be filled again in place, with what it held last.
    #[inline]
    pub fn recycle(&mut self) -> Option<u32> {
        self.free.pop()
    }

    /// Gives back a slot that nothing refers to; what it holds stays until it is filled again.
    #[inline]
    pub fn release(&mut self, slot: u32) {
        self.free.push(slot);
    }

    /// Slots that were ever in use.
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Slots in use.
    pub fn in_use(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Two different objects at once, the first to be changed.
    pub fn pair(&mut self, target: usize, source: usize) -> (&mut T, &T) {
        let (left, right) = self.slots.split_at_mut(target.max(source));
        if target < source {
            (&mut left[target], &right[0])
        } else {
            (&mut right[0], &left[source])
        }
    }

    /// Empties what is not marked. Gives the bytes of what stays.
    pub(crate) fn sweep(&mut self, marks: &Bits, poison: bool) -> usize {
        let mut live = 0;
        self.free.clear();
        if !poison && self.poisoned.is_empty() {
            let used = (0..self.slots.len()).rev().find(|at| marks.has(*at)).map_or(0, |at| at + 1);
            self.slots.truncate(used);
            // Most was free: what a short burst of objects took is given back.
            if self.slots.capacity() / 4 > used + 1024 {
                self.slots.shrink_to(used * 2 + 1024);
            }
        }
        // From the end, so that the first slots are used first.
        for at in (0..self.slots.len()).rev() {
            let slot = &mut self.slots[at];
            if marks.has(at) {
                live += slot.bytes();
            } else {
                *slot = T::empty();
                if poison {
                    self.poisoned.add(at);
                } else if !self.poisoned.has(at) {
                    self.free.push(at as u32);
                }
            }
        }
        live
    }

    #[cold]
    fn freed(slot: usize) -> ! {
        panic!("slot {slot} of {} is used after it was freed", std::any::type_name::<T>())
    }
}

impl<T: Slot> Index<usize> for Arena<T> {
    type Output = T;
    #[inline(always)]
    fn index(&self, slot: usize) -> &T {
        if cfg!(debug_assertions) && !self.poisoned.is_empty() && self.poisoned.has(slot) {
            Self::freed(slot);
        }
        &self.slots[slot]
    }
}

impl<T: Slot> IndexMut<usize> for Arena<T> {
    #[inline(always)]
    fn index_mut(&mut self, slot: usize) -> &mut T {
        if cfg!(debug_assertions) && !self.poisoned.is_empty() && self.poisoned.has(slot) {
            Self::freed(slot);
        }
        &mut self.slots[slot]
    }
}
