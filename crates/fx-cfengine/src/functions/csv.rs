//! CSV as the original reads it: rows end in CRLF alone, a row that is not well-formed is
//! left out, and what follows a closing quote may only be blanks.

use crate::text::Str;

/// Where in a row the reader is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum At {
    Start,
    Blanks,
    Plain,
    Separator,
    OpenQuote,
    Quoted,
    QuoteInQuotes,
    AfterQuotes,
    Wrong,
}

/// Raw rows: text up to a CRLF outside of quotes, or to the end.
pub(super) fn raw_rows(source: &str) -> Vec<&str> {
    let (mut rows, mut start, mut quoted, mut previous) = (Vec::new(), 0, false, 0);
    for (at, byte) in source.bytes().enumerate() {
        match byte {
            b'"' => quoted = !quoted,
            b'\n' if !quoted && previous == b'\r' => {
                rows.push(&source[start..=at]);
                start = at + 1;
            }
            _ => {}
        }
        previous = byte;
    }
    if start < source.len() {
        rows.push(&source[start..]);
    }
    rows
}

/// The fields of a raw row; `None` when it is not well-formed.
pub(super) fn fields(row: &str) -> Option<Vec<Str>> {
    let mut out: Vec<Str> = Vec::new();
    let mut field = String::new();
    let mut at = At::Start;
    for char in row.chars() {
        let blank = matches!(char, ' ' | '\t' | '\n' | '\r');
        at = match (at, char) {
            (At::Wrong, _) => return None,
            (At::Start | At::Blanks | At::Plain, ',') => {
                out.push(std::mem::take(&mut field).into());
                At::Separator
            }
            (At::Separator, ',') => {
                field.clear();
                out.push("".into());
                At::Separator
            }
            (At::QuoteInQuotes | At::AfterQuotes, ',') => {
                out.push(field.as_str().into());
                At::Separator
            }
            (At::Start | At::Blanks | At::Separator, '"') => {
                field.clear();
                At::OpenQuote
            }
            (At::Start | At::Blanks | At::Separator, char) => {
                if at == At::Separator {
                    field.clear();
                }
                field.push(char);
                if blank { At::Blanks } else { At::Plain }
            }
            (At::Plain, '"') => {
                field.clear();
                At::Wrong
            }
            (At::Plain, char) => {
                field.push(char);
                At::Plain
            }
            (At::OpenQuote | At::Quoted, '"') => At::QuoteInQuotes,
            (At::OpenQuote | At::Quoted, char) => {
                field.push(char);
                At::Quoted
            }
            (At::QuoteInQuotes, '"') => {
                field.push('"');
                At::Quoted
            }
            (At::QuoteInQuotes | At::AfterQuotes, _) if blank => At::AfterQuotes,
            (At::QuoteInQuotes | At::AfterQuotes, _) => {
                field.clear();
                At::Wrong
            }
        };
    }
    if matches!(at, At::OpenQuote | At::Quoted) {
        return None;
    }
    if matches!(at, At::Plain | At::Blanks) && field.ends_with("\r\n") {
        field.truncate(field.len() - 2);
    }
    out.push(field.into());
    Some(out)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn quoted_fields_read_back_the_same(
            rows in prop::collection::vec(prop::collection::vec(any::<String>(), 1..5), 1..5)
        ) {
            let quoted = |field: &String| format!("\"{}\"", field.replace('"', "\"\""));
            let lines: String = rows
                .iter()
                .map(|row| row.iter().map(quoted).collect::<Vec<_>>().join(",") + "\r\n")
                .collect();
            let read: Option<Vec<Vec<Str>>> = raw_rows(&lines).into_iter().map(fields).collect();
            let read = read.expect("every row is well-formed");
            let read: Vec<Vec<String>> = read
                .iter()
                .map(|row| row.iter().map(ToString::to_string).collect())
                .collect();
            prop_assert_eq!(read, rows);
        }
    }

    #[test]
    fn rows_end_in_crlf_and_quotes_hold_anything() {
        let table: [(&str, &[&[&str]]); 7] = [
            ("a,b\r\nc\r\n", &[&["a", "b"], &["c"]]),
            ("a,b\nc,d\n", &[&["a", "b\nc", "d\n"]]),
            ("\"x, \"\"y\"\"\r\n\",2\r\n", &[&["x, \"y\"\r\n", "2"]]),
            ("a\"b\",c\r\nok\r\n", &[&["ok"]]),
            ("\"open\r\n", &[]),
            (" a ,,\"b\" \r\n", &[&[" a ", "", "b"]]),
            ("\r\n", &[&[""]]),
        ];
        for (source, expected) in table {
            let rows: Vec<Vec<Str>> = raw_rows(source).into_iter().filter_map(fields).collect();
            let rows: Vec<Vec<&str>> =
                rows.iter().map(|row| row.iter().map(|field| &**field).collect()).collect();
            assert_eq!(rows, expected, "{source:?}");
        }
    }
}
