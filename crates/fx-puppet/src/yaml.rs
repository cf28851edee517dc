//! YAML to values as Psych reads it: YAML 1.1 scalars, anchors, merge keys. Writing YAML is
//! not here.

use std::rc::Rc;

use rustc_hash::FxHashMap;
use saphyr_parser::{Event, Parser, ScalarStyle};

use crate::value::{Hash, Value};

/// Deepest nesting that is read.
const MAX_DEPTH: usize = 200;

enum Open {
    Array(Vec<Value>, usize),
    Map(Hash, Option<Value>, usize),
}

/// Reads the first document. An empty text is undef.
pub(crate) fn parse(source: &str) -> Result<Value, String> {
    let mut stack: Vec<Open> = Vec::new();
    let mut anchors: FxHashMap<usize, Value> = FxHashMap::default();
    let mut result = Value::Undef;
    for event in Parser::new_from_str(source) {
        let (event, _) = event.map_err(|error| {
            let at = *error.marker();
            format!("(<unknown>): {} at line {} column {}", error.info(), at.line(), at.col() + 1)
        })?;
        let value = match event {
            Event::SequenceStart(anchor, _) => {
                stack.push(Open::Array(Vec::new(), anchor));
                None
            }
            Event::MappingStart(anchor, _) => {
                stack.push(Open::Map(Hash::default(), None, anchor));
                None
            }
            Event::SequenceEnd | Event::MappingEnd => match stack.pop() {
                Some(Open::Array(items, anchor)) => {
                    let value = Value::array(items);
                    anchors.insert(anchor, value.clone());
                    Some(value)
                }
                Some(Open::Map(map, _, anchor)) => {
                    let value = Value::Hash(Rc::new(map));
                    anchors.insert(anchor, value.clone());
                    Some(value)
                }
                None => None,
            },
            Event::Scalar(text, style, anchor, tag) => {
                let is_text =
                    tag.is_some_and(|tag| tag.suffix == "str") || style != ScalarStyle::Plain;
                let value = if is_text { Value::from(text.to_string()) } else { plain(&text) };
                if anchor > 0 {
                    anchors.insert(anchor, value.clone());
                }
                Some(value)
            }
            Event::Alias(anchor) => Some(anchors.get(&anchor).cloned().unwrap_or(Value::Undef)),
            Event::DocumentEnd => break,
            _ => None,
        };
        if stack.len() > MAX_DEPTH {
            return Err("nesting is too deep".into());
        }
        let Some(value) = value else { continue };
        match stack.last_mut() {
            None => result = value,
            Some(Open::Array(items, _)) => items.push(value),
            Some(Open::Map(map, key, _)) => match key.take() {
                None => *key = Some(value),
                Some(key) if key.as_str() == Some("<<") => merge(map, &value),
                Some(key) => {
                    map.insert(key, value);
                }
            },
        }
    }
    Ok(result)
}

/// `<<: *other`: keys that are not there yet.
fn merge(map: &mut Hash, value: &Value) {
    match value {
        Value::Hash(other) => {
            for (key, value) in &**other {
                map.entry(key.clone()).or_insert_with(|| value.clone());
            }
        }
        Value::Array(items) => items.iter().for_each(|item| merge(map, item)),
        _ => {}
    }
}

/// A scalar without quotes.
fn plain(text: &str) -> Value {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Value::Undef,
        "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => {
            return Value::Bool(true);
        }
        "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => {
            return Value::Bool(false);
        }
        ".inf" | ".Inf" | ".INF" => return Value::Float(f64::INFINITY),
        "-.inf" | "-.Inf" | "-.INF" => return Value::Float(f64::NEG_INFINITY),
        ".nan" | ".NaN" | ".NAN" => return Value::Float(f64::NAN),
        _ => {}
    }
    if text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.'))
        && let Some(number) = number(text)
    {
        return number;
    }
    // A symbol becomes text on its way into the language.
    Value::from(text.strip_prefix(':').filter(|rest| !rest.is_empty()).unwrap_or(text))
}

fn number(text: &str) -> Option<Value> {
    let (sign, digits) = match text.as_bytes().first()? {
        b'-' => (-1, &text[1..]),
        b'+' => (1, &text[1..]),
        _ => (1, text),
    };
    if !digits.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return None;
    }
    let clean: String = digits.chars().filter(|c| !matches!(c, '_' | ',')).collect();
    if let Some(hex) = clean.strip_prefix("0x") {
        return i64::from_str_radix(hex, 16).ok().map(|value| Value::Int(sign * value));
    }
    if let Some(bits) = clean.strip_prefix("0b") {
        return i64::from_str_radix(bits, 2).ok().map(|value| Value::Int(sign * value));
    }
    if clean.len() > 1
        && clean.starts_with('0')
        && clean.bytes().all(|byte| (b'0'..b'8').contains(&byte))
    {
        return i64::from_str_radix(&clean, 8).ok().map(|value| Value::Int(sign * value));
    }
    if clean.bytes().all(|byte| byte.is_ascii_digit()) && !clean.is_empty() {
        if clean.starts_with('0') && clean.len() > 1 {
            return None;
        }
        return clean.parse::<i64>().ok().map(|value| Value::Int(sign * value));
    }
    // Base sixty.
    if clean.contains(':')
        && clean
            .split(':')
            .skip(1)
            .all(|part| part.len() <= 2 && part.parse::<u8>().is_ok_and(|part| part < 60))
        && clean
            .split(':')
            .all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()))
    {
        let parts = clean.split(':').map(|part| part.parse::<i64>().unwrap_or(0));
        return Some(Value::Int(sign * parts.fold(0, |sum, part| sum * 60 + part)));
    }
    let (mantissa, exponent) = match clean.find(['e', 'E']) {
        Some(at) => (&clean[..at], Some(&clean[at + 1..])),
        None => (clean.as_str(), None),
    };
    let (whole, part) = mantissa.split_once('.')?;
    let all_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if !all_digits(whole) || !all_digits(part) || (whole.is_empty() && part.is_empty()) {
        return None;
    }
    if let Some(exponent) = exponent
        && (exponent.is_empty() || !all_digits(exponent.trim_start_matches(['+', '-'])))
    {
        return None;
    }
    clean.parse::<f64>().ok().map(|value| Value::Float(sign as f64 * value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::program_text;

    #[test]
    fn scalars_are_read_as_psych_reads_them() {
        let check = |text: &str, expected: &str| {
            assert_eq!(program_text(&parse(text).unwrap()), expected, "{text}");
        };
        check("a: 017", "{'a' => 15}");
        check("a: 0o17", "{'a' => '0o17'}");
        check("a: 1:30", "{'a' => 90}");
        check("a: 1,000", "{'a' => 1000}");
        check("a: 1e3", "{'a' => '1e3'}");
        check("a: yes", "{'a' => true}");
        check("a: y", "{'a' => 'y'}");
        check("a: 10.0.0.1", "{'a' => '10.0.0.1'}");
        check("a: '17'", "{'a' => '17'}");
        check("a: -3", "{'a' => -3}");
        check("a: 1.5", "{'a' => 1.5}");
        check("a: ~", "{'a' => undef}");
        check(
            "x: &x {k: 1}\ny:\n  <<: *x\n  z: 2",
            "{'x' => {'k' => 1}, 'y' => {'k' => 1, 'z' => 2}}",
        );
    }
}
