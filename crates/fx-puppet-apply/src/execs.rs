//! Commands: what their attributes mean, and whether their programs are there, which the
//! original looks for before it runs anything.

use std::path::{Path, PathBuf};
use std::time::Duration;

use fx_engine::{Change, Failure, NoProgram, Resource as Thing, ResourceId, Target};
use fx_host::{Act, Look, Program};
use fx_puppet::text::interpolated;
use fx_puppet::{Resource, Value};
use fx_resources::account::Account;
use fx_resources::exec;

use super::attributes::{attribute, is_secret, list, text, truth};
use super::check::{is_qualified, unqualified};
use super::engine_resource::Made;

/// What stands for a command that is a secret.
pub(super) const COMMAND: &str = "[command redacted]";

fn program(value: &Value) -> Program {
    match value {
        Value::Array(words) => {
            Program::Argv(words.iter().map(|word| interpolated(word).into()).collect())
        }
        other => Program::Shell(interpolated(other).into()),
    }
}

/// A command as it should be run.
pub(super) fn make(resource: &Resource) -> Result<Made, String> {
    let command =
        attribute(resource, "command").unwrap_or_else(|| Value::String(resource.title.clone()));
    let path: Vec<String> = list(resource, "path").iter().map(interpolated).collect();
    let is_shell = text(resource, "provider").as_deref() == Some("shell");
    if path.is_empty() && !is_shell && !is_qualified(&command) {
        let shown =
            if is_secret(resource, "command") { Value::from(COMMAND) } else { command.clone() };
        let why = unqualified(&shown);
        return Err(format!("Validation of {} failed: {why}", resource.reference()));
    }
    // Who runs the agent is nothing to the command.
    let mut env: Vec<(std::ffi::OsString, Option<std::ffi::OsString>)> =
        ["HOME", "USER", "LOGNAME"].map(|name| (name.into(), None)).to_vec();
    env.extend(["LANG", "LC_ALL"].map(|name| (name.into(), Some("C".into()))));
    if !path.is_empty() {
        env.push(("PATH".into(), Some(path.join(":").into())));
    }
    for setting in list(resource, "environment") {
        let setting = interpolated(&setting);
        let Some((name, value)) = setting.split_once('=') else { continue };
        env.push((name.into(), Some(value.into())));
    }
    let number = |name: &str| text(resource, name).and_then(|number| number.parse::<f64>().ok());
    let timeout = number("timeout").unwrap_or(300.0);
    let rules = exec::Rules {
        cwd: text(resource, "cwd").map(PathBuf::from),
        env,
        user: text(resource, "user").map(|user| Account::parse(&user)),
        group: text(resource, "group").map(|group| Account::parse(&group)),
        umask: text(resource, "umask").and_then(|mask| u32::from_str_radix(&mask, 8).ok()),
        timeout: (timeout > 0.0).then(|| Duration::from_secs_f64(timeout)),
        merge_stderr: true,
        sensitive: ["command", "refresh", "unless", "onlyif"]
            .iter()
            .any(|name| is_secret(resource, name)),
    };
    let guards = |name: &str| -> Vec<exec::Guard> {
        list(resource, name).iter().map(|guard| exec::Guard::new(program(guard))).collect()
    };
    Ok(Made::Exec(Box::new(exec::Exec::new(exec::Desired {
        name: resource.title.to_string(),
        command: Some(program(&command)),
        rules,
        creates: list(resource, "creates")
            .iter()
            .map(|path| PathBuf::from(interpolated(path)))
            .collect(),
        only_if: guards("onlyif"),
        unless: guards("unless"),
        returns: list(resource, "returns")
            .iter()
            .filter_map(|code| interpolated(code).parse().ok())
            .collect(),
        refresh_only: truth(attribute(resource, "refreshonly")),
        refresh: attribute(resource, "refresh").map(|command| program(&command)),
        tries: number("tries").unwrap_or(1.0) as u32,
        try_sleep: Duration::from_secs_f64(number("try_sleep").unwrap_or(0.0).max(0.0)),
        sensitive: is_secret(resource, "command") || is_secret(resource, "refresh"),
    }))))
}

/// A command whose programs are looked for first.
pub(super) struct Sought<'a> {
    pub(super) inner: &'a mut exec::Exec,
}

/// Why the program of a command cannot be run, if so.
pub(super) fn refusal(look: &dyn Look, exec: &exec::Exec, program: &Program) -> Option<Failure> {
    let first = match program {
        Program::Argv(words) => words.first()?.to_string_lossy().into_owned(),
        Program::Shell(line) => first_word(&line.to_string_lossy())?,
    };
    let why = if first.starts_with('/') {
        match look.stat(Path::new(&first)) {
            Ok(meta) if meta.is_dir() => NoProgram::Directory,
            Ok(meta) if meta.mode & 0o111 == 0 => NoProgram::NotExecutable,
            Ok(_) => return None,
            Err(_) => NoProgram::Missing,
        }
    } else {
        let path = exec.desired.rules.env.iter().rev().find(|(name, _)| name == "PATH");
        let path = path.and_then(|(_, path)| path.clone()).unwrap_or_default();
        let is_there = path.to_string_lossy().split(':').any(|dir| {
            let file = Path::new(dir).join(&first);
            look.stat(&file).is_ok_and(|meta| !meta.is_dir() && meta.mode & 0o111 != 0)
        });
        if is_there {
            return None;
        }
        NoProgram::Missing
    };
    let program = if exec.desired.sensitive { COMMAND.to_owned() } else { first };
    Some(Failure::NoProgram { program, why })
}

/// The program of a line: its first word, quoted or not.
fn first_word(line: &str) -> Option<String> {
    let line = line.trim_start();
    match line.chars().next()? {
        quote @ ('"' | '\'') => line[1..].split(quote).next().map(str::to_owned),
        _ => line.split_whitespace().next().map(str::to_owned),
    }
}

impl Thing for Sought<'_> {
    fn id(&self) -> ResourceId {
        self.inner.id()
    }

    fn target(&self) -> Target {
        self.inner.target()
    }

    fn open_ended(&self) -> bool {
        true
    }

    fn ask_guards(&mut self, host: &dyn Act) -> Result<(), Failure> {
        let desired = &self.inner.desired;
        let is_made = desired.creates.iter().any(|path| host.stat(path).is_ok());
        let guards = desired.only_if.iter().chain(&desired.unless);
        if !is_made && !desired.refresh_only {
            for guard in guards {
                if let Some(failure) = refusal(host, self.inner, &guard.program) {
                    return Err(failure);
                }
            }
        }
        self.inner.ask_guards(host)
    }

    fn observe(&mut self, look: &dyn Look) -> Result<Vec<Change>, Failure> {
        self.inner.observe(look)
    }

    fn apply(&mut self, host: &dyn Act, changes: &[Change]) -> Result<(), Failure> {
        let command = self.inner.desired.command.clone();
        match command.and_then(|command| refusal(host, self.inner, &command)) {
            Some(failure) => Err(failure),
            None => self.inner.apply(host, changes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_of_a_line_is_its_first_word() {
        for (line, expected) in [
            ("/bin/ls -l", Some("/bin/ls")),
            ("  \"/opt/a b/c\" x", Some("/opt/a b/c")),
            ("'/x' y", Some("/x")),
            ("", None),
        ] {
            assert_eq!(first_word(line).as_deref(), expected, "{line}");
        }
    }
}
