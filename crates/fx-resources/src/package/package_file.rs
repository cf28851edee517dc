//! Packages that lie in files: installed by `dpkg` and `rpm` themselves, as Chef does.

use std::cmp::Ordering;
use std::path::Path;
use std::rc::Rc;

use fx_engine::Failure;
use fx_host::{Look, Spec};

use super::backend::{Action, Backend, State, Verb};
use super::dpkg::Record;
use super::{apt, rpm, version};
use crate::command;

/// Debian's.
pub(super) struct Deb {
    record: Rc<Record>,
}

impl Deb {
    pub(super) fn new(record: Rc<Record>) -> Deb {
        Deb { record }
    }
}

/// The words of a command: the tool, then options and the verb as the tool has them, then the
/// files or names.
fn command(action: &Action<'_>, head: &[&str], tail: &[&str]) -> Vec<Spec> {
    let mut argv: Vec<String> = head.iter().map(|word| (*word).to_owned()).collect();
    argv.extend(action.options.iter().cloned());
    argv.extend(tail.iter().map(|word| (*word).to_owned()));
    if action.installs() {
        argv.extend(action.targets(""));
    } else {
        argv.extend(action.names());
    }
    vec![command::changing(argv)]
}

impl Backend for Deb {
    fn name(&self) -> &'static str {
        "dpkg"
    }

    fn installed(&self, host: &dyn Look, name: &str) -> Result<State, Failure> {
        apt::installed(&self.record, host, name)
    }

    fn candidate(&self, _host: &dyn Look, _name: &str) -> Result<Option<String>, Failure> {
        Ok(None)
    }

    fn compare(&self, a: &str, b: &str) -> Ordering {
        version::dpkg(a, b)
    }

    fn in_file(&self, host: &dyn Look, file: &Path) -> Result<(String, String), Failure> {
        let field = |name: &str| {
            let file = file.to_string_lossy();
            let spec = command::tool(["dpkg-deb", "--field", &file, name]);
            let ended = command::query(host, &spec)?;
            Ok::<_, Failure>(command::stdout(&ended).trim().to_owned())
        };
        Ok((field("Package")?, field("Version")?))
    }

    fn commands(&self, action: &Action<'_>) -> Result<Vec<Spec>, Failure> {
        let verb = match action.verb {
            Verb::Install | Verb::Upgrade => "-i",
            Verb::Remove => "-r",
            Verb::Purge => "-P",
            _ => return Err(action.unsupported("dpkg")),
        };
        Ok(command(action, &["dpkg", verb], &[]))
    }
}

/// Red Hat's.
pub(super) struct Rpm;

impl Backend for Rpm {
    fn name(&self) -> &'static str {
        "rpm"
    }

    fn installed(&self, host: &dyn Look, name: &str) -> Result<State, Failure> {
        rpm::installed(host, name)
    }

    fn candidate(&self, _host: &dyn Look, _name: &str) -> Result<Option<String>, Failure> {
        Ok(None)
    }

    fn compare(&self, a: &str, b: &str) -> Ordering {
        version::rpm(a, b)
    }

    fn satisfies(&self, installed: &str, wanted: &str) -> bool {
        rpm::satisfies(installed, wanted)
    }

    fn in_file(&self, host: &dyn Look, file: &Path) -> Result<(String, String), Failure> {
        rpm::in_file(host, &file.to_string_lossy())
    }

    fn commands(&self, action: &Action<'_>) -> Result<Vec<Spec>, Failure> {
        let verb = match action.verb {
            Verb::Install => "-i",
            Verb::Upgrade => "-U",
            Verb::Remove | Verb::Purge => "-e",
            _ => return Err(action.unsupported("rpm")),
        };
        Ok(command(action, &["rpm"], &[verb]))
    }
}
