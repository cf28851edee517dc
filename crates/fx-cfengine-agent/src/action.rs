//! Whether a promise may change the machine, and the one way it does: the action body, dry
//! run, and the words for what is withheld, made or failed.

use fx_cfengine::eval::promise::Expanded;
use fx_cfengine::outcome::Outcome;
use fx_engine::{Attempt, Change, Done, Failure, Level, Mode};
use fx_host::{Act, Exit};

use crate::agent::Agent;
use crate::wording::{self, Words};

/// What a promise may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    Fix,
    /// The action body says `warn` or `nop`.
    Warn,
    /// The whole run changes nothing.
    DryRun,
}

/// Whether a simulation includes such a promise: what is more than files, or reported by name
/// as packages are, would change the machine itself.
fn simulated(promise: &Expanded) -> bool {
    matches!(&*promise.promise.kind, "files" | "packages")
        || promise.promise.bundle.kind.starts_with("edit_")
}

fn warns(promise: &Expanded) -> bool {
    promise.scalar("action_policy").is_some_and(|policy| matches!(&**policy, "warn" | "nop"))
}

impl<'a> Agent<'a> {
    /// What this promise may do.
    pub(crate) fn action(&self, promise: &Expanded) -> Action {
        let withheld = self.config.dry_run && !(self.simulation.is_some() && simulated(promise));
        if withheld {
            return Action::DryRun;
        }
        if warns(promise) {
            Action::Warn
        } else if self.run.ledger.in_copy() && !self.is_tried_in_copy(promise) {
            Action::DryRun
        } else {
            Action::Fix
        }
    }

    /// Whether a copy of the machine can do what keeps the promise.
    fn is_tried_in_copy(&self, promise: &Expanded) -> bool {
        let installs = &*promise.promise.kind == "packages";
        super::passes::foreseeable(promise) || installs && self.run.ledger.copy_has_network()
    }

    pub(crate) fn mode(&self, promise: &Expanded) -> Mode {
        if self.action(promise) == Action::Fix { Mode::Apply } else { Mode::Rehearse }
    }

    fn attempt(&self) -> Result<Attempt<'a>, Failure> {
        let missing = || Failure::Internal("a change outside of a step".to_owned());
        self.run.current().ok_or_else(missing)
    }

    /// Makes changes by one effect, or records that they would be made. Says nothing.
    pub(crate) fn make<T, E: Into<Failure>>(
        &self,
        changes: &[Change],
        work: impl FnOnce(&dyn Act) -> Result<T, E>,
    ) -> Result<Done<T>, Failure> {
        let done = self.attempt()?.changes(changes, work);
        if let Err(failure) = &done {
            self.why.typed(failure);
        }
        done
    }

    /// Makes changes by one effect and says so in these words; what the effect gave, if it was
    /// made.
    pub(crate) fn change<T, E: Into<Failure>>(
        &mut self,
        promise: &Expanded,
        result: &mut Outcome,
        changes: &[Change],
        words: &Words,
        work: impl FnOnce(&dyn Act) -> Result<T, E>,
    ) -> Option<T> {
        match self.make(changes, work) {
            Ok(Done::Made(value)) => {
                if !words.done.is_empty() {
                    let outcome = self.settle(Level::Info, Outcome::Repaired, promise, &words.done);
                    *result = result.merge(outcome);
                }
                Some(value)
            }
            Ok(Done::Withheld) => {
                self.should(promise, result, &words.should);
                None
            }
            Err(failure) => {
                self.not_made(promise, result, &failure, &words.failed.text(&failure));
                None
            }
        }
    }

    /// Notes how a command ended, in case its promise is not kept by that.
    pub(crate) fn note_end(&self, command: &str, exit: Exit, output: &[u8]) {
        if let Some(failure) = Failure::of_command(command, exit, output) {
            self.why.typed(&failure);
        }
    }

    /// Says that a change could not be made.
    pub(crate) fn not_made(
        &mut self,
        promise: &Expanded,
        result: &mut Outcome,
        failure: &Failure,
        text: &str,
    ) {
        let outcome = match failure {
            Failure::Interrupted => Outcome::Interrupted,
            _ => self.settle(Level::Error, Outcome::Failed, promise, text),
        };
        *result = result.merge(outcome);
    }

    /// As MakingChanges does: true when changes may be made; else records them as withheld
    /// and says what should be done.
    pub(crate) fn may(
        &mut self,
        promise: &Expanded,
        result: &mut Outcome,
        changes: &[Change],
        should: &str,
    ) -> bool {
        let makes = self.attempt().is_ok_and(Attempt::makes_changes);
        if !makes {
            self.withhold(changes);
            self.should(promise, result, should);
        }
        makes
    }

    /// The same for an edit in memory: its own action decides, whatever becomes of the file.
    pub(crate) fn may_edit(
        &mut self,
        promise: &Expanded,
        result: &mut Outcome,
        changes: &[Change],
        should: &str,
    ) -> bool {
        if self.action(promise) == Action::Fix {
            return true;
        }
        self.withhold(changes);
        self.should(promise, result, should);
        false
    }

    /// Records changes that are not made, whatever the mode of the step.
    pub(crate) fn withhold(&self, changes: &[Change]) {
        if let Some(step) = self.run.ledger.current() {
            // The original has words for some that change nothing.
            for change in changes.iter().filter(|change| change.from != change.to) {
                self.run.ledger.withheld(step, change);
            }
        }
    }

    // What came before is forgotten: the original puts its warning in its place.
    pub(crate) fn should(&mut self, promise: &Expanded, result: &mut Outcome, text: &str) {
        *result = Outcome::Warn;
        if !text.is_empty() {
            let text = wording::should(text, warns(promise));
            self.settle(Level::Warning, Outcome::Warn, promise, &text);
        }
    }
}
