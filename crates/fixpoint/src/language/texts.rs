//! What is wrong with texts that are no policy by themselves: Ruby, ERB templates, JSON, YAML.

use fx_source::{Diagnostic, FileId, Span};

/// What is wrong with a text of Ruby: the first error, for those behind it mostly follow from it.
pub(super) fn ruby(id: FileId, text: &[u8]) -> Option<Diagnostic> {
    let error = fx_ruby_syntax::errors(text).into_iter().min_by_key(|error| error.start)?;
    let whole = text.trim_ascii_end().len();
    // A block that is not closed is noticed at the end of the file, or where the next one is.
    let not_closed = fx_ruby_syntax::errors(text).iter().any(|error| error.end as usize >= whole);
    if let Some((start, end)) = not_closed.then(|| else_if(text)).flatten() {
        return Some(two_words("ruby-syntax", Span::new(id, start as u32, end as u32)));
    }
    if let Some((start, end)) = not_closed.then(|| unclosed(text)).flatten() {
        return Some(
            Diagnostic::error("ruby-syntax", "this block has no 'end'")
                .label(Span::new(id, start as u32, end as u32), "")
                .help("add the missing 'end'"),
        );
    }
    let (start, end) = (error.start.min(whole as u32), error.end.min(whole as u32));
    let (start, end) = line_left_open(text, start as usize)
        .map_or((start, end), |(start, end)| (start as u32, end as u32));
    Some(Diagnostic::error("ruby-syntax", error.message).label(Span::new(id, start, end), ""))
}

/// The words `else if`, which begin a block of their own.
fn else_if(text: &[u8]) -> Option<(usize, usize)> {
    let mut at = 0;
    text.split_inclusive(|byte| *byte == b'\n').find_map(|line| {
        let start = at + line.len() - line.trim_ascii_start().len();
        at += line.len();
        let code = line.trim_ascii();
        let blanks = code.len() - code.strip_prefix(b";").unwrap_or(code).trim_ascii_start().len();
        code[blanks..].starts_with(b"else if ").then_some((start + blanks, start + blanks + 7))
    })
}

fn two_words(code: &'static str, span: Span) -> Diagnostic {
    Diagnostic::error(code, "'else if' begins a block that has no 'end'")
        .label(span, "")
        .help("write 'elsif'")
}

/// The line before a place, if a bracket that it opens is not closed in it: what is noticed
/// first on a line was mostly forgotten on the line before.
fn line_left_open(text: &[u8], at: usize) -> Option<(usize, usize)> {
    let line = text[..at].iter().rposition(|byte| *byte == b'\n')? + 1;
    let end = text[..line].trim_ascii_end().len();
    let start = text[..end].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    last_open(&text[start..end]).map(|at| (start + at, start + at + 1))
}

/// The last bracket that a text opens and does not close.
fn last_open(text: &[u8]) -> Option<usize> {
    let mut open = Vec::new();
    let mut quote = None;
    for (at, byte) in text.iter().enumerate() {
        match (quote, byte) {
            (Some(mark), byte) if mark == *byte => quote = None,
            (Some(_), _) => {}
            (None, b'"' | b'\'') => quote = Some(*byte),
            (None, b'(' | b'[' | b'{') => open.push(at),
            (None, b')' | b']' | b'}') => {
                open.pop();
            }
            _ => {}
        }
    }
    open.pop()
}

/// The line that opens a block which nothing closes, by the indentation of what opens and ends.
fn unclosed(text: &[u8]) -> Option<(usize, usize)> {
    let mut open: Vec<(usize, usize, usize)> = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        let indent = line.len() - line.trim_ascii_start().len();
        let code = line.trim_ascii();
        let code = code.strip_prefix(b";").unwrap_or(code).trim_ascii();
        let word = code.split(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_').next();
        let word = word.unwrap_or_default();
        if word == b"end" {
            match open.last() {
                Some((depth, start, end)) if *depth > indent => return Some((*start, *end)),
                _ => {
                    open.pop();
                }
            }
        } else if opens(word, code) {
            open.push((indent, at + indent, at + indent + code.len()));
        }
        at += line.len();
    }
    open.pop().map(|(_, start, end)| (start, end))
}

fn opens(word: &[u8], code: &[u8]) -> bool {
    let heading = matches!(
        word,
        b"def"
            | b"class"
            | b"module"
            | b"if"
            | b"unless"
            | b"case"
            | b"while"
            | b"until"
            | b"begin"
    );
    let on_one_line = code.ends_with(b" end") || (word == b"def" && contains(code, b" = "));
    let with_do = code.ends_with(b" do")
        || (code.ends_with(b"|") && contains(code, b" do |"))
        || code.starts_with(b"do ");
    let assigned = [&b" = if "[..], b" = case ", b" = begin", b" = unless "];
    (heading || with_do || assigned.iter().any(|part| contains(code, part))) && !on_one_line
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}

/// Stands before the Ruby of a template, since a template is the body of a method.
const BEFORE: &[u8] = b"def t\n";

/// What is wrong with an ERB template.
pub(super) fn erb(id: FileId, text: &[u8]) -> Option<Diagnostic> {
    let (code, printed) = match ruby_of(text) {
        Ok(read) => read,
        Err(at) => {
            return Some(
                Diagnostic::error("erb-syntax", "this tag is not closed")
                    .label(Span::new(id, at as u32, (at + 2) as u32), "")
                    .help("add '%>'"),
            );
        }
    };
    let mut program = BEFORE.to_vec();
    program.extend_from_slice(&code);
    program.extend_from_slice(b"\nend\n");
    let error = fx_ruby_syntax::errors(&program).into_iter().min_by_key(|error| error.start)?;
    let whole = code.trim_ascii_end().len();
    let place = |at: u32| (at as usize).saturating_sub(BEFORE.len()).min(whole) as u32;
    let (mut start, mut end) = (place(error.start), place(error.end));
    let mut message = error.message;
    // A bracket that a tag leaves open is closed by the one around the next.
    let open = printed.iter().find_map(|(from, to)| Some(from + last_open(&text[*from..*to])?));
    if let Some(open) = open {
        let span = Span::new(id, open as u32, open as u32 + 1);
        return Some(Diagnostic::error("erb-syntax", "this bracket is not closed").label(span, ""));
    }
    let rest = code.get(start as usize..).unwrap_or_default();
    // A block that is not closed is noticed at the end, or at the method around it.
    let not_closed = rest.trim_ascii().is_empty() || (error.start as usize) < BEFORE.len();
    if let Some((start, end)) = not_closed.then(|| else_if(&code)).flatten() {
        return Some(two_words("erb-syntax", Span::new(id, start as u32, end as u32)));
    }
    if let Some((from, to)) = not_closed.then(|| unclosed(&code)).flatten() {
        (start, end) = (from as u32, to as u32);
        "this block has no 'end'".clone_into(&mut message);
    }
    Some(Diagnostic::error("erb-syntax", message).label(Span::new(id, start, end), ""))
}

/// Ruby in place of a template, and the places of the tags that print.
type RubyOf = (Vec<u8>, Vec<(usize, usize)>);

/// The Ruby of a template, each byte where it stands in the template, and the tags that print; where a tag is not
/// closed, its place.
fn ruby_of(text: &[u8]) -> Result<RubyOf, usize> {
    let mut printed = Vec::new();
    let blank = |byte: u8| if byte == b'\n' { b'\n' } else { b' ' };
    let mut code: Vec<u8> = text.iter().copied().map(blank).collect();
    let mut at = 0;
    while let Some(open) = find(text, at, b"<%") {
        if text.get(open + 2) == Some(&b'%') {
            at = open + 3;
            continue;
        }
        let Some(close) = find(text, open + 2, b"%>") else { return Err(open) };
        if find(text, open + 2, b"<%").is_some_and(|next| next < close) {
            return Err(open);
        }
        at = close + 2;
        let mark = text[open + 2];
        if mark == b'#' {
            continue;
        }
        let mut from = open + 2;
        let prints = mark == b'=';
        while from < close && matches!(text[from], b'=' | b'-') && from < open + 4 {
            from += 1;
        }
        let trims = close > from && matches!(text[close - 1], b'-' | b'=');
        let to = if trims { close - 1 } else { close };
        code[from..to].copy_from_slice(&text[from..to]);
        // A comment in a tag ends with the tag.
        code[open] = b';';
        if prints {
            printed.push((from, to));
            code[from - 1] = b'(';
            code[close] = b'\n';
            code[close + 1] = b')';
        } else {
            code[close] = b'\n';
        }
    }
    Ok((code, printed))
}

fn find(text: &[u8], from: usize, what: &[u8]) -> Option<usize> {
    text.get(from..)?.windows(what.len()).position(|part| part == what).map(|at| from + at)
}

/// What is wrong with a text of JSON.
pub(super) fn json(id: FileId, text: &[u8]) -> Option<Diagnostic> {
    let error = serde_json::from_slice::<serde::de::IgnoredAny>(text).err()?;
    let message = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    let message = message.strip_suffix(&place).unwrap_or(&message);
    let mut at = offset(text, error.line(), error.column());
    // What is missing before a word that begins a line is missing at the end of the line before.
    let line = text[..at].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let wrong = text.get(at.saturating_sub(1)).copied().unwrap_or_default();
    if text[line..at.saturating_sub(1)].iter().all(u8::is_ascii_whitespace) && wrong == b'"' {
        at = text[..line].trim_ascii_end().len();
    }
    Some(
        Diagnostic::error("json-syntax", message)
            .label(Span::new(id, at.saturating_sub(1) as u32, at as u32), ""),
    )
}

/// What is wrong with a text of YAML.
pub(super) fn yaml(id: FileId, text: &[u8]) -> Option<Diagnostic> {
    let string = String::from_utf8_lossy(text);
    let (line, column, message) = fx_puppet::yaml_error(&string)?;
    let tab = text.split_inclusive(|byte| *byte == b'\n').enumerate().find(|(number, text)| {
        let blanks = text.len() - text.trim_ascii_start().len();
        *number + 2 >= line && blanks < text.len() && text[..blanks].contains(&b'\t')
    });
    if let Some((number, _)) = tab {
        let at = offset(text, number + 1, 0) as u32;
        let found = Diagnostic::error("yaml-syntax", "this line is indented with a tab");
        return Some(found.label(Span::new(id, at, at + 1), "").help("use blanks"));
    }
    if let Some((start, end)) = colon_alone(text, line) {
        let found =
            Diagnostic::error("yaml-syntax", "the colon of this key has no blank behind it");
        let found = found.label(Span::new(id, start as u32, end as u32), "");
        return Some(found.help("put a blank behind the colon"));
    }
    let at = offset(text, line, column).min(text.trim_ascii_end().len());
    let at = line_left_open(text, at).map_or(at, |(start, _)| start);
    Some(Diagnostic::error("yaml-syntax", message).label(Span::new(id, at as u32, at as u32), ""))
}

/// A key and its value in one word, on the line before the one where the reader noticed something.
fn colon_alone(text: &[u8], line: usize) -> Option<(usize, usize)> {
    let start = offset(text, line.checked_sub(1)?, 0);
    let end = offset(text, line, 0);
    let word = text.get(start..end)?;
    let start = start + word.len() - word.trim_ascii_start().len();
    let word = word.trim_ascii();
    let colon = word.iter().rposition(|byte| *byte == b':')?;
    let is_key = |byte: &u8| byte.is_ascii_alphanumeric() || b"_:.-".contains(byte);
    let plain = colon + 1 < word.len() && word.iter().all(is_key) && word[0] != b'-';
    plain.then_some((start, start + word.len()))
}

/// The byte at a line and a column, both counted from one; a column of 0 is the line's begin.
fn offset(text: &[u8], line: usize, column: usize) -> usize {
    let lines = text.split_inclusive(|byte| *byte == b'\n').take(line.saturating_sub(1));
    (lines.map(<[u8]>::len).sum::<usize>() + column).min(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use fx_source::SourceMap;

    fn line(check: fn(FileId, &[u8]) -> Option<Diagnostic>, text: &str) -> Option<u32> {
        let map = SourceMap::new();
        let id = map.add("x", text.as_bytes().to_vec());
        check(id, text.as_bytes()).and_then(|found| Some(map.location(found.primary()?).line))
    }

    #[test]
    fn a_mistake_in_ruby_is_found_at_its_line() {
        let table = [
            ("a do\n  b do\n    c 1\nend\n", Some(2)),
            ("a do\n  if x\n    c 1\nend\n", Some(2)),
            ("def a\n  b\n", Some(1)),
            ("a do\n  b [1, 2\nend\n", Some(2)),
            ("a do\n  b(1, 2\n  c 1\nend\n", Some(2)),
            ("a 'x'\nb [1, 2\nc 3\n", Some(2)),
            ("a 'x' do\n  c 1\nend\n", None),
            ("if a\n  b\nelse if c\n  d\nend\n", Some(3)),
            ("if a\n  b\nelse if c\n  d\nend\nend\n", None),
        ];
        for (text, expected) in table {
            assert_eq!(line(ruby, text), expected, "{text}");
        }
    }

    #[test]
    fn a_mistake_in_a_template_is_found_at_its_line() {
        let table = [
            ("a\n<% if x %>\nb <%= y -%>\n<% end %>\n", None),
            ("a\n<%# no code ( %>\n<% x # comment %>text\n<%= z # c %>\n<%% no tag\n", None),
            ("a <%= x =%>\n<% if y %>b<%end -%>\n", None),
            ("<%= yield %>\n<% [1].each do |x| -%>\n<%= x %>\n<%- end -%>\n", None),
            ("<%= a %><% if x %><%= b %><% end %><% case y %>\n<% when 1 %>z<% end %>\n", None),
            ("a\n<% if x %>\nb\n", Some(2)),
            ("a\n<%= x\nb\n", Some(2)),
            ("a\nb <%= x( %>\n<%= y %>\n", Some(2)),
            ("a\n<% end %>\n", Some(2)),
            ("<% if a %>\nb\n<% else if c %>\nd\n<% end %>\n", Some(3)),
        ];
        for (text, expected) in table {
            assert_eq!(line(erb, text), expected, "{text}");
        }
    }

    #[test]
    fn a_mistake_in_data_is_found_at_its_line() {
        assert_eq!(line(json, "{\n  \"a\": 1\n  \"b\": 2\n}\n"), Some(2));
        assert_eq!(line(json, "{\n  \"a\": 1,\n}\n"), Some(3));
        assert_eq!(line(json, "{\"a\": [1, 2]}\n"), None);
        assert_eq!(line(yaml, "a: 1\nb: [1, 2\nc: 3\n"), Some(2));
        assert_eq!(line(yaml, "a:\n  - x\n\t- y\n"), Some(3));
        assert_eq!(line(yaml, "a: 1\nb:\n  - x\n"), None);
    }
}
