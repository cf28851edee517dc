//! Why a step has its turn: words for people, and what they point to as data.

use std::ops::Deref;
use std::rc::Rc;

/// Something that led to a step.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Cause {
    /// Another item of the policy, by the name that its steps have.
    Item(Rc<str>),
    /// A condition that had to hold, by its name.
    Condition(Rc<str>),
}

/// The reason of a step. Dereferences to its words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Why {
    words: Rc<str>,
    causes: Rc<[Cause]>,
}

impl Why {
    /// Adds what led to it.
    pub fn caused_by(self, causes: impl IntoIterator<Item = Cause>) -> Why {
        Why { causes: self.causes.iter().cloned().chain(causes).collect(), ..self }
    }

    /// The same causes in other words.
    pub fn worded(&self, words: impl Into<Rc<str>>) -> Why {
        Why { words: words.into(), causes: Rc::clone(&self.causes) }
    }

    /// What led to it.
    pub fn causes(&self) -> &[Cause] {
        &self.causes
    }
}

impl Default for Why {
    fn default() -> Why {
        Why::from("")
    }
}

impl<T: Into<Rc<str>>> From<T> for Why {
    fn from(words: T) -> Why {
        Why { words: words.into(), causes: Rc::from([]) }
    }
}

impl Deref for Why {
    type Target = str;

    fn deref(&self) -> &str {
        &self.words
    }
}

impl std::fmt::Display for Why {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.words)
    }
}
