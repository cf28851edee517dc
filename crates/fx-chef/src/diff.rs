//! The difference of two contents as lines below a change, in the original's own form: its
//! ranges count from where its library thinks a hunk ends, which is past short files.
//!
//! Which lines are equal is decided by `similar`; only grouping and ranges are made here.

use fx_ruby::Vm;
use similar::DiffTag;

/// Above this many bytes a content is not compared.
const LONGEST_FILE: usize = 10_000_000;
/// Above this many characters a difference is not shown.
const LONGEST_TEXT: usize = 1_000_000;
/// Equal lines shown around a change.
const AROUND: i64 = 3;

/// A file in the heading: its name and when it was changed.
pub(crate) struct Side<'a> {
    pub(crate) name: &'a str,
    pub(crate) at: (i64, u32),
}

/// Lines taken away and lines put in at one place, as positions in the old and the new text.
struct Piece {
    old: std::ops::Range<usize>,
    new: std::ops::Range<usize>,
}

struct Hunk {
    pieces: Vec<Piece>,
    old: (i64, i64),
    new: (i64, i64),
}

impl Hunk {
    /// A hunk of one piece; `shift` is how much longer the new text is before it.
    fn new(piece: Piece, shift: &mut i64, old_size: i64) -> Self {
        let before = *shift;
        let size = piece.new.len() as i64 - piece.old.len() as i64;
        let after = before + size;
        *shift = after;
        let removed =
            (!piece.old.is_empty()).then_some((piece.old.start as i64, piece.old.end as i64 - 1));
        let added =
            (!piece.new.is_empty()).then_some((piece.new.start as i64, piece.new.end as i64 - 1));
        let (mut old, mut new) = match (removed, added) {
            (Some(old), Some(new)) => (old, new),
            (Some(old), None) => (old, (old.0 + before, old.1 + after)),
            (None, Some(new)) => ((new.0 - before, new.1 - after), new),
            (None, None) => ((0, 0), (0, 0)),
        };
        let lead = old.0.min(AROUND);
        old.0 -= lead;
        new.0 -= lead;
        let mut tail = if old.1 + AROUND > old_size { old_size - old.1 } else { AROUND };
        if tail >= old_size {
            tail = size.abs();
        }
        old.1 += tail;
        new.1 += tail;
        Self { pieces: vec![piece], old, new }
    }

    fn overlaps(&self, earlier: &Self) -> bool {
        self.old.0 - earlier.old.1 <= 1 || self.new.0 - earlier.new.1 <= 1
    }

    fn write(&self, old: &[&str], new: &[&str], out: &mut Vec<String>) {
        out.push(format!("@@ -{} +{} @@", range(self.old), range(self.new)));
        let first = self.old.0.max(0) as usize;
        let last = (self.old.1 + 1).clamp(first as i64, old.len().max(first) as i64) as usize;
        let mut lines: Vec<String> = old
            .get(first..last)
            .unwrap_or_default()
            .iter()
            .map(|line| format!(" {line}"))
            .collect();
        let (mut added, mut removed) = (0, 0);
        for piece in &self.pieces {
            for at in piece.old.clone() {
                if let Some(line) = lines.get_mut(at - first + added) {
                    line.replace_range(..1, "-");
                }
                removed += 1;
            }
            for at in piece.new.clone() {
                let place = (at as i64 - self.new.0).max(0) as usize + removed;
                while lines.len() < place {
                    lines.push(String::new());
                }
                lines.insert(place, format!("+{}", new[at]));
                added += 1;
            }
        }
        out.append(&mut lines);
    }
}

fn range((start, end): (i64, i64)) -> String {
    let (start, end) = (start + 1, end + 1);
    let length = end - start + 1;
    let first = if length < 2 { end } else { start };
    if length <= 1 { first.to_string() } else { format!("{first},{length}") }
}

/// Text of what looks like text; a control character makes a content binary.
fn readable(bytes: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(bytes).ok()?;
    let fine = |ch: char| !ch.is_control() || matches!(ch, '\t' | '\n' | '\r' | '\x0b' | '\x0c');
    text.chars().all(fine).then_some(text)
}

/// Lines of the difference, or one line that says why there is none.
pub(crate) fn lines(vm: &mut Vm, old: (Side<'_>, &[u8]), new: (Side<'_>, &[u8])) -> Vec<String> {
    if old.1.len() > LONGEST_FILE || new.1.len() > LONGEST_FILE {
        return vec![format!("(file sizes exceed {LONGEST_FILE} bytes, diff output suppressed)")];
    }
    let Some(before) = readable(old.1) else {
        return vec!["(current file is binary, diff output suppressed)".into()];
    };
    let Some(after) = readable(new.1) else {
        return vec!["(new content is binary, diff output suppressed)".into()];
    };
    let before: Vec<&str> = before.lines().collect();
    let after: Vec<&str> = after.lines().collect();
    let hunks = hunks(&before, &after);
    if hunks.is_empty() {
        return vec!["(no diff)".into()];
    }
    let mut out = Vec::new();
    for (mark, side) in [("---", &old.0), ("+++", &new.0)] {
        let when = crate::clock::precise(vm, side.at);
        out.push(format!("{mark} {}\t{when}", side.name));
    }
    for hunk in &hunks {
        hunk.write(&before, &after, &mut out);
    }
    if out.iter().map(|line| line.len() + 1).sum::<usize>() > LONGEST_TEXT {
        return vec![format!(
            "(long diff of over {LONGEST_TEXT} characters, diff output suppressed)"
        )];
    }
    out
}

fn hunks(before: &[&str], after: &[&str]) -> Vec<Hunk> {
    let mut pieces: Vec<Piece> = Vec::new();
    if before.is_empty() {
        if !after.is_empty() {
            pieces.push(Piece { old: 0..0, new: 0..after.len() });
        }
    } else {
        for op in similar::capture_diff_slices(similar::Algorithm::Myers, before, after) {
            if op.tag() == DiffTag::Equal {
                continue;
            }
            let (old, new) = (op.old_range(), op.new_range());
            match pieces.last_mut() {
                Some(last) if last.old.end == old.start && last.new.end == new.start => {
                    last.old.end = old.end;
                    last.new.end = new.end;
                }
                _ => pieces.push(Piece { old, new }),
            }
        }
    }
    let mut shift = 0;
    let mut hunks: Vec<Hunk> = Vec::new();
    for piece in pieces {
        let mut hunk = Hunk::new(piece, &mut shift, before.len() as i64);
        match hunks.pop() {
            Some(earlier) if hunk.overlaps(&earlier) => {
                hunk.old.0 = earlier.old.0;
                hunk.new.0 = earlier.new.0;
                let mut pieces = earlier.pieces;
                pieces.append(&mut hunk.pieces);
                hunk.pieces = pieces;
            }
            Some(earlier) => hunks.push(earlier),
            None => {}
        }
        hunks.push(hunk);
    }
    hunks
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(old: &str, new: &str, expected: &[&str]) {
        let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
        let mut out = Vec::new();
        for hunk in hunks(&old, &new) {
            hunk.write(&old, &new, &mut out);
        }
        assert_eq!(out, expected);
    }

    #[test]
    fn ranges_are_those_of_the_original() {
        check("", "hi\n", &["@@ -1 +1,2 @@", "+hi"]);
        check("", "a\nb\nc\n", &["@@ -1,3 +1,6 @@", "+a", "+b", "+c"]);
        check(
            "one\ntwo\nthree\n",
            "one\n2\nthree\nfour\n",
            &["@@ -1,4 +1,5 @@", " one", "-two", "+2", " three", "+four"],
        );
        check("gone\n", "", &["@@ -1,2 +1 @@", "-gone"]);
    }
}
