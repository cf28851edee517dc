//! What most subcommands need: a machine, the environment, a node and its facts; and how they
//! print.

use std::path::Path;
use std::rc::Rc;

use fx_engine::Cancel;
use fx_host::OsHost;
use fx_puppet::{CatalogRequest, Machine, Value};

use super::flags::Flags;
use super::settings::Settings;
use crate::terminal;

/// Prints a line.
pub(super) fn say(text: &str) -> u8 {
    terminal::print(&format!("{text}\n"))
}

/// Prints an error; the exit code.
pub(super) fn fail(message: impl std::fmt::Display) -> u8 {
    terminal::hand_on(&format!("Error: {message}\n"));
    1
}

/// What most of them need: a machine, the environment, a node and its facts.
pub(super) struct Ground {
    pub(super) machine: Machine,
    pub(super) request: CatalogRequest,
    pub(super) node: String,
    pub(super) facts: Vec<(String, Value)>,
    /// Whether they are those that the node's agent sent to the server.
    pub(super) are_stored: bool,
}

impl Ground {
    pub(super) fn new(flags: &Flags, node: Option<&str>) -> Result<Ground, String> {
        let host = Rc::new(OsHost::new());
        let settings = Settings::read(&host, flags, "server");
        let request = settings.request(&*host);
        let machine = Machine::new(host, Cancel::default());
        machine.given_by_flags(flags.settings());
        let is_named = node.is_some();
        let node = match node {
            Some(node) => node.to_owned(),
            None => match settings.get("certname") {
                name if name.is_empty() => fx_puppet::node_name(&machine),
                name => name,
            },
        };
        // Of a node that is named the server knows more than this machine.
        let stored = match (flags.get("facts"), is_named) {
            (None, true) => crate::serve::stored_facts(&OsHost::new(), &settings, &node)?,
            _ => None,
        };
        let are_stored = stored.is_some();
        let facts = match (flags.get("facts"), stored) {
            (Some(file), _) => fx_puppet::read_facts(&machine, Path::new(file))?,
            (None, Some(stored)) => fx_puppet::facts_from_json(&stored),
            (None, None) => fx_puppet::machine_facts(&machine, &node),
        };
        Ok(Ground { machine, request, node, facts, are_stored })
    }
}
