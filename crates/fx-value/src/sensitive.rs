//! A value that must not be seen. Every way of printing it gives the same fixed word.

use crate::Value;

/// What is shown instead of a secret, in every format.
pub const REDACTED: &str = "[redacted]";

/// Keeps a value out of all output. Opening it is explicit and easy to search for.
#[derive(Clone, PartialEq)]
pub struct Sensitive(Box<Value>);

impl Sensitive {
    /// Hides a value. Hiding a hidden value changes nothing.
    pub fn new(value: Value) -> Sensitive {
        match value {
            Value::Sensitive(already) => already,
            value => Sensitive(Box::new(value)),
        }
    }

    /// The secret itself, for use on the machine, never for a message.
    pub fn reveal(&self) -> &Value {
        &self.0
    }
}

impl std::fmt::Debug for Sensitive {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(REDACTED)
    }
}

impl std::fmt::Display for Sensitive {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(REDACTED)
    }
}
