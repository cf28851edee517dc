//! `puppet facts`: the facts of this machine.

use fx_formats::yaml::psych;

use super::flags::Flags;
use super::ground::{Ground, fail, say};
use crate::terminal;

const VALUE_ONLY: &str = "Warning: Incorrect use of --value-only argument; it can only be used when querying for a single fact!\n";

/// Runs the subcommand; its exit code.
pub(super) fn run(flags: &Flags, words: &[String]) -> u8 {
    let names = match words.split_first() {
        Some((action, names)) if matches!(action.as_str(), "show" | "find") => names,
        _ => words,
    };
    let ground = match Ground::new(flags, None) {
        Ok(ground) => ground,
        Err(message) => return fail(message),
    };
    let old = old_names(&ground);
    let mut all = serde_json::Map::new();
    for (name, value) in &ground.facts {
        if names.is_empty() && (flags.has("show-legacy") || !old.contains_key(name.as_bytes())) {
            all.insert(name.clone(), fx_puppet::value_to_json(value));
        }
    }
    for name in names {
        let mut parts = name.split('.');
        let first = parts.next().unwrap_or_default();
        let found = ground.facts.iter().find(|(known, _)| known == first);
        let mut value = found.map(|(_, value)| fx_puppet::value_to_json(value));
        for part in parts {
            value = value.and_then(|value| match part.parse::<usize>() {
                Ok(index) if value.is_array() => value.get(index).cloned(),
                _ => value.get(part).cloned(),
            });
        }
        // What is not there is shown as nothing.
        all.insert(name.clone(), value.unwrap_or_else(|| serde_json::Value::from("")));
    }
    if flags.has("value-only") {
        if let [name] = names {
            return match all.get(name) {
                Some(serde_json::Value::String(text)) => say(text),
                value => say(&format!("{:#}", value.unwrap_or(&serde_json::Value::Null))),
            };
        }
        terminal::hand_on(VALUE_ONLY);
    }
    all.sort_keys();
    let all = serde_json::Value::Object(all);
    match flags.get("render-as") {
        Some("yaml") => terminal::print(&psych::document(&all)),
        _ => say(&format!("{all:#}")),
    }
}

/// The names that facts had before there were structured ones.
fn old_names(ground: &Ground) -> fx_value::Map {
    let look = ground.machine.run().look();
    fx_facter::legacy(look, &fx_facter::facts(look, &fx_facts::Facts::new(look)))
}
