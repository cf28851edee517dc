//! YAML to data, by events of a safe parser; scalars are resolved as the original does.

use std::rc::Rc;

use saphyr_parser::{Event, Parser, ScalarStyle};

use crate::json::{Json, Object, put};
use crate::text::Str;

/// Deepest nesting that is read.
const MAX_DEPTH: usize = 200;

enum Open {
    Array(Vec<Json>),
    Object(Object, Option<Str>),
}

/// Reads the first document; `None` when it is not YAML.
pub(crate) fn parse(source: &str) -> Option<Json> {
    let mut stack: Vec<Open> = Vec::new();
    let mut result: Option<Json> = None;
    for event in Parser::new_from_str(source) {
        let (event, _) = event.ok()?;
        let value = match event {
            Event::SequenceStart(..) => {
                stack.push(Open::Array(Vec::new()));
                None
            }
            Event::MappingStart(..) => {
                stack.push(Open::Object(Object::new(), None));
                None
            }
            Event::SequenceEnd | Event::MappingEnd => Some(match stack.pop()? {
                Open::Array(items) => Json::Array(items),
                Open::Object(map, _) => Json::Object(map),
            }),
            Event::Scalar(text, style, ..) => match stack.last_mut() {
                // A key is its text, whatever it looks like.
                Some(Open::Object(_, key @ None)) => {
                    *key = Some((&*text).into());
                    None
                }
                _ => Some(scalar(&text, style)),
            },
            Event::Alias(_) => Some(Json::Null),
            Event::DocumentEnd => break,
            _ => None,
        };
        if stack.len() > MAX_DEPTH {
            return None;
        }
        let Some(value) = value else { continue };
        match stack.last_mut() {
            None => result = Some(value),
            Some(Open::Array(items)) => items.push(value),
            Some(Open::Object(map, key)) => match key.take() {
                None => *key = Some(value.primitive().unwrap_or_default()),
                Some(name) => put(map, name, value),
            },
        }
    }
    result
}

fn scalar(text: &str, style: ScalarStyle) -> Json {
    if !matches!(style, ScalarStyle::Plain) {
        return Json::Str(text.into());
    }
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Json::Null,
        "y" | "Y" | "true" | "True" | "TRUE" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" => {
            Json::Bool(true)
        }
        "n" | "N" | "false" | "False" | "FALSE" | "no" | "No" | "NO" | "off" | "Off" | "OFF" => {
            Json::Bool(false)
        }
        _ => {
            // A number may be followed by what follows one in JSON: `200 300` is 200.
            if let (Ok(number), _) = crate::json::number(text) {
                return number;
            }
            Json::Str(Rc::from(text))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_become_data() {
        let json = parse("---\n- a\n- 1\n- 2.5\n- true\n- {x: ~}\n- '1'\n").expect("valid");
        assert_eq!(json.compact(), r#"["a",1,2.5000,true,{"x":null},"1"]"#);
        assert_eq!(parse("a: [1"), None);
    }
}
