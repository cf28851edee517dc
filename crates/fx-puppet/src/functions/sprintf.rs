//! `sprintf` with Ruby's formats.

use super::{Call, Native, native};
use crate::eval::{Evaluated, Flow, Spec, inspected, number_from, ruby_text};
use crate::value::Value;

pub(super) static TABLE: &[Native] = &[native("sprintf", &[], sprintf)];

fn sprintf(call: &Call<'_>) -> Evaluated {
    let Some(format) = call.args.first() else {
        return Err(Flow::raw("sprintf(): Wrong number of arguments given (0 for at least 1)"));
    };
    let mut next = call.args[1..].iter();
    let names = match call.args.get(1) {
        Some(Value::Hash(hash)) => Some(hash),
        _ => None,
    };
    let format = ruby_text(format);
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
                return Err(Flow::raw("incomplete format specifier; use %% (double %) instead"));
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
                    spec.width = digits.parse::<usize>().unwrap_or(0).min(1 << 20);
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
        'p' => spec.text(&inspected(value)),
        'd' | 'i' | 'u' | 'x' | 'X' | 'o' | 'b' | 'B' => spec.integer(letter, integer(value)?),
        'f' | 'e' | 'E' | 'g' | 'G' | 'a' | 'A' => spec.float(letter, float(value)?),
        'c' => spec.text(&match value {
            Value::Int(code) => {
                u32::try_from(*code).ok().and_then(char::from_u32).unwrap_or('\u{fffd}').to_string()
            }
            other => ruby_text(other).chars().take(1).collect(),
        }),
        other => return Err(Flow::raw(format!("malformed format string - %{other}"))),
    })
}

fn integer(value: &Value) -> Evaluated<i64> {
    Ok(match value {
        Value::Int(number) => *number,
        Value::Float(number) => number.floor() as i64,
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
            return Err(Flow::raw(format!(
                "can't convert {} into Integer",
                crate::eval::kind(other)
            )));
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
            return Err(Flow::raw(format!(
                "can't convert {} into Float",
                crate::eval::kind(other)
            )));
        }
    })
}
