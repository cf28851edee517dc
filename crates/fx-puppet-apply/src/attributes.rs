//! Attributes of a resource of the catalog: their values, and which of them are secret.

use fx_puppet::text::interpolated;
use fx_puppet::{Resource, Value};

fn plain(value: &Value) -> Value {
    match value {
        Value::Sensitive(inner) => plain(inner),
        other => other.clone(),
    }
}

/// The value of an attribute; undef counts as not given.
pub(super) fn attribute(resource: &Resource, name: &str) -> Option<Value> {
    resource
        .attributes
        .get(name)
        .map(|given| plain(&given.value))
        .filter(|value| !matches!(value, Value::Undef))
}

pub(super) fn text(resource: &Resource, name: &str) -> Option<String> {
    attribute(resource, name).map(|value| interpolated(&value))
}

pub(super) fn list(resource: &Resource, name: &str) -> Vec<Value> {
    match attribute(resource, name) {
        Some(Value::Array(items)) => items.to_vec(),
        Some(other) => vec![other],
        None => Vec::new(),
    }
}

pub(super) fn truth(value: Option<Value>) -> bool {
    value.is_some_and(|value| {
        matches!(value, Value::Bool(true)) || matches!(value.as_str(), Some("true" | "yes"))
    })
}

/// Whether a property's value must not be shown.
pub(super) fn is_secret(resource: &Resource, property: &str) -> bool {
    let name = if property == "ensure" { "content" } else { property };
    if &*resource.low == "user" && name == "password" {
        return true;
    }
    super::secrets::is_marked(resource, name)
}
