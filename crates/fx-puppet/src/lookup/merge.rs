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
    Deep {
        knockout: Option<String>,
        sort: bool,
        merge_hash_arrays: bool,
        /// Whether the weakest has the last word.
        reverse: bool,
    },
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
        if let Some(options) = options {
            let known: &[&str] = match name.as_str() {
                "deep" | "reverse_deep" | "unconstrained_deep" => &[
                    "strategy",
                    "knockout_prefix",
                    "merge_debug",
                    "merge_nil_values",
                    "sort_merged_arrays",
                    "merge_hash_arrays",
                ],
                "first" | "default" | "unique" | "hash" => &["strategy"],
                _ => &[],
            };
            let unknown = options
                .keys()
                .map(interpolated)
                .find(|key| !known.is_empty() && !known.contains(&key.as_str()));
            if let Some(key) = unknown {
                return Err(format!("The merge options has wrong type, unrecognized key '{key}'"));
            }
        }
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
                reverse: name == "reverse_deep",
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
                for (index, value) in std::iter::once(first).chain(values).enumerate() {
                    if matches!(value, Value::Hash(_)) {
                        let which = if index == 0 { "second" } else { "first" };
                        return Err(format!(
                            "The {which} element of the merge has wrong type, expects a value of type Scalar or Array, got {}",
                            short(&value)
                        ));
                    }
                    flat(&value, &mut all);
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
                if let Some(at) = all.iter().position(|value| !matches!(value, Value::Hash(_))) {
                    let which = if at == 0 { "first" } else { "second" };
                    return Err(format!(
                        "The {which} element of the merge has wrong type, expects a Hash value, got {}",
                        short(all[at])
                    ));
                }
                for value in all.iter().rev() {
                    let Value::Hash(hash) = value else { continue };
                    for (key, value) in &**hash {
                        out.insert(key.clone(), value.clone());
                    }
                }
                // Keys of the strongest keep their place in front.
                Ok(Value::Hash(Rc::new(out)))
            }
            Strategy::Deep { reverse, .. } => {
                // From the strongest on: what knocks out a value of one level is used up there.
                Ok(values.fold(first, |merged, next| {
                    if *reverse { self.deep(&next, &merged) } else { self.deep(&merged, &next) }
                }))
            }
        }
    }

    /// The stronger over the weaker.
    fn deep(&self, strong: &Value, weak: &Value) -> Value {
        let Strategy::Deep { knockout, sort, merge_hash_arrays, .. } = self else {
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
                let prefix = knockout.as_deref().filter(|prefix| !prefix.is_empty());
                // The prefix alone takes away all that is weaker.
                if prefix.is_some() && strong.iter().any(|item| item.as_str() == prefix) {
                    out.clear();
                }
                for item in strong.iter() {
                    if let (Some(prefix), Value::String(text)) = (prefix, item)
                        && let Some(name) = text.strip_prefix(prefix)
                    {
                        out.retain(|known| {
                            known.as_str() != Some(name) && known.as_str() != Some(text)
                        });
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

fn flat(value: &Value, into: &mut Vec<Value>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| flat(item, into)),
        other => into.push(other.clone()),
    }
}

/// The name of a value's type alone.
fn short(value: &Value) -> String {
    let name = crate::types::infer_set(value).to_string();
    name.split('[').next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Value {
        crate::yaml::parse(text).unwrap()
    }

    #[test]
    fn what_knocks_out_is_used_up_level_by_level() {
        let strategy = Strategy::read(&read("{strategy: deep, knockout_prefix: '--'}")).unwrap();
        for (levels, expected) in [
            (vec!["[b, --a]", "[b, --a]", "[a]"], "['a', 'b']"),
            (vec!["[b, --a]", "[c]", "[a]"], "['a', 'c', 'b']"),
            (vec!["[--, x]", "[a, b]"], "['x']"),
            (vec!["[--a]"], "['--a']"),
        ] {
            let merged = strategy.merge(levels.iter().map(|level| read(level)).collect()).unwrap();
            assert_eq!(crate::eval::program_text(&merged), expected, "{levels:?}");
        }
    }

    #[test]
    fn values_are_merged_and_refused_as_in_the_original() {
        let table = [
            (
                "deep",
                "{p: {q: 1, l: [a]}, o: n}",
                "{p: {r: 2, l: [b, a]}, c: 1}",
                "{'p' => {'r' => 2, 'l' => ['b', 'a'], 'q' => 1}, 'c' => 1, 'o' => 'n'}",
            ),
            ("reverse_deep", "[1, 2, x]", "[2, 3]", "[1, 2, 'x', 3]"),
            ("unique", "[x, [y]]", "[[y], z]", "['x', 'y', 'z']"),
            ("{strategy: deep, knockout_prefix: '--'}", "[--b, c]", "[a, b]", "['a', 'c']"),
            (
                "hash",
                "s",
                "{a: 1}",
                "The first element of the merge has wrong type, expects a Hash value, got String",
            ),
            (
                "hash",
                "{a: 1}",
                "[1]",
                "The second element of the merge has wrong type, expects a Hash value, got Tuple",
            ),
            (
                "{strategy: unique, knockout_prefix: '--'}",
                "[1]",
                "[2]",
                "The merge options has wrong type, unrecognized key 'knockout_prefix'",
            ),
            ("bogus", "[1]", "[2]", "Unknown merge strategy: 'bogus'"),
        ];
        for (strategy, strong, weak, expected) in table {
            let merged = Strategy::read(&read(strategy))
                .and_then(|strategy| strategy.merge(vec![read(strong), read(weak)]))
                .map_or_else(|why| why, |value| crate::eval::program_text(&value));
            assert_eq!(merged, expected, "{strategy}: {strong} over {weak}");
        }
    }
}
