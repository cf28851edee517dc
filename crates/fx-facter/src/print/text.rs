//! Facts as Facter prints them: `name => value`, nested with braces.

use std::fmt::Write;

use fx_value::{Map, Value};

/// All facts, one below the other. Values of the top level stand without quotes.
pub(super) fn whole(facts: &Map) -> String {
    let lines = facts.iter().map(|(name, value)| format!("{} => {}\n", name.to_text(), top(value)));
    lines.collect()
}

/// The answer to queries: one bare value, or a line for each.
pub(super) fn answers(answers: &[(String, Value)]) -> String {
    match answers {
        [] => "\n".to_owned(),
        [(_, value)] => format!("{}\n", top(value)),
        answers => {
            answers.iter().map(|(name, value)| format!("{name} => {}\n", top(value))).collect()
        }
    }
}

fn top(value: &Value) -> String {
    match value {
        Value::Undef => String::new(),
        Value::Float(number) => format!("{number:?}"),
        Value::Map(_) | Value::List(_) => nested(value, 0),
        value => value.to_string(),
    }
}

fn nested(value: &Value, depth: usize) -> String {
    let indent = "  ".repeat(depth + 1);
    let end = "  ".repeat(depth);
    match value {
        Value::Map(map) if map.is_empty() => format!("{{\n{end}}}"),
        Value::Map(map) => {
            let items = map.iter().map(|(key, value)| {
                format!("{indent}{} => {}", key.to_text(), nested(value, depth + 1))
            });
            format!("{{\n{}\n{end}}}", items.collect::<Vec<_>>().join(",\n"))
        }
        Value::List(items) if items.is_empty() => "[]".to_owned(),
        Value::List(items) => {
            let items = items.iter().map(|item| format!("{indent}{}", nested(item, depth + 1)));
            format!("[\n{}\n{end}]", items.collect::<Vec<_>>().join(",\n"))
        }
        Value::Undef => "null".to_owned(),
        Value::Float(number) => format!("{number:?}"),
        Value::Bytes(bytes) => {
            let mut quoted = String::new();
            let _ = write!(quoted, "\"{}\"", bytes.to_text());
            quoted
        }
        value => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_form_is_facters() {
        let release: Value = [
            ("full", Value::from("12.11")),
            ("parts", Value::List(vec![Value::Int(12), Value::from("x")])),
        ]
        .into_iter()
        .collect();
        let one = [("os".to_owned(), [("release", release)].into_iter().collect())];
        let expected = "{\n  release => {\n    full => \"12.11\",\n    parts => [\n      12,\n      \"x\"\n    ]\n  }\n}\n";
        assert_eq!(answers(&one), expected);
        let two = [("a".to_owned(), Value::from("x")), ("b".to_owned(), Value::Undef)];
        assert_eq!(answers(&two), "a => x\nb => \n");
    }
}
