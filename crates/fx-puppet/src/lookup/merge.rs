//! Merge strategies: first, unique, hash, deep.

use std::rc::Rc;

use crate::eval::interpolated;
use crate::value::{Hash, Value};

/// How values of several levels become one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Strategy {
    First,
    Unique,
    Hash,
    Deep { knockout: Option<String>, sort: bool, merge_hash_arrays: bool },
}

impl Strategy {
    /// From its name, or a hash with options.
    pub(crate) fn read(value: &Value) -> Result<Strategy, String> {
        let (name, options) = match value {
            Value::Hash(hash) => {
                let name = hash.get(&Value::from("strategy")).map(interpolated).unwrap_or_default();
                (name, Some(hash))
            }
            other => (interpolated(other), None),
        };
        let option = |key: &str| options.and_then(|options| options.get(&Value::from(key)));
        Ok(match name.as_str() {
            "first" | "default" => Strategy::First,
            "unique" => Strategy::Unique,
            "hash" => Strategy::Hash,
            "deep" | "reverse_deep" | "unconstrained_deep" => Strategy::Deep {
                knockout: option("knockout_prefix")
                    .filter(|value| value.is_true())
                    .map(interpolated),
                sort: option("sort_merged_arrays").is_some_and(Value::is_true),
                merge_hash_arrays: option("merge_hash_arrays").is_some_and(Value::is_true),
            },
            other => return Err(format!("Unknown merge strategy: '{other}'")),
        })
    }

    /// Values in order of strength as one.
    pub(crate) fn merge(&self, found: Vec<Value>) -> Result<Value, String> {
        let mut values = found.into_iter();
        let Some(first) = values.next() else { return Ok(Value::Undef) };
        match self {
            Strategy::First => Ok(first),
            Strategy::Unique => {
                let mut all: Vec<Value> = Vec::new();
                for value in std::iter::once(first).chain(values) {
                    flat(&value, &mut all)?;
                }
                let mut seen = rustc_hash::FxHashSet::default();
                all.retain(|value| seen.insert(value.clone()));
                Ok(Value::array(all))
            }
            Strategy::Hash => {
                let rest: Vec<Value> = values.collect();
                // Weakest first, so that their keys come first.
                let mut out = Hash::default();
                let all: Vec<&Value> = std::iter::once(&first).chain(&rest).collect();
                for value in all.iter().rev() {
                    let Value::Hash(hash) = value else {
                        return Err(format!(
                            "Hash merge needs hashes, got {}",
                            crate::eval::kind(value)
                        ));
                    };
                    for (key, value) in &**hash {
                        out.insert(key.clone(), value.clone());
                    }
                }
                // Keys of the strongest keep their place in front.
                Ok(Value::Hash(Rc::new(out)))
            }
            Strategy::Deep { .. } => {
                let all: Vec<Value> = std::iter::once(first).chain(values).collect();
                let mut merged = all.last().cloned().unwrap_or(Value::Undef);
                let single = all.len() == 1;
                for value in all.iter().rev().skip(1) {
                    merged = self.deep(value, &merged);
                }
                let _ = single;
                Ok(merged)
            }
        }
    }

    /// The stronger over the weaker.
    fn deep(&self, strong: &Value, weak: &Value) -> Value {
        let Strategy::Deep { knockout, sort, merge_hash_arrays } = self else {
            return strong.clone();
        };
        match (strong, weak) {
            (Value::Hash(strong), Value::Hash(weak)) => {
                let mut out = Hash::clone(weak);
                for (key, value) in &**strong {
                    if let (Some(prefix), Value::String(text)) = (knockout, value)
                        && !prefix.is_empty()
                        && text.starts_with(prefix.as_str())
                    {
                        out.insert(key.clone(), Value::from(""));
                        continue;
                    }
                    let merged = match weak.get(key) {
                        Some(old) => self.deep(value, old),
                        None => value.clone(),
                    };
                    out.insert(key.clone(), merged);
                }
                Value::Hash(Rc::new(out))
            }
            (Value::Array(strong), Value::Array(weak)) => {
                if *merge_hash_arrays
                    && strong.iter().chain(weak.iter()).all(|item| matches!(item, Value::Hash(_)))
                {
                    let mut out = Vec::new();
                    for at in 0..strong.len().max(weak.len()) {
                        out.push(match (strong.get(at), weak.get(at)) {
                            (Some(strong), Some(weak)) => self.deep(strong, weak),
                            (Some(one), None) | (None, Some(one)) => one.clone(),
                            (None, None) => continue,
                        });
                    }
                    return Value::array(out);
                }
                let mut out: Vec<Value> = weak.to_vec();
                for item in strong.iter() {
                    if let (Some(prefix), Value::String(text)) = (knockout, item)
                        && !prefix.is_empty()
                        && let Some(name) = text.strip_prefix(prefix.as_str())
                    {
                        out.retain(|known| known.as_str() != Some(name));
                        continue;
                    }
                    if !out.contains(item) {
                        out.push(item.clone());
                    }
                }
                if *sort {
                    out.sort_by_key(interpolated);
                }
                Value::array(out)
            }
            (strong, _) => strong.clone(),
        }
    }
}

fn flat(value: &Value, into: &mut Vec<Value>) -> Result<(), String> {
    match value {
        Value::Array(items) => items.iter().try_for_each(|item| flat(item, into)),
        Value::Hash(_) => Err("The merge strategy 'unique' cannot merge a hash".into()),
        other => {
            into.push(other.clone());
            Ok(())
        }
    }
}
