//! Packages of Fedora and Red Hat through dnf, or yum on older machines.

use std::cmp::Ordering;

use fx_engine::Failure;
use fx_host::{Exit, Look, Spec};

use super::backend::{Action, Backend, Dialect, State, Verb};
use super::{rpm, version};
use crate::command;

pub(super) struct Dnf {
    program: &'static str,
    dialect: Dialect,
}

impl Dnf {
    pub(super) fn new(program: &'static str, dialect: Dialect) -> Dnf {
        Dnf { program, dialect }
    }
}

impl Backend for Dnf {
    fn name(&self) -> &'static str {
        self.program
    }

    fn installed(&self, host: &dyn Look, name: &str) -> Result<State, Failure> {
        let found = rpm::installed(host, name)?;
        // Chef means what provides a name as well.
        if found.versions.is_empty() && self.dialect.is_chef() {
            return rpm::provided(host, name);
        }
        Ok(found)
    }

    fn candidate(&self, host: &dyn Look, name: &str) -> Result<Option<String>, Failure> {
        let spec = command::tool([self.program, "-q", "list", "available", name]);
        let ended = command::ask(host, &spec)?;
        let text = command::stdout(&ended);
        if ended.exit != Exit::Code(0) {
            let complaint = String::from_utf8_lossy(&ended.stderr).into_owned();
            if complaint.contains("No matching") {
                return Ok(None);
            }
            return Err(command::failure(&spec, &ended)
                .unwrap_or_else(|| Failure::new(format!("cannot list '{name}'"))));
        }
        // Below a title: name.arch, version, repository. Long names push the rest onto a
        // line of its own, so words are read, not columns.
        let words: Vec<&str> = text.split_whitespace().collect();
        let mut newest: Option<&str> = None;
        for triple in words.windows(2) {
            // A name may have its architecture with it.
            let found = triple[0].rsplit_once('.');
            let of_package = found.is_some_and(|(found, _)| found == name || triple[0] == name);
            if of_package && newest.is_none_or(|known| version::rpm(triple[1], known).is_gt()) {
                newest = Some(triple[1]);
            }
        }
        Ok(newest.map(str::to_owned))
    }

    fn compare(&self, a: &str, b: &str) -> Ordering {
        version::rpm(a, b)
    }

    fn satisfies(&self, installed: &str, wanted: &str) -> bool {
        rpm::satisfies(installed, wanted)
    }

    fn held(&self, host: &dyn Look, name: &str) -> Result<bool, Failure> {
        let spec = command::tool([self.program, "-q", "versionlock", "list"]);
        let text = command::stdout(&command::query(host, &spec)?);
        // Locks read `name-0:1.2-3.fc38.*`, or `0:name-1.2-3.*` with yum.
        Ok(text.lines().any(|line| {
            let line = line.trim();
            let line =
                line.split_once(':').filter(|(epoch, _)| is_number(epoch)).map_or(line, |x| x.1);
            let rest = line.strip_prefix(name).and_then(|rest| rest.strip_prefix('-'));
            rest.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
        }))
    }

    fn commands(&self, action: &Action<'_>) -> Result<Vec<Spec>, Failure> {
        let chef = self.dialect.is_chef();
        let quiet: &[&str] = if chef { &["-y"] } else { &["-q", "-y"] };
        let locks = matches!(action.verb, Verb::Hold | Verb::Unhold);
        let words: &[&str] = match action.verb {
            Verb::Install if action.downgrade => &["downgrade"],
            Verb::Install => &["install"],
            Verb::Upgrade if self.program == "yum" && !chef => &["update"],
            Verb::Upgrade => &["upgrade"],
            Verb::Remove | Verb::Purge => &["remove"],
            Verb::Hold => &["versionlock", "add"],
            Verb::Unhold => &["versionlock", "delete"],
            Verb::Reconfigure => return Err(action.unsupported(self.program)),
        };
        let mut argv = vec![self.program.to_owned()];
        argv.extend(quiet.iter().map(|word| (*word).to_owned()));
        if !(chef && locks) {
            argv.extend(action.options.iter().cloned());
        }
        argv.extend(words.iter().map(|word| (*word).to_owned()));
        if action.installs() {
            argv.extend(action.targets("-"));
        } else {
            argv.extend(action.names());
        }
        Ok(vec![command::changing(argv)])
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}
