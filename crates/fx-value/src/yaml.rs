//! To YAML, for people. A text that could be read as anything but text is quoted.

use std::fmt::Write;

use crate::{REDACTED, Value};

impl Value {
    /// The value as a YAML document without a head, secrets redacted.
    pub fn to_yaml(&self) -> String {
        let mut out = String::new();
        match self {
            Value::Map(map) if !map.is_empty() => block(&mut out, self, 0),
            Value::List(items) if !items.is_empty() => block(&mut out, self, 0),
            value => {
                let _ = writeln!(out, "{}", scalar(value));
            }
        }
        out
    }
}

fn block(out: &mut String, value: &Value, depth: usize) {
    let indent = "  ".repeat(depth);
    match value {
        Value::Map(map) => {
            for (key, value) in map {
                let _ = write!(out, "{indent}{}:", text(&key.to_text()));
                entry(out, value, depth);
            }
        }
        Value::List(items) => {
            for item in items {
                let _ = write!(out, "{indent}-");
                entry(out, item, depth);
            }
        }
        _ => {}
    }
}

fn entry(out: &mut String, value: &Value, depth: usize) {
    let nested = match value {
        Value::Map(map) => !map.is_empty(),
        Value::List(items) => !items.is_empty(),
        _ => false,
    };
    if nested {
        out.push('\n');
        block(out, value, depth + 1);
    } else {
        let _ = writeln!(out, " {}", scalar(value));
    }
}

fn scalar(value: &Value) -> String {
    match value {
        Value::Undef => "null".to_owned(),
        Value::Bytes(bytes) => match std::str::from_utf8(bytes.as_bytes()) {
            Ok(plain) => text(plain),
            Err(_) => value.to_json().to_string(),
        },
        Value::List(_) => "[]".to_owned(),
        Value::Map(_) => "{}".to_owned(),
        Value::Sensitive(_) => text(REDACTED),
        Value::Bool(_) | Value::Int(_) | Value::Float(_) => value.to_json().to_string(),
    }
}

fn text(text: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "/_.()@+ -".contains(c);
    let first = |c: char| c.is_alphabetic() || c == '/' || c == '_';
    let words = ["true", "false", "yes", "no", "on", "off", "null", "y", "n"];
    let safe = text.starts_with(first) && text.chars().all(plain) && !text.ends_with(' ');
    if safe && !words.contains(&text.to_lowercase().as_str()) {
        text.to_owned()
    } else {
        serde_json::Value::from(text).to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nesting_is_indented_and_doubtful_texts_are_quoted() {
        let value: Value = [
            ("name", Value::from("Debian GNU/Linux")),
            ("version", Value::from("12")),
            ("answer", Value::from("no")),
            (
                "list",
                Value::List(vec![
                    Value::Int(1),
                    [("a", Value::from("x: y"))].into_iter().collect(),
                ]),
            ),
            ("empty", Value::List(vec![])),
            ("secret", Value::from("s").sensitive()),
        ]
        .into_iter()
        .collect();
        let expected = "name: Debian GNU/Linux\nversion: \"12\"\nanswer: \"no\"\nlist:\n  - 1\n  -\n    a: \"x: y\"\nempty: []\nsecret: \"[redacted]\"\n";
        assert_eq!(value.to_yaml(), expected);
    }
}
