//! Debian's packages: the record read directly, changes through `apt-get` and `apt-mark`,
//! package files through `dpkg`.

use std::cmp::Ordering;

use fx_engine::Failure;
use fx_host::{Act, Look, Spec};

use super::backend::{Action, Backend, State, Verb};
use super::dpkg::Record;
use super::version;
use crate::command;

#[derive(Default)]
pub(super) struct Apt {
    record: Record,
}

fn quiet(argv: Vec<String>) -> Spec {
    command::changing(argv)
        .env("DEBIAN_FRONTEND", "noninteractive")
        .env("APT_LISTCHANGES_FRONTEND", "none")
        .env("APT_LISTBUGS_FRONTEND", "none")
        .env("UCF_FORCE_CONFFOLD", "yes")
}

impl Backend for Apt {
    fn name(&self) -> &'static str {
        "apt"
    }

    fn installed(&self, host: &dyn Look, name: &str) -> Result<State, Failure> {
        let Some(entry) = self.record.find(host, name)? else { return Ok(State::absent()) };
        Ok(match entry.status.as_str() {
            "not-installed" => State::absent(),
            "config-files" => State { versions: Vec::new(), residual: true },
            // Half-installed packages are not usable; installing again repairs them.
            "half-installed" | "unpacked" | "half-configured" => State::absent(),
            _ => State::version(entry.version),
        })
    }

    fn candidate(&self, host: &dyn Look, name: &str) -> Result<Option<String>, Failure> {
        let ended = command::query(host, &command::tool(["apt-cache", "policy", name]))?;
        let text = command::stdout(&ended);
        let candidate = text.lines().find_map(|line| line.trim().strip_prefix("Candidate: "));
        Ok(candidate.filter(|version| *version != "(none)").map(str::to_owned))
    }

    fn compare(&self, a: &str, b: &str) -> Ordering {
        version::dpkg(a, b)
    }

    fn held(&self, host: &dyn Look, name: &str) -> Result<bool, Failure> {
        Ok(self.record.find(host, name)?.is_some_and(|entry| entry.want == "hold"))
    }

    // apt reads `name-` as "remove name", and unknown names with pattern characters as
    // patterns that may match half the archive.
    fn check_name(&self, name: &str) -> Result<(), Failure> {
        let plain = |c: char| c.is_ascii_alphanumeric() || "+-.:_~".contains(c);
        if name.chars().all(plain) && !name.ends_with('-') {
            return Ok(());
        }
        Err(Failure::new(format!("'{}' is not a Debian package name", name.escape_debug())))
    }

    fn commands(&self, action: &Action<'_>) -> Result<Vec<Spec>, Failure> {
        let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        let mut argv: Vec<String> = owned(&["apt-get", "-q", "-y"]);
        match action.verb {
            Verb::Hold => return Ok(vec![quiet(owned(&["apt-mark", "hold", action.name]))]),
            Verb::Unhold => return Ok(vec![quiet(owned(&["apt-mark", "unhold", action.name]))]),
            Verb::Install | Verb::Upgrade if action.source.is_some() => {
                argv = owned(&["dpkg", "--force-confold"]);
                argv.extend(action.options.iter().cloned());
                argv.push("-i".to_owned());
                argv.push(action.target(""));
            }
            Verb::Install | Verb::Upgrade => {
                argv.extend(owned(&["-o", "DPkg::Options::=--force-confold"]));
                if action.downgrade {
                    argv.push("--allow-downgrades".to_owned());
                }
                if action.held {
                    argv.push("--allow-change-held-packages".to_owned());
                }
                argv.extend(action.options.iter().cloned());
                argv.push("install".to_owned());
                argv.push(action.target("="));
            }
            Verb::Remove | Verb::Purge => {
                argv.extend(action.options.iter().cloned());
                let verb = if action.verb == Verb::Purge { "purge" } else { "remove" };
                argv.extend(owned(&[verb, action.name]));
            }
        }
        Ok(vec![quiet(argv)])
    }

    fn act(&self, host: &dyn Act, action: &Action<'_>) -> Result<(), Failure> {
        self.record.forget();
        let done = self
            .commands(action)?
            .iter()
            .try_for_each(|spec| command::succeed(host, spec).map(drop));
        self.record.forget();
        done
    }
}
