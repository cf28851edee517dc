//! `puppet catalog compile|find`: the catalog of a node as JSON; `download`: that of this node, from
//! its server.

mod download;

use super::flags::Flags;
use super::ground::{Ground, fail, say};
use super::help;

/// Runs the subcommand; its exit code.
pub(super) fn run(flags: &Flags, words: &[String]) -> u8 {
    let (action, rest) = match words.split_first() {
        Some((action, rest)) => (action.as_str(), rest),
        None => return fail(help::no_action("catalog", None)),
    };
    if action == "download" {
        return download::run(flags);
    }
    if !matches!(action, "compile" | "find") {
        return fail(help::no_action("catalog", Some(action)));
    }
    let ground = match Ground::new(flags, rest.first().map(String::as_str)) {
        Ok(ground) => ground,
        Err(message) => return fail(message),
    };
    match fx_puppet::catalog(&ground.machine, &ground.request, &ground.node, ground.facts) {
        Ok(catalog) => match serde_json::from_str::<serde_json::Value>(&catalog) {
            Ok(catalog) => say(&format!("{catalog:#}")),
            Err(error) => fail(error),
        },
        Err(message) => fail(message),
    }
}
