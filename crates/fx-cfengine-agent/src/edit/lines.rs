//! The lines of a file being edited, with an index by content, and inserting and deleting.
//!
//! Positions are indices; those a caller holds are moved by [`Marks`] when lines shift.
//! The index makes "is this line there" one look-up, where the original scans the file.

use fx_cfengine::text::Str;
use rustc_hash::FxHashMap;

/// Lines without their ends.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    lines: Vec<Str>,
    counts: FxHashMap<Str, u32>,
    /// How many edits were made, whether or not they change the file in the end.
    pub(crate) edits: u32,
}

/// Positions to be kept right while lines are inserted.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Marks {
    pub(crate) begin: Option<usize>,
    pub(crate) end: Option<usize>,
    pub(crate) location: Option<usize>,
    pub(crate) prev: Option<usize>,
}

impl Lines {
    /// Splits text at line ends; a missing last end does not matter.
    pub(crate) fn from_text(text: &str) -> Lines {
        let mut lines = Lines::default();
        if text.is_empty() {
            return lines;
        }
        let body = text.strip_suffix('\n').unwrap_or(text);
        for line in body.split('\n') {
            lines.push(line.into());
        }
        lines
    }

    /// The file these lines make.
    pub(crate) fn to_text(&self) -> String {
        let mut out = String::with_capacity(self.lines.iter().map(|line| line.len() + 1).sum());
        for line in &self.lines {
            out.push_str(line);
            out.push('\n');
        }
        out
    }

    pub(crate) fn len(&self) -> usize {
        self.lines.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    pub(crate) fn get(&self, at: usize) -> Option<&Str> {
        self.lines.get(at)
    }

    pub(crate) fn as_slice(&self) -> &[Str] {
        &self.lines
    }

    /// Whether any line is this one.
    pub(crate) fn contains(&self, line: &str) -> bool {
        self.counts.get(line).is_some_and(|count| *count > 0)
    }

    fn count(&mut self, line: &Str) {
        *self.counts.entry(line.clone()).or_insert(0) += 1;
    }

    fn uncount(&mut self, line: &Str) {
        if let Some(count) = self.counts.get_mut(line) {
            *count -= 1;
        }
    }

    fn push(&mut self, line: Str) {
        self.count(&line);
        self.lines.push(line);
    }

    /// Inserts a line, moving the marks.
    pub(crate) fn insert(&mut self, at: usize, line: Str, marks: &mut Marks) {
        let at = at.min(self.lines.len());
        self.count(&line);
        self.lines.insert(at, line);
        for mark in [&mut marks.begin, &mut marks.end, &mut marks.location, &mut marks.prev] {
            if let Some(position) = mark
                && *position >= at
            {
                *position += 1;
            }
        }
    }

    /// Replaces a line.
    pub(crate) fn set(&mut self, at: usize, line: Str) {
        let old = std::mem::replace(&mut self.lines[at], line.clone());
        self.uncount(&old);
        self.count(&line);
    }

    /// Removes the lines for which `gone` is set; one pass over the file.
    pub(crate) fn remove_marked(&mut self, gone: &[bool]) {
        let mut at = 0;
        let mut removed = Vec::new();
        self.lines.retain(|line| {
            let keep = !gone.get(at).copied().unwrap_or(false);
            at += 1;
            if !keep {
                removed.push(line.clone());
            }
            keep
        });
        for line in removed {
            self.uncount(&line);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_index_follows_every_change() {
        let mut lines = Lines::from_text("a\nb\na");
        let mut marks = Marks { location: Some(1), ..Marks::default() };
        lines.insert(1, "c".into(), &mut marks);
        assert_eq!(marks.location, Some(2));
        assert!(lines.contains("c"));
        lines.remove_marked(&[true, false, false, false]);
        assert!(lines.contains("a"));
        lines.set(2, "z".into());
        assert!(!lines.contains("a"));
        assert_eq!(lines.to_text(), "c\nb\nz\n");
        assert_eq!(Lines::from_text("").to_text(), "");
        assert_eq!(Lines::from_text("\n").to_text(), "\n");
    }
}
