//! How an evaluation is left early: failures with their places, and return, break and next.

use std::rc::Rc;

use fx_source::Span;

use crate::value::Value;

/// Why an evaluation gave no value.
#[derive(Clone, Debug)]
pub(crate) enum Flow {
    Fail(Box<Failure>),
    Return(Value, Span),
    Next(Value, Span),
    Break(Span),
}

/// A failure and how its place is reported.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    /// What is wrong.
    pub message: String,
    /// Where.
    pub place: Place,
    /// What it is, for who treats some failures apart.
    pub issue: Issue,
}

/// Failures that somebody further out treats apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Issue {
    /// Any other.
    #[default]
    Other,
    /// There is no resource type of this name.
    UnknownType(Rc<str>),
    /// There is no class of this name.
    UnknownClass(Rc<str>),
    /// There is no function of this name.
    UnknownFunction(Rc<str>),
    /// A template failed, and the message says which.
    Template,
    /// No provider of a type works on this machine.
    NoProvider,
    /// A function of a lookup says that it does not have the key.
    NoSuchKey,
    /// A function was called with arguments that it does not take.
    Arguments,
    /// Ruby raised it, and keeps it.
    Raised,
}

/// How the place of a failure is reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Not known yet: the innermost expression around will say which kind it is.
    Raw,
    /// File, line and column.
    At(Span),
    /// File and line.
    Line(Span),
    /// Nothing more is said.
    Bare,
}

impl Flow {
    /// A failure of an expression at a place.
    pub(crate) fn at(span: Span, message: impl Into<String>) -> Flow {
        Flow::new(message.into(), Place::At(span))
    }

    /// A failure inside something an expression called.
    pub(crate) fn raw(message: impl Into<String>) -> Flow {
        Flow::new(message.into(), Place::Raw)
    }

    /// A failure of which no more is said.
    pub(crate) fn bare(message: impl Into<String>) -> Flow {
        Flow::new(message.into(), Place::Bare)
    }

    /// A failure reported by file and line.
    pub(crate) fn line(span: Span, message: impl Into<String>) -> Flow {
        Flow::new(message.into(), Place::Line(span))
    }

    fn new(message: String, place: Place) -> Flow {
        Flow::Fail(Box::new(Failure { message, place, issue: Issue::Other }))
    }

    /// The same failure, known for what it is.
    pub(crate) fn with(mut self, issue: Issue) -> Flow {
        if let Flow::Fail(failure) = &mut self {
            failure.issue = issue;
        }
        self
    }

    /// What a failure says, its place left out.
    pub(crate) fn text(self) -> String {
        match self.misplaced() {
            Flow::Fail(failure) => failure.message,
            _ => String::new(),
        }
    }

    /// A failure without a place gets the one of the expression that caused it.
    pub(crate) fn placed(self, expr: &fx_puppet_syntax::Expr) -> Flow {
        match self {
            Flow::Fail(failure) if failure.place == Place::Raw => {
                let (label, span) = super::label::of(expr);
                Flow::at(span, format!("Error while evaluating a {label}, {}", failure.message))
            }
            flow => flow,
        }
    }

    /// Leaving without anything to leave is a failure of its own.
    pub(crate) fn misplaced(self) -> Flow {
        let (word, span) = match &self {
            Flow::Fail(_) => return self,
            Flow::Return(_, span) => ("return", *span),
            Flow::Next(_, span) => ("next", *span),
            Flow::Break(span) => ("break", *span),
        };
        Flow::line(span, format!("{word}() from context where this is illegal"))
    }
}
