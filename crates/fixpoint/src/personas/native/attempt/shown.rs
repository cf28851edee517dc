//! What was tried, for people and as JSON.

use std::fmt::Write;
use std::path::Path;

use fx_host::{Attributes, ChangeKind, FsChange, LeftOut};
use fx_report::unified;
use fx_source::{visible, visible_path};
use serde_json::{Value, json};

use super::{Attempt, Item, Tried, entries};

/// Larger files are named only.
const MAX_SHOWN: u64 = 64 * 1024;

/// A step that fails for this says nothing of the machine.
const CANNOT: &str = "kernel settings, the clock, mounts and the host name cannot be set in a copy; a step that sets one fails here only";

impl Tried<'_> {
    /// Items of the later runs that did more than look.
    pub(super) fn later(&self) -> Vec<&Item> {
        self.attempts.iter().skip(1).flat_map(Attempt::items).collect()
    }

    pub(super) fn is_broken(&self) -> bool {
        self.attempts.iter().any(|attempt| attempt.code != 0)
    }

    /// File systems that the copy does not have as the machine has them.
    fn left_out(&self) -> impl Iterator<Item = &LeftOut> {
        self.sandbox.left_out().iter().filter(|one| !one.own)
    }

    /// Whether a step wrote a secret into the file, or into one nobody knows.
    fn is_secret(&self, path: &Path) -> bool {
        self.attempts.iter().flat_map(|attempt| &attempt.secrets).any(|item| {
            let name = item.resource.split_once('[').map_or("", |(_, rest)| rest);
            let named = Path::new(name.strip_suffix(']').unwrap_or(name));
            // A backup has the name of what it is of in its own.
            let is_of =
                named.is_absolute() && path.to_string_lossy().contains(&*named.to_string_lossy());
            is_of || !self.changes.found.iter().any(|change| change.path == named)
        })
    }

    pub(super) fn told(&self) -> String {
        let mut out = String::from("first run\n");
        let first = &self.attempts[0];
        for item in first.items() {
            let _ = writeln!(out, "  {}", line(item));
        }
        if first.items().next().is_none() {
            out.push_str("  nothing to do\n");
        }
        for complaint in first.complaints.lines() {
            let _ = writeln!(out, "  ! {complaint}");
        }
        self.tell_files(&mut out);
        let mut section = |title: &str, lines: &[String]| {
            if !lines.is_empty() {
                let _ = writeln!(out, "{title}");
            }
            for line in lines {
                let _ = writeln!(out, "  {line}");
            }
        };
        section("accounts and packages", &entries::told(self.sandbox, &self.changes.found));
        section("services, not touched", &self.services);
        let absent: Vec<String> =
            self.left_out().map(|one| format!("{} ({})", one.path.display(), one.reason)).collect();
        section("not in the copy", &absent);
        let later = self.later();
        let verdict = match (self.is_broken(), later.is_empty(), self.attempts.len()) {
            (true, ..) => "a run failed",
            (_, _, 1) => "one run only: nothing is said of idempotence",
            (_, true, _) => "idempotent",
            _ => "not idempotent",
        };
        let _ = writeln!(out, "verdict: {verdict}");
        if self.is_broken() {
            let _ = writeln!(out, "  {CANNOT}");
        }
        for item in later {
            let _ = writeln!(out, "  again: {}", line(item));
        }
        out
    }

    fn tell_files(&self, out: &mut String) {
        out.push_str("file system\n");
        for change in &self.changes.found {
            self.describe(out, change);
        }
        for path in &self.changes.not_read {
            let _ =
                writeln!(out, "  not read   {}", visible_path(path.as_os_str().as_encoded_bytes()));
        }
        if self.changes.found.is_empty() && self.changes.not_read.is_empty() {
            out.push_str("  unchanged\n");
        }
    }

    fn describe(&self, out: &mut String, change: &FsChange) {
        let attributes = |attributes: Option<Attributes>| {
            attributes.map_or_else(String::new, |a| format!("{:04o} {}:{}", a.mode, a.uid, a.gid))
        };
        let (before, after) = (attributes(change.before), attributes(change.after));
        let path = visible_path(change.path.as_os_str().as_encoded_bytes());
        let slash = if change.after.or(change.before).is_some_and(|a| a.is_dir) { "/" } else { "" };
        let _ = match change.kind {
            ChangeKind::Added => writeln!(out, "  added      {path}{slash} {after}"),
            ChangeKind::Deleted => writeln!(out, "  deleted    {path}{slash}"),
            ChangeKind::Content => writeln!(
                out,
                "  changed    {path} {}",
                if before == after { String::new() } else { format!("{before} -> {after}") }
                    .trim_end()
            ),
            ChangeKind::Attributes => {
                writeln!(out, "  attributes {path}{slash} {before} -> {after}")
            }
        };
        let shows = change.kind == ChangeKind::Content
            || (change.kind == ChangeKind::Added && slash.is_empty());
        // What not everyone may read is not copied onto a screen. New files come from the
        // policy, which says what is secret.
        let closed = change.before.is_some_and(|before| before.mode & 0o004 == 0);
        let hidden = closed || self.is_secret(&change.path);
        let contents = (shows && !hidden).then(|| self.sandbox.contents(change, MAX_SHOWN));
        if let Some((old, new)) = contents.flatten() {
            for line in unified(&path, &old, &new).lines().skip(2) {
                let _ = writeln!(out, "    {}", visible(line));
            }
        }
    }

    pub(super) fn as_json(&self) -> Value {
        let item = |item: &Item| json!({ "resource": item.resource, "action": item.action, "outcome": item.outcome, "reason": item.reason, "origin": item.origin });
        let attributes = |attributes: Option<Attributes>| {
            attributes.map(|a| json!({ "mode": format!("{:04o}", a.mode), "uid": a.uid, "gid": a.gid, "directory": a.is_dir }))
        };
        let kind = |kind| match kind {
            ChangeKind::Added => "added",
            ChangeKind::Deleted => "deleted",
            ChangeKind::Content => "content",
            ChangeKind::Attributes => "attributes",
        };
        let later = self.later();
        let undecided = self.is_broken() || self.attempts.len() < 2;
        json!({
            "schema": 1,
            "runs": self.attempts.iter().map(|attempt| json!({
                "exit": attempt.code,
                "items": attempt.items().map(item).collect::<Vec<_>>(),
                "steps": attempt.steps.iter().map(item).collect::<Vec<_>>(),
            })).collect::<Vec<_>>(),
            "file_system": self.changes.found.iter().map(|change| json!({
                "path": change.path.to_string_lossy(), "kind": kind(change.kind),
                "before": attributes(change.before), "after": attributes(change.after),
            })).collect::<Vec<_>>(),
            "not_read": self.changes.not_read.iter().map(|path| path.to_string_lossy()).collect::<Vec<_>>(),
            "not_in_copy": self.left_out().map(|one| json!({
                "path": one.path.to_string_lossy(), "reason": one.reason,
            })).collect::<Vec<_>>(),
            "accounts_and_packages": entries::told(self.sandbox, &self.changes.found),
            "services": self.services,
            "idempotent": if undecided { Value::Null } else { Value::Bool(later.is_empty()) },
            "again": later.iter().map(|entry| item(entry)).collect::<Vec<_>>(),
        })
    }
}

fn line(item: &Item) -> String {
    let mut text = format!("{:<12} {}", item.outcome, item.resource);
    for (open, part) in [(": ", &item.reason), (" at ", &item.origin)] {
        if !part.is_empty() {
            let _ = write!(text, "{open}{part}");
        }
    }
    text
}
