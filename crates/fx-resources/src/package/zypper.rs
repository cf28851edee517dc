//! Packages of SUSE through zypper; the RPM database is asked by `rpm -q`.

use std::cmp::Ordering;

use fx_engine::Failure;
use fx_host::{Exit, Look, Spec};

use super::backend::{Action, Backend, Dialect, State, Verb};
use super::{rpm, version};
use crate::command;

/// zypper's code for "no package with this name is known".
const UNKNOWN: i32 = 104;

pub(super) struct Zypper {
    dialect: Dialect,
}

impl Zypper {
    pub(super) fn new(dialect: Dialect) -> Zypper {
        Zypper { dialect }
    }

    /// The program with what comes before its command.
    fn program(&self) -> Vec<String> {
        match &self.dialect {
            Dialect::Puppet => {
                ["zypper", "--quiet", "--non-interactive"].map(str::to_owned).to_vec()
            }
            Dialect::Chef(settings) => {
                let mut argv = vec!["zypper".to_owned()];
                argv.extend(settings.global_options.iter().cloned());
                argv.push("--non-interactive".to_owned());
                argv
            }
        }
    }
}

impl Backend for Zypper {
    fn name(&self) -> &'static str {
        "zypper"
    }

    fn installed(&self, host: &dyn Look, name: &str) -> Result<State, Failure> {
        rpm::installed(host, name)
    }

    fn candidate(&self, host: &dyn Look, name: &str) -> Result<Option<String>, Failure> {
        let mut argv = self.program();
        argv.extend(["info", name].map(str::to_owned));
        let spec = command::tool(argv);
        let ended = command::ask(host, &spec)?;
        match ended.exit {
            Exit::Code(0) => {}
            Exit::Code(UNKNOWN) => return Ok(None),
            _ => {
                return Err(command::failure(&spec, &ended)
                    .unwrap_or_else(|| Failure::new(format!("cannot ask for '{name}'"))));
            }
        }
        let text = command::stdout(&ended);
        let mut fields = text.lines().filter_map(|line| line.split_once(':'));
        let version = fields.find(|(key, _)| key.trim() == "Version");
        Ok(version.map(|(_, version)| version.trim().to_owned()))
    }

    fn compare(&self, a: &str, b: &str) -> Ordering {
        version::rpm(a, b)
    }

    fn satisfies(&self, installed: &str, wanted: &str) -> bool {
        rpm::satisfies(installed, wanted)
    }

    fn held(&self, host: &dyn Look, name: &str) -> Result<bool, Failure> {
        let mut argv = self.program();
        argv.push("locks".to_owned());
        let spec = command::tool(argv);
        let text = command::stdout(&command::query(host, &spec)?);
        let names = text.lines().filter_map(|line| line.split('|').nth(1));
        Ok(names.map(str::trim).any(|locked| locked == name))
    }

    fn commands(&self, action: &Action<'_>) -> Result<Vec<Spec>, Failure> {
        let mut argv = self.program();
        if self.dialect.settings().unchecked {
            argv.push("--no-gpg-checks".to_owned());
        }
        match action.verb {
            Verb::Install | Verb::Upgrade => {
                argv.extend(["install", "--auto-agree-with-licenses"].map(str::to_owned));
                if action.downgrade {
                    argv.push("--oldpackage".to_owned());
                }
            }
            Verb::Remove | Verb::Purge => argv.push("remove".to_owned()),
            Verb::Hold => argv.push("addlock".to_owned()),
            Verb::Unhold => argv.push("removelock".to_owned()),
            Verb::Reconfigure => return Err(action.unsupported("zypper")),
        }
        argv.extend(action.options.iter().cloned());
        if action.installs() {
            argv.extend(action.targets("="));
        } else {
            argv.extend(action.names());
        }
        Ok(vec![command::changing(argv)])
    }
}
