//! The slip behind an error of syntax in a manifest: where a quote or a bracket was left open, or
//! a keyword misspelt, the parser notices it lines later.

use fx_source::{Diagnostic, FileId, Severity, Span, meant};

/// Words that begin statements, and stand before a name.
const KEYWORDS: [&str; 8] =
    ["class", "define", "node", "function", "unless", "include", "elsif", "case"];

/// The error at the place of the slip, if there is one.
pub(super) fn behind(id: FileId, text: &[u8], error: &Diagnostic) -> Option<Diagnostic> {
    if error.severity != Severity::Error {
        return None;
    }
    let at = error.primary()?.start as usize;
    let place = |start: usize, end: usize| Span::new(id, start as u32, end as u32);
    let scan = scan(text, at);
    if let Some((start, end)) = scan.quote {
        let message = "this string is not closed on its line";
        let found = Diagnostic::error(error.code, message).label(place(start, end), "");
        return Some(found.help("add the missing quote"));
    }
    if let Some((start, end)) = scan.interpolation {
        let message = "this interpolation is not closed";
        let found = Diagnostic::error(error.code, message).label(place(start, end), "");
        return Some(found.help("add the missing '}'"));
    }
    let at_end = error.code == fx_puppet_syntax::END_OF_INPUT;
    if let Some(open) = scan.bracket.or(scan.left_open.filter(|_| at_end)) {
        let message = format!("this '{}' is not closed", char::from(text[open]));
        return Some(Diagnostic::error(error.code, message).label(place(open, open + 1), ""));
    }
    let (start, word) = misspelt(text, at)?;
    let near = meant(word, KEYWORDS.into_iter())?;
    let found = Diagnostic::error(error.code, error.message.clone());
    let found = found.label(place(start, start + word.len()), "");
    Some(found.help(format!("did you mean '{near}'?")))
}

/// The bracket that the tags of a template leave open, where its end comes too early.
pub(super) fn in_template(id: FileId, text: &[u8], error: &Diagnostic) -> Option<Diagnostic> {
    if error.code != fx_puppet_syntax::END_OF_INPUT {
        return None;
    }
    let mut code = vec![b' '; text.len()];
    let mut at = 0;
    while let Some(open) = find(text, at, b"<%") {
        let close = find(text, open, b"%>")?;
        if !matches!(text.get(open + 2), Some(b'%' | b'#')) {
            code[open + 2..close].copy_from_slice(&text[open + 2..close]);
        }
        at = close + 2;
    }
    let open = scan(&code, code.len()).open.pop()?;
    let message = format!("this '{}' is not closed", char::from(text[open]));
    let span = Span::new(id, open as u32, open as u32 + 1);
    Some(Diagnostic::error(error.code, message).label(span, ""))
}

fn find(text: &[u8], from: usize, what: &[u8]) -> Option<usize> {
    text.get(from..)?.windows(what.len()).position(|part| part == what).map(|at| from + at)
}

#[derive(Default)]
struct Scan {
    /// A string that runs over the end of an attribute.
    quote: Option<(usize, usize)>,
    /// A bracket that another kind of bracket closes at the error.
    bracket: Option<usize>,
    /// `${name` in a string that ends before the brace does.
    interpolation: Option<(usize, usize)>,
    /// A bracket whose block is left by the indentation of one that closes another.
    left_open: Option<usize>,
    /// The brackets that are open at the error.
    open: Vec<usize>,
}

/// How far the line of a place is indented, and whether nothing stands before it.
fn indent(text: &[u8], at: usize) -> (usize, bool) {
    let start = text[..at].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let blanks = text[start..].iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    (blanks, start + blanks == at)
}

/// Where a string of one line has `${name` without its brace.
fn open_interpolation(text: &[u8], start: usize, end: usize) -> Option<(usize, usize)> {
    let at = text[start..end].windows(2).rposition(|pair| pair == b"${").map(|at| start + at)?;
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"_:./-".contains(byte);
    let plain = text[at + 2..end].iter().all(is_name) && at + 2 < end;
    plain.then_some((at, at + 2))
}

fn scan(text: &[u8], error: usize) -> Scan {
    let mut open: Vec<usize> = Vec::new();
    let mut left_open = None;
    let mut at = 0;
    while at < text.len() && at < error {
        match text[at] {
            b'#' => at += text[at..].iter().position(|byte| *byte == b'\n').unwrap_or(text.len()),
            mark @ (b'"' | b'\'') => {
                let start = at;
                at += 1;
                while at < text.len() && text[at] != mark {
                    at += if text[at] == b'\\' { 2 } else { 1 };
                }
                let line = text[start..].iter().position(|byte| *byte == b'\n');
                let line = line.map_or(text.len(), |end| start + end);
                let first = text[start..line].trim_ascii_end();
                if line < at && first.len() > 1 && matches!(first.last(), Some(b',' | b':' | b')'))
                {
                    let quote = Some((start, start + first.len()));
                    return Scan { quote, ..Scan::default() };
                }
                let end = at.min(text.len());
                if mark == b'"'
                    && let Some(interpolation) = open_interpolation(text, start, end)
                {
                    return Scan { interpolation: Some(interpolation), ..Scan::default() };
                }
            }
            b'(' | b'[' | b'{' => open.push(at),
            b')' | b']' | b'}' => {
                let (depth, first) = indent(text, at);
                match open.pop() {
                    Some(begun) if first && depth < indent(text, begun).0 => {
                        left_open = left_open.or(Some(begun));
                    }
                    _ => {}
                }
            }
            _ => {}
        }
        at += 1;
    }
    let closes = text.get(error).and_then(|byte| match byte {
        b')' => Some(b'('),
        b']' => Some(b'['),
        b'}' => Some(b'{'),
        _ => None,
    });
    let bracket = open.last().copied().filter(|at| closes.is_some_and(|mark| text[*at] != mark));
    Scan { bracket, left_open, open, ..Scan::default() }
}

/// The word that begins the line of an error or one of the two before it, if a name follows it.
fn misspelt(text: &[u8], error: usize) -> Option<(usize, &str)> {
    let mut end = error.min(text.len());
    for _ in 0..3 {
        let start = text[..end].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let line = &text[start..];
        // A word may follow the brace that closes what is before it.
        let indent = line.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'}')).count();
        let word = line[indent..].iter().take_while(|byte| byte.is_ascii_lowercase()).count();
        let after = line.get(indent + word..).unwrap_or_default();
        let named = after.first() == Some(&b' ')
            && after.get(1).is_some_and(|byte| byte.is_ascii_lowercase() || b"\"'$".contains(byte));
        let found = std::str::from_utf8(&line[indent..indent + word]).ok()?;
        if named && meant(found, KEYWORDS.into_iter()).is_some() && !KEYWORDS.contains(&found) {
            return Some((start + indent, found));
        }
        end = start.checked_sub(1)?;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use fx_source::SourceMap;

    #[test]
    fn an_error_is_shown_where_the_slip_is() {
        let table = [
            ("file { 'a':\n  mode => '0644,\n  owner => 'root',\n}\nnotice('x')\n", 2),
            ("$a = f({ 'b' => 1 },\n  2\n$c = { 'd' => g(1, }\n", 3),
            ("$a = \"${b/c\"\n$d = 'e'\nnotice(\"${d}\")\n", 1),
            ("class a {\n  f() |$x| {\n    g { 'h':\n    }\n\n  i()\n}\n", 2),
            ("if a {\n  b()\n} elseif $c == 1 {\n  notice(\"d\")\n}\n", 3),
            ("clas web (\n  Integer $port,\n) {\n}\n", 1),
        ];
        for (text, expected) in table {
            let map = SourceMap::new();
            let id = map.add("x.pp", text.as_bytes().to_vec());
            let (_, found) = fx_puppet_syntax::parse(text.as_bytes(), id);
            let error = found.last().cloned();
            let better = error.as_ref().and_then(|error| behind(id, text.as_bytes(), error));
            let shown = better.or(error).and_then(|error| error.primary());
            assert_eq!(shown.map(|span| map.location(span).line), Some(expected), "{text}");
        }
    }
}
