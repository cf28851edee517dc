//! Why a compilation was given up, for the log and for who shows the lines of the text.

use fx_ruby::Bound;
use fx_source::{Diagnostic, Span};

use crate::eval::{Evaluator, Flow, Place};

/// What went wrong.
#[derive(Debug)]
pub struct Refused {
    /// In the original's words, with the place.
    pub message: String,
    /// What is wrong and where, if it is a place in the text of the policy.
    pub shown: Option<Box<Diagnostic>>,
    /// The bound that Ruby code went on past, which ended it. The machine compiles nothing any more.
    pub spent: Option<Bound>,
}

impl From<String> for Refused {
    fn from(message: String) -> Refused {
        Refused { message, shown: None, spent: None }
    }
}

impl From<Refused> for String {
    fn from(refused: Refused) -> String {
        refused.message
    }
}

impl Evaluator {
    /// What a failure comes to at the end of a compilation.
    pub(super) fn given_up(&self, flow: Flow) -> Refused {
        let Flow::Fail(failure) = flow.misplaced() else {
            return String::from("evaluation was left").into();
        };
        let shown = match failure.place {
            Place::At(span) | Place::Line(span) => self.first_line(span, &failure.message),
            Place::Raw | Place::Bare => None,
        };
        let text = self.failure_text(*failure);
        let shown = shown.map(Box::new);
        Refused { message: format!("{text} on node {}", self.settings.node), shown, spent: None }
    }

    /// The first line of what failed: an expression may be as long as a class.
    fn first_line(&self, span: Span, message: &str) -> Option<Diagnostic> {
        let text = self.sources.text(span);
        let first = u32::try_from(text.lines().next()?.len()).ok()?;
        let line = Span::new(span.file, span.start, span.end.min(span.start + first));
        Some(Diagnostic::error("puppet-evaluation", message).label(line, ""))
    }
}
