//! Unified diffs of content. What is not text, or too large to read, is summed up in a line.

use similar::TextDiff;

/// Content above this many bytes is not shown line by line.
const MAX_BYTES: usize = 256 * 1024;

/// A unified diff with three lines of context, headed by the file's name on both sides.
pub fn unified(name: &str, old: &[u8], new: &[u8]) -> String {
    let text = |bytes| std::str::from_utf8(bytes).ok().filter(|text| !text.contains('\0'));
    let (Some(before), Some(after)) = (text(old), text(new)) else {
        return format!(
            "binary content differs: {} bytes before, {} after\n",
            old.len(),
            new.len()
        );
    };
    if old.len() + new.len() > MAX_BYTES {
        return format!("content differs: {} bytes before, {} after\n", old.len(), new.len());
    }
    let diff = TextDiff::from_lines(before, after);
    diff.unified_diff()
        .context_radius(3)
        .header(&format!("{name} (now)"), &format!("{name} (wanted)"))
        .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_compared_and_everything_else_is_summed_up() {
        assert_eq!(
            unified("/x", b"a\nb\n", b"a\nc\n"),
            "--- /x (now)\n+++ /x (wanted)\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n"
        );
        assert_eq!(
            unified("/x", b"\xff", b"ab"),
            "binary content differs: 1 bytes before, 2 after\n"
        );
        assert!(unified("/x", b"", &vec![b'a'; 300_000]).starts_with("content differs"));
    }
}
