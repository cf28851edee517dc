//! Whether a promise may change the machine: the action body, dry run, and its words.

use fx_engine::{Change, Detail, Level, Mode, Target};
use fx_resources::digest::Algorithm;

use crate::eval::Context;
use crate::eval::promise::Expanded;
use crate::outcome::Outcome;

/// Larger content is not carried along for a diff that nobody could read.
const DIFF_LIMIT: u64 = 4 << 20;

/// What a promise may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    Fix,
    /// The action body says `warn` or `nop`.
    Warn,
    /// The whole run changes nothing.
    DryRun,
}

/// Whether a simulation goes through with such a promise: what is more than files, or told
/// by name as packages are, would change the machine itself.
fn simulated(promise: &Expanded) -> bool {
    matches!(&*promise.promise.kind, "files" | "packages")
        || promise.promise.bundle.kind.starts_with("edit_")
}

fn warns(promise: &Expanded) -> bool {
    promise.scalar("action_policy").is_some_and(|policy| matches!(&**policy, "warn" | "nop"))
}

impl Context<'_> {
    /// What this promise may do.
    pub(crate) fn action(&self, promise: &Expanded) -> Action {
        let withheld = self.config.dry_run && !(self.simulation.is_some() && simulated(promise));
        if withheld {
            return Action::DryRun;
        }
        if warns(promise) {
            Action::Warn
        } else if self.run.ledger.in_copy() && !super::passes::foreseeable(promise) {
            Action::DryRun
        } else {
            Action::Fix
        }
    }

    /// Whether commands and the like are told and not run.
    pub(crate) fn withholds(&self) -> bool {
        self.config.dry_run || self.run.ledger.in_copy()
    }

    /// The content that is about to replace a file's, to be told with the change.
    pub(crate) fn about_to_write(&self, file: &std::path::Path, new: &[u8]) {
        let to = Algorithm::Sha256.label(new);
        let change = match self.host().read_limited(file, DIFF_LIMIT) {
            Ok(old) => {
                let from = Algorithm::Sha256.label(&old);
                let detail = Detail::Content { old, new: new.to_vec() };
                Change::of(Target::file(file), "content", from, to).detail(detail)
            }
            Err(error) if error.is_not_found() => {
                let detail = Detail::Content { old: Vec::new(), new: new.to_vec() };
                Change::of(Target::file(file), "content", "absent", to).detail(detail)
            }
            Err(_) => {
                let from = Algorithm::Sha256.label_of_file(self.host(), file);
                Change::of(Target::file(file), "content", from.unwrap_or_default(), to)
            }
        };
        self.content.replace(Some(change));
    }

    /// What is changed: the content about to be written, or what the message says.
    pub(crate) fn change(&self, message: &str) -> Change {
        let content = self.content.borrow_mut().take();
        content.unwrap_or_else(|| {
            let text = if self.run.ledger.in_copy() {
                super::intent::foretold(message)
            } else {
                message.to_owned()
            };
            Change::of(Target::other("promise", ""), "", "", "").detail(Detail::Text(text))
        })
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
        let action = self.action(promise);
        if action != Action::Fix
            && let Some(step) = self.run.ledger.current()
        {
            let change = self.change(&format!("would {text}"));
            self.run.ledger.withheld(step, &change);
        }
        // What went before is forgotten: the original puts its warning in its place.
        match action {
            Action::Fix => true,
            Action::DryRun if !warns(promise) => {
                *result = Outcome::Warn;
                self.settle(Level::Warning, Outcome::Warn, promise, &format!("Should {text}"));
                false
            }
            Action::DryRun | Action::Warn => {
                *result = Outcome::Warn;
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
