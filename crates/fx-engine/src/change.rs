//! One property of one thing that is not as desired: what it is and what it should be.

use std::borrow::Cow;

use fx_value::Value;

use crate::Target;

/// A difference between the machine and what is wanted, in plain data.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// What it is about.
    pub target: Target,
    /// Name of the property: `content`, `mode`, `ensure`.
    pub property: Cow<'static, str>,
    /// As found. Content is given by its digest, secrets as sensitive values.
    pub from: Value,
    /// As wanted.
    pub to: Value,
    /// The long form, for sinks that show it; the ledger does not keep it.
    pub detail: Option<Detail>,
}

/// What a change is made of where a digest or word is not enough.
#[derive(Clone, Debug, PartialEq)]
pub enum Detail {
    /// Old and new content, for a diff.
    Content {
        /// As found.
        old: Vec<u8>,
        /// As wanted.
        new: Vec<u8>,
    },
    /// How a provider that policy brings words it.
    Text(String),
}

impl Change {
    /// A change of one property of one thing.
    pub fn of(
        target: Target,
        property: impl Into<Cow<'static, str>>,
        from: impl Into<Value>,
        to: impl Into<Value>,
    ) -> Change {
        Change { target, property: property.into(), from: from.into(), to: to.into(), detail: None }
    }

    /// Adds the long form.
    pub fn detail(mut self, detail: Detail) -> Change {
        self.detail = Some(detail);
        self
    }

    /// Whether a value of it is a secret.
    pub fn is_sensitive(&self) -> bool {
        [&self.from, &self.to].iter().any(|value| matches!(value, Value::Sensitive(_)))
    }

    /// Hides both values and drops the long form.
    pub fn sensitive(mut self) -> Change {
        self.from = self.from.sensitive();
        self.to = self.to.sensitive();
        self.detail = None;
        self
    }
}
