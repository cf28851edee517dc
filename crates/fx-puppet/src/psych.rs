//! YAML in the form the original's library writes it: lists not indented under their keys,
//! nothing for null, and its choice of quotes and line breaks.
//!
//! Reading YAML is in [`crate::yaml`].

use serde_json::Value as Json;

use crate::value::Value;

/// Where lines are broken.
const WIDTH: usize = 80;

/// A document, its head included.
pub fn document(value: &Json) -> String {
    let mut out = String::from("---");
    node(&mut out, value, 0, Place::Top);
    out
}

/// What stands before a value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// The head of the document.
    Top,
    /// A key.
    Key,
    /// A dash.
    Dash,
}

fn node(out: &mut String, value: &Json, indent: usize, place: Place) {
    match value {
        Json::Object(map) if !map.is_empty() => {
            let mut first = place == Place::Dash;
            let inner = if place == Place::Key { indent + 2 } else { indent };
            for (key, value) in map {
                if first {
                    out.push(' ');
                    first = false;
                } else {
                    line(out, inner);
                }
                // Keys stand on one line.
                out.push_str(&on_one_line(key));
                out.push(':');
                node(out, value, inner, Place::Key);
            }
            end(out, place);
        }
        Json::Array(items) if !items.is_empty() => {
            let mut first = place == Place::Dash;
            for item in items {
                if first {
                    out.push(' ');
                    first = false;
                } else {
                    line(out, indent);
                }
                out.push('-');
                node(out, item, indent + 2, Place::Dash);
            }
            end(out, place);
        }
        Json::Object(_) => out.push_str(" {}"),
        Json::Array(_) => out.push_str(" []"),
        Json::Null => {}
        Json::Bool(flag) => out.push_str(if *flag { " true" } else { " false" }),
        Json::Number(number) => {
            out.push(' ');
            match number.as_i64() {
                Some(number) => out.push_str(&number.to_string()),
                None => {
                    let number = Value::Float(number.as_f64().unwrap_or(0.0));
                    out.push_str(&crate::eval::interpolated(&number));
                }
            }
        }
        Json::String(text) => {
            out.push(' ');
            let column = out.len() - out.rfind('\n').map_or(0, |at| at + 1);
            out.push_str(&scalar(
                text,
                if place == Place::Key { indent + 2 } else { indent },
                column,
            ));
        }
    }
    if place == Place::Top && !out.ends_with('\n') {
        out.push('\n');
    }
}

fn line(out: &mut String, indent: usize) {
    out.push('\n');
    out.extend(std::iter::repeat_n(' ', indent));
}

fn end(out: &mut String, place: Place) {
    if place == Place::Top {
        out.push('\n');
    }
}

/// A text with the quotes it needs.
pub(crate) fn scalar(text: &str, indent: usize, column: usize) -> String {
    if has_lines(text) && !needs_escapes(text) {
        return literal(text, indent);
    }
    folded(&on_one_line(text), indent, column)
}

/// Whether a line ends before the last: what `\n(?!\Z)` finds.
fn has_lines(text: &str) -> bool {
    text.char_indices().any(|(at, c)| c == '\n' && !matches!(&text[at + 1..], "" | "\n"))
}

/// Whether a text cannot be written as it is.
fn needs_escapes(text: &str) -> bool {
    text.chars().any(|c| c != '\n' && is_special(c)) || text.ends_with(' ') || text.contains(" \n")
}

/// What the original's library takes for unprintable, and what a reader takes for a line's end.
fn is_special(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}'..)
}

/// A text with the quotes it needs where it must not be broken, as a key.
fn on_one_line(text: &str) -> String {
    let mut rest = text.chars();
    let first_is_word = rest.next().is_none_or(|c| c.is_alphanumeric() || is_mark(c) || c == '_');
    if matches!(text, "y" | "Y" | "n" | "N")
        || text.chars().any(is_special)
        || (!first_is_word && !rest.as_str().contains('"'))
    {
        return double(text);
    }
    if text.is_empty() || is_other(text) || !may_be_plain(text) {
        return format!("'{}'", text.replace('\'', "''"));
    }
    text.to_owned()
}

/// Accents that stand over what comes before them are parts of words.
fn is_mark(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}')
}

/// Lines as they are.
fn literal(text: &str, indent: usize) -> String {
    let pad = " ".repeat(indent.max(2));
    let keep = if text.ends_with("\n\n") {
        "+"
    } else if text.ends_with('\n') {
        ""
    } else {
        "-"
    };
    let hint = if text.starts_with(' ') || text.starts_with('\n') { "2" } else { "" };
    let mut out = format!("|{hint}{keep}");
    for line in text.strip_suffix('\n').unwrap_or(text).split('\n') {
        out.push('\n');
        if !line.is_empty() {
            out.extend([&*pad, line]);
        }
    }
    out
}

fn double(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\0' => out.push_str("\\0"),
            '\u{7}' => out.push_str("\\a"),
            '\u{8}' => out.push_str("\\b"),
            '\t' => out.push_str("\\t"),
            '\n' => out.push_str("\\n"),
            '\u{b}' => out.push_str("\\v"),
            '\u{c}' => out.push_str("\\f"),
            '\r' => out.push_str("\\r"),
            '\u{1b}' => out.push_str("\\e"),
            '\u{85}' => out.push_str("\\N"),
            '\u{2028}' => out.push_str("\\L"),
            '\u{2029}' => out.push_str("\\P"),
            c if !is_special(c) => out.push(c),
            c => out.push_str(&match c as u32 {
                code @ ..=0xff => format!("\\x{code:02X}"),
                code @ ..=0xffff => format!("\\u{code:04X}"),
                code => format!("\\U{code:08X}"),
            }),
        }
    }
    out.push('"');
    out
}

/// Long text is broken at single spaces past the width.
fn folded(text: &str, indent: usize, column: usize) -> String {
    if column + text.len() <= WIDTH {
        return text.to_owned();
    }
    let chars: Vec<char> = text.chars().collect();
    let mut out = String::with_capacity(text.len() + 16);
    let mut column = column;
    for (at, c) in chars.iter().enumerate() {
        let lone = *c == ' '
            && at > 0
            && at + 1 < chars.len()
            && chars[at - 1] != ' '
            && chars[at + 1] != ' ';
        if lone && column > WIDTH {
            line(&mut out, indent);
            column = indent;
        } else {
            out.push(*c);
            column += 1;
        }
    }
    out
}

/// Whether a reader would take a bare text for something that is no text.
fn is_other(text: &str) -> bool {
    let low = text.to_ascii_lowercase();
    if matches!(low.as_str(), "~" | "null" | "true" | "false" | "yes" | "no" | "on" | "off") {
        return true;
    }
    let digits = text.trim_start_matches(['-', '+']);
    let Some(first) = digits.bytes().next() else { return false };
    if !first.is_ascii_digit() && first != b'.' {
        return false;
    }
    let all = |set: &[u8]| digits.bytes().all(|b| b.is_ascii_digit() || set.contains(&b));
    let is_number = all(b"_,") && first != b'.'
        || digits.replace('_', "").parse::<f64>().is_ok() && digits != "."
        || digits.starts_with("0x") && digits[2..].bytes().all(|b| b.is_ascii_hexdigit())
        || digits.starts_with("0b") && digits[2..].bytes().all(|b| matches!(b, b'0' | b'1'));
    let is_sixty = digits.contains(':') && all(b":._") && !digits.contains("::");
    let bytes = digits.as_bytes();
    let is_date = bytes.len() >= 8
        && bytes[..4].iter().all(u8::is_ascii_digit)
        && bytes[4] == b'-'
        && digits.bytes().all(|b| b.is_ascii_digit() || b"-:. TZ+".contains(&b));
    is_number || is_sixty || is_date
}

/// Whether a text that starts with a letter or digit needs no quotes.
fn may_be_plain(text: &str) -> bool {
    !(text.contains(": ")
        || text.contains(" #")
        || text.ends_with(':')
        || text.ends_with(' ')
        || text.starts_with(' ')
        || text.starts_with("---")
        || text.starts_with("...")
        || (text.starts_with(|c: char| "-?:,[]{}#&*!|>'\"%@`".contains(c))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(json: &str, expected: &str) {
        let value: Json = serde_json::from_str(json).unwrap();
        assert_eq!(document(&value), expected, "{json}");
    }

    #[test]
    fn documents_look_as_the_original_writes_them() {
        check("\"a\"", "--- a\n");
        check("null", "---\n");
        check("[]", "--- []\n");
        check(
            r#"{"a":[1,{"b":null,"c":true}],"d":{"e":"x"}}"#,
            "---\na:\n- 1\n- b:\n  c: true\nd:\n  e: x\n",
        );
        check(r#"[[1,2],[3]]"#, "---\n- - 1\n  - 2\n- - 3\n");
        check(
            r#"["/tmp","{sha256}x","yes","12","1.5","2026-01-01","a: b","a b","~","n","","don't"]"#,
            "---\n- \"/tmp\"\n- \"{sha256}x\"\n- 'yes'\n- '12'\n- '1.5'\n- '2026-01-01'\n- 'a: b'\n- a b\n- \"~\"\n- \"n\"\n- ''\n- don't\n",
        );
        check(r#"{"t":"one\ntwo\n"}"#, "---\nt: |\n  one\n  two\n");
        check(r#"{"t":"one\ntwo"}"#, "---\nt: |-\n  one\n  two\n");
        check("7.501e-5", "--- 7.501e-05\n");
    }

    #[test]
    fn texts_of_any_alphabet_look_as_the_original_writes_them() {
        for (text, expected) in [
            ("→ hello", "\"→ hello\""),
            ("€5 off", "\"€5 off\""),
            ("x😀", "\"x\\U0001F600\""),
            ("a\u{85}b", "\"a\\Nb\""),
            ("\u{feff}a", "\"\\uFEFFa\""),
            ("a\nb\u{7}", "\"a\\nb\\a\""),
            ("a\nb ", "\"a\\nb \""),
            ("a\n\n", "\"a\\n\\n\""),
            ("a\r\nb", "\"a\\r\\nb\""),
            ("é", "é"),
            ("→\"q", "→\"q"),
            ("\"", "\"\\\"\""),
            ("\"→", "\"\\\"→\""),
            ("\u{a0}x", "\"\u{a0}x\""),
            ("a\n b", "|-\n  a\n   b"),
        ] {
            assert_eq!(document(&Json::from(text)), format!("--- {expected}\n"), "{text:?}");
        }
    }

    #[test]
    fn what_is_written_reads_back_the_same() {
        const PIECES: &[&str] = &[
            "a",
            "é",
            "→",
            "€",
            "😀",
            "\u{85}",
            "\u{2028}",
            "\u{feff}",
            "\u{7f}",
            "\u{9b}",
            "\0",
            "\t",
            "\r",
            "\n",
            " ",
            "  ",
            "- ",
            ": ",
            " #",
            "'",
            "\"",
            "\\",
            "{",
            "[",
            "|",
            ">",
            "%",
            "@",
            "`",
            "&",
            "*",
            "!",
            "?",
            "~",
            "null",
            "yes",
            "0x1",
            "1e5",
            "2026-01-01",
            "12:30",
            "\u{a0}",
            "\u{300}",
            "\u{202e}",
            "漢字",
            "ß",
            "...",
            "---",
            "word word word word word word word word word word ",
        ];
        let mut random = fx_fuzz::Random::new(7);
        let mut text = || {
            let count = random.below(12);
            (0..count).map(|_| PIECES[random.below(PIECES.len())]).collect::<String>()
        };
        for _ in 0..5_000 {
            let value = serde_json::json!({text(): text(), "list": [text(), {text(): [text()]}]});
            let written = document(&value);
            let read = crate::yaml::parse(&written).map(|read| crate::compile::to_json(&read));
            assert_eq!(read.as_ref(), Ok(&value), "{written}");
        }
    }
}
