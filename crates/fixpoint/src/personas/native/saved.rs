//! A plan kept in a file: what a rehearsal found, and the policy it was made from.
//!
//! `run --plan` rehearses again and compares, so both a moved machine and a moved policy
//! are seen; nothing is taken from the file but what was promised.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use fx_engine::{Event, Ledger, Purpose, Sink};
use fx_host::{Edits, Files, OsHost, WriteOptions};
use fx_source::SourceMap;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// Version of the file's form.
const SCHEMA: u32 = 1;

/// What was found, in order.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Saved {
    schema: u32,
    targets: Vec<PathBuf>,
    /// The copy it was made in had a network.
    #[serde(default)]
    net: bool,
    /// Digest of each text that was read.
    sources: BTreeMap<String, String>,
    items: Vec<Item>,
}

/// Property, as found, as wanted; content by its digest, secrets redacted.
type Changed = (String, String, String);

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Item {
    resource: String,
    action: String,
    outcome: String,
    changes: Vec<Changed>,
}

impl Saved {
    /// An empty plan for these targets.
    pub(crate) fn new(targets: &[PathBuf], net: bool) -> Saved {
        Saved { schema: SCHEMA, targets: targets.to_vec(), net, ..Saved::default() }
    }

    /// Whether it was made in a copy with a network.
    pub(crate) fn net(&self) -> bool {
        self.net
    }

    /// Reads a plan.
    pub(crate) fn read(path: &Path) -> Result<Saved, String> {
        let host = OsHost::new();
        let path = fx_host::Env::cwd(&host).join(path);
        Saved::parse(&host.read_trusted_data(&path).map_err(|error| error.to_string())?, &path)
    }

    /// Understands a plan read from somewhere.
    pub(crate) fn parse(text: &[u8], path: &Path) -> Result<Saved, String> {
        let saved: Saved = serde_json::from_slice(text)
            .map_err(|error| format!("'{}' is not a saved plan: {error}", path.display()))?;
        if saved.schema != SCHEMA {
            return Err(format!(
                "'{}' has the form {} of a plan; {SCHEMA} is known",
                path.display(),
                saved.schema
            ));
        }
        Ok(saved)
    }

    /// Writes it.
    pub(crate) fn write(&self, path: &Path) -> Result<(), String> {
        let text = serde_json::to_string_pretty(self).map_err(|error| error.to_string())?;
        let options = WriteOptions { mode: Some(0o600), ..WriteOptions::default() };
        let host = OsHost::new();
        let path = fx_host::Env::cwd(&host).join(path);
        host.write(&path, (text + "\n").as_bytes(), &options)
            .and_then(|()| host.commit())
            .map_err(|error| error.to_string())
    }

    /// Adds what was rehearsed for one target.
    pub(crate) fn add(&mut self, recorder: &Recorder, ledger: &Ledger, sources: &SourceMap) {
        for file in sources.files() {
            let digest = fx_formats::hex(Sha256::digest(file.bytes()));
            self.sources.insert(file.name().to_string(), digest);
        }
        let changes = recorder.0.borrow();
        for step in ledger.steps().iter().filter(|step| step.purpose == Purpose::Act) {
            let changes =
                changes.iter().filter(|(id, _)| *id == step.id).map(|(_, change)| change.clone());
            self.items.push(Item {
                resource: step.resource.to_string(),
                action: step.action.to_string(),
                outcome: step.outcome.word().to_owned(),
                changes: changes.collect(),
            });
        }
    }

    /// What differs from a plan made now; empty when nothing moved.
    pub(crate) fn moved(&self, now: &Saved) -> Vec<String> {
        let mut told = Vec::new();
        for (name, digest) in &self.sources {
            match now.sources.get(name) {
                None => told.push(format!("the policy no longer reads '{name}'")),
                Some(other) if other != digest => told.push(format!("'{name}' was changed")),
                Some(_) => {}
            }
        }
        for name in now.sources.keys().filter(|name| !self.sources.contains_key(*name)) {
            told.push(format!("the policy now reads '{name}'"));
        }
        if !told.is_empty() {
            return told;
        }
        for (then, now) in self.items.iter().zip(&now.items) {
            if then != now {
                let same = then.resource == now.resource;
                let now = if same { now.outcome.clone() } else { now.line() };
                told.push(format!("planned: {}; now: {now}", then.line()));
                // What comes later follows from the first difference.
                return told;
            }
        }
        if self.items.len() != now.items.len() {
            told.push(format!("planned: {} items; now: {}", self.items.len(), now.items.len()));
        }
        told
    }

    /// The targets the plan was made for.
    pub(crate) fn targets(&self) -> &[PathBuf] {
        &self.targets
    }
}

impl Item {
    fn line(&self) -> String {
        format!("{} {}", self.outcome, self.resource)
    }
}

/// Keeps the changes a rehearsal found; the ledger keeps only their names.
#[derive(Default)]
pub(crate) struct Recorder(std::cell::RefCell<Vec<(fx_engine::StepId, Changed)>>);

impl Sink for Recorder {
    fn event(&self, event: &Event<'_>) {
        if let Event::ChangeWithheld { step, change } = event {
            let change =
                (change.property.to_string(), change.from.to_string(), change.to.to_string());
            self.0.borrow_mut().push((*step, change));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(items: &[(&str, &str)], sources: &[(&str, &str)]) -> Saved {
        let mut saved = Saved::new(&[], false);
        saved.items = items
            .iter()
            .map(|(resource, outcome)| Item {
                resource: (*resource).into(),
                action: "set".into(),
                outcome: (*outcome).into(),
                changes: Vec::new(),
            })
            .collect();
        saved.sources =
            sources.iter().map(|(name, digest)| ((*name).into(), (*digest).into())).collect();
        saved
    }

    #[test]
    fn a_moved_policy_or_machine_is_named_and_nothing_else() {
        let then = plan(&[("file[/a]", "would-repair"), ("file[/b]", "kept")], &[("x.cf", "1")]);
        let check = |now: &Saved, expected: &[&str]| assert_eq!(then.moved(now), expected);
        check(&plan(&[("file[/a]", "would-repair"), ("file[/b]", "kept")], &[("x.cf", "1")]), &[]);
        check(
            &plan(&[], &[("x.cf", "2"), ("y.cf", "1")]),
            &["'x.cf' was changed", "the policy now reads 'y.cf'"],
        );
        check(
            &plan(&[("file[/a]", "kept"), ("file[/b]", "kept")], &[("x.cf", "1")]),
            &["planned: would-repair file[/a]; now: kept"],
        );
        check(
            &plan(&[("file[/a]", "would-repair")], &[("x.cf", "1")]),
            &["planned: 2 items; now: 1"],
        );
    }
}
