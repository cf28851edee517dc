//! Run lists: which items there are, and the form in which they are kept.

use serde_json::Value;

use crate::cookbooks::is_version;
use crate::names;

/// An item in its full form; `None` where it is none.
pub(crate) fn item(text: &str) -> Option<String> {
    if let Some(name) = bracketed(text, "role") {
        return names::is_wide(name).then(|| text.to_owned());
    }
    if let Some(inner) = bracketed(text, "recipe") {
        return is_recipe(inner).then(|| text.to_owned());
    }
    is_recipe(text).then(|| format!("recipe[{text}]"))
}

fn bracketed<'a>(text: &'a str, kind: &str) -> Option<&'a str> {
    text.strip_prefix(kind)?.strip_prefix('[')?.strip_suffix(']')
}

/// `cookbook`, `cookbook::recipe`, each perhaps with `@version`.
pub(crate) fn is_recipe(text: &str) -> bool {
    let (name, version) = match text.split_once('@') {
        Some((name, version)) => (name, Some(version)),
        None => (text, None),
    };
    let is_named = match name.split_once("::") {
        Some((cookbook, recipe)) => names::is_plain(cookbook) && names::is_plain(recipe),
        None => names::is_plain(name),
    };
    let is_pinned = version.is_none_or(|version| version.contains('.') && is_version(version));
    is_named && is_pinned
}

/// A run list with full items, each once; `None` where it is none.
pub(crate) fn normal(list: &Value) -> Option<Value> {
    let mut items: Vec<Value> = Vec::new();
    for one in list.as_array()? {
        let one = Value::String(item(one.as_str()?)?);
        if !items.contains(&one) {
            items.push(one);
        }
    }
    Some(Value::Array(items))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_kept_in_their_full_form() {
        for (text, kept) in [
            ("apache", Some("recipe[apache]")),
            ("recipe[a::b@1.0]", Some("recipe[a::b@1.0]")),
            ("a::b@1.0.0", Some("recipe[a::b@1.0.0]")),
            ("role[web:x]", Some("role[web:x]")),
            ("role[]", None),
            ("recipe[a::b@1]", None),
            ("a::b::c", None),
            ("a b", None),
            ("role[web", None),
        ] {
            assert_eq!(item(text).as_deref(), kept, "{text}");
        }
        let list = serde_json::json!(["a", "recipe[a]", "b"]);
        assert_eq!(normal(&list), Some(serde_json::json!(["recipe[a]", "recipe[b]"])));
    }
}
