//! The values of the language. Cloning shares; nothing is ever changed in place.

use std::rc::Rc;

use indexmap::IndexMap;

use crate::regex::Regex;
use crate::types::Type;

/// An insertion-ordered hash.
pub type Hash = IndexMap<Value, Value, rustc_hash::FxBuildHasher>;

/// A value. Types, which include resource references, are values too.
#[derive(Clone, Debug, Default)]
#[expect(missing_docs, reason = "the names are those of the language")]
pub enum Value {
    #[default]
    Undef,
    Default,
    Bool(bool),
    Int(i64),
    Float(f64),
    String(Rc<str>),
    Regex(Rc<Regex>),
    Array(Rc<Vec<Value>>),
    Hash(Rc<Hash>),
    Type(Rc<Type>),
    Sensitive(Rc<Value>),
    /// Raw bytes.
    Binary(Rc<[u8]>),
    /// Nanoseconds.
    Timespan(i128),
    /// Nanoseconds since 1970.
    Timestamp(i128),
    SemVer(Rc<str>),
    SemVerRange(Rc<str>),
    Uri(Rc<str>),
    /// A value to be made when the catalog is applied: a function's name and arguments.
    Deferred(Rc<str>, Rc<Vec<Value>>),
    /// What a lazy iteration yields, taken in full, and the type of its elements.
    Iterator(Rc<Vec<Value>>, Rc<Type>),
    /// An instance of a type written in the language.
    Object(Rc<Type>, Rc<Hash>),
}

impl Value {
    /// A string.
    pub fn string(text: impl Into<Rc<str>>) -> Value {
        Value::String(text.into())
    }

    /// An array.
    pub fn array(items: Vec<Value>) -> Value {
        Value::Array(Rc::new(items))
    }

    /// A hash.
    pub fn hash(pairs: impl IntoIterator<Item = (Value, Value)>) -> Value {
        Value::Hash(Rc::new(pairs.into_iter().collect()))
    }

    /// A type.
    pub fn ty(ty: Type) -> Value {
        Value::Type(Rc::new(ty))
    }

    /// Only undef and false are false.
    pub fn is_true(&self) -> bool {
        !matches!(self, Value::Undef | Value::Bool(false))
    }

    /// The text of a string.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Value::String(text) => Some(text),
            _ => None,
        }
    }

    /// `==` of the language: numbers by value, strings without case.
    pub fn equals(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::String(a), Value::String(b)) => a.eq_ignore_ascii_case(b),
            (Value::Int(a), Value::Float(b)) | (Value::Float(b), Value::Int(a)) => *a as f64 == *b,
            (Value::Array(a), Value::Array(b)) => {
                a.len() == b.len() && a.iter().zip(&**b).all(|(a, b)| a.equals(b))
            }
            (Value::Hash(a), Value::Hash(b)) => {
                a.len() == b.len()
                    && a.iter()
                        .all(|(key, value)| b.get(key).is_some_and(|other| value.equals(other)))
            }
            // A time may equal a number of seconds; a number is never a time.
            (Value::Timespan(nanos) | Value::Timestamp(nanos), Value::Int(seconds)) => {
                nanos.div_euclid(1_000_000_000) == i128::from(*seconds)
            }
            (Value::Timespan(nanos) | Value::Timestamp(nanos), Value::Float(seconds)) => {
                *nanos as f64 / 1e9 == *seconds
            }
            (Value::SemVerRange(a), Value::SemVerRange(b)) => {
                a == b || crate::semver::same_range(a, b)
            }
            _ => self == other,
        }
    }
}

// Identity as a hash key: exact, so that 1 and 1.0 and '1' are three keys.
impl PartialEq for Value {
    fn eq(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::Undef, Value::Undef) | (Value::Default, Value::Default) => true,
            (Value::Bool(a), Value::Bool(b)) => a == b,
            (Value::Int(a), Value::Int(b)) => a == b,
            (Value::Float(a), Value::Float(b)) => a.to_bits() == b.to_bits() || a == b,
            (Value::String(a), Value::String(b))
            | (Value::SemVer(a), Value::SemVer(b))
            | (Value::SemVerRange(a), Value::SemVerRange(b))
            | (Value::Uri(a), Value::Uri(b)) => a == b,
            (Value::Regex(a), Value::Regex(b)) => a.source() == b.source(),
            (Value::Array(a), Value::Array(b)) | (Value::Iterator(a, _), Value::Iterator(b, _)) => {
                a == b
            }
            (Value::Hash(a), Value::Hash(b)) => {
                a.len() == b.len() && a.iter().all(|(key, value)| b.get(key) == Some(value))
            }
            (Value::Type(a), Value::Type(b)) => a == b,
            (Value::Sensitive(a), Value::Sensitive(b)) => a == b,
            (Value::Binary(a), Value::Binary(b)) => a == b,
            (Value::Timespan(a), Value::Timespan(b))
            | (Value::Timestamp(a), Value::Timestamp(b)) => a == b,
            (Value::Deferred(a, x), Value::Deferred(b, y)) => a == b && x == y,
            (Value::Object(a, x), Value::Object(b, y)) => a == b && **x == **y,
            _ => false,
        }
    }
}

impl Eq for Value {}

impl std::hash::Hash for Value {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        std::mem::discriminant(self).hash(state);
        match self {
            Value::Bool(value) => value.hash(state),
            Value::Int(value) => value.hash(state),
            // Equal floats must hash alike, whatever the sign of zero.
            Value::Float(value) => (value + 0.0).to_bits().hash(state),
            Value::String(text)
            | Value::SemVer(text)
            | Value::SemVerRange(text)
            | Value::Uri(text) => text.hash(state),
            Value::Regex(regex) => regex.source().hash(state),
            Value::Array(items) | Value::Iterator(items, _) => items.hash(state),
            Value::Hash(hash) => hash.len().hash(state),
            Value::Binary(bytes) => bytes.hash(state),
            Value::Timespan(nanos) | Value::Timestamp(nanos) => nanos.hash(state),
            Value::Sensitive(inner) => inner.hash(state),
            Value::Deferred(name, args) => (name, args).hash(state),
            Value::Type(_) | Value::Object(..) | Value::Undef | Value::Default => {}
        }
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Value {
        Value::Bool(value)
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Value {
        Value::Int(value)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::String(text.into())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Value {
        Value::String(text.into())
    }
}
