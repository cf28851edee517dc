//! Functions that give a string another form, alone or in collections.

use super::{Call, Native, items_of, native};
use crate::eval::{Evaluated, capitalize};
use crate::value::Value;

const SIGNATURES: &[&str] =
    &["Numeric arg", "String arg", "Iterable[Variant[String, Numeric]] arg"];
const DEEP: &[&str] = &["Numeric arg", "String arg", "Array arg", "Hash arg"];

pub(super) static TABLE: &[Native] = &[
    native("capitalize", SIGNATURES, |call| each(call, capitalize)),
    native("camelcase", SIGNATURES, |call| each(call, camelcase)),
    native("chomp", SIGNATURES, |call| each(call, chomp)),
    native("chop", SIGNATURES, |call| each(call, chop)),
    native("strip", SIGNATURES, |call| each(call, |text| text.trim_matches(is_space).to_owned())),
    native("lstrip", SIGNATURES, |call| {
        each(call, |text| text.trim_start_matches(is_space).to_owned())
    }),
    native("rstrip", SIGNATURES, |call| {
        each(call, |text| text.trim_end_matches(is_space).to_owned())
    }),
    native("upcase", DEEP, |call| Ok(deep(call.arg(0), &|text| text.to_uppercase()))),
    native("downcase", DEEP, |call| Ok(deep(call.arg(0), &|text| text.to_lowercase()))),
];

fn is_space(c: char) -> bool {
    c.is_ascii_whitespace() || c == '\0' || c == '\u{b}'
}

fn one(value: &Value, change: impl Fn(&str) -> String) -> Value {
    match value {
        Value::String(text) => Value::from(change(text)),
        other => other.clone(),
    }
}

fn each(call: &Call<'_>, change: impl Fn(&str) -> String) -> Evaluated {
    Ok(match call.arg(0) {
        value @ (Value::String(_) | Value::Int(_) | Value::Float(_)) => one(value, change),
        other => Value::array(
            items_of(other).unwrap_or_default().iter().map(|item| one(item, &change)).collect(),
        ),
    })
}

fn deep(value: &Value, change: &dyn Fn(&str) -> String) -> Value {
    match value {
        Value::String(text) => Value::from(change(text)),
        Value::Array(items) => Value::array(items.iter().map(|item| deep(item, change)).collect()),
        Value::Hash(hash) => {
            Value::hash(hash.iter().map(|(key, value)| (deep(key, change), deep(value, change))))
        }
        other => other.clone(),
    }
}

fn camelcase(text: &str) -> String {
    text.split('_').map(capitalize).collect()
}

fn chomp(text: &str) -> String {
    text.strip_suffix("\r\n")
        .or_else(|| text.strip_suffix('\n'))
        .or_else(|| text.strip_suffix('\r'))
        .unwrap_or(text)
        .to_owned()
}

fn chop(text: &str) -> String {
    if let Some(rest) = text.strip_suffix("\r\n") {
        return rest.to_owned();
    }
    let mut text = text.to_owned();
    text.pop();
    text
}
