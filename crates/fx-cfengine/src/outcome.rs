//! How a promise ended, CFEngine's rule for merging results, and the classes they set.

use std::rc::Rc;

use fx_engine::{Failure, Level};

use crate::eval::classes::{ClassScope, class_key};
use crate::eval::promise::Expanded;
use crate::eval::{Context, log};
use crate::policy::Rval;
use crate::text::{Str, canonify_class};

/// Which word on a promise a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Word {
    /// About one part of the work.
    Part,
    /// About the promise as a whole.
    Last,
}

/// Types that the original logs with the place of the promise at every level.
const RECORDED: &[&str] = &[
    "files",
    "insert_lines",
    "delete_lines",
    "replace_patterns",
    "field_edits",
    "build_xpath",
    "insert_tree",
    "delete_tree",
    "insert_attribute",
    "delete_attribute",
    "set_attribute",
    "insert_text",
    "set_text",
    "delete_text",
];

/// The result of a promise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Skipped,
    Kept,
    Repaired,
    Warn,
    Failed,
    Denied,
    Interrupted,
}

impl Outcome {
    pub fn is_failure(self) -> bool {
        matches!(self, Outcome::Failed | Outcome::Denied | Outcome::Interrupted)
    }

    /// Failures stick, a warning beats a change, a change beats being kept.
    pub fn merge(self, evidence: Outcome) -> Outcome {
        match self {
            prior if prior.is_failure() => prior,
            Outcome::Warn => {
                if evidence.is_failure() {
                    evidence
                } else {
                    self
                }
            }
            Outcome::Skipped => evidence,
            Outcome::Kept => {
                if evidence == Outcome::Skipped {
                    self
                } else {
                    evidence
                }
            }
            _ => {
                if evidence.is_failure() || evidence == Outcome::Warn {
                    evidence
                } else {
                    self
                }
            }
        }
    }

    /// The shared word for it; a failure has its cause.
    pub fn shared(self, cause: Option<Failure>) -> fx_engine::Outcome {
        let cause = || cause.unwrap_or_else(|| Failure::new("no reason was given"));
        match self {
            Outcome::Skipped => {
                fx_engine::Outcome::Skipped("already done or not its time".to_owned())
            }
            Outcome::Kept => fx_engine::Outcome::Kept,
            Outcome::Repaired => fx_engine::Outcome::Repaired,
            Outcome::Warn => fx_engine::Outcome::WouldRepair,
            Outcome::Failed => fx_engine::Outcome::Failed(cause()),
            Outcome::Denied => fx_engine::Outcome::Denied(cause()),
            Outcome::Interrupted => fx_engine::Outcome::Interrupted,
        }
    }
}

impl Context<'_> {
    /// Logs what became of a part of a promise, sets the classes that its outcome asks for,
    /// and returns the outcome.
    pub fn settle(
        &mut self,
        level: Level,
        outcome: Outcome,
        promise: &Expanded,
        message: &str,
    ) -> Outcome {
        self.settle_as(Word::Part, level, outcome, promise, message)
    }

    /// The same for the last word on a promise, which sums its parts up.
    pub fn settle_last(
        &mut self,
        level: Level,
        outcome: Outcome,
        promise: &Expanded,
        message: &str,
    ) -> Outcome {
        self.settle_as(Word::Last, level, outcome, promise, message)
    }

    fn settle_as(
        &mut self,
        word: Word,
        level: Level,
        outcome: Outcome,
        promise: &Expanded,
        message: &str,
    ) -> Outcome {
        let quiet =
            outcome == Outcome::Warn && (self.config.quiet_rehearsal || self.run.ledger.in_copy());
        if outcome.is_failure() {
            match word {
                Word::Part => self.why.settled(message),
                Word::Last => self.why.logged(message),
            }
        }
        // Promises on files are logged with their place whatever is said of them, but for
        // the last word, which alone is recorded.
        let recorded = RECORDED.contains(&&*promise.promise.kind);
        let last = word == Word::Last;
        if level >= Level::Verbose || !last && recorded {
            self.promise_context(promise);
        }
        self.log(if quiet { Level::Verbose } else { level }, message);
        self.set_outcome_classes(outcome, promise);
        if last || !recorded {
            self.log_outcome_string(outcome, promise);
        }
        outcome
    }

    /// Handle, place, promisee and comment of a promise.
    pub fn promise_context(&self, expanded: &Expanded) {
        if !self.logs(Level::Verbose) {
            return;
        }
        let promise = &expanded.promise;
        let mut text = "Additional promise info:".to_owned();
        if let Some(handle) = expanded.scalar("handle") {
            text.push_str(&format!(" handle '{handle}'"));
        }
        if let Some(version) = self.policy_version() {
            text.push_str(&format!(" version '{version}'"));
        }
        let file = &promise.bundle.file;
        text.push_str(&format!(" source path '{file}' at line {}", promise.line));
        match &expanded.promisee {
            Rval::Scalar(promisee) => text.push_str(&format!(" promisee '{promisee}'")),
            Rval::List(_) => text.push_str(&format!(" promisee  {}", expanded.promisee.show())),
            _ => {}
        }
        if let Some(comment) = &expanded.comment {
            text.push_str(&format!(" comment '{comment}'"));
        }
        self.verbose(&text);
    }

    /// As [`settle`](Context::settle) without a message.
    pub fn settle_quietly(&mut self, outcome: Outcome, promise: &Expanded) -> Outcome {
        self.set_outcome_classes(outcome, promise);
        if !RECORDED.contains(&&*promise.promise.kind) {
            self.log_outcome_string(outcome, promise);
        }
        outcome
    }

    fn set_outcome_classes(&mut self, outcome: Outcome, promise: &Expanded) {
        let (add, cancel) = match outcome {
            Outcome::Skipped => return,
            Outcome::Repaired => ("promise_repaired", "cancel_repaired"),
            Outcome::Kept => ("promise_kept", "cancel_kept"),
            Outcome::Denied => ("repair_denied", "cancel_notkept"),
            Outcome::Warn | Outcome::Failed | Outcome::Interrupted => {
                ("repair_failed", "cancel_notkept")
            }
        };
        if !promise.has("classes") && !promise.has(add) && !promise.has(cancel) {
            return;
        }
        if let Some(classes) = promise.list(add) {
            let minutes = promise.int("persist_time").unwrap_or(0);
            let preserve =
                promise.scalar("timer_policy").is_some_and(|policy| &**policy == "absolute");
            let scope = promise.scalar("scope").cloned();
            for class in classes {
                self.add_outcome_class(&class, minutes, preserve, scope.as_deref());
            }
        }
        if let Some(classes) = promise.list(cancel) {
            for class in classes {
                if self.hard.contains_key(&*class) {
                    self.error(&format!("You cannot cancel a reserved hard class '{class}' in post-condition classes"));
                    return;
                }
                log!(self, Verbose, "Cancelling class '{class}'");
                self.cancel_class(&class);
            }
        }
    }

    fn add_outcome_class(
        &mut self,
        class: &str,
        minutes: i64,
        preserve: bool,
        scope: Option<&str>,
    ) {
        let name = canonify_class(class);
        if self.hard.contains_key(&*name) {
            self.error(&format!(
                "You cannot use reserved hard class '{name}' as post-condition class"
            ));
        }
        let none: Rc<[Str]> = Rc::from([]);
        if minutes > 0 {
            if scope != Some("namespace") {
                log!(
                    self,
                    Info,
                    "Automatically promoting context scope for '{name}' to namespace visibility, due to persistence"
                );
            }
            log!(self, Verbose, "C:    + persistent outcome class '{name}'");
            self.persist_class(&name, minutes, preserve, "");
            self.put_class(&name, ClassScope::Namespace, none, None);
        } else {
            log!(self, Verbose, "C:    + promise outcome class '{name}'");
            let local = scope == Some("bundle");
            if local {
                self.log_shadowed(&name);
            }
            let scope = if local { ClassScope::Bundle } else { ClassScope::Namespace };
            self.put_class(&name, scope, none, None);
        }
    }

    fn log_shadowed(&self, name: &str) {
        let Some(frame) = self.bundle_frame() else { return };
        let key = class_key(&frame.head.namespace, name);
        if self.soft.contains_key(&key) {
            self.warning(&format!(
                "Private class '{key}' in bundle '{}' shadows a global class - you should choose a different name to avoid conflicts",
                frame.head.name
            ));
        }
    }

    /// `log_string` of an action body, to the file that the outcome names.
    pub fn log_outcome_string(&mut self, outcome: Outcome, promise: &Expanded) {
        if matches!(&*promise.promise.kind, "vars" | "classes") {
            return;
        }
        let Some(text) = promise.scalar("log_string").cloned() else { return };
        let target = match outcome {
            Outcome::Kept => promise.scalar("log_kept"),
            Outcome::Repaired => promise.scalar("log_repaired"),
            Outcome::Skipped | Outcome::Warn => return,
            _ => promise.scalar("log_failed"),
        };
        let Some(target) = target.cloned() else {
            return;
        };
        let expanded = self.expand(&text, None, Some("this"));
        match &*target {
            "udp_syslog" => {}
            "stdout" => self.info(&format!("L: {expanded}")),
            _ if self.config.dry_run => {}
            name => {
                let line = format!("{expanded}\n");
                let file = crate::text::path(name);
                let line = crate::text::encode(&line);
                let logged =
                    self.in_evaluation("log_string", |act| act.append(&file, &line, 0o600));
                if logged.is_err() {
                    self.error(&format!("Unable to open private log '{name}'"));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_merge_as_in_the_lattice() {
        let table = [
            (Outcome::Skipped, Outcome::Kept, Outcome::Kept),
            (Outcome::Kept, Outcome::Skipped, Outcome::Kept),
            (Outcome::Kept, Outcome::Repaired, Outcome::Repaired),
            (Outcome::Repaired, Outcome::Kept, Outcome::Repaired),
            (Outcome::Repaired, Outcome::Warn, Outcome::Warn),
            (Outcome::Warn, Outcome::Repaired, Outcome::Warn),
            (Outcome::Failed, Outcome::Repaired, Outcome::Failed),
            (Outcome::Warn, Outcome::Denied, Outcome::Denied),
        ];
        for (prior, evidence, expected) in table {
            assert_eq!(prior.merge(evidence), expected, "{prior:?} {evidence:?}");
        }
    }
}
