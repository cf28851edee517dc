//! All sources of a run, addressed by [`FileId`]; turns offsets into lines and columns.
//!
//! It never reads a file: whoever loaded the bytes adds them here. Text may be any bytes;
//! invalid UTF-8 is shown replaced, never refused.

use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

use crate::Span;

/// Index of a file in its [`SourceMap`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct FileId(u32);

impl FileId {
    /// Position in the map, in order of loading.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A line and column for people: both count from one, columns count characters.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Location {
    /// Name of the file as it was given by the user.
    pub file: Rc<str>,
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
}

impl std::fmt::Display for Location {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// One source file: its name, bytes, and for text made from another file, that file.
#[derive(Debug)]
pub struct SourceFile {
    name: Rc<str>,
    bytes: Rc<[u8]>,
    derived_from: Option<Span>,
    line_starts: OnceCell<Vec<u32>>,
}

impl SourceFile {
    /// Name as the user knows it.
    pub fn name(&self) -> &Rc<str> {
        &self.name
    }

    /// The bytes as loaded.
    pub fn bytes(&self) -> &Rc<[u8]> {
        &self.bytes
    }

    /// Where this text came from if it was produced from another (a template, an `eval`).
    pub fn derived_from(&self) -> Option<Span> {
        self.derived_from
    }

    // Computed on first use: a run without diagnostics never pays for it.
    fn line_starts(&self) -> &[u32] {
        self.line_starts.get_or_init(|| crate::scan::line_starts(&self.bytes))
    }

    /// Line number from one of the byte at `offset`.
    pub fn line(&self, offset: u32) -> u32 {
        self.line_starts().partition_point(|start| *start <= offset) as u32
    }

    /// The text of a line, counted from one, without its end.
    pub fn line_text(&self, line: u32) -> String {
        let starts = self.line_starts();
        let Some(start) = starts.get((line as usize).wrapping_sub(1)) else {
            return String::new();
        };
        let end = starts.get(line as usize).map_or(self.bytes.len(), |next| *next as usize - 1);
        let text = &self.bytes[*start as usize..end];
        String::from_utf8_lossy(text.strip_suffix(b"\r").unwrap_or(text)).into_owned()
    }
}

/// The files of one run, append-only. Shared by reference: adding takes `&self`.
#[derive(Debug, Default)]
pub struct SourceMap {
    files: RefCell<Vec<Rc<SourceFile>>>,
}

impl SourceMap {
    /// An empty map.
    pub fn new() -> SourceMap {
        SourceMap::default()
    }

    /// Adds a file under the name the user knows it by.
    pub fn add(&self, name: &str, bytes: impl Into<Rc<[u8]>>) -> FileId {
        self.push(name, bytes.into(), None)
    }

    /// Adds text that was made from another file; diagnostics can lead back to `from`.
    pub fn add_derived(&self, name: &str, bytes: impl Into<Rc<[u8]>>, from: Span) -> FileId {
        self.push(name, bytes.into(), Some(from))
    }

    fn push(&self, name: &str, bytes: Rc<[u8]>, derived_from: Option<Span>) -> FileId {
        let mut files = self.files.borrow_mut();
        let id = FileId(files.len() as u32);
        let line_starts = OnceCell::new();
        files.push(Rc::new(SourceFile { name: name.into(), bytes, derived_from, line_starts }));
        id
    }

    /// The file behind an id of this map.
    pub fn file(&self, id: FileId) -> Rc<SourceFile> {
        Rc::clone(&self.files.borrow()[id.index()])
    }

    /// The ids of all files in order of loading.
    pub fn ids(&self) -> impl Iterator<Item = FileId> + use<> {
        (0..self.len() as u32).map(FileId)
    }

    /// All files in order of loading.
    pub fn files(&self) -> Vec<Rc<SourceFile>> {
        (0..self.len() as u32).map(|index| self.file(FileId(index))).collect()
    }

    /// Number of files added so far.
    pub fn len(&self) -> usize {
        self.files.borrow().len()
    }

    /// Whether nothing was added yet.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// File, line and column of a span's first byte.
    pub fn location(&self, span: Span) -> Location {
        let file = self.file(span.file);
        let line = file.line(span.start);
        let start = file.line_starts()[line as usize - 1] as usize;
        let upto = &file.bytes[start..(span.start as usize).min(file.bytes.len())];
        let column = String::from_utf8_lossy(upto).chars().count() as u32 + 1;
        Location { file: Rc::clone(&file.name), line, column }
    }

    /// The bytes a span covers, as text.
    pub fn text(&self, span: Span) -> String {
        let file = self.file(span.file);
        String::from_utf8_lossy(&file.bytes[span.start as usize..span.end as usize]).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locations_count_lines_and_characters_from_one() {
        let map = SourceMap::new();
        let id = map.add("a.cf", "ab\nç d\n\nend".as_bytes());
        let at = |start| map.location(Span::new(id, start, start)).to_string();
        let table =
            [(0, "1:1"), (2, "1:3"), (3, "2:1"), (5, "2:2"), (6, "2:3"), (8, "3:1"), (12, "4:4")];
        for (offset, expected) in table {
            assert_eq!(at(offset), format!("a.cf:{expected}"), "offset {offset}");
        }
    }

    #[test]
    fn a_line_is_shown_without_its_end_and_bytes_never_fail() {
        let map = SourceMap::new();
        let file = map.file(map.add("b", b"one\r\n\xff\xfe\nlast".as_slice()));
        assert_eq!(file.line_text(1), "one");
        assert_eq!(file.line_text(2), "\u{fffd}\u{fffd}");
        assert_eq!(file.line_text(3), "last");
        assert_eq!(file.line_text(9), "");
    }
}
