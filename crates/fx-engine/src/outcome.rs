//! How an attempt ended. Each language maps these onto its own words and consequences.

use crate::{Failure, FailureKind};

/// The result of one step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Was as desired; nothing done.
    Kept,
    /// Was not, and now is.
    Repaired,
    /// Was not; the mode withheld the changes.
    WouldRepair,
    /// Could not be brought to the desired state.
    Failed(Failure),
    /// The machine refused permission.
    Denied(Failure),
    /// A time limit ended the attempt.
    TimedOut(Failure),
    /// The run was stopped from outside during the attempt.
    Interrupted,
    /// Not attempted, and why.
    Skipped(String),
    /// The run ended before its turn.
    NotReached,
}

impl Outcome {
    /// Short lower-case word for traces and reports.
    pub fn word(&self) -> &'static str {
        match self {
            Outcome::Kept => "kept",
            Outcome::Repaired => "repaired",
            Outcome::WouldRepair => "would-repair",
            Outcome::Failed(_) => "failed",
            Outcome::Denied(_) => "denied",
            Outcome::TimedOut(_) => "timed-out",
            Outcome::Interrupted => "interrupted",
            Outcome::Skipped(_) => "skipped",
            Outcome::NotReached => "not-reached",
        }
    }

    /// Whether the attempt did not reach its goal.
    pub fn is_failure(&self) -> bool {
        matches!(
            self,
            Outcome::Failed(_) | Outcome::Denied(_) | Outcome::TimedOut(_) | Outcome::Interrupted
        )
    }

    /// Whether the machine was changed.
    pub fn is_repaired(&self) -> bool {
        *self == Outcome::Repaired
    }

    /// The failure behind it, if any.
    pub fn failure(&self) -> Option<&Failure> {
        match self {
            Outcome::Failed(failure) | Outcome::Denied(failure) | Outcome::TimedOut(failure) => {
                Some(failure)
            }
            _ => None,
        }
    }
}

impl From<Failure> for Outcome {
    fn from(failure: Failure) -> Outcome {
        match failure.kind() {
            FailureKind::Denied => Outcome::Denied(failure),
            FailureKind::TimedOut => Outcome::TimedOut(failure),
            FailureKind::Interrupted => Outcome::Interrupted,
            FailureKind::Other | FailureKind::Internal => Outcome::Failed(failure),
        }
    }
}
