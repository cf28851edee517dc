//! `value[key…]` on values. Types have a file of their own.

use std::rc::Rc;

use fx_puppet_syntax::Expr;
use fx_source::Span;

use super::error::Flow;
use super::label::{place, with_article};
use super::{Evaluated, Evaluator, Scope};
use crate::types::Type;
use crate::value::Value;

impl Evaluator {
    pub(super) fn access(&self, left: &Expr, keys: &[Expr], scope: &Rc<Scope>) -> Evaluated {
        let value = match &left.kind {
            // A name of a type before brackets is not looked up as a whole first.
            fx_puppet_syntax::ExprKind::Reference(name) => {
                Value::ty(self.type_for_access(name, left.span)?)
            }
            _ => self.eval(left, scope)?,
        };
        let mut values = Vec::with_capacity(keys.len());
        let mut spans = Vec::with_capacity(keys.len());
        for key in keys {
            if let fx_puppet_syntax::ExprKind::Unfold(inner) = &key.kind {
                for item in self.unfold(inner, scope)? {
                    values.push(item);
                    spans.push(place(key));
                }
            } else {
                values.push(self.eval(key, scope)?);
                spans.push(place(key));
            }
        }
        self.access_value(&value, &values, left.span, &spans)
    }

    /// The part of a value that keys name.
    pub(crate) fn access_value(
        &self,
        value: &Value,
        keys: &[Value],
        span: Span,
        spans: &[Span],
    ) -> Evaluated {
        match value {
            Value::Array(items) => self.slice(items, keys, span, spans, false),
            Value::String(text) => {
                let chars: Vec<Value> = text.chars().map(|c| Value::from(c.to_string())).collect();
                Ok(match self.slice(&chars, keys, span, spans, true)? {
                    Value::Array(parts) => {
                        Value::from(parts.iter().filter_map(Value::as_str).collect::<String>())
                    }
                    Value::Undef => Value::from(""),
                    single => single,
                })
            }
            Value::Hash(hash) => match keys {
                [key] => Ok(hash.get(key).cloned().unwrap_or(Value::Undef)),
                keys => {
                    Ok(Value::array(keys.iter().filter_map(|key| hash.get(key).cloned()).collect()))
                }
            },
            Value::Type(ty) => self.access_type(ty, keys, span, spans),
            Value::Object(_, fields) => match keys {
                [key] => Ok(fields.get(key).cloned().unwrap_or(Value::Undef)),
                _ => Err(Flow::at(span, "Operator '[]' is not applicable to an Object.")),
            },
            Value::Binary(bytes) => {
                let items: Vec<Value> =
                    bytes.iter().map(|byte| Value::Int(i64::from(*byte))).collect();
                Ok(match self.slice(&items, keys, span, spans, true)? {
                    Value::Array(parts) => Value::Binary(
                        parts
                            .iter()
                            .filter_map(|part| {
                                if let Value::Int(byte) = part { Some(*byte as u8) } else { None }
                            })
                            .collect(),
                    ),
                    Value::Int(byte) => Value::Binary(Rc::from([byte as u8])),
                    other => other,
                })
            }
            other => Err(Flow::at(
                span,
                format!("Operator '[]' is not applicable to {}.", with_article(other)),
            )),
        }
    }

    /// Items by place; `text` where they are the characters of one.
    fn slice(
        &self,
        items: &[Value],
        keys: &[Value],
        span: Span,
        spans: &[Span],
        text: bool,
    ) -> Evaluated {
        if keys.is_empty() || keys.len() > 2 {
            let of = if text { "String" } else { "Array" };
            return Err(Flow::at(
                span,
                format!("{of} supports [] with one or two arguments. Got {}", keys.len()),
            ));
        }
        let mut numbers = Vec::new();
        for (index, key) in keys.iter().enumerate() {
            let at = spans.get(index).copied().unwrap_or(span);
            match key {
                Value::Int(number) => numbers.push(*number),
                Value::String(digits) => match super::operators::number_from(digits) {
                    Some(Value::Int(number)) => {
                        if !text {
                            self.warn_coerced(digits, &number.to_string(), at)?;
                        }
                        numbers.push(number);
                    }
                    _ if text => return Err(no_index(key, at)),
                    _ => {
                        return Err(Flow::at(
                            at,
                            format!("The value '{digits}' cannot be converted to Numeric."),
                        ));
                    }
                },
                other if text => return Err(no_index(other, at)),
                Value::Float(_) => {
                    return Err(Flow::at(
                        at,
                        "An Array[] cannot use Float where Integer is expected",
                    ));
                }
                other => {
                    return Err(Flow::at(
                        at,
                        format!(
                            "The value '{}' cannot be converted to Numeric.",
                            super::text::interpolated(other)
                        ),
                    ));
                }
            }
        }
        let count = items.len() as i64;
        let from = if numbers[0] < 0 { count + numbers[0] } else { numbers[0] };
        match numbers.get(1) {
            None => Ok(usize::try_from(from)
                .ok()
                .and_then(|at| items.get(at))
                .cloned()
                .unwrap_or(Value::Undef)),
            Some(length) => {
                // A negative length counts from the end.
                let end = if *length < 0 { count + length + 1 } else { from + length };
                let (from, end) = (from.max(0), end.min(count));
                if from >= end {
                    return Ok(Value::array(Vec::new()));
                }
                Ok(Value::array(items[from as usize..end as usize].to_vec()))
            }
        }
    }

    /// A type by name where parameters follow.
    fn type_for_access(&self, name: &str, span: Span) -> Evaluated<Type> {
        if let Some(ty) = self.known_type(name, span)? {
            return Ok(ty);
        }
        Err(Flow::at(span, format!("Resource type not found: {name}")))
    }
}

fn no_index(key: &Value, at: Span) -> Flow {
    Flow::at(
        at,
        format!(
            "A substring operation does not accept {} as a character index. Expected an Integer",
            super::label::article(&match key {
                Value::String(_) => "String".to_owned(),
                key => crate::types::generalize(&crate::types::infer(key)).to_string(),
            })
        ),
    )
}
