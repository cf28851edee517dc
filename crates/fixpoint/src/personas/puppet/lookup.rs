//! `puppet lookup`: a value of Hiera, or how it is found.

use fx_formats::yaml::psych;
use fx_puppet::Value;

use super::flags::Flags;
use super::ground::{Ground, fail, say};
use crate::terminal;

/// Runs the subcommand; its exit code.
pub(super) fn run(flags: &Flags, keys: &[String]) -> u8 {
    let failed = |message: &str| fail(format_args!("Could not run: {message}"));
    let explains_options = flags.has("explain-options");
    if keys.is_empty() && !explains_options {
        return failed("No keys were given to lookup.");
    }
    let merge = match flags.get("merge") {
        Some(word) if !matches!(word, "first" | "unique" | "hash" | "deep") => {
            return failed(
                "The --merge option only accepts 'first', 'hash', 'unique', or 'deep'\nRun 'puppet lookup --help' for more details",
            );
        }
        word => word.map(|word| strategy(word, flags)),
    };
    let deep_only = ["knock-out-prefix", "sort-merged-arrays", "merge-hash-arrays"];
    if flags.get("merge") != Some("deep") && deep_only.iter().any(|name| flags.has(name)) {
        return failed(
            "The options --knock-out-prefix, --sort-merged-arrays, and --merge-hash-arrays are only available with '--merge deep'\nRun 'puppet lookup --help' for more details",
        );
    }
    let ground = match Ground::new(flags, flags.get("node")) {
        Ok(ground) => ground,
        Err(message) => return failed(&message),
    };
    if let Some(node) = flags.get("node")
        && !flags.has("facts")
        && !ground.are_stored
        && *node != fx_puppet::node_name(&ground.machine)
    {
        return failed(&format!("No facts available for target node: {node}"));
    }
    if explains_options && !flags.has("explain") {
        let told = fx_puppet::explain_lookup_options(
            &ground.machine,
            &ground.request,
            &ground.node,
            ground.facts,
            keys.first().map(String::as_str),
        );
        return match told {
            Ok(text) => terminal::print(&text),
            Err(message) => failed(&message),
        };
    }
    if flags.has("explain") {
        let key = keys.first().map_or("lookup_options", String::as_str);
        let told = fx_puppet::explain_lookup(
            &ground.machine,
            &ground.request,
            &ground.node,
            ground.facts,
            key,
            merge.as_ref(),
        );
        return match told {
            Ok(text) => terminal::print(&text),
            Err(message) => failed(&message),
        };
    }
    let found = fx_puppet::lookup(
        &ground.machine,
        &ground.request,
        &ground.node,
        ground.facts,
        keys,
        merge.as_ref(),
    );
    let value = match found {
        Ok(Some(value)) => value,
        Ok(None) => match flags.get("default") {
            Some(default) => Value::from(default),
            None => return 1,
        },
        Err(message) => return failed(&message),
    };
    if let Some(ty) = flags.get("type")
        && let Err(message) = fx_puppet::assert_type(&ground.machine, &ground.request, ty, &value)
    {
        return failed(&message);
    }
    match flags.get("render-as") {
        Some("json") => say(&fx_puppet::shown_json(&value).to_string()),
        Some("s") => say(&fx_puppet::ruby_text(&value)),
        _ => terminal::print(&psych::document(&fx_puppet::shown_json(&value))),
    }
}

/// A merge with the options that go with it.
fn strategy(word: &str, flags: &Flags) -> Value {
    if word != "deep" {
        return Value::from(word);
    }
    let mut pairs = vec![(Value::from("strategy"), Value::from("deep"))];
    if let Some(prefix) = flags.get("knock-out-prefix") {
        pairs.push(("knockout_prefix".into(), prefix.into()));
    }
    for (name, option) in
        [("sort-merged-arrays", "sort_merged_arrays"), ("merge-hash-arrays", "merge_hash_arrays")]
    {
        if flags.has(name) {
            pairs.push((option.into(), Value::Bool(true)));
        }
    }
    Value::hash(pairs)
}
