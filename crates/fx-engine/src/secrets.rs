//! Texts of secrets that policy took out of their cover: none of them is in what is recorded.
//!
//! A marked value hides itself. Once policy unwraps it, it is plain text, and only its text is
//! left to know it by. The ledger replaces such texts in every event.

use std::borrow::Cow;
use std::cell::RefCell;
use std::ffi::{OsStr, OsString};
use std::rc::Rc;

use fx_value::{Bytes, REDACTED, Value};

use crate::{Change, Detail, Event, Failure, Outcome, Target};

/// Shorter texts are in too many words to be hidden.
const SHORTEST: usize = 4;

/// The texts that are replaced, the longest first.
#[derive(Default)]
pub struct Secrets {
    texts: RefCell<Vec<Rc<str>>>,
}

impl Secrets {
    /// Hides this text from now on, as it is and as a shell is given it.
    pub fn learn(&self, text: &str) {
        let text = text.trim();
        if text.chars().count() < SHORTEST {
            return;
        }
        for form in [text.to_owned(), shell_escaped(text), text.escape_default().to_string()] {
            let mut texts = self.texts.borrow_mut();
            if texts.iter().all(|known| **known != *form) {
                let at = texts.partition_point(|known| known.len() >= form.len());
                texts.insert(at, form.into());
            }
        }
    }

    /// Hides every text of this value.
    pub fn learn_value(&self, value: &Value) {
        match value.revealed() {
            Value::Bytes(text) => self.learn(&text.to_string()),
            Value::List(items) => items.iter().for_each(|item| self.learn_value(item)),
            Value::Map(map) => map.values().for_each(|item| self.learn_value(item)),
            _ => {}
        }
    }

    /// Whether there is nothing to hide.
    pub fn is_empty(&self) -> bool {
        self.texts.borrow().is_empty()
    }

    /// A text as it may be shown.
    pub fn shown<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut text = Cow::Borrowed(text);
        for secret in self.texts.borrow().iter() {
            if text.contains(&**secret) {
                text = text.replace(&**secret, REDACTED).into();
            }
        }
        text
    }

    fn shown_bytes(&self, bytes: &[u8]) -> Vec<u8> {
        match std::str::from_utf8(bytes) {
            Ok(text) => self.shown(text).into_owned().into_bytes(),
            Err(_) => {
                let text = String::from_utf8_lossy(bytes);
                let shown = self.shown(&text);
                if shown == text { bytes.to_vec() } else { shown.into_owned().into_bytes() }
            }
        }
    }

    fn shown_name(&self, name: &OsStr) -> Option<OsString> {
        let text = name.to_string_lossy();
        let shown = self.shown(&text);
        (shown != text).then(|| shown.into_owned().into())
    }

    fn shown_value(&self, value: &Value) -> Value {
        match value {
            Value::Bytes(text) => Value::Bytes(Bytes::from(self.shown_bytes(text.as_bytes()))),
            Value::List(items) => {
                Value::List(items.iter().map(|item| self.shown_value(item)).collect())
            }
            Value::Map(map) => {
                let entry = |(key, value): (&Bytes, &Value)| (key.clone(), self.shown_value(value));
                Value::Map(map.iter().map(entry).collect())
            }
            other => other.clone(),
        }
    }

    /// A change as it may be recorded.
    pub fn shown_change(&self, change: &Change) -> Change {
        let target = match self.shown_name(&change.target.name) {
            Some(name) => Target::new(change.target.kind.clone(), name),
            None => change.target.clone(),
        };
        let detail = change.detail.as_ref().map(|detail| match detail {
            Detail::Content { old, new } => {
                Detail::Content { old: self.shown_bytes(old), new: self.shown_bytes(new) }
            }
            Detail::Text(text) => Detail::Text(self.shown(text).into_owned()),
        });
        Change {
            target,
            property: change.property.clone(),
            from: self.shown_value(&change.from),
            to: self.shown_value(&change.to),
            detail,
        }
    }

    /// A failure as it may be recorded.
    pub fn shown_failure(&self, failure: &Failure) -> Failure {
        failure.clone().map_text(&|text| self.shown(text).into_owned())
    }

    /// An outcome as it may be recorded.
    pub(crate) fn shown_outcome(&self, outcome: Outcome) -> Outcome {
        match outcome {
            Outcome::Failed(failure) => Outcome::Failed(self.shown_failure(&failure)),
            Outcome::Denied(failure) => Outcome::Denied(self.shown_failure(&failure)),
            Outcome::TimedOut(failure) => Outcome::TimedOut(self.shown_failure(&failure)),
            Outcome::Skipped(reason) => Outcome::Skipped(self.shown(&reason).into_owned()),
            other => other,
        }
    }

    /// Passes on an event as it may be seen. What is recorded of a step itself is hidden where
    /// the ledger keeps it.
    pub(crate) fn pass(&self, event: &Event<'_>, on: &dyn Fn(&Event<'_>)) {
        match event {
            Event::ChangeMade { step, change } => {
                on(&Event::ChangeMade { step: *step, change: &self.shown_change(change) });
            }
            Event::ChangeWithheld { step, change } => {
                on(&Event::ChangeWithheld { step: *step, change: &self.shown_change(change) });
            }
            Event::ChangeFailed { step, change, failure } => on(&Event::ChangeFailed {
                step: *step,
                change: &self.shown_change(change),
                failure: &self.shown_failure(failure),
            }),
            Event::Evaluated { author, record, step } => {
                let mut record = (*record).clone();
                if let Some(subject) = self.shown_name(&record.subject) {
                    record.subject = subject;
                }
                let author = &*self.shown(author);
                on(&Event::Evaluated { author, record: &record, step: *step });
            }
            Event::Message { level, text, origin, step } => {
                let text = &*self.shown(text);
                on(&Event::Message { level: *level, text, origin, step: *step });
            }
            Event::Note { code, fields, origin } => {
                let shown: Vec<_> = fields
                    .iter()
                    .map(|(name, value)| (name.clone(), self.shown_value(value)))
                    .collect();
                on(&Event::Note { code, fields: &shown, origin });
            }
            other => on(other),
        }
    }
}

/// As a word of a shell's command line.
fn shell_escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if !c.is_alphanumeric() && !"_-.,:+/@\n".contains(c) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_hidden_the_longest_first_and_short_ones_stay() {
        let secrets = Secrets::default();
        assert!(secrets.is_empty());
        secrets.learn("abc");
        assert_eq!(secrets.shown("abc"), "abc");
        secrets.learn("pass");
        secrets.learn("pass word\n");
        assert_eq!(secrets.shown("x pass word y pass"), "x [redacted] y [redacted]");
        assert_eq!(secrets.shown(r"echo pass\ word"), "echo [redacted]");
        secrets.learn_value(&Value::List(vec![Value::from("inner").sensitive()]));
        assert_eq!(secrets.shown("an inner text"), "an [redacted] text");
    }

    #[test]
    fn a_change_hides_them_in_every_part() {
        let secrets = Secrets::default();
        secrets.learn("hunter22");
        let detail = Detail::Content { old: b"a".to_vec(), new: b"pw=hunter22".to_vec() };
        let change = Change::of(Target::command("login hunter22"), "content", "hunter22", 1i64);
        let shown = format!("{:?}", secrets.shown_change(&change.detail(detail)));
        assert!(!shown.contains("hunter22"), "{shown}");
        assert!(!shown.contains("104, 117, 110"), "{shown}");
        let failure = Failure::Raised("no hunter22".to_owned());
        assert_eq!(secrets.shown_failure(&failure).to_string(), "no [redacted]");
    }
}
