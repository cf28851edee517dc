//! The value itself: undef, bool, int, float, bytes, list, ordered map, sensitive.

use indexmap::IndexMap;

use crate::{Bytes, Sensitive};

/// A map that keeps the order of insertion.
pub type Map = IndexMap<Bytes, Value>;

/// Plain data.
#[derive(Clone, Debug, PartialEq, Default)]
pub enum Value {
    /// No value.
    #[default]
    Undef,
    /// A truth value.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A real number.
    Float(f64),
    /// A string of any bytes.
    Bytes(Bytes),
    /// An ordered list.
    List(Vec<Value>),
    /// An insertion-ordered map.
    Map(Map),
    /// A value that prints redacted.
    Sensitive(Sensitive),
}

impl Value {
    /// Hides the value from all output.
    pub fn sensitive(self) -> Value {
        Value::Sensitive(Sensitive::new(self))
    }

    /// The bytes of a string, looking through `Sensitive`.
    pub fn as_bytes(&self) -> Option<&[u8]> {
        match self.revealed() {
            Value::Bytes(bytes) => Some(bytes.as_bytes()),
            _ => None,
        }
    }

    /// The value without its cover, for use on the machine.
    pub fn revealed(&self) -> &Value {
        match self {
            Value::Sensitive(hidden) => hidden.reveal(),
            value => value,
        }
    }

    /// Whether the value or anything inside is hidden.
    pub fn is_sensitive(&self) -> bool {
        match self {
            Value::Sensitive(_) => true,
            Value::List(items) => items.iter().any(Value::is_sensitive),
            Value::Map(map) => map.values().any(Value::is_sensitive),
            _ => false,
        }
    }

    /// Follows keys and list indices; a hidden part on the way hides the result.
    pub fn dig(&self, path: &[&str]) -> Option<Value> {
        let Some((first, rest)) = path.split_first() else {
            return Some(self.clone());
        };
        match self {
            Value::Map(map) => map.get(first.as_bytes())?.dig(rest),
            Value::List(items) => items.get(first.parse::<usize>().ok()?)?.dig(rest),
            Value::Sensitive(hidden) => hidden.reveal().dig(path).map(Value::sensitive),
            _ => None,
        }
    }
}

impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Value::Undef => f.write_str("undef"),
            Value::Bool(value) => value.fmt(f),
            Value::Int(value) => value.fmt(f),
            Value::Float(value) => value.fmt(f),
            Value::Bytes(bytes) => bytes.fmt(f),
            Value::Sensitive(hidden) => hidden.fmt(f),
            Value::List(_) | Value::Map(_) => self.to_json().fmt(f),
        }
    }
}

macro_rules! from {
    ($($ty:ty => |$x:ident| $make:expr),* $(,)?) => {
        $(impl From<$ty> for Value { fn from($x: $ty) -> Value { $make } })*
    };
}

from! {
    bool => |x| Value::Bool(x),
    i64 => |x| Value::Int(x),
    i32 => |x| Value::Int(i64::from(x)),
    u32 => |x| Value::Int(i64::from(x)),
    f64 => |x| Value::Float(x),
    &str => |x| Value::Bytes(x.into()),
    String => |x| Value::Bytes(x.into()),
    &[u8] => |x| Value::Bytes(x.into()),
    Vec<u8> => |x| Value::Bytes(x.into()),
    Bytes => |x| Value::Bytes(x),
    Vec<Value> => |x| Value::List(x),
    Map => |x| Value::Map(x),
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Value {
        value.map_or(Value::Undef, Into::into)
    }
}

impl<K: Into<Bytes>> FromIterator<(K, Value)> for Value {
    fn from_iter<I: IntoIterator<Item = (K, Value)>>(pairs: I) -> Value {
        Value::Map(pairs.into_iter().map(|(key, value)| (key.into(), value)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secret() -> Value {
        [("user", Value::from("root")), ("password", Value::from("hunter2").sensitive())]
            .into_iter()
            .collect()
    }

    #[test]
    fn a_secret_is_redacted_in_every_format() {
        let list = Value::List(vec![secret(), Value::from("hunter2").sensitive()]);
        let forms = [
            format!("{list}"),
            format!("{list:?}"),
            format!("{list:#?}"),
            list.to_json().to_string(),
            format!("{:?}", list.dig(&["0", "password"])),
        ];
        for form in forms {
            assert!(form.contains("[redacted]") && !form.contains("hunter2"), "{form}");
        }
    }

    #[test]
    fn digging_through_a_hidden_map_hides_what_is_found() {
        let hidden = secret().sensitive();
        assert_eq!(hidden.dig(&["user"]), Some(Value::from("root").sensitive()));
        assert_eq!(hidden.dig(&["nobody"]), None);
    }

    #[test]
    fn maps_keep_the_order_of_insertion() {
        let map: Value = [("z", Value::Int(1)), ("a", Value::Int(2))].into_iter().collect();
        assert_eq!(map.to_string(), r#"{"z":1,"a":2}"#);
    }
}
