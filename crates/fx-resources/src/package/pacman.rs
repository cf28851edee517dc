//! Packages of Arch Linux through pacman, which keeps one version of each.

use std::cmp::Ordering;

use fx_engine::Failure;
use fx_host::{Exit, Look, Spec};

use super::backend::{Action, Backend, State, Verb};
use super::version;
use crate::command;

pub(super) struct Pacman;

impl Backend for Pacman {
    fn name(&self) -> &'static str {
        "pacman"
    }

    fn installed(&self, host: &dyn Look, name: &str) -> Result<State, Failure> {
        let spec = command::tool(["pacman", "-Q", "--", name]);
        let ended = command::ask(host, &spec)?;
        if ended.exit == Exit::Code(1) {
            return Ok(State::absent());
        }
        if let Some(failure) = command::failure(&spec, &ended) {
            return Err(failure);
        }
        let text = command::stdout(&ended);
        let version = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        Ok(version.map_or_else(State::absent, State::version))
    }

    fn candidate(&self, host: &dyn Look, name: &str) -> Result<Option<String>, Failure> {
        let ended = command::ask(host, &command::tool(["pacman", "-Si", "--", name]))?;
        let text = command::stdout(&ended);
        let mut fields = text.lines().filter_map(|line| line.split_once(':'));
        let version = fields.find(|(key, _)| key.trim() == "Version");
        Ok(version.map(|(_, version)| version.trim().to_owned()))
    }

    fn compare(&self, a: &str, b: &str) -> Ordering {
        version::rpm(a, b)
    }

    fn commands(&self, action: &Action<'_>) -> Result<Vec<Spec>, Failure> {
        let verb = match action.verb {
            Verb::Install | Verb::Upgrade if action.source.is_some() => "-U",
            Verb::Install if action.version.is_some() => {
                let text = format!(
                    "'pacman' cannot choose a version of package '{}': repositories keep one",
                    action.name
                );
                return Err(Failure::new(text));
            }
            Verb::Install | Verb::Upgrade => "-S",
            Verb::Remove => "-R",
            Verb::Purge => "-Rn",
            Verb::Hold | Verb::Unhold => return Err(action.unsupported("pacman")),
        };
        let mut argv: Vec<String> =
            ["pacman", "--noconfirm", "--noprogressbar"].map(str::to_owned).to_vec();
        argv.extend(action.options.iter().cloned());
        argv.extend([verb.to_owned(), "--".to_owned()]);
        argv.push(Action { version: None, ..*action }.target(""));
        Ok(vec![command::changing(argv)])
    }
}
