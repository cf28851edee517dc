//! `puppet generate types`: nothing to write, because types are read from the modules.

use super::flags::Flags;
use super::ground::{fail, say};
use super::help;

/// Runs the subcommand; its exit code.
pub(super) fn run(_flags: &Flags, words: &[String]) -> u8 {
    match words.first().map(String::as_str) {
        Some("types") => {
            say("Notice: No file is generated: types are read from the modules at each run.")
        }
        action => fail(help::no_action("generate", action)),
    }
}
