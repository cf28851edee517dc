//! Ruby packages through `gem`, which keeps several versions side by side.

use std::cmp::Ordering;

use fx_engine::Failure;
use fx_host::{Look, Spec};

use super::backend::{Action, Backend, Dialect, Item, State, Verb};
use super::version;
use crate::command;

pub(super) struct Gem {
    dialect: Dialect,
}

impl Gem {
    pub(super) fn new(dialect: Dialect) -> Gem {
        Gem { dialect }
    }

    fn program(&self) -> String {
        self.dialect.settings().program.unwrap_or_else(|| "gem".to_owned())
    }
}

// Lines read `rake (13.0.6, default: 13.0.3)`; a platform may follow a version.
fn versions(text: &str, name: &str) -> Vec<String> {
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(" ("));
    let Some(list) = line.and_then(|line| line.strip_suffix(')')) else { return Vec::new() };
    let versions = list.split(", ").map(|item| item.strip_prefix("default: ").unwrap_or(item));
    versions.filter_map(|item| item.split(' ').next()).map(str::to_owned).collect()
}

impl Backend for Gem {
    fn name(&self) -> &'static str {
        "gem"
    }

    fn installed(&self, host: &dyn Look, name: &str) -> Result<State, Failure> {
        let spec = command::tool([&self.program(), "list", "--local", "--exact", name]);
        let text = command::stdout(&command::query(host, &spec)?);
        Ok(State { versions: versions(&text, name), residual: false })
    }

    fn candidate(&self, host: &dyn Look, name: &str) -> Result<Option<String>, Failure> {
        let spec = command::tool([&self.program(), "list", "--remote", "--exact", name]);
        let text = command::stdout(&command::query(host, &spec)?);
        let found = versions(&text, name);
        Ok(found.into_iter().max_by(|a, b| version::ruby(a, b)))
    }

    fn compare(&self, a: &str, b: &str) -> Ordering {
        version::ruby(a, b)
    }

    fn commands(&self, action: &Action<'_>) -> Result<Vec<Spec>, Failure> {
        let program = self.program();
        let mut specs = Vec::new();
        for item in action.items {
            let words = match &self.dialect {
                Dialect::Puppet => for_puppet(action, item)?,
                Dialect::Chef(_) => for_chef(action, item)?,
            };
            let mut argv = vec![program.clone()];
            argv.extend(words);
            specs.push(command::changing(argv));
        }
        Ok(specs)
    }
}

fn for_puppet(action: &Action<'_>, item: &Item<'_>) -> Result<Vec<String>, Failure> {
    let mut argv = Vec::new();
    match action.verb {
        Verb::Install | Verb::Upgrade => {
            argv.extend(["install", "--no-document"].map(str::to_owned));
            if let Some(version) = item.version {
                argv.extend(["--version".to_owned(), version.to_owned()]);
            }
        }
        Verb::Remove | Verb::Purge => {
            argv.extend(["uninstall", "--all", "--executables"].map(str::to_owned));
        }
        _ => return Err(action.unsupported("gem")),
    }
    argv.extend(action.options.iter().cloned());
    argv.push(item.bare());
    Ok(argv)
}

fn for_chef(action: &Action<'_>, item: &Item<'_>) -> Result<Vec<String>, Failure> {
    let mut argv = Vec::new();
    match action.verb {
        Verb::Install | Verb::Upgrade => {
            argv.extend(["install", &item.bare(), "-q", "--no-document"].map(str::to_owned));
            if let Some(version) = item.version {
                argv.extend(["-v".to_owned(), version.to_owned()]);
            }
            argv.extend(action.options.iter().cloned());
        }
        Verb::Remove | Verb::Purge => {
            argv.extend(["uninstall", item.name, "-q", "-x", "-I", "-a"].map(str::to_owned));
        }
        _ => return Err(action.unsupported("gem")),
    }
    Ok(argv)
}
