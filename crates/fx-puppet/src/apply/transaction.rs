//! The transaction: one step after the other, refreshes, and what is told of them.

use std::collections::{BTreeMap, BTreeSet};

use fx_engine::{Change, Level, Mode, Outcome, Request, Run, step};
use fx_source::Origin;

use super::order::{Plan, container};
use super::things::{Made, attribute, is_secret};
use crate::compile::{Catalog, Resource};
use crate::eval::interpolated;
use crate::value::Value;

/// What became of a resource.
#[derive(Clone, Debug, Default)]
pub(super) struct Status {
    pub(super) changed: bool,
    pub(super) failed: bool,
    pub(super) skipped: bool,
    pub(super) out_of_sync: usize,
    pub(super) changes: usize,
    pub(super) noop: usize,
    pub(super) failed_to_restart: bool,
    /// Not acted on because of a failure further up.
    held: bool,
}

pub(super) struct Transaction<'a> {
    pub(super) run: Run<'a>,
    pub(super) catalog: &'a Catalog,
    pub(super) noop: bool,
    pub(super) status: BTreeMap<usize, Status>,
    /// Failures that have been told to who depends on them.
    pub(super) announced: BTreeSet<usize>,
    /// Resources left out because of their tags.
    pub(super) left_out: BTreeSet<usize>,
}

fn text_of(value: &fx_value::Value) -> String {
    match value.as_bytes() {
        Some(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        None => value.to_string(),
    }
}

impl Transaction<'_> {
    fn say(&self, level: Level, text: &str) {
        self.run.ledger.message(level, text, &Origin::default());
    }

    /// `/Stage[main]/Main/File[/x]`
    pub(super) fn path(&self, at: usize) -> String {
        let mut parts = Vec::new();
        let mut next = Some(at);
        while let Some(at) = next {
            let resource = &self.catalog.resources[at];
            parts.push(match &*resource.kind {
                "Class" => crate::types::capitalized(&resource.title),
                _ => resource.reference(),
            });
            next = container(self.catalog, at).filter(|outer| *outer != at && parts.len() < 100);
        }
        parts.push("Stage[main]".into());
        parts.reverse();
        format!("/{}", parts.join("/"))
    }

    fn is_noop(&self, resource: &Resource) -> bool {
        match attribute(resource, "noop") {
            Some(Value::Bool(noop)) => noop,
            Some(other) => interpolated(&other) == "true",
            None => self.noop,
        }
    }

    pub(super) fn apply(&mut self, plan: &Plan, made: &mut BTreeMap<usize, Made>) {
        for at in &plan.order {
            let status = self.one(*at, plan, made);
            self.status.insert(*at, status);
        }
        self.tell_classes();
    }

    fn one(&mut self, at: usize, plan: &Plan, made: &mut BTreeMap<usize, Made>) -> Status {
        let mut status = Status::default();
        let resource = &self.catalog.resources[at];
        let path = self.path(at);
        let Some(thing) = made.get_mut(&at) else { return status };
        if self.left_out.contains(&at) {
            return Status { skipped: true, ..status };
        }
        let mut held = false;
        for before in plan.before.get(&at).into_iter().flatten() {
            let Some(earlier) = self.status.get(&before.resource) else { continue };
            if earlier.failed && self.announced.insert(before.resource) {
                let name = self.catalog.resources[before.resource].reference();
                self.say(Level::Notice, &format!("{path}: Dependency {name} has failures: true"));
            }
            held |= earlier.failed || earlier.held;
        }
        if held {
            self.say(Level::Warning, &format!("{path}: Skipping because of failed dependencies"));
            return Status { skipped: true, held: true, ..status };
        }
        let noop = self.is_noop(resource);
        if let Some(inner) = thing.thing() {
            let mut request = Request::new(inner.id(), "apply");
            request.mode = if noop { Mode::Rehearse } else { Mode::Apply };
            request.origin = Origin::at(resource.span);
            let stepped = step(self.run, request, inner);
            let changes = stepped.changes;
            match &stepped.outcome {
                Outcome::Kept => {}
                Outcome::Repaired => {
                    status.changed = true;
                    let told = self.tell_changes(resource, &path, thing, &changes);
                    status.out_of_sync = told;
                    status.changes = told;
                }
                Outcome::WouldRepair => {
                    let told = self.tell_withheld(resource, &path, &changes);
                    status.out_of_sync = told;
                    status.noop = told;
                }
                other => {
                    status.failed = true;
                    status.out_of_sync = 1;
                    let message =
                        other.failure().map(|failure| failure.message.clone()).unwrap_or_default();
                    self.tell_failure(resource, &path, thing, &changes, &message);
                }
            }
        }
        self.refresh(at, plan, thing, noop, &path, &mut status);
        status
    }

    fn refresh(
        &self,
        at: usize,
        plan: &Plan,
        thing: &mut Made,
        noop: bool,
        path: &str,
        status: &mut Status,
    ) {
        let (mut real, mut withheld) = (0, 0);
        for before in plan.before.get(&at).into_iter().flatten().filter(|before| before.notifies) {
            if let Some(earlier) = self.status.get(&before.resource) {
                real += earlier.changes;
                withheld += earlier.noop;
            }
        }
        if real + withheld == 0 || status.failed || !thing.can_refresh() {
            return;
        }
        let count = real + withheld;
        let events = format!("{count} event{}", if count == 1 { "" } else { "s" });
        if noop || real == 0 {
            self.say(
                Level::Notice,
                &format!("{path}: Would have triggered 'refresh' from {events}"),
            );
            status.noop += 1;
            return;
        }
        match thing.refresh(self.run.host) {
            Some(Ok(())) => {
                self.say(Level::Notice, &format!("{path}: Triggered 'refresh' from {events}"));
                status.changed = true;
                status.changes += 1;
                status.out_of_sync += 1;
            }
            Some(Err(failure)) => {
                self.say(
                    Level::Error,
                    &format!(
                        "{path}: Failed to call refresh: {}",
                        self.exec_failure(thing, &failure.message)
                    ),
                );
                self.say(
                    Level::Error,
                    &format!("{path}: {}", self.exec_failure(thing, &failure.message)),
                );
                status.failed_to_restart = true;
                status.failed = true;
            }
            None => {}
        }
    }

    /// Tells what was changed; how many properties.
    fn tell_changes(
        &self,
        resource: &Resource,
        path: &str,
        thing: &Made,
        changes: &[Change],
    ) -> usize {
        let level = loglevel(resource);
        match thing {
            Made::Stubborn(_) => {
                self.say(
                    Level::Notice,
                    &format!("{path}: Not removing directory; use 'force' to override"),
                );
                self.say(level, &format!("{path}/ensure: removed"));
                return 1;
            }
            Made::Notify(notify) => {
                let prefix = if truth_word(resource, "withpath") == Some(true) {
                    format!("{path}/message: ")
                } else {
                    String::new()
                };
                self.say(level, &format!("{prefix}{}", notify.message));
                self.say(
                    level,
                    &format!("{path}/message: defined 'message' as '{}'", notify.message),
                );
                return 1;
            }
            Made::Exec(exec) => {
                if truth_word(resource, "logoutput") == Some(true) {
                    self.tell_output(path, exec, level);
                }
                self.say(level, &format!("{path}/returns: executed successfully"));
                return 1;
            }
            _ => {}
        }
        if let Some(ensure) = changes.iter().find(|change| change.property == "ensure") {
            let content = changes.iter().find(|change| change.property == "content");
            let text = match (text_of(&ensure.to).as_str(), content) {
                ("absent", _) => "removed".to_owned(),
                ("file", Some(_)) if is_secret(resource, "ensure") => {
                    "changed [redacted] to [redacted]".to_owned()
                }
                ("file", Some(content)) => format!("defined content as '{}'", text_of(&content.to)),
                _ => "created".to_owned(),
            };
            self.say(level, &format!("{path}/ensure: {text}"));
            return 1;
        }
        for change in changes {
            let name = &change.property;
            let (from, to) = (text_of(&change.from), text_of(&change.to));
            let text = if is_secret(resource, name) {
                "changed [redacted] to [redacted]".to_owned()
            } else {
                format!("{name} changed '{from}' to '{to}'")
            };
            self.say(level, &format!("{path}/{name}: {text}"));
        }
        changes.len()
    }

    fn tell_withheld(&self, resource: &Resource, path: &str, changes: &[Change]) -> usize {
        let ensure = changes.iter().find(|change| change.property == "ensure");
        let shown: Vec<&Change> =
            ensure.map_or_else(|| changes.iter().collect(), |ensure| vec![ensure]);
        for change in &shown {
            let (from, to) = if change.property == "returns" {
                ("'notrun'".to_owned(), "['0']".to_owned())
            } else if is_secret(resource, &change.property) {
                ("[redacted]".to_owned(), "[redacted]".to_owned())
            } else {
                (format!("'{}'", text_of(&change.from)), format!("'{}'", text_of(&change.to)))
            };
            let text =
                format!("{path}/{}: current_value {from}, should be {to} (noop)", change.property);
            self.say(Level::Notice, &text);
        }
        shown.len()
    }

    fn tell_output(&self, path: &str, exec: &fx_resources::exec::Exec, level: Level) {
        let Some(ended) = &exec.ended else { return };
        for line in String::from_utf8_lossy(&ended.stdout)
            .lines()
            .chain(String::from_utf8_lossy(&ended.stderr).lines())
        {
            self.say(level, &format!("{path}/returns: {line}"));
        }
    }

    fn exec_failure(&self, thing: &Made, message: &str) -> String {
        let Made::Exec(exec) = thing else { return message.to_owned() };
        let command = match &exec.desired.command {
            Some(fx_host::Program::Shell(line)) => line.to_string_lossy().into_owned(),
            Some(fx_host::Program::Argv(words)) => {
                words.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
            }
            None => String::new(),
        };
        let returns: Vec<String> = if exec.desired.returns.is_empty() {
            vec!["0".into()]
        } else {
            exec.desired.returns.iter().map(i32::to_string).collect()
        };
        let first = command.split_whitespace().next().unwrap_or_default();
        match exec.ended.as_ref().map(|ended| ended.exit) {
            Some(exit) if exit.code() == 127 && self.is_missing(exec, first) => {
                format!("Could not find command '{first}'")
            }
            Some(fx_host::Exit::TimedOut) => "Command exceeded timeout".to_owned(),
            Some(exit) => format!(
                "'{command}' returned {} instead of one of [{}]",
                exit.code(),
                returns.join(",")
            ),
            None => message.to_owned(),
        }
    }

    /// Whether there is no such program, so that the shell's word for it need not be told.
    fn is_missing(&self, exec: &fx_resources::exec::Exec, program: &str) -> bool {
        if program.starts_with('/') {
            return self.run.host.stat(std::path::Path::new(program)).is_err();
        }
        let path = exec
            .desired
            .rules
            .env
            .iter()
            .find(|(name, _)| name == "PATH")
            .and_then(|(_, value)| value.clone())
            .unwrap_or_default();
        !path
            .to_string_lossy()
            .split(':')
            .any(|folder| self.run.host.stat(&std::path::Path::new(folder).join(program)).is_ok())
    }

    fn tell_failure(
        &self,
        resource: &Resource,
        path: &str,
        thing: &Made,
        changes: &[Change],
        message: &str,
    ) {
        let message = self.exec_failure(thing, message);
        if let Made::Exec(exec) = thing {
            if truth_word(resource, "logoutput") != Some(false)
                && !message.starts_with("Could not find command")
            {
                self.tell_output(path, exec, Level::Notice);
            }
            let returns: Vec<String> = if exec.desired.returns.is_empty() {
                vec!["'0'".into()]
            } else {
                exec.desired.returns.iter().map(|code| format!("'{code}'")).collect()
            };
            self.say(Level::Error, &message);
            self.say(
                Level::Error,
                &format!(
                    "{path}/returns: change from 'notrun' to [{}] failed: {message}",
                    returns.join(", ")
                ),
            );
            return;
        }
        match changes.first() {
            Some(change) => {
                self.say(Level::Error, &message);
                self.say(
                    Level::Error,
                    &format!(
                        "{path}/{}: change from '{}' to '{}' failed: {message}",
                        change.property,
                        text_of(&change.from),
                        text_of(&change.to)
                    ),
                );
            }
            None => self.say(Level::Error, &format!("{path}: Could not evaluate: {message}")),
        }
    }

    /// In a rehearsal classes and stages would have been notified, too.
    fn tell_classes(&self) {
        if !self.noop {
            return;
        }
        let mut classes: BTreeMap<usize, (usize, usize)> = BTreeMap::new();
        for (at, status) in &self.status {
            let mut outer = *at;
            for _ in 0..100 {
                match container(self.catalog, outer) {
                    Some(next) if next != outer => outer = next,
                    _ => break,
                }
            }
            let entry = classes.entry(outer).or_default();
            entry.0 += status.changes + status.noop;
            entry.1 += status.noop;
        }
        let told: Vec<_> = classes.iter().filter(|(_, (_, noop))| *noop > 0).collect();
        let events = |count: usize| format!("{count} event{}", if count == 1 { "" } else { "s" });
        for (at, (count, _)) in &told {
            let name = self.catalog.resources[**at].reference();
            self.say(
                Level::Notice,
                &format!("{name}: Would have triggered 'refresh' from {}", events(*count)),
            );
        }
        if !told.is_empty() {
            self.say(
                Level::Notice,
                &format!("Stage[main]: Would have triggered 'refresh' from {}", events(told.len())),
            );
        }
    }
}

/// The level a resource asks its messages to have.
fn loglevel(resource: &Resource) -> Level {
    match attribute(resource, "loglevel").map(|level| interpolated(&level)).as_deref() {
        Some("err" | "alert" | "emerg" | "crit") => Level::Error,
        Some("warning") => Level::Warning,
        Some("info") => Level::Info,
        Some("debug" | "verbose") => Level::Debug,
        _ => Level::Notice,
    }
}

fn truth_word(resource: &Resource, name: &str) -> Option<bool> {
    match interpolated(&attribute(resource, name)?).as_str() {
        "true" => Some(true),
        "false" => Some(false),
        _ => None,
    }
}
