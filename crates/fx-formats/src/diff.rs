//! Unified diffs of content, as diff -u writes them.

use similar::TextDiff;

/// How the two sides are named in the head of a diff.
#[derive(Clone, Copy, Debug)]
pub struct Sides<'a> {
    /// Behind `---`.
    pub before: &'a str,
    /// Behind `+++`.
    pub after: &'a str,
}

/// A diff with three lines of context. Empty where nothing differs, and nothing at all where a
/// side is not text: how that is worded is the caller's matter.
pub fn unified(sides: Sides<'_>, old: &[u8], new: &[u8]) -> Option<String> {
    if old == new {
        return Some(String::new());
    }
    if old.contains(&0) || new.contains(&0) {
        return None;
    }
    let (old, new) = (String::from_utf8_lossy(old), String::from_utf8_lossy(new));
    Some(unified_text(sides, &old, &new))
}

/// The same of what is text.
pub fn unified_text(sides: Sides<'_>, old: &str, new: &str) -> String {
    let diff = TextDiff::from_lines(old, new);
    diff.unified_diff().context_radius(3).header(sides.before, sides.after).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_compared_and_what_is_no_text_is_left_to_the_caller() {
        let sides = Sides { before: "/x (now)", after: "/x (wanted)" };
        let expected = "--- /x (now)\n+++ /x (wanted)\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n";
        assert_eq!(unified(sides, b"a\nb\n", b"a\nc\n").as_deref(), Some(expected));
        assert_eq!(unified(sides, b"a", b"a").as_deref(), Some(""));
        assert_eq!(unified(sides, b"\0", b"a"), None);
        let no_end =
            "--- /x (now)\n+++ /x (wanted)\n@@ -1 +1 @@\n-a\n+b\n\\ No newline at end of file\n";
        assert_eq!(unified(sides, b"a\n", b"b").as_deref(), Some(no_end));
    }
}
