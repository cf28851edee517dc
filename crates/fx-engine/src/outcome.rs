//! How an attempt ended. Each language maps these onto its own words and consequences.

use fx_host::{Exit, HostError};

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
    /// The run was told to stop during the attempt.
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

/// What kind of trouble a failure is; decides which outcome it becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FailureKind {
    /// Anything not listed below.
    Other,
    /// Permission refused.
    Denied,
    /// Time limit reached.
    TimedOut,
    /// Told to stop.
    Interrupted,
    /// An invariant of ours broke: a defect of fixpoint, not of the machine.
    Internal,
}

/// Trouble with the machine: a message that names the item, and a command's last words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// What kind.
    pub kind: FailureKind,
    /// One line naming the item, lower case, no full stop.
    pub message: String,
    /// Output of the command that failed, if one did.
    pub output: Option<String>,
}

impl Failure {
    /// A failure of no special kind.
    pub fn new(message: impl Into<String>) -> Failure {
        Failure { kind: FailureKind::Other, message: message.into(), output: None }
    }

    /// A failure of this kind.
    pub fn of(kind: FailureKind, message: impl Into<String>) -> Failure {
        Failure { kind, message: message.into(), output: None }
    }

    /// Adds what the failing command printed.
    pub fn output(mut self, output: impl Into<String>) -> Failure {
        let output: String = output.into();
        self.output = Some(output).filter(|text| !text.is_empty());
        self
    }

    /// The failure of a command that ended badly; `None` when it ended well.
    pub fn of_command(display: &str, exit: Exit, output: &[u8]) -> Option<Failure> {
        let failure = match exit {
            Exit::Code(0) => return None,
            Exit::Code(code) => Failure::new(format!("'{display}' returned {code}")),
            Exit::Signal(signal) => {
                Failure::new(format!("'{display}' was killed by signal {signal}"))
            }
            Exit::TimedOut => {
                Failure::of(FailureKind::TimedOut, format!("'{display}' ran into its time limit"))
            }
            Exit::Cancelled => {
                Failure::of(FailureKind::Interrupted, format!("'{display}' was interrupted"))
            }
        };
        Some(failure.output(String::from_utf8_lossy(output).trim_end()))
    }
}

impl From<HostError> for Failure {
    fn from(error: HostError) -> Failure {
        let kind = match error.kind() {
            std::io::ErrorKind::PermissionDenied => FailureKind::Denied,
            std::io::ErrorKind::TimedOut => FailureKind::TimedOut,
            _ => FailureKind::Other,
        };
        Failure::of(kind, error.to_string())
    }
}

impl From<Failure> for Outcome {
    fn from(failure: Failure) -> Outcome {
        match failure.kind {
            FailureKind::Denied => Outcome::Denied(failure),
            FailureKind::TimedOut => Outcome::TimedOut(failure),
            FailureKind::Interrupted => Outcome::Interrupted,
            FailureKind::Other | FailureKind::Internal => Outcome::Failed(failure),
        }
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}
