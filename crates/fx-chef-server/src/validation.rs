//! What a document may hold, with the original's texts.

use serde_json::{Map, Value};

use crate::context::{Answer, fail};

pub(crate) type Body = Map<String, Value>;

pub(crate) fn missing<T>(field: &str) -> Answer<T> {
    fail(400, format!("Field '{field}' missing"))
}

pub(crate) fn invalid<T>(field: &str) -> Answer<T> {
    fail(400, format!("Field '{field}' invalid"))
}

/// Refuses keys that the document does not have.
pub(crate) fn known_keys(body: &Body, known: &[&str]) -> Answer<()> {
    match body.keys().find(|key| !known.contains(&key.as_str())) {
        Some(key) => fail(400, format!("Invalid key {key} in request body")),
        None => Ok(()),
    }
}

/// A field that is text by a rule.
pub(crate) fn named<'a>(body: &'a Body, field: &str, rule: fn(&str) -> bool) -> Answer<&'a str> {
    match body.get(field) {
        None => missing(field),
        Some(Value::String(text)) if rule(text) => Ok(text),
        Some(_) => invalid(field),
    }
}

/// A field that has one value where it is there; it is put there where not.
pub(crate) fn fixed(body: &mut Body, field: &str, value: &str) -> Answer<()> {
    match body.get(field) {
        None => {
            body.insert(field.to_owned(), value.into());
            Ok(())
        }
        Some(given) if given == value => Ok(()),
        Some(_) => invalid(field),
    }
}

/// A field that is text where it is there; the default where not.
pub(crate) fn text_or(body: &mut Body, field: &str, default: &str) -> Answer<()> {
    match body.get(field) {
        None => {
            body.insert(field.to_owned(), default.into());
            Ok(())
        }
        Some(Value::String(_)) => Ok(()),
        Some(_) => invalid(field),
    }
}

/// A field that is an object where it is there; an empty one where not.
pub(crate) fn hash_or_empty(body: &mut Body, field: &str) -> Answer<()> {
    match body.get(field) {
        None => {
            body.insert(field.to_owned(), Value::Object(Map::new()));
            Ok(())
        }
        Some(Value::Object(_)) => Ok(()),
        Some(_) => fail(400, format!("Field '{field}' is not a hash")),
    }
}
