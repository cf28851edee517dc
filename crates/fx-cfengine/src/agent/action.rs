//! Whether a promise may change the machine: the action body, dry run, and its words.

use fx_engine::{Level, Mode};

use crate::eval::Context;
use crate::eval::promise::Expanded;
use crate::outcome::Outcome;

/// What a promise may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    Fix,
    /// The action body says `warn` or `nop`.
    Warn,
    /// The whole run changes nothing.
    DryRun,
}

impl Context<'_> {
    /// What this promise may do.
    pub(crate) fn action(&self, promise: &Expanded) -> Action {
        if self.config.dry_run {
            return Action::DryRun;
        }
        match promise.scalar("action_policy").map(|policy| &**policy) {
            Some("warn" | "nop") => Action::Warn,
            _ => Action::Fix,
        }
    }

    pub(crate) fn mode(&self, promise: &Expanded) -> Mode {
        if self.action(promise) == Action::Fix { Mode::Apply } else { Mode::Rehearse }
    }

    /// As MakingChanges does: true when the change may be made; else says that it should be,
    /// and records the warning in `result`.
    pub(crate) fn making_changes(
        &mut self,
        promise: &Expanded,
        result: &mut Outcome,
        text: &str,
    ) -> bool {
        match self.action(promise) {
            Action::Fix => true,
            Action::DryRun => {
                *result = result.merge(Outcome::Warn);
                self.settle(Level::Warning, Outcome::Warn, promise, &format!("Should {text}"));
                false
            }
            Action::Warn => {
                *result = result.merge(Outcome::Warn);
                self.settle(
                    Level::Warning,
                    Outcome::Warn,
                    promise,
                    &format!("Should {text}, but only warning promised"),
                );
                false
            }
        }
    }
}
