//! Data containers: the JSON of CFEngine, its lenient reader and its canonical writer.
//!
//! Objects keep the order of insertion in memory; written text has sorted keys, an indent
//! of two, and reals with four decimals. Escapes are reduced twice in values, as the
//! original does.

use std::fmt::Write;
use std::rc::Rc;

use indexmap::IndexMap;

use crate::text::Str;

/// An ordered object.
pub(crate) type Object = IndexMap<Str, Json>;

/// A container or a primitive in one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Json {
    Null,
    Bool(bool),
    Int(i64),
    Real(f64),
    Str(Str),
    Array(Vec<Json>),
    Object(Object),
}

/// Deepest nesting that is read.
const MAX_DEPTH: usize = 200;

impl Json {
    pub(crate) fn str(text: &str) -> Json {
        Json::Str(text.into())
    }

    /// Whether it is an array or object.
    pub(crate) fn is_container(&self) -> bool {
        matches!(self, Json::Array(_) | Json::Object(_))
    }

    /// A primitive as `$(x)` shows it; `None` for containers.
    pub(crate) fn primitive(&self) -> Option<Str> {
        Some(match self {
            Json::Null => "null".into(),
            Json::Bool(true) => "true".into(),
            Json::Bool(false) => "false".into(),
            Json::Int(number) => number.to_string().into(),
            Json::Real(number) => format!("{number:.4}").into(),
            Json::Str(text) => Rc::clone(text),
            Json::Array(_) | Json::Object(_) => return None,
        })
    }

    /// A primitive as one value of an iteration: reals have two decimals, null is none.
    pub(crate) fn iterated(&self) -> Option<Str> {
        match self {
            Json::Null => None,
            Json::Real(number) => Some(format!("{number:.2}").into()),
            other => other.primitive(),
        }
    }

    /// Number of children, or the length of a primitive's text.
    pub(crate) fn len(&self) -> usize {
        match self {
            Json::Array(items) => items.len(),
            Json::Object(map) => map.len(),
            other => other.primitive().map_or(0, |text| text.len()),
        }
    }

    /// Children in order.
    pub(crate) fn values(&self) -> Box<dyn Iterator<Item = &Json> + '_> {
        match self {
            Json::Array(items) => Box::new(items.iter()),
            Json::Object(map) => Box::new(map.values()),
            _ => Box::new(std::iter::empty()),
        }
    }

    /// Follows indices.
    pub(crate) fn select<S: AsRef<str>>(&self, indices: &[S]) -> Option<&Json> {
        let Some((first, rest)) = indices.split_first() else { return Some(self) };
        let child = match self {
            Json::Object(map) => map.get(first.as_ref())?,
            Json::Array(items) => items.get(first.as_ref().parse::<usize>().ok()?)?,
            _ => return None,
        };
        child.select(rest)
    }

    /// Shallow merge: later keys replace, arrays concatenate, an array meets an object by index.
    pub(crate) fn merge(self, other: &Json) -> Json {
        match (self, other) {
            (Json::Array(mut items), Json::Array(more)) => {
                items.extend(more.iter().cloned());
                Json::Array(items)
            }
            (Json::Array(items), Json::Object(map)) => {
                Json::Object(with_indices(map.clone(), &items))
            }
            (Json::Object(map), Json::Array(items)) => Json::Object(with_indices(map, items)),
            (Json::Object(mut map), Json::Object(more)) => {
                for (key, value) in more {
                    put(&mut map, Rc::clone(key), value.clone());
                }
                Json::Object(map)
            }
            (first, _) => first,
        }
    }

    /// Canonical text over several lines.
    pub(crate) fn pretty(&self) -> String {
        let mut out = String::new();
        self.write(&mut out, Some(0));
        out
    }

    /// Canonical text in one line.
    pub(crate) fn compact(&self) -> String {
        let mut out = String::new();
        self.write(&mut out, None);
        out
    }

    fn write(&self, out: &mut String, indent: Option<usize>) {
        match self {
            Json::Str(text) => {
                out.push('"');
                escape(text, out);
                out.push('"');
            }
            Json::Array(items) if items.is_empty() => out.push_str("[]"),
            Json::Array(items) => {
                out.push('[');
                for (at, item) in items.iter().enumerate() {
                    if at > 0 {
                        out.push(',');
                    }
                    line(out, indent.map(|level| level + 1));
                    item.write(out, indent.map(|level| level + 1));
                }
                line(out, indent);
                out.push(']');
            }
            Json::Object(map) => {
                out.push('{');
                let mut keys: Vec<&Str> = map.keys().collect();
                keys.sort();
                for (at, key) in keys.iter().enumerate() {
                    if at > 0 {
                        out.push(',');
                    }
                    line(out, indent.map(|level| level + 1));
                    out.push('"');
                    out.push_str(key);
                    out.push_str(if indent.is_some() { "\": " } else { "\":" });
                    map[*key].write(out, indent.map(|level| level + 1));
                }
                line(out, indent);
                out.push('}');
            }
            other => {
                let _ = write!(out, "{}", other.primitive().unwrap_or_default());
            }
        }
    }

    /// Reads JSON; what follows the value is left alone.
    pub(crate) fn parse(text: &str) -> Option<Json> {
        Reader { text: text.as_bytes(), source: text, at: 0, lookup: None }
            .whole()
            .map(|(json, _)| json)
    }

    /// Reads JSON and says how many bytes it took.
    pub(crate) fn parse_prefix(text: &str) -> Option<(Json, usize)> {
        Reader { text: text.as_bytes(), source: text, at: 0, lookup: None }.whole()
    }

    /// Reads JSON in which a bare word stands for a variable.
    pub(crate) fn parse_with(text: &str, lookup: &dyn Fn(&str) -> Option<Json>) -> Option<Json> {
        Reader { text: text.as_bytes(), source: text, at: 0, lookup: Some(lookup) }
            .whole()
            .map(|(json, _)| json)
    }
}

/// Puts a value at the end, replacing an earlier one of the same key.
pub(crate) fn put(map: &mut Object, key: Str, value: Json) {
    map.shift_remove(&key);
    map.insert(key, value);
}

fn with_indices(mut map: Object, items: &[Json]) -> Object {
    for (at, item) in items.iter().enumerate() {
        put(&mut map, at.to_string().into(), item.clone());
    }
    map
}

fn line(out: &mut String, indent: Option<usize>) {
    if let Some(level) = indent {
        out.push('\n');
        for _ in 0..level {
            out.push_str("  ");
        }
    }
}

/// Escapes text for a JSON string.
pub(crate) fn escape(text: &str, out: &mut String) {
    for char in text.chars() {
        match char {
            '"' | '\\' => {
                out.push('\\');
                out.push(char);
            }
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            char => out.push(char),
        }
    }
}

// The second reduction of escapes in string values.
fn unescape(text: &str) -> Str {
    if !text.contains('\\') {
        return text.into();
    }
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        if char == '\\' {
            let replacement = match chars.peek() {
                Some('"') => '"',
                Some('\\') => '\\',
                Some('b') => '\u{8}',
                Some('f') => '\u{c}',
                Some('n') => '\n',
                Some('r') => '\r',
                Some('t') => '\t',
                _ => {
                    out.push('\\');
                    continue;
                }
            };
            chars.next();
            out.push(replacement);
        } else {
            out.push(char);
        }
    }
    out.into()
}

/// What a bare word in inline JSON stands for.
type Lookup<'a> = &'a dyn Fn(&str) -> Option<Json>;

struct Reader<'a> {
    text: &'a [u8],
    source: &'a str,
    at: usize,
    lookup: Option<Lookup<'a>>,
}

impl Reader<'_> {
    fn whole(mut self) -> Option<(Json, usize)> {
        let value = self.value(0)?;
        Some((value, self.at))
    }

    fn blank(&mut self) {
        while self.text.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
    }

    fn value(&mut self, depth: usize) -> Option<Json> {
        if depth > MAX_DEPTH {
            return None;
        }
        self.blank();
        match *self.text.get(self.at)? {
            b'{' => self.object(depth),
            b'[' => self.array(depth),
            b'"' => self.string().map(|text| Json::Str(unescape(&text))),
            b'-' | b'0'..=b'9' => self.number(),
            _ => self.word(),
        }
    }

    fn word(&mut self) -> Option<Json> {
        let start = self.at;
        // Brackets of an index belong to the word, the one that closes a list does not.
        let mut open = 0_i32;
        let mut ends = |byte: &u8| {
            match byte {
                b'[' => open += 1,
                b']' if open > 0 => {
                    open -= 1;
                    return false;
                }
                _ => {}
            }
            open == 0 && (byte.is_ascii_whitespace() || matches!(byte, b',' | b'}' | b']' | b':'))
        };
        let length =
            self.text[start..].iter().position(&mut ends).unwrap_or(self.text.len() - start);
        let word = self.source.get(start..start + length)?;
        let value = match word {
            "true" => Json::Bool(true),
            "false" => Json::Bool(false),
            "null" => Json::Null,
            _ => self.lookup?(word)?,
        };
        self.at += length;
        Some(value)
    }

    fn number(&mut self) -> Option<Json> {
        let start = self.at;
        let part =
            |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E');
        let length = self.text[start..]
            .iter()
            .position(|byte| !part(byte))
            .unwrap_or(self.text.len() - start);
        let text = &self.source[start..start + length];
        self.at += length;
        let digits = text.strip_prefix('-').unwrap_or(text);
        if digits.len() > 1 && digits.starts_with('0') && digits.as_bytes()[1].is_ascii_digit() {
            return None;
        }
        if text.contains(['.', 'e', 'E']) {
            return text.parse().ok().map(Json::Real);
        }
        text.parse().ok().map(Json::Int)
    }

    fn string(&mut self) -> Option<String> {
        self.at += 1;
        let mut out = Vec::new();
        loop {
            match *self.text.get(self.at)? {
                b'"' => {
                    self.at += 1;
                    return String::from_utf8(out).ok();
                }
                b'\\' => {
                    self.at += 1;
                    match *self.text.get(self.at)? {
                        byte @ (b'\\' | b'"' | b'/') => out.push(byte),
                        b'b' => out.push(8),
                        b'f' => out.push(12),
                        b'n' => out.push(b'\n'),
                        b'r' => out.push(b'\r'),
                        b't' => out.push(b'\t'),
                        byte => out.extend([b'\\', byte]),
                    }
                }
                byte => out.push(byte),
            }
            self.at += 1;
        }
    }

    fn array(&mut self, depth: usize) -> Option<Json> {
        self.at += 1;
        let mut items = Vec::new();
        loop {
            self.blank();
            match *self.text.get(self.at)? {
                b']' => {
                    self.at += 1;
                    return Some(Json::Array(items));
                }
                b',' => return None,
                _ => items.push(self.value(depth + 1)?),
            }
            self.blank();
            match *self.text.get(self.at)? {
                b',' => self.at += 1,
                b']' => {}
                // As the original reads it, a comma is only needed after a container.
                _ if items.last().is_some_and(Json::is_container) => return None,
                _ => {}
            }
        }
    }

    fn object(&mut self, depth: usize) -> Option<Json> {
        self.at += 1;
        let mut map = Object::new();
        // Commas and colons may be missing, but there may not be two of them.
        let mut comma = false;
        loop {
            self.blank();
            let key: Str = match *self.text.get(self.at)? {
                b'}' => {
                    self.at += 1;
                    return Some(Json::Object(map));
                }
                b',' if !comma => {
                    comma = true;
                    self.at += 1;
                    continue;
                }
                b'"' => self.string()?.into(),
                byte if byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$') => {
                    let start = self.at;
                    while self.text.get(self.at).is_some_and(|b| {
                        b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'$' | b'.')
                    }) {
                        self.at += 1;
                    }
                    self.source[start..self.at].into()
                }
                _ => return None,
            };
            comma = false;
            self.blank();
            if self.text.get(self.at) == Some(&b':') {
                self.at += 1;
            }
            let value = self.value(depth + 1)?;
            put(&mut map, key, value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_is_canonical() {
        let json =
            Json::parse(r#"{"b": [1, 2.5, true, null], "a": {"x": "q\\n\"", }, "e": {}, "l": []}"#)
                .expect("valid");
        assert_eq!(json.compact(), r#"{"a":{"x":"q\n\""},"b":[1,2.5000,true,null],"e":{},"l":[]}"#);
        assert_eq!(
            json.pretty(),
            "{\n  \"a\": {\n    \"x\": \"q\\n\\\"\"\n  },\n  \"b\": [\n    1,\n    2.5000,\n    true,\n    null\n  ],\n  \"e\": {\n  },\n  \"l\": []\n}"
        );
    }

    #[test]
    fn merging_is_shallow() {
        let merge = |a: &str, b: &str| {
            Json::parse(a).expect("a").merge(&Json::parse(b).expect("b")).compact()
        };
        assert_eq!(merge("[1]", "[2]"), "[1,2]");
        assert_eq!(merge(r#"{"a":{"x":1}}"#, r#"{"a":{"y":1}}"#), r#"{"a":{"y":1}}"#);
        assert_eq!(merge("[5]", r#"{"k":1}"#), r#"{"0":5,"k":1}"#);
    }

    #[test]
    fn commas_and_colons_may_be_missing_as_in_the_original() {
        let table = [
            (r#"{"a" 1 "b" "c"}"#, r#"{"a":1,"b":"c"}"#),
            (r#"{"a" : {} "b": 2}"#, r#"{"a":{},"b":2}"#),
            (r#"{,"a":1}"#, r#"{"a":1}"#),
            ("[1 2]", "[1,2]"),
            (r#"["a" "b",]"#, r#"["a","b"]"#),
            ("{\"a\":1}x", "{\"a\":1}"),
        ];
        for (text, expected) in table {
            assert_eq!(Json::parse(text).map(|json| json.compact()).as_deref(), Some(expected));
        }
    }

    #[test]
    fn broken_text_is_refused() {
        for text in [
            "",
            "{",
            "[1,,2]",
            "nope",
            "[01]",
            "[[1][2]]",
            "[{}{}]",
            "{\"a\", 1}",
            "{\"a\"::1}",
            "{\"a\":1,,\"b\":2}",
            "{\"a\":}",
        ] {
            assert_eq!(Json::parse(text), None, "{text}");
        }
    }
}
