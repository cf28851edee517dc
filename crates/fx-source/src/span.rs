//! Where in the text: a file and a half-open byte range, twelve bytes and `Copy`.
//!
//! Spans are made by lexers from real positions. There is no dummy span: code that has
//! no position uses `Option<Span>` or an [`crate::Origin`] without one.

use crate::FileId;

/// A half-open byte range in one file. Offsets are 32-bit: files are limited to 4 GiB.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// The file the range lies in.
    pub file: FileId,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// A span from `start` up to, not including, `end`.
    pub fn new(file: FileId, start: u32, end: u32) -> Span {
        debug_assert!(start <= end, "a span runs forwards");
        Span { file, start, end }
    }

    /// The smallest span that covers both. Both must lie in one file.
    pub fn to(self, other: Span) -> Span {
        debug_assert!(self.file == other.file, "spans of two files have no cover");
        Span::new(self.file, self.start.min(other.start), self.end.max(other.end))
    }

    /// Number of bytes covered.
    pub fn len(self) -> u32 {
        self.end - self.start
    }

    /// Whether the span covers no byte, as the position at the end of input does.
    pub fn is_empty(self) -> bool {
        self.start == self.end
    }
}

impl std::fmt::Debug for Span {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}..{}", self.file.index(), self.start, self.end)
    }
}

/// A value together with the place it was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Spanned<T> {
    /// The value.
    pub node: T,
    /// Where it stands.
    pub span: Span,
}

impl<T> Spanned<T> {
    /// Joins a value with its place.
    pub fn new(node: T, span: Span) -> Spanned<T> {
        Spanned { node, span }
    }
}
