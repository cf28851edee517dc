//! Documents as the words that a search looks for: `key__=__value`.

use serde_json::{Map, Value};

use super::{in_run_list, name_of};

/// Between a key and its value.
pub(super) const IS: &str = "__=__";

/// The words of a document: each text is a key with its value, whose words follow each other.
pub(super) struct Words(Vec<String>);

impl Words {
    /// Each word once.
    pub(super) fn each(&self) -> Vec<&str> {
        let mut all: Vec<&str> = self.0.iter().flat_map(|value| value.split_whitespace()).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Values of several words, each once.
    pub(super) fn phrases(&self) -> Vec<&str> {
        let many = |value: &&str| value.split_whitespace().nth(1).is_some();
        let mut all: Vec<&str> = self.0.iter().map(String::as_str).filter(many).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    fn add(&mut self, key: &str, value: &str) {
        self.0.push(format!("{key}{IS}{value}"));
    }
}

/// Words of a document.
pub(super) fn of(document: &Value) -> Words {
    let mut words = Words(Vec::new());
    if let Value::Object(all) = document {
        for (key, value) in all {
            expand(&mut words, &mut vec![key], value);
        }
    }
    words
}

/// Words of an item of a data bag.
pub(super) fn of_item(item: &Value, bag: &str) -> Words {
    let mut words = of(item);
    words.add("data_bag", bag);
    words.add("chef_type", "data_bag_item");
    words
}

/// A value under its whole path and under its last key; keys are values of what holds them.
fn expand<'a>(words: &mut Words, path: &mut Vec<&'a str>, value: &'a Value) {
    match value {
        Value::Object(all) => {
            for (key, value) in all {
                add(words, path, key);
                path.push(key);
                expand(words, path, value);
                path.pop();
            }
        }
        Value::Array(all) => all.iter().for_each(|value| expand(words, path, value)),
        Value::String(text) => add(words, path, text),
        Value::Null => add(words, path, ""),
        other => add(words, path, &other.to_string()),
    }
}

fn add(words: &mut Words, path: &[&str], text: &str) {
    words.add(&path.join("_"), text);
    if let [_, .., last] = path {
        words.add(last, text);
    }
}

/// A node's attributes as one, with what it is beside them.
pub(super) fn merged(node: &Value) -> Value {
    let mut all = Map::new();
    for level in ["default", "normal", "override", "automatic"] {
        if let Some(Value::Object(attributes)) = node.get(level) {
            merge(&mut all, attributes);
        }
    }
    all.insert("name".into(), name_of(node).into());
    for key in ["chef_environment", "run_list", "chef_type", "policy_name", "policy_group"] {
        if let Some(value) = node.get(key) {
            all.insert(key.into(), value.clone());
        }
    }
    let list = node.get("run_list").unwrap_or(&Value::Null);
    all.insert("role".into(), Value::Array(in_run_list(list, "role")));
    all.insert("recipe".into(), Value::Array(in_run_list(list, "recipe")));
    Value::Object(all)
}

fn merge(into: &mut Map<String, Value>, from: &Map<String, Value>) {
    for (key, value) in from {
        match (into.get_mut(key), value) {
            (Some(Value::Object(old)), Value::Object(new)) => merge(old, new),
            _ => {
                into.insert(key.clone(), value.clone());
            }
        }
    }
}
