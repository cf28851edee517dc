//! The log of a run as data: who logs, how important it is, and what happened. The words are
//! made once, by [`super::wording`], when an entry is added.

use std::borrow::Cow;
use std::rc::Rc;

use fx_engine::{Level, Run};
use fx_source::Origin;
use fx_value::Value;

use super::wording::{Message, words};

/// Who a message is from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// The run itself.
    Run,
    /// A resource, by its path; or a class, a stage or a tree, by its name.
    Named(Rc<str>),
    /// A property of a resource.
    Property(Rc<str>, Cow<'static, str>),
}

impl Source {
    /// The name that lines begin with and reports have; nothing for the run itself.
    pub(super) fn name(&self) -> Option<String> {
        match self {
            Source::Run => None,
            Source::Named(name) => Some(name.to_string()),
            Source::Property(path, property) => Some(format!("{path}/{property}")),
        }
    }
}

/// How important a message is: a level, or a word of the original for what is worse than an
/// error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Weight {
    Level(Level),
    /// `alert`, `emerg` or `crit`.
    Worse(&'static str),
}

impl From<Level> for Weight {
    fn from(level: Level) -> Weight {
        Weight::Level(level)
    }
}

impl Weight {
    /// The level it counts as.
    pub(super) fn level(self) -> Level {
        match self {
            Weight::Level(level) => level,
            Weight::Worse(_) => Level::Error,
        }
    }

    /// The word that reports have.
    pub(super) fn word(self) -> &'static str {
        match self {
            Weight::Level(Level::Error) => "err",
            Weight::Level(Level::Warning) => "warning",
            Weight::Level(Level::Notice) => "notice",
            Weight::Level(Level::Info) => "info",
            Weight::Level(_) => "debug",
            Weight::Worse(word) => word,
        }
    }
}

/// One entry of the log.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) weight: Weight,
    pub(super) source: Source,
    /// What happened, in the words of the original.
    pub(super) words: Rc<str>,
    pub(super) time: fx_host::Time,
    /// The resource it is about, where it is about one.
    pub(super) place: Option<Rc<Place>>,
    /// The property that says it itself, which is a tag then.
    pub(super) tag: Option<&'static str>,
}

/// Where a resource is declared, and its tags.
#[derive(Debug)]
pub(super) struct Place {
    /// File and line.
    pub(super) place: Option<(String, u32)>,
    pub(super) tags: Rc<[Rc<str>]>,
}

impl Entry {
    /// An entry of now.
    pub(super) fn new(
        run: Run<'_>,
        weight: impl Into<Weight>,
        source: Source,
        message: &Message,
    ) -> Entry {
        let words = run.ledger.secrets().shown(&words(message)).into();
        let weight = weight.into();
        Entry { weight, source, words, time: run.look().now(), place: None, tag: None }
    }

    /// Shows it on the consoles of this run. What a step of the record says by itself is a note
    /// of the original's line; other views have the step.
    pub(super) fn show(&self, run: Run<'_>) {
        let source = self.source.name();
        let line = match &source {
            Some(source) => format!("{source}: {}", self.words),
            None => self.words.to_string(),
        };
        let fields = |line: &str| {
            let mut fields: Vec<(Cow<'static, str>, Value)> =
                vec![("level".into(), self.weight.word().into()), ("text".into(), line.into())];
            if let Some(source) = &source {
                fields.push(("source".into(), source.as_str().into()));
                fields.push(("message".into(), (&*self.words).into()));
            }
            fields
        };
        let note = |code| run.ledger.note(code, &fields(&line), &Origin::default());
        match self.weight {
            Weight::Level(Level::Notice | Level::Info) => note("puppet.line"),
            Weight::Worse(_) => note("puppet.log"),
            Weight::Level(level) => {
                // A log file in the original's form names who spoke.
                if source.is_some() {
                    note("puppet.source");
                }
                run.ledger.message(level, &line, &Origin::default());
            }
        }
    }
}
