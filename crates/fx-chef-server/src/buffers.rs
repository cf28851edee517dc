//! Buffers that are used again. A node's document has some hundred kilobytes, and memory of that
//! size goes back to the kernel when it is freed: the next request would wait for each page of it.

use std::sync::{Mutex, PoisonError};

/// Buffers that wait for a request: two for each of a few answers at the same time.
const KEPT: usize = 8;

/// What is smaller the allocator has at hand.
const SMALLEST: usize = 16 << 10;

/// What is larger is too rare to be kept.
const LARGEST: usize = 512 << 10;

/// Empty buffers of the size of documents.
#[derive(Debug, Default)]
pub struct Buffers(Mutex<Vec<Vec<u8>>>);

impl Buffers {
    /// An empty buffer with room for so many bytes.
    pub fn take(&self, size: usize) -> Vec<u8> {
        let kept = (SMALLEST..=LARGEST).contains(&size).then(|| self.lock().pop()).flatten();
        let mut buffer = kept.unwrap_or_default();
        buffer.reserve(size);
        buffer
    }

    /// Whether a buffer is worth giving back.
    pub fn wants(&self, buffer: &Vec<u8>) -> bool {
        (SMALLEST..=LARGEST).contains(&buffer.capacity())
    }

    /// Keeps a buffer that nobody needs any more.
    pub fn give_back(&self, mut buffer: Vec<u8>) {
        if !self.wants(&buffer) {
            return;
        }
        buffer.clear();
        let mut all = self.lock();
        if all.len() < KEPT {
            all.push(buffer);
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Vec<u8>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_comes_back_empty_and_only_so_many_are_kept() {
        let buffers = Buffers::default();
        let mut first = buffers.take(100 << 10);
        first.extend_from_slice(b"of somebody else");
        let place = first.as_ptr();
        buffers.give_back(first);
        let again = buffers.take(50 << 10);
        assert_eq!((again.as_ptr(), again.as_slice()), (place, &[][..]));
        for size in [0, SMALLEST - 1, LARGEST + 1] {
            buffers.give_back(Vec::with_capacity(size));
        }
        assert_eq!(buffers.lock().len(), 0, "sizes that are not kept");
        for _ in 0..2 * KEPT {
            buffers.give_back(Vec::with_capacity(SMALLEST));
        }
        assert_eq!(buffers.lock().len(), KEPT);
        assert!(buffers.take(LARGEST + 1).capacity() > LARGEST);
        assert_eq!(buffers.lock().len(), KEPT, "no kept one is made larger than all");
    }
}
