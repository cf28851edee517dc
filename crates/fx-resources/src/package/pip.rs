//! Python packages through pip. Names are compared as Python's index does: case and the
//! difference between `-`, `_` and `.` do not matter.

use std::cmp::Ordering;

use fx_engine::Failure;
use fx_host::{Exit, Look, Spec};

use super::backend::{Action, Backend, State, Verb};
use super::version;
use crate::command;

pub(super) struct Pip {
    program: &'static str,
}

impl Pip {
    pub(super) fn new(program: &'static str) -> Pip {
        Pip { program }
    }
}

fn quiet(spec: Spec) -> Spec {
    spec.env("PIP_DISABLE_PIP_VERSION_CHECK", "1").env("PIP_NO_INPUT", "1")
}

fn normal(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for c in name.chars() {
        match c {
            '-' | '_' | '.' if out.ends_with('-') => {}
            '-' | '_' | '.' => out.push('-'),
            c => out.push(c.to_ascii_lowercase()),
        }
    }
    out
}

impl Backend for Pip {
    fn name(&self) -> &'static str {
        self.program
    }

    fn installed(&self, host: &dyn Look, name: &str) -> Result<State, Failure> {
        let spec = quiet(command::tool([self.program, "freeze", "--all"]));
        let text = command::stdout(&command::query(host, &spec)?);
        let name = normal(name);
        let mut lines = text.lines().filter_map(|line| line.split_once("=="));
        let version = lines.find(|(found, _)| normal(found) == name);
        Ok(version.map_or_else(State::absent, |(_, version)| State::version(version.trim())))
    }

    // The first line reads `name (version)`.
    fn candidate(&self, host: &dyn Look, name: &str) -> Result<Option<String>, Failure> {
        let spec = quiet(command::tool([self.program, "index", "versions", name]));
        let ended = command::ask(host, &spec)?;
        if ended.exit != Exit::Code(0) {
            return Ok(None);
        }
        let text = command::stdout(&ended);
        let version = text.lines().find_map(|line| line.split_once(" (")?.1.strip_suffix(')'));
        Ok(version.map(str::to_owned))
    }

    fn compare(&self, a: &str, b: &str) -> Ordering {
        version::python(a, b)
    }

    fn commands(&self, action: &Action<'_>) -> Result<Vec<Spec>, Failure> {
        let mut argv: Vec<String> = vec![self.program.to_owned()];
        match action.verb {
            Verb::Install => argv.extend(["install", "-q"].map(str::to_owned)),
            Verb::Upgrade => argv.extend(["install", "-q", "--upgrade"].map(str::to_owned)),
            Verb::Remove | Verb::Purge => {
                argv.extend(["uninstall", "-q", "-y"].map(str::to_owned));
            }
            Verb::Hold | Verb::Unhold | Verb::Reconfigure => return Err(action.unsupported("pip")),
        }
        argv.extend(action.options.iter().cloned());
        if action.installs() {
            argv.extend(action.targets("=="));
        } else {
            argv.extend(action.names());
        }
        Ok(vec![quiet(command::changing(argv))])
    }
}
