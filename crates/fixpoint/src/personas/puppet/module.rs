//! `puppet module list`: the modules of the environment.

use fx_host::OsHost;

use super::flags::Flags;
use super::ground::{fail, say};
use super::settings::Settings;
use crate::terminal;

/// Runs the subcommand; its exit code.
pub(super) fn run(flags: &Flags, words: &[String]) -> u8 {
    match words.first().map(String::as_str) {
        Some("list") => {}
        None => return fail("'module' has no default action.  See `puppet help module`."),
        Some(known @ ("install" | "uninstall" | "upgrade" | "search" | "changes")) => {
            return fail(format_args!("'module {known}' is not supported"));
        }
        Some(other) => {
            return fail(format_args!(
                "'module' has no '{other}' action.  See `puppet help module`."
            ));
        }
    }
    let host = OsHost::new();
    let settings = Settings::read(&host, flags, "main");
    let path = settings.request(&host).modulepath;
    if let Some(form) = flags.get("render-as").filter(|form| *form != "console") {
        return fail(format_args!("'module list' in the form '{form}' is not supported"));
    }
    let list = fx_puppet::module_list(&host, &path, flags.has("tree"));
    for warning in &list.warnings {
        terminal::hand_on(&format!("Warning: {warning}\n"));
    }
    // Nothing at all is still a line.
    if list.text.is_empty() { say("") } else { terminal::print(&list.text) }
}
