//! Services through `systemctl`: one `show` prints all that matters about a unit.

use fx_engine::Failure;
use fx_host::{Act, Look};

use super::Enabled;
use super::backend::{Backend, State, Verb};
use crate::command;

pub(super) struct Systemd;

/// What `systemctl show` prints of a unit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unit {
    /// Whether it could be loaded; empty where that was not printed.
    pub load: String,
    /// Whether it is active.
    pub active: String,
    /// Whether it is enabled.
    pub file: String,
}

impl Unit {
    /// Reads what was printed; none where the two states are not in it.
    pub fn parse(text: &str) -> Option<Unit> {
        let field = |name: &str| {
            let mut values = text.lines().filter_map(|line| line.split_once('='));
            values.find(|(key, _)| *key == name).map(|(_, value)| value.trim().to_owned())
        };
        Some(Unit {
            load: field("LoadState").unwrap_or_default(),
            active: field("ActiveState")?,
            file: field("UnitFileState")?,
        })
    }

    /// Whether it starts at boot as Chef sees it: by itself, or because nothing can change it.
    pub fn is_enabled_for_chef(&self) -> bool {
        matches!(&*self.file, "enabled" | "static" | "generated" | "alias" | "indirect")
    }
}

/// The words of a call as Chef makes it: by the path of the program, with the manager it is for,
/// `--system` or `--user`.
pub fn chef_words(program: &str, of_user: bool, verb: &str, unit: Option<&str>) -> Vec<String> {
    let manager = if of_user { "--user" } else { "--system" };
    let mut words = vec![program, manager, verb];
    let Some(unit) = unit else { return words.into_iter().map(str::to_owned).collect() };
    let flags: &[&str] = match verb {
        "show" => &["-p", "UnitFileState", "-p", "ActiveState"],
        "is-enabled" => &["--quiet"],
        _ => &[],
    };
    let is_option = unit.starts_with('-');
    if verb == "show" || is_option {
        words.extend(flags);
        words.extend(is_option.then_some("--"));
        words.push(unit);
    } else {
        words.push(unit);
        words.extend(flags);
    }
    words.into_iter().map(str::to_owned).collect()
}

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
        let unit = Unit::parse(&text).unwrap_or_default();
        let enabled = match &*unit.file {
            _ if unit.load == "masked" => Enabled::Masked,
            "masked" | "masked-runtime" => Enabled::Masked,
            "enabled" | "enabled-runtime" | "alias" => Enabled::Yes,
            "static" | "indirect" | "generated" | "transient" => Enabled::Static,
            _ => Enabled::No,
        };
        // As `is-active` answers: a unit on its way up or down does not run.
        let running = matches!(&*unit.active, "active" | "reloading");
        Ok(State { known: unit.load != "not-found", running, enabled })
    }

    fn act(&self, host: &dyn Act, service: &str, verb: Verb) -> Result<(), Failure> {
        let spec = command::changing(["systemctl", verb.word(), "--", service]);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chef_names_the_manager_and_the_program() {
        let words = |user, verb, unit| chef_words("/bin/systemctl", user, verb, unit).join(" ");
        let table = [
            (
                words(false, "show", Some("ssh")),
                "/bin/systemctl --system show -p UnitFileState -p ActiveState ssh",
            ),
            (words(true, "start", Some("a")), "/bin/systemctl --user start a"),
            (words(false, "is-enabled", Some("a")), "/bin/systemctl --system is-enabled a --quiet"),
            (words(false, "start", Some("-x")), "/bin/systemctl --system start -- -x"),
            (words(false, "daemon-reload", None), "/bin/systemctl --system daemon-reload"),
        ];
        for (found, expected) in table {
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn a_unit_without_its_states_is_none() {
        assert_eq!(Unit::parse("ActiveState=active\n"), None);
        let unit = Unit::parse("UnitFileState=indirect\nActiveState=active\n").unwrap();
        assert!(unit.is_enabled_for_chef() && unit.active == "active" && unit.load.is_empty());
    }
}
