//! Packages of Arch Linux through pacman, which keeps one version of each.

use std::cmp::Ordering;

use fx_engine::Failure;
use fx_host::{Exit, Look, Spec};

use super::backend::{Action, Backend, Dialect, Item, State, Verb};
use super::version;
use crate::command;

pub(super) struct Pacman {
    dialect: Dialect,
}

impl Pacman {
    pub(super) fn new(dialect: Dialect) -> Pacman {
        Pacman { dialect }
    }
}

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
        let argv = match &self.dialect {
            Dialect::Puppet => for_puppet(action)?,
            Dialect::Chef(_) => for_chef(action)?,
        };
        Ok(vec![command::changing(argv)])
    }
}

fn for_puppet(action: &Action<'_>) -> Result<Vec<String>, Failure> {
    let pinned = action.items.iter().find(|item| item.version.is_some());
    let verb = match (action.verb, pinned) {
        (Verb::Install | Verb::Upgrade, _) if action.has_files() => "-U",
        (Verb::Install, Some(item)) => {
            let text = format!(
                "'pacman' cannot choose a version of package '{}': repositories keep one",
                item.name
            );
            return Err(Failure::new(text));
        }
        (Verb::Install | Verb::Upgrade, _) => "-S",
        (Verb::Remove, _) => "-R",
        (Verb::Purge, _) => "-Rn",
        _ => return Err(action.unsupported("pacman")),
    };
    let mut argv = ["pacman", "--noconfirm", "--noprogressbar"].map(str::to_owned).to_vec();
    argv.extend(action.options.iter().cloned());
    argv.extend([verb.to_owned(), "--".to_owned()]);
    argv.extend(action.items.iter().map(Item::bare));
    Ok(argv)
}

fn for_chef(action: &Action<'_>) -> Result<Vec<String>, Failure> {
    let verb = match action.verb {
        Verb::Install | Verb::Upgrade => "--sync",
        Verb::Remove | Verb::Purge => "--remove",
        _ => return Err(action.unsupported("pacman")),
    };
    let mut argv = ["pacman", verb, "--noconfirm", "--noprogressbar"].map(str::to_owned).to_vec();
    argv.extend(action.options.iter().cloned());
    argv.extend(action.names());
    Ok(argv)
}
