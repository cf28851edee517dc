//! Line edits as pure functions: text in, text out. No machine, no regular expressions;
//! callers bring their own idea of which line matches.
//!
//! Lines keep their bytes. A text without a final newline gets one only when a line is
//! added behind its last.

/// Decides whether a line, given without its end, is meant.
pub type Matches<'a> = &'a dyn Fn(&[u8]) -> bool;

/// The lines of a text without their ends. `a\n` and `a` both have one line.
pub fn lines(text: &[u8]) -> impl DoubleEndedIterator<Item = &[u8]> {
    let body = text.strip_suffix(b"\n").unwrap_or(text);
    (!text.is_empty()).then(|| body.split(|byte| *byte == b'\n')).into_iter().flatten()
}

/// Lines as one text, each with its end.
pub fn join<'a>(lines: impl IntoIterator<Item = &'a [u8]>) -> Vec<u8> {
    let mut text = Vec::new();
    for line in lines {
        text.extend_from_slice(line);
        text.push(b'\n');
    }
    text
}

/// Adds a line at the end, whether or not it is there.
pub fn append(text: &[u8], line: &[u8]) -> Vec<u8> {
    let mut out = text.to_vec();
    if !out.is_empty() && !out.ends_with(b"\n") {
        out.push(b'\n');
    }
    out.extend_from_slice(line);
    out.push(b'\n');
    out
}

/// Removes matching lines.
pub fn delete(text: &[u8], matches: Matches<'_>) -> Vec<u8> {
    rebuild(text, |line| (!matches(line)).then_some(line))
}

/// Replaces matching lines as a whole.
pub fn replace(text: &[u8], matches: Matches<'_>, line: &[u8]) -> Vec<u8> {
    rebuild(text, |known| Some(if matches(known) { line } else { known }))
}

/// Makes sure a line is there: matching lines are replaced by it; without a match it is
/// added at the end.
pub fn ensure_line(text: &[u8], line: &[u8], matches: Matches<'_>) -> Vec<u8> {
    if lines(text).any(matches) { replace(text, matches, line) } else { append(text, line) }
}

// Each line keeps its own end, so a missing final newline stays missing with its line only.
fn rebuild<'a>(text: &'a [u8], edit: impl Fn(&'a [u8]) -> Option<&'a [u8]>) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    for piece in text.split_inclusive(|byte| *byte == b'\n') {
        let line = piece.strip_suffix(b"\n").unwrap_or(piece);
        if let Some(line) = edit(line) {
            out.extend_from_slice(line);
            out.extend_from_slice(if piece.ends_with(b"\n") { b"\n" } else { b"" });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(text: Vec<u8>) -> String {
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn deleting_and_replacing_keep_the_rest_as_it_is() {
        let b: Matches<'_> = &|line| line == b"b";
        assert_eq!(show(delete(b"a\nb\nc", b)), "a\nc");
        assert_eq!(show(delete(b"b\n", b)), "");
        assert_eq!(show(delete(b"a\n\nb", b)), "a\n\n");
        assert_eq!(show(delete(b"", b)), "");
        assert_eq!(show(replace(b"a\nb\n\nb\n", b, b"z")), "a\nz\n\nz\n");
    }

    #[test]
    fn a_line_replaces_its_match_or_is_added_behind_a_complete_last_line() {
        let key: Matches<'_> = &|line| line.starts_with(b"Port");
        let text = b"# network\nPort 22\nend\n";
        assert_eq!(show(ensure_line(text, b"Port 80", key)), "# network\nPort 80\nend\n");
        assert_eq!(show(ensure_line(b"a", b"Port 80", key)), "a\nPort 80\n");
        assert_eq!(show(ensure_line(b"", b"Port 80", key)), "Port 80\n");
        assert_eq!(show(append(b"\n", b"x")), "\nx\n");
    }

    #[test]
    fn splitting_and_joining_give_the_text_back() {
        for text in ["", "a\n", "a\n\n", "\n", "a\nb\n"] {
            assert_eq!(show(join(lines(text.as_bytes()))), text);
        }
    }
}
