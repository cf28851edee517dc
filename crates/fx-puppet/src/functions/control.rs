//! Leaving code early, calling by name, failing.

use super::{Call, Native, native};
use crate::eval::{Evaluated, Flow};
use crate::value::Value;

pub(super) static TABLE: &[Native] = &[
    native("return", &["Any value?"], |call| Err(Flow::Return(call.arg(0).clone(), call.span))),
    native("next", &["Any value?"], |call| Err(Flow::Next(call.arg(0).clone(), call.span))),
    native("break", &[""], |call| Err(Flow::Break(call.span))),
    native("fail", &[], |call| {
        let text = |value: &Value| match value {
            Value::Regex(_) => crate::eval::interpolated(value),
            value => crate::eval::ruby_text(value),
        };
        Err(Flow::raw(call.args.iter().map(text).collect::<Vec<_>>().join(" ")))
    }),
    native("import", &["Any args*"], |call| {
        Err(Flow::at(
            call.span,
            "Use of 'import' has been discontinued in favor of a manifest directory. See http://links.puppet.com/puppet-import-deprecation",
        ))
    }),
    native(
        "call",
        &["String function_name, Any arguments*, &Callable block?", "Deferred deferred"],
        call_by_name,
    ),
    native(
        "annotate",
        &[
            "Type[Annotation] type, Any value, &Callable[0, 0] block?",
            "Type[Annotation] type, Any value, Variant[Enum['clear'], Hash[Pcore::MemberName, Any]] annotation_hash",
            "Type[Pcore] type, Any value, Hash[Type[Annotation], Hash[Pcore::MemberName, Any]] annotations",
        ],
        |_| Err(Flow::raw("annotate is not supported")),
    ),
];

fn call_by_name(call: &Call<'_>) -> Evaluated {
    match call.arg(0) {
        Value::Deferred(name, args) => match name.strip_prefix('$') {
            Some(variable) => {
                Ok(call.evaluator.find_variable(variable, call.scope).unwrap_or(Value::Undef))
            }
            None => call.evaluator.call_function(name, args.to_vec(), None, call.span, call.scope),
        },
        _ => {
            let name = call.text(0);
            let args = call.args[1..].to_vec();
            let block = call.block.cloned();
            let made = call.evaluator.call_known(name, args, block, call.span, call.scope)?;
            made.ok_or_else(|| Flow::raw(format!("Unknown function '{name}'")))
        }
    }
}
