//! Diffs of content for a reader. What is not text, or too large to read, is summed up in a line.

use fx_formats::Sides;

/// Content above this many bytes is not shown line by line.
const MAX_BYTES: usize = 256 * 1024;

/// A unified diff, headed by the file's name on both sides.
pub fn unified(name: &str, old: &[u8], new: &[u8]) -> String {
    let sizes = format!("{} bytes before, {} after\n", old.len(), new.len());
    if std::str::from_utf8(old).is_err() || std::str::from_utf8(new).is_err() {
        return format!("binary content differs: {sizes}");
    }
    if old.len() + new.len() > MAX_BYTES {
        return format!("content differs: {sizes}");
    }
    let sides = Sides { before: &format!("{name} (now)"), after: &format!("{name} (wanted)") };
    fx_formats::unified(sides, old, new)
        .unwrap_or_else(|| format!("binary content differs: {sizes}"))
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
