//! Functions about types: asking for one, insisting on one, making instances.

use std::rc::Rc;

use super::{Call, Native, native};
use crate::eval::{Evaluated, Flow, mismatch_text};
use crate::types::{generalize, infer, infer_set, is_instance};
use crate::value::Value;

pub(super) static TABLE: &[Native] = &[
    native(
        "type",
        &[
            "Any value, Enum['detailed'] inference_method?",
            "Any value, Enum['reduced'] inference_method",
            "Any value, Enum['generalized'] inference_method",
        ],
        type_of,
    ),
    native(
        "assert_type",
        &[
            "Type type, Any value, &Callable[Type, Type] block?",
            "String type_string, Any value, &Callable[Type, Type] block?",
        ],
        assert_type,
    ),
    native("new", &["Type type, Any args*, &Callable block?"], |call| match call.arg(0) {
        Value::Type(ty) => call.evaluator.new_instance(ty, &call.args[1..], call.block),
        _ => Ok(Value::Undef),
    }),
    native("convert_to", &["Any value, Type type, Any args*, &Callable[1,1] block?"], |call| {
        match call.arg(1) {
            Value::Type(ty) => {
                let mut args = vec![call.arg(0).clone()];
                args.extend(call.args[2..].iter().cloned());
                call.evaluator.new_instance(ty, &args, call.block)
            }
            _ => Ok(Value::Undef),
        }
    }),
    native("unwrap", &["Sensitive arg, &Callable block?", "Any arg, &Callable block?"], unwrap),
];

fn type_of(call: &Call<'_>) -> Evaluated {
    let value = call.arg(0);
    Ok(Value::ty(match call.args.get(1).and_then(Value::as_str) {
        Some("reduced") => infer(value),
        Some("generalized") => generalize(&infer(value)),
        _ => infer_set(value),
    }))
}

fn assert_type(call: &Call<'_>) -> Evaluated {
    let ty = match call.arg(0) {
        Value::Type(ty) => Rc::clone(ty),
        other => call.evaluator.type_from_text(other.as_str().unwrap_or_default())?,
    };
    let value = call.arg(1);
    if is_instance(&ty, value) {
        return Ok(value.clone());
    }
    if call.block.is_some() {
        return call.yields(vec![Value::Type(ty), Value::ty(generalize(&infer(value)))]);
    }
    Err(Flow::raw(mismatch_text("assert_type():", &ty, value)))
}

fn unwrap(call: &Call<'_>) -> Evaluated {
    let value = match call.arg(0) {
        Value::Sensitive(inner) => {
            crate::effects::learn(call.evaluator.run, inner);
            Value::clone(inner)
        }
        other => other.clone(),
    };
    if call.block.is_some() { call.yields(vec![value]) } else { Ok(value) }
}
