//! What is wrong with the user's text: a stable code, a message, labelled places, help.
//!
//! About text only. Trouble with the machine is a failure of a step, and an exception of
//! a language is a value of that language; neither is a diagnostic.

use crate::Span;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// The text cannot be run.
    Error,
    /// It runs, but hardly as meant.
    Warning,
    /// Worth knowing.
    Note,
}

impl Severity {
    /// Lower-case word as printed.
    pub fn word(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "note",
        }
    }
}

/// A place in the text with a remark. The first label of a diagnostic is the primary one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The place.
    pub span: Span,
    /// What to say about it; may be empty.
    pub text: String,
}

/// One finding about the user's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Stable code such as `cf-syntax`, for filters and documentation.
    pub code: &'static str,
    /// How bad.
    pub severity: Severity,
    /// One line, lower case, no full stop.
    pub message: String,
    /// Places; the first is the one to jump to.
    pub labels: Vec<Label>,
    /// What to do about it.
    pub help: Option<String>,
}

impl Diagnostic {
    /// An error without places yet.
    pub fn error(code: &'static str, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(Severity::Error, code, message.into())
    }

    /// A warning without places yet.
    pub fn warning(code: &'static str, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(Severity::Warning, code, message.into())
    }

    /// A note without places yet.
    pub fn note(code: &'static str, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(Severity::Note, code, message.into())
    }

    fn new(severity: Severity, code: &'static str, message: String) -> Diagnostic {
        Diagnostic { code, severity, message, labels: Vec::new(), help: None }
    }

    /// Adds a place with a remark; the first one added is the primary.
    pub fn label(mut self, span: Span, text: impl Into<String>) -> Diagnostic {
        self.labels.push(Label { span, text: text.into() });
        self
    }

    /// Says what to do about it.
    pub fn help(mut self, text: impl Into<String>) -> Diagnostic {
        self.help = Some(text.into());
        self
    }

    /// The place to jump to.
    pub fn primary(&self) -> Option<Span> {
        self.labels.first().map(|label| label.span)
    }
}
