//! `puppet describe`: what a type takes.

use super::flags::Flags;
use super::ground::{Ground, fail, say};
use crate::terminal;

/// Runs the subcommand; its exit code.
pub(super) fn run(flags: &Flags, words: &[String]) -> u8 {
    if flags.has("list") {
        return terminal::print(&fx_puppet::type_list());
    }
    if words.is_empty() {
        return say(
            "Usage: puppet describe [-h|--help] [-s|--short] [-p|--providers] [-l|--list] [-m|--meta] TYPE...",
        );
    }
    let asked = fx_puppet::Asked {
        short: flags.has("short"),
        providers: flags.has("providers"),
        meta: flags.has("meta"),
    };
    let ground = match Ground::new(flags, None) {
        Ok(ground) => ground,
        Err(message) => return fail(message),
    };
    let mut code = 0;
    for kind in words {
        let kind = kind.to_lowercase();
        code =
            code.max(match fx_puppet::describe(&ground.machine, &ground.request, &kind, asked) {
                Ok(Some(text)) => terminal::print(&text),
                Ok(None) => say(&format!("Unknown type {kind}")),
                Err(message) => fail(message),
            });
    }
    code
}
