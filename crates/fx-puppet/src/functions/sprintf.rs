//! `sprintf` with Ruby's formats.

use super::{Call, Native, native};
use crate::eval::{Evaluated, Flow, Spec, inspected, interpolated, number_from, ruby_text};
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
    let mut next = args.iter();
    let names = match args.first() {
        Some(Value::Hash(hash)) => Some(hash),
        _ => None,
    };
    let mut out = String::new();
    let mut chars = format.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '%' {
            out.push(c);
            continue;
        }
        let mut spec = Spec::default();
        let mut named = None;
        loop {
            let Some(c) = chars.next() else {
                return Err(Flow::raw(if spec.width > 0 {
                    "malformed format string - %*[0-9]"
                } else {
                    "incomplete format specifier; use %% (double %) instead"
                }));
            };
            match c {
                '-' => spec.minus = true,
                '+' => spec.plus = true,
                ' ' => spec.space = true,
                '#' => spec.alt = true,
                '0' => spec.zero = true,
                '1'..='9' => {
                    let mut digits = String::from(c);
                    while let Some(digit) = chars.next_if(char::is_ascii_digit) {
                        digits.push(digit);
                    }
                    let number = digits.parse::<usize>().unwrap_or(0).min(1 << 20);
                    if chars.next_if_eq(&'$').is_some() {
                        let Some(value) = args.get(number - 1) else {
                            return Err(Flow::raw("too few arguments"));
                        };
                        named = Some(value.clone());
                    } else {
                        spec.width = number;
                    }
                }
                '*' => {
                    if let Some(Value::Int(width)) = next.next() {
                        spec.minus |= *width < 0;
                        spec.width = (width.unsigned_abs() as usize).min(1 << 20);
                    }
                }
                '.' => {
                    let mut digits = String::new();
                    while let Some(digit) = chars.next_if(char::is_ascii_digit) {
                        digits.push(digit);
                    }
                    spec.precision = Some(digits.parse::<usize>().unwrap_or(0).min(1 << 10));
                }
                '<' | '{' => {
                    let close = if c == '<' { '>' } else { '}' };
                    if !chars.clone().any(|c| c == close) {
                        return Err(Flow::raw("malformed name - unmatched parenthesis"));
                    }
                    let name: String = chars.by_ref().take_while(|c| *c != close).collect();
                    let Some(names) = names else { return Err(Flow::raw("one hash required")) };
                    let Some(value) = names.get(&Value::from(name.as_str())) else {
                        return Err(Flow::raw(format!("key{c}{name}{close} not found")));
                    };
                    if c == '{' {
                        out.push_str(&spec.text(&ruby_text(value)));
                        break;
                    }
                    named = Some(value.clone());
                }
                '%' => {
                    out.push('%');
                    break;
                }
                letter => {
                    let value = match named {
                        Some(value) => value,
                        None => {
                            next.next().cloned().ok_or_else(|| Flow::raw("too few arguments"))?
                        }
                    };
                    out.push_str(&shown(letter, &spec, &value)?);
                    break;
                }
            }
        }
    }
    Ok(Value::from(out))
}

fn shown(letter: char, spec: &Spec, value: &Value) -> Evaluated<String> {
    Ok(match letter {
        's' => spec.text(&ruby_text(value)),
        'p' if matches!(value, Value::Sensitive(_)) => spec.text("#<Sensitive [value redacted]>"),
        'p' => spec.text(&inspected(value)),
        'd' | 'i' | 'u' | 'x' | 'X' | 'o' | 'b' | 'B' => spec.integer(letter, integer(value)?),
        'f' | 'e' | 'E' | 'g' | 'G' | 'a' | 'A' => spec.float(letter, float(value)?),
        'c' => {
            let code = match value {
                Value::Int(code) => *code,
                Value::Float(number) => *number as i64,
                Value::String(text) => match text.chars().collect::<Vec<_>>().as_slice() {
                    [one] => i64::from(u32::from(*one)),
                    _ => return Err(Flow::raw("%c requires a character")),
                },
                _ => return Err(Flow::raw("%c requires a character")),
            };
            let c = u32::try_from(code).ok().and_then(char::from_u32);
            let Some(c) = c else { return Err(Flow::raw("pack(U): value out of range")) };
            spec.text(c.encode_utf8(&mut [0; 4]))
        }
        other => return Err(Flow::raw(format!("malformed format string - %{other}"))),
    })
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
