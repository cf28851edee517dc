//! One error for one mistake of syntax.
//!
//! The parser follows the original, which stumbles on after a mistake and reports each step.
//! Here the statement with the first error is blanked out and the rest is read again, so what
//! follows is read as it is meant.

use fx_cfengine_syntax as ast;
use fx_source::{Diagnostic, FileId, Span};

/// The tree of a text without its wrong statements, that text, and one error for each of them.
pub(super) fn read(file: FileId, text: &[u8]) -> (ast::File, Vec<Diagnostic>) {
    let mut text = text.to_vec();
    let mut out: Vec<Diagnostic> = Vec::new();
    let mut floor = 0;
    loop {
        let (tree, errors) = ast::parse(file, &text);
        let first = errors.into_iter().filter_map(|error| Some((error.primary()?, error)));
        let first = first.min_by_key(|(span, _)| span.start);
        let Some((at, error)) = first.filter(|(at, _)| at.start as usize >= floor) else {
            return (tree, out);
        };
        let marks = marks(&text);
        if let Some(quote) = open_quote(&text, &marks, at.start as usize) {
            let end = line_end(&text, quote);
            let span = Span::new(file, quote as u32, end as u32);
            out.push(
                Diagnostic::error("cf-string", "this string is not closed on its line")
                    .label(span, "")
                    .help("add the missing quote"),
            );
            let start = statement_start(&marks, quote);
            blank(&mut text[start..end]);
            floor = start;
        } else {
            out.push(placed(file, &text, &marks, at, error));
            match statement(&text, &marks, at.start as usize) {
                Some((start, end)) if end > start => {
                    blank(&mut text[start..end]);
                    floor = end.max(floor + 1);
                }
                _ => return (tree, out),
            }
        }
        if out.len() >= ast::MAX_ERRORS {
            return (tree, out);
        }
    }
}

/// What is missing before a word that begins a line is missing at the end of the line before.
fn placed(
    file: FileId,
    text: &[u8],
    marks: &[(usize, Mark)],
    at: Span,
    error: Diagnostic,
) -> Diagnostic {
    let start = at.start as usize;
    if let Some(open) = open_bracket(text, marks, start) {
        let here = Span::new(file, open as u32, open as u32 + 1);
        let message = format!("this '{}' is not closed", char::from(text[open]));
        return Diagnostic::error(error.code, message).label(here, "");
    }
    if let Some(end) = quoted_attribute(text, marks, start) {
        let name = String::from_utf8_lossy(&text[start + 1..end - 1]);
        let message = format!("the name of attribute '{name}' is in quotes");
        let here = Span::new(file, start as u32, end as u32);
        return Diagnostic::error(error.code, message).label(here, "").help("leave out the quotes");
    }
    let line = text[..start].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let first_on_line = text[line..start].iter().all(u8::is_ascii_whitespace);
    let before = marks.iter().rev().find(|(at, mark)| *at < start && *mark != Mark::Comment);
    let Some((_, Mark::Word(end) | Mark::Quoted(end))) = before.filter(|_| first_on_line) else {
        return error;
    };
    let here = Span::new(file, (*end as u32).saturating_sub(1), *end as u32);
    let mut moved = Diagnostic::error(error.code, error.message).label(here, "");
    if let Some(help) = error.help {
        moved = moved.help(help);
    }
    moved
}

/// The end of a string at a place, where an arrow follows it inside a statement.
fn quoted_attribute(text: &[u8], marks: &[(usize, Mark)], start: usize) -> Option<usize> {
    let at = marks.iter().position(|(at, _)| *at == start)?;
    let (_, Mark::Quoted(end)) = marks[at] else { return None };
    let inside = matches!(marks[..at].last(), Some((_, Mark::Quoted(_) | Mark::Other)));
    let arrow = marks.get(at + 1).is_some_and(|(next, _)| text[*next..].starts_with(b"=>"));
    (inside && arrow && end > start + 1).then_some(end)
}

/// The bracket of an earlier line that is open where the error is noticed.
fn open_bracket(text: &[u8], marks: &[(usize, Mark)], error: usize) -> Option<usize> {
    let from = statement_start(marks, error);
    let mut open = Vec::new();
    for (at, mark) in marks.iter().filter(|(at, _)| *at >= from && *at < error) {
        match (mark, text[*at]) {
            (Mark::Other, b'(' | b'{') => open.push(*at),
            (Mark::Other, b')' | b'}') => {
                open.pop();
            }
            _ => {}
        }
    }
    open.pop().filter(|at| text[*at..error].contains(&b'\n'))
}

/// What a scan of the text finds; words and strings with their ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mark {
    Word(usize),
    Quoted(usize),
    Comment,
    /// `type:` or `class::`.
    Heading(usize),
    /// `;`
    End,
    /// `{` of a block.
    Open,
    /// `}` of a block.
    Close,
    /// `{`, `}`, `(`, `)`, `,`, `=>` inside a statement.
    Other,
}

fn marks(text: &[u8]) -> Vec<(usize, Mark)> {
    let mut out: Vec<(usize, Mark)> = Vec::new();
    let mut at = 0;
    let mut lists = 0_usize;
    while at < text.len() {
        let start = at;
        let mark = match text[at] {
            b'#' => {
                at = line_end(text, at);
                Mark::Comment
            }
            quote @ (b'"' | b'\'' | b'`') => {
                at += 1;
                while at < text.len() && text[at] != quote {
                    at += if text[at] == b'\\' { 2 } else { 1 };
                }
                at = (at + 1).min(text.len());
                Mark::Quoted(at)
            }
            b';' => {
                at += 1;
                lists = 0;
                Mark::End
            }
            b'{' => {
                at += 1;
                let in_value = out.iter().rev().map(|(at, mark)| (text[*at], mark)).find_map(
                    |(byte, mark)| {
                        (*mark != Mark::Comment).then_some(
                            *mark == Mark::Other && matches!(byte, b'>' | b',' | b'(' | b'{'),
                        )
                    },
                );
                if in_value == Some(true) {
                    lists += 1;
                    Mark::Other
                } else {
                    Mark::Open
                }
            }
            b'}' => {
                at += 1;
                if lists > 0 {
                    lists -= 1;
                    Mark::Other
                } else {
                    Mark::Close
                }
            }
            byte if is_word(byte) => {
                while at < text.len() && is_word(text[at]) {
                    at += 1;
                }
                let colons = text[at..].iter().take_while(|byte| **byte == b':').count();
                if colons > 0 && text.get(at + colons).is_none_or(u8::is_ascii_whitespace) {
                    at += colons;
                    lists = 0;
                    Mark::Heading(at)
                } else {
                    Mark::Word(at)
                }
            }
            byte if byte.is_ascii_whitespace() => {
                at += 1;
                continue;
            }
            _ => {
                at += 1;
                Mark::Other
            }
        };
        out.push((start, mark));
    }
    out
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'$' | b'@' | b'|' | b'&' | b'!')
}

fn line_end(text: &[u8], from: usize) -> usize {
    text[from..].iter().position(|byte| *byte == b'\n').map_or(text.len(), |at| from + at)
}

fn blank(text: &mut [u8]) {
    for byte in text.iter_mut().filter(|byte| **byte != b'\n') {
        *byte = b' ';
    }
}

/// Where a string was opened that runs over the end of a statement: its first line ends as
/// a statement or an attribute does.
fn open_quote(text: &[u8], marks: &[(usize, Mark)], error: usize) -> Option<usize> {
    marks.iter().filter(|(at, _)| *at <= error).find_map(|(at, mark)| {
        let Mark::Quoted(end) = mark else { return None };
        let line = line_end(text, *at);
        let first = text[*at..line].trim_ascii_end();
        let ends_so = matches!(first.last(), Some(b';' | b',' | b')' | b'}'));
        // Text of several lines is closed again before the text of policy goes on.
        let after = &text[(*end).min(text.len())..];
        let after = after.trim_ascii_start().first();
        let goes_on = matches!(after, Some(b';' | b',' | b')' | b'}' | b'=' | b'-'));
        (line < *end && first.len() > 1 && ends_so && !goes_on).then_some(*at)
    })
}

/// Where the statement around a place begins: behind the last end, heading or opening brace.
fn statement_start(marks: &[(usize, Mark)], at: usize) -> usize {
    let before = marks.iter().rev().filter(|(start, _)| *start < at);
    let mut bounds = before.filter_map(|(start, mark)| match mark {
        Mark::End | Mark::Open | Mark::Close => Some(start + 1),
        Mark::Heading(end) => Some(*end),
        _ => None,
    });
    bounds.next().unwrap_or(0)
}

/// The statement around an error; none if it is not inside a block, or if a block was not closed.
fn statement(text: &[u8], marks: &[(usize, Mark)], error: usize) -> Option<(usize, usize)> {
    let mut depth = 0_usize;
    for (_, mark) in marks.iter().filter(|(at, _)| *at < error) {
        match mark {
            Mark::Open => depth += 1,
            Mark::Close => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    if depth == 0 {
        return None;
    }
    let start = statement_start(marks, error);
    let mut end = text.len();
    for (at, mark) in marks.iter().filter(|(at, _)| *at >= error) {
        let bound = match mark {
            Mark::End => Some(at + 1),
            Mark::Heading(_) | Mark::Open | Mark::Close => Some(*at),
            Mark::Word(stop)
                if matches!(&text[*at..*stop], b"bundle" | b"body")
                    && (*at == 0 || text[at - 1] == b'\n') =>
            {
                if *at == error {
                    return None;
                }
                Some(*at)
            }
            _ => None,
        };
        if let Some(bound) = bound {
            end = bound;
            break;
        }
    }
    Some((start, end))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fx_source::SourceMap;

    fn lines(text: &str) -> Vec<u32> {
        let map = SourceMap::new();
        let id = map.add("x.cf", text.as_bytes().to_vec());
        let (_, errors) = read(id, text.as_bytes());
        errors.iter().filter_map(|error| Some(map.location(error.primary()?).line)).collect()
    }

    #[test]
    fn one_mistake_is_one_error() {
        let main = |inside: &str| format!("bundle agent main\n{{\n{inside}\n}}\n");
        let table: &[(&str, &[u32])] = &[
            ("vars:\n\"a\" string => \"x\"\n\"b\" string => \"y\";\n\"c\" string => \"z\";", &[4]),
            ("vars:\n\"a\" slist => { \"x\", \"y\" ;\nreports:\n\"a\";\n\"b\"", &[4, 7]),
            ("files:\n\"/x\"\n create => \"true\"\n perms => m(\"1\");\nreports:\n\"a\";", &[5]),
            ("files:\n\"/x\" perms => m(\"1\", \"2\";\nreports:\n\"a\";\n\"b\";", &[4]),
            ("vars:\n\"a\" string => \"x;\n\"b\" string => \"y\";\nreports:\n\"c\";", &[4]),
            ("vars:\n\"a\" string => \"x;\n y\";\nreports:\n\"c\";", &[]),
            ("files:\n\"/x\" perms => m(\"1\",\n create => \"true\";\nreports:\n\"a\";", &[4]),
            ("reports:\n\"c\"", &[4]),
            ("reports:\n\"c\" if => ;\n\"d\" if = \"x\";", &[4, 5]),
        ];
        for (inside, expected) in table {
            assert_eq!(lines(&main(inside)), *expected, "{inside}");
        }
        assert_eq!(lines("bundel agent main\n{\nreports:\n\"a\";\n}\n"), [1]);
        assert_eq!(lines("bundle agent a\n{\nreports:\n\"a\";\n\nbundle agent b\n{\n}\n"), [6]);
    }
}
