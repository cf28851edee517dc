//! Packages of Alpine Linux: the database read directly, changes through `apk`.

use std::cmp::Ordering;
use std::path::Path;

use fx_engine::Failure;
use fx_host::{Look, Spec};

use super::backend::{Action, Backend, State, Verb};
use super::version;
use crate::command;

const DATABASE: &str = "/lib/apk/db/installed";

pub(super) struct Apk;

impl Backend for Apk {
    fn name(&self) -> &'static str {
        "apk"
    }

    fn installed(&self, host: &dyn Look, name: &str) -> Result<State, Failure> {
        let text = host.read_opt(Path::new(DATABASE))?.unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        // Paragraphs of one-letter fields; `P:` is the name and `V:` the version.
        let mut ours = false;
        let mut found = None;
        for line in text.lines() {
            if line.is_empty() {
                if ours && found.is_some() {
                    break;
                }
                (ours, found) = (false, None);
            } else if let Some(package) = line.strip_prefix("P:") {
                ours = package == name;
            } else if let Some(version) = line.strip_prefix("V:") {
                found = Some(version);
            }
        }
        Ok(found.filter(|_| ours).map_or_else(State::absent, State::version))
    }

    // `apk policy` lists each version with the places that have it indented below; the
    // installed database is a place too, so only versions with another place count.
    fn candidate(&self, host: &dyn Look, name: &str) -> Result<Option<String>, Failure> {
        let ended = command::query(host, &command::tool(["apk", "policy", name]))?;
        let text = command::stdout(&ended);
        let mut newest: Option<&str> = None;
        let mut current = None;
        for line in text.lines() {
            if let Some(version) = line.strip_prefix("  ").filter(|rest| !rest.starts_with(' ')) {
                current = version.strip_suffix(':');
            } else if line.starts_with("    ")
                && line.trim() != "lib/apk/db/installed"
                && let Some(version) = current
                && newest.is_none_or(|known| version::apk(version, known).is_gt())
            {
                newest = Some(version);
            }
        }
        Ok(newest.map(str::to_owned))
    }

    fn compare(&self, a: &str, b: &str) -> Ordering {
        version::apk(a, b)
    }

    fn commands(&self, action: &Action<'_>) -> Result<Vec<Spec>, Failure> {
        let mut argv: Vec<String> = ["apk", "--no-progress"].map(str::to_owned).to_vec();
        match action.verb {
            Verb::Install => argv.push("add".to_owned()),
            Verb::Upgrade => argv.extend(["add", "--upgrade"].map(str::to_owned)),
            Verb::Remove => argv.push("del".to_owned()),
            Verb::Purge => argv.extend(["del", "--purge"].map(str::to_owned)),
            Verb::Hold | Verb::Unhold | Verb::Reconfigure => return Err(action.unsupported("apk")),
        }
        argv.extend(action.options.iter().cloned());
        // An upgrade names no version, or the package would be pinned to it for good.
        if action.verb == Verb::Install {
            argv.extend(action.targets("="));
        } else {
            argv.extend(action.names());
        }
        Ok(vec![command::changing(argv)])
    }
}
