//! Plain data as a YAML document in the form that Ruby's Psych gives it: which style a text is
//! wished in. Whether it can have that style is the emitter's decision.

use std::borrow::Cow;

use serde_json::Value as Json;

use super::emit::{Emitter, Head, Node, Scalar, Style};

/// Plain data as a document.
pub fn document(value: &Json) -> String {
    written(&data(value))
}

/// A document with its head, lines broken at 80 columns.
pub fn written(root: &Node<'_>) -> String {
    let mut emitter = Emitter::new(2, 0);
    emitter.document(root);
    emitter.finish()
}

/// One text as it would stand alone behind the head of a document.
pub fn scalar(content: &str) -> String {
    let whole = written(&text(content));
    whole.trim_start_matches("---").trim_start_matches(' ').trim_end_matches('\n').to_owned()
}

/// Plain data.
pub fn data(value: &Json) -> Node<'_> {
    match value {
        Json::Array(items) => list(items.iter().map(data)),
        Json::Object(pairs) => map(pairs.iter().map(|(key, value)| (key.as_str(), data(value)))),
        Json::String(content) => text(content),
        Json::Null => null(),
        Json::Bool(value) => flag(*value),
        Json::Number(number) => match number.as_i64() {
            Some(number) => integer(number),
            None => float(number.as_f64().unwrap_or(0.0)),
        },
    }
}

pub fn list<'a>(items: impl IntoIterator<Item = Node<'a>>) -> Node<'a> {
    Node::List(Head::default(), items.into_iter().collect())
}

pub fn map<'a>(pairs: impl IntoIterator<Item = (&'a str, Node<'a>)>) -> Node<'a> {
    let pairs = pairs.into_iter().map(|(key, value)| (text(key), value));
    Node::Map(Head::default(), pairs.collect())
}

/// A map whose names are words that need no quotes and mean nothing but themselves.
pub fn fields<'a>(pairs: impl IntoIterator<Item = (&'static str, Node<'a>)>) -> Node<'a> {
    let pairs = pairs.into_iter().map(|(name, value)| (bare(name), value));
    Node::Map(Head::default(), pairs.collect())
}

pub fn text<'a>(content: impl Into<Cow<'a, str>>) -> Node<'a> {
    let text = content.into();
    let style = style(&text);
    Node::Scalar(Head::default(), Scalar { text, style, plain: true, quoted: true })
}

pub fn null<'a>() -> Node<'a> {
    bare("")
}

pub fn flag<'a>(value: bool) -> Node<'a> {
    bare(if value { "true" } else { "false" })
}

pub fn integer<'a>(number: i64) -> Node<'a> {
    bare(number.to_string())
}

pub fn float<'a>(number: f64) -> Node<'a> {
    bare(float_text(number))
}

/// What is no text: it stands plain.
fn bare<'a>(content: impl Into<Cow<'a, str>>) -> Node<'a> {
    let text = content.into();
    Node::Scalar(Head::default(), Scalar { text, style: Style::Plain, plain: true, quoted: false })
}

/// The style in which Psych wishes a text, in the order of its own decisions.
pub fn style(text: &str) -> Style {
    if has_inner_break(text) {
        Style::Literal
    } else if matches!(text, "y" | "Y" | "n" | "N") || begins_with_a_mark(text) {
        Style::Double
    } else if text.is_empty() || is_other(text) {
        Style::Single
    } else {
        Style::Plain
    }
}

/// Whether a line ends before the last: what `\n(?!\Z)` finds.
fn has_inner_break(text: &str) -> bool {
    text.match_indices('\n').any(|(at, _)| !matches!(&text[at + 1..], "" | "\n"))
}

/// Whether a line begins with something that is no part of a word and has no double quote
/// behind it: what `^[^[:word:]][^"]*$` finds. The end of an empty line is such a beginning, and
/// the next line stands behind it.
fn begins_with_a_mark(text: &str) -> bool {
    let mut lines = text.split('\n').peekable();
    while let Some(line) = lines.next() {
        let mut rest = line.chars();
        let behind = match rest.next() {
            Some(c) if is_word(c) => None,
            Some(_) => Some(rest.as_str()),
            None => lines.peek().copied(),
        };
        if behind.is_some_and(|behind| !behind.contains('"')) {
            return true;
        }
    }
    false
}

/// Accents that stand over what comes before them are parts of words.
fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || matches!(c, '\u{300}'..='\u{36f}')
}

/// A float as Ruby shows it: the shortest digits, an exponent of two digits where it is long.
fn float_text(number: f64) -> String {
    if number.is_nan() {
        return ".nan".to_owned();
    }
    if number.is_infinite() {
        return if number > 0.0 { ".inf" } else { "-.inf" }.to_owned();
    }
    let size = number.abs();
    if size != 0.0 && !(1e-4..1e16).contains(&size) {
        let text = format!("{number:e}");
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let digits = if digits.contains('.') { digits.to_owned() } else { format!("{digits}.0") };
        let (sign, exponent) = match exponent.strip_prefix('-') {
            Some(exponent) => ('-', exponent),
            None => ('+', exponent),
        };
        return format!("{digits}e{sign}{exponent:0>2}");
    }
    let text = number.to_string();
    if text.contains('.') { text } else { format!("{text}.0") }
}

/// Words that are no text when they stand bare, in any case of letters.
const OTHERS: [&str; 8] = ["~", "null", "true", "false", "yes", "no", "on", "off"];

/// Whether a reader would take a bare text for something that is no text.
fn is_other(text: &str) -> bool {
    if OTHERS.iter().any(|other| other.eq_ignore_ascii_case(text)) {
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

#[cfg(test)]
mod tests;
