//! `sprintf` with Ruby's formats.

use super::{Call, Native, native};
use fx_formats::printf::{self, Arguments, Spec};

use crate::eval::sprintf as numbers;
use crate::eval::{Evaluated, Flow, inspected, interpolated, number_from, ruby_text};
use crate::types::Type;
use crate::value::Value;

pub(super) static TABLE: &[Native] = &[native("sprintf", &[], sprintf)];

fn sprintf(call: &Call<'_>) -> Evaluated {
    let Some(format) = call.args.first() else {
        return Err(Flow::raw("sprintf(): Wrong number of arguments given (0 for at least 1)"));
    };
    let Value::String(format) = format else {
        return Err(Flow::raw(format!(
            "no implicit conversion of {} into String",
            class_of(format)
        )));
    };
    let args: Vec<Value> = call.args[1..].iter().map(as_text).collect();
    let mut formatting = Formatting { args: &args, out: Vec::new() };
    printf::format(format.as_bytes(), &mut formatting)?;
    Ok(Value::from(String::from_utf8_lossy(&formatting.out).as_ref()))
}

/// No text grows past this by its widths and precisions together.
const LONGEST: usize = 1 << 24;

/// The arguments of a call, and the text it makes.
struct Formatting<'a> {
    args: &'a [Value],
    out: Vec<u8>,
}

impl Arguments for Formatting<'_> {
    type Value = Value;
    type Error = Flow;

    fn at(&mut self, index: usize) -> Option<Value> {
        self.args.get(index).cloned()
    }

    fn named(&mut self, name: &[u8], shown: &str) -> Evaluated {
        let [Value::Hash(names)] = self.args else {
            return self.refuse("one hash required".into());
        };
        let name = String::from_utf8_lossy(name);
        match names.get(&Value::from(name.as_ref())) {
            Some(value) => Ok(value.clone()),
            None => self.refuse(format!("key{shown} not found")),
        }
    }

    fn whole(&mut self, value: Value) -> Evaluated<i32> {
        let number = integer(&value)?;
        i32::try_from(number).or_else(|_| {
            let how = if number < 0 { "small" } else { "big" };
            self.refuse(format!("integer {number} too {how} to convert to `int'"))
        })
    }

    fn reserve(&mut self, bytes: usize) -> Evaluated<()> {
        if bytes.saturating_add(self.out.len()) > LONGEST {
            return self.refuse("failed to allocate memory".into());
        }
        Ok(())
    }

    fn literal(&mut self, text: &[u8]) {
        self.out.extend_from_slice(text);
    }

    fn put(&mut self, letter: u8, spec: &Spec, value: Value) -> Evaluated<()> {
        let text = shown(char::from(letter), spec, &value)?;
        self.out.extend_from_slice(text.as_bytes());
        Ok(())
    }

    fn refuse<T>(&mut self, message: String) -> Evaluated<T> {
        Err(Flow::raw(message))
    }
}

fn shown(letter: char, spec: &Spec, value: &Value) -> Evaluated<String> {
    Ok(match letter {
        's' => spec.text(&ruby_text(value)),
        'p' if matches!(value, Value::Sensitive(_)) => spec.text("#<Sensitive [value redacted]>"),
        'p' => spec.text(&inspected(value)),
        'c' => Spec { precision: None, ..*spec }.text(&character(value)?),
        'd' | 'i' | 'u' | 'x' | 'X' | 'o' | 'b' | 'B' => {
            numbers::integer(spec, letter, integer(value)?)
        }
        _ => numbers::float(spec, letter, float(value)?),
    })
}

fn character(value: &Value) -> Evaluated<String> {
    let code = match value {
        Value::Int(code) => *code,
        Value::Float(number) => *number as i64,
        Value::String(text) if text.chars().count() == 1 => return Ok(text.to_string()),
        Value::String(_) => return Err(Flow::raw("%c requires a character")),
        Value::Undef => return Err(Flow::raw("no implicit conversion from nil to integer")),
        other => {
            let class = class_of(other);
            return Err(Flow::raw(format!("no implicit conversion of {class} into Integer")));
        }
    };
    match u32::try_from(code).ok().and_then(char::from_u32) {
        Some(character) => Ok(character.to_string()),
        None => Err(Flow::raw("invalid character")),
    }
}

/// What the function is given for a value: most objects come as text.
fn as_text(value: &Value) -> Value {
    match value {
        Value::Undef => Value::from(""),
        Value::Regex(_)
        | Value::Timespan(_)
        | Value::Timestamp(_)
        | Value::SemVer(_)
        | Value::SemVerRange(_)
        | Value::Binary(_) => Value::from(interpolated(value)),
        other => other.clone(),
    }
}

/// What Ruby calls the class of a value when it cannot convert it.
pub(super) fn class_of(value: &Value) -> String {
    match value {
        Value::Bool(truth) => truth.to_string(),
        Value::Default => "Symbol".into(),
        Value::Sensitive(_) => "Puppet::Pops::Types::PSensitiveType::Sensitive".into(),
        Value::Type(ty) => match &**ty {
            Type::Resource { .. } | Type::Class(_) => "Puppet::Resource".into(),
            ty => {
                let name = ty.to_string();
                let name = name.split('[').next().unwrap_or_default();
                format!("Puppet::Pops::Types::P{name}Type")
            }
        },
        other => crate::eval::kind(other),
    }
}

fn integer(value: &Value) -> Evaluated<i64> {
    Ok(match value {
        Value::Int(number) => *number,
        Value::Float(number) => *number as i64,
        Value::String(text) => match number_from(text) {
            Some(Value::Int(number)) => number,
            _ => {
                return Err(Flow::raw(format!(
                    "invalid value for Integer(): {}",
                    inspected(value)
                )));
            }
        },
        Value::Undef => return Err(Flow::raw("can't convert nil into Integer")),
        other => {
            return Err(Flow::raw(format!("can't convert {} into Integer", class_of(other))));
        }
    })
}

fn float(value: &Value) -> Evaluated<f64> {
    Ok(match value {
        Value::Int(number) => *number as f64,
        Value::Float(number) => *number,
        Value::String(text) => match number_from(text) {
            Some(Value::Int(number)) => number as f64,
            Some(Value::Float(number)) => number,
            _ => return Err(Flow::raw(format!("invalid value for Float(): {}", inspected(value)))),
        },
        Value::Undef => return Err(Flow::raw("can't convert nil into Float")),
        other => {
            return Err(Flow::raw(format!("can't convert {} into Float", class_of(other))));
        }
    })
}
