//! Functions on numbers.

use super::{Call, Native, native};
use crate::eval::{Evaluated, Flow, number_from};
use crate::value::Value;

pub(super) static TABLE: &[Native] = &[
    native("abs", &["Numeric val", "String val"], |call| {
        Ok(match number(call, "abs")? {
            Value::Int(number) => Value::Int(number.saturating_abs()),
            Value::Float(number) => Value::Float(number.abs()),
            other => other,
        })
    }),
    native("ceiling", &["Numeric val", "String val"], |call| rounded(call, "ceiling", f64::ceil)),
    native("floor", &["Numeric val", "String val"], |call| rounded(call, "floor", f64::floor)),
    native("round", &["Numeric val"], |call| rounded(call, "round", f64::round)),
];

fn number(call: &Call<'_>, name: &str) -> Evaluated {
    match call.arg(0) {
        Value::String(text) => {
            let kind = if name == "abs" { "Numeric" } else { "Float" };
            call.evaluator.warn(&format!("The {name}() function's auto conversion of String to {kind} is deprecated - change to convert input before calling\n   (file & line not available)"), None);
            number_from(text).ok_or_else(|| {
                Flow::raw(match name {
                    "abs" => "abs(): Requires float or integer to work with - was given non decimal string".to_owned(),
                    _ => format!("{name}(): cannot convert given value to a floating point value."),
                })
            })
        }
        other => Ok(other.clone()),
    }
}

fn rounded(call: &Call<'_>, name: &str, way: fn(f64) -> f64) -> Evaluated {
    Ok(match number(call, name)? {
        Value::Float(number) => Value::Int(way(number) as i64),
        other => other,
    })
}
