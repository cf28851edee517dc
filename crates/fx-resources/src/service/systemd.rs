//! Services through `systemctl`: one `show` tells all that matters about a unit.

use fx_engine::Failure;
use fx_host::{Act, Look};

use super::Enabled;
use super::backend::{Backend, State, Verb};
use crate::command;

pub(super) struct Systemd;

impl Backend for Systemd {
    fn name(&self) -> &'static str {
        "systemd"
    }

    fn state(&self, host: &dyn Look, service: &str) -> Result<State, Failure> {
        let spec = command::tool([
            "systemctl",
            "show",
            "--property=LoadState,ActiveState,UnitFileState",
            "--",
            service,
        ]);
        let text = command::stdout(&command::query(host, &spec)?);
        let field = |name: &str| {
            let mut values = text.lines().filter_map(|line| line.split_once('='));
            values.find(|(key, _)| *key == name).map_or("", |(_, value)| value)
        };
        let (load, unit_file) = (field("LoadState"), field("UnitFileState"));
        let enabled = match unit_file {
            _ if load == "masked" => Enabled::Masked,
            "masked" | "masked-runtime" => Enabled::Masked,
            "enabled" | "enabled-runtime" | "alias" => Enabled::Yes,
            "static" | "indirect" | "generated" | "transient" => Enabled::Static,
            _ => Enabled::No,
        };
        // As `is-active` answers: a unit on its way up or down does not run.
        let running = matches!(field("ActiveState"), "active" | "reloading");
        Ok(State { known: load != "not-found", running, enabled })
    }

    fn act(&self, host: &dyn Act, service: &str, verb: Verb) -> Result<(), Failure> {
        let word = match verb {
            Verb::Reload => "reload-or-restart",
            verb => verb.word(),
        };
        let spec = command::changing(["systemctl", word, "--", service]);
        command::succeed(host, &spec).map(drop)
    }

    // systemctl takes patterns; a policy names one unit.
    fn check_name(&self, service: &str) -> Result<(), Failure> {
        if service.contains(['*', '?', '[', ' ', '/']) {
            let text = format!("'{}' is not a unit name", service.escape_debug());
            return Err(Failure::new(text));
        }
        Ok(())
    }
}
