//! Data containers: the JSON of CFEngine and its canonical writer; `read` has its reader.
//!
//! Objects keep the order of insertion in memory; written text has sorted keys, an indent
//! of two, and reals with four decimals.

mod read;

use std::fmt::Write;
use std::rc::Rc;

use indexmap::IndexMap;
use read::{Lookup, Reader};

use crate::text::Str;
pub(crate) use read::{Wrong, number};

/// An ordered object.
pub type Object = IndexMap<Str, Json>;

/// A container or a primitive in one.
#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    Null,
    Bool(bool),
    Int(i64),
    Real(f64),
    Str(Str),
    Array(Vec<Json>),
    Object(Object),
}

impl Json {
    pub fn str(text: &str) -> Json {
        Json::Str(text.into())
    }

    /// Whether it is an array or object.
    pub(crate) fn is_container(&self) -> bool {
        matches!(self, Json::Array(_) | Json::Object(_))
    }

    /// A primitive as `$(x)` shows it; `None` for containers.
    pub fn primitive(&self) -> Option<Str> {
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
    pub fn values(&self) -> Box<dyn Iterator<Item = &Json> + '_> {
        match self {
            Json::Array(items) => Box::new(items.iter()),
            Json::Object(map) => Box::new(map.values()),
            _ => Box::new(std::iter::empty()),
        }
    }

    /// Follows indices.
    pub fn select<S: AsRef<str>>(&self, indices: &[S]) -> Option<&Json> {
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

    /// Whether the keys of all objects in it are in order.
    fn is_sorted(&self) -> bool {
        match self {
            Json::Object(map) => map.keys().is_sorted() && map.values().all(Json::is_sorted),
            Json::Array(items) => items.iter().all(Json::is_sorted),
            _ => true,
        }
    }

    /// Puts the keys of all objects in it in order; `None` when they are.
    pub(crate) fn sorted(&self) -> Option<Json> {
        fn sort(json: &mut Json) {
            match json {
                Json::Object(map) => {
                    map.sort_keys();
                    map.values_mut().for_each(sort);
                }
                Json::Array(items) => items.iter_mut().for_each(sort),
                _ => {}
            }
        }
        if self.is_sorted() {
            return None;
        }
        let mut json = self.clone();
        sort(&mut json);
        Some(json)
    }

    /// Canonical text over several lines.
    pub(crate) fn pretty(&self) -> String {
        let mut out = String::new();
        self.write(&mut out, Some(0));
        out
    }

    /// Canonical text in one line.
    pub fn compact(&self) -> String {
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
    pub fn parse(text: &str) -> Option<Json> {
        Json::try_parse(text, None).ok()
    }

    /// The same, with names of variables, and saying what is wrong.
    pub(crate) fn try_parse<'a>(
        text: &'a str,
        lookup: Option<Lookup<'a>>,
    ) -> Result<Json, Wrong<'a>> {
        Reader::new(text, lookup).whole()
    }

    /// Reads JSON in which a bare word stands for a variable.
    pub(crate) fn parse_with(text: &str, lookup: &dyn Fn(&str) -> Option<Json>) -> Option<Json> {
        Json::try_parse(text, Some(lookup)).ok()
    }
}

/// Puts a value at the end, replacing an earlier one of the same key.
pub fn put(map: &mut Object, key: Str, value: Json) {
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    // Any Unicode but backslashes, which the reader reduces twice, and quotes in keys, which are
    // written as they are: the original does both.
    fn any_json() -> impl Strategy<Value = Json> {
        let leaf = prop_oneof![
            Just(Json::Null),
            any::<bool>().prop_map(Json::Bool),
            any::<i64>().prop_map(Json::Int),
            r"([^\\\p{C}]|[\n\t\r])*".prop_map(|text| Json::str(&text)),
        ];
        leaf.prop_recursive(4, 32, 6, |inner| {
            let pairs = prop::collection::vec((r#"[^"\\\p{C}]+"#, inner.clone()), 0..6);
            prop_oneof![
                prop::collection::vec(inner, 0..6).prop_map(Json::Array),
                pairs.prop_map(|pairs| {
                    let mut object = Object::new();
                    for (key, value) in pairs {
                        put(&mut object, key.as_str().into(), value);
                    }
                    Json::Object(object)
                }),
            ]
        })
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back_the_same(json in any_json()) {
            // Only containers are whole texts of JSON here.
            let json = Json::Array(vec![json]);
            let sorted = json.sorted().unwrap_or_else(|| json.clone());
            for text in [json.compact(), json.pretty()] {
                let read = Json::parse(&text).expect("what was written is well-formed");
                let read = read.sorted().unwrap_or_else(|| read.clone());
                prop_assert_eq!(&read, &sorted, "{}", text);
            }
        }
    }

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
}
