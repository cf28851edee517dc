//! Values that the catalog leaves to the node: functions called, and variables read, just
//! before anything is applied.

use std::rc::Rc;

use crate::eval::{Evaluated, Evaluator, Flow, Issue, Scope};
use crate::value::Value;

/// Deepest nesting of values looked through.
const MAX_DEPTH: u32 = 100;

/// Puts the values in place of what stands for them; what went wrong otherwise.
pub(super) fn resolve(evaluator: &Evaluator) -> Result<(), String> {
    let mut found = Vec::new();
    for (at, resource) in evaluator.catalog.borrow().resources.iter().enumerate() {
        for (name, given) in &resource.attributes {
            if has_deferred(&given.value, 0) {
                found.push((at, Rc::clone(name), given.value.clone()));
            }
        }
    }
    let scope = Scope::new(Rc::clone(&evaluator.top));
    for (at, name, value) in found {
        let value = resolved(evaluator, &value, &scope, 0).map_err(message)?;
        let mut catalog = evaluator.catalog.borrow_mut();
        let resource = &mut catalog.resources[at];
        // What a function makes a secret is one from here on.
        let (value, is_secret) = match value {
            Value::Sensitive(inner) => (Value::clone(&inner), true),
            value => (value, false),
        };
        if is_secret && !resource.sensitive.contains(&name) {
            resource.sensitive.push(Rc::clone(&name));
        }
        if let Some(given) = resource.attributes.get_mut(&name) {
            given.value = value;
        }
    }
    Ok(())
}

/// Whether a resource has values that are left to the node.
pub(super) fn is_deferred(resource: &crate::compile::Resource) -> bool {
    resource.attributes.values().any(|given| has_deferred(&given.value, 0))
}

/// A resource with those values found out.
pub(super) fn resolved_now(
    evaluator: &Evaluator,
    resource: &crate::compile::Resource,
) -> Result<crate::compile::Resource, String> {
    let scope = Scope::new(Rc::clone(&evaluator.top));
    let mut now = resource.clone();
    for (name, given) in &resource.attributes {
        if !has_deferred(&given.value, 0) {
            continue;
        }
        let value = resolved(evaluator, &given.value, &scope, 0).map_err(message)?;
        if let (Value::Sensitive(_), false) = (&value, now.sensitive.contains(name)) {
            now.sensitive.push(Rc::clone(name));
        }
        if let Some(given) = now.attributes.get_mut(name) {
            given.value = value;
        }
    }
    Ok(now)
}

/// The message of a failure, without a place, which deferred values have not.
fn message(flow: Flow) -> String {
    match flow.misplaced() {
        Flow::Fail(failure) => match failure.issue {
            Issue::UnknownFunction(name) => format!("Unknown function '{name}'"),
            _ => failure.message,
        },
        _ => String::new(),
    }
}

fn has_deferred(value: &Value, depth: u32) -> bool {
    depth < MAX_DEPTH
        && match value {
            Value::Deferred(..) => true,
            Value::Array(items) => items.iter().any(|item| has_deferred(item, depth + 1)),
            Value::Hash(hash) => hash.values().any(|item| has_deferred(item, depth + 1)),
            Value::Sensitive(inner) => has_deferred(inner, depth + 1),
            _ => false,
        }
}

fn resolved(evaluator: &Evaluator, value: &Value, scope: &Rc<Scope>, depth: u32) -> Evaluated {
    if depth >= MAX_DEPTH {
        return Err(Flow::raw("deferred values are nested too deep"));
    }
    let inner = |value: &Value| resolved(evaluator, value, scope, depth + 1);
    Ok(match value {
        Value::Deferred(name, args) => {
            let args = args.iter().map(inner).collect::<Evaluated<Vec<Value>>>()?;
            match name.strip_prefix('$') {
                // A variable, and a way into it.
                Some(variable) => {
                    let whole = evaluator.find_variable(variable, scope).unwrap_or_default();
                    let nowhere = fx_source::Span::new(evaluator.builtin, 0, 0);
                    if args.is_empty() {
                        return Ok(whole);
                    }
                    let args = [vec![whole], args].concat();
                    evaluator.call_function("dig", args, None, nowhere, scope)?
                }
                None => {
                    let nowhere = fx_source::Span::new(evaluator.builtin, 0, 0);
                    evaluator.call_function(name, args, None, nowhere, scope)?
                }
            }
        }
        Value::Array(items) => {
            Value::array(items.iter().map(inner).collect::<Evaluated<Vec<Value>>>()?)
        }
        Value::Hash(hash) => {
            let mut pairs = Vec::with_capacity(hash.len());
            for (key, value) in &**hash {
                pairs.push((key.clone(), inner(value)?));
            }
            Value::hash(pairs)
        }
        Value::Sensitive(value) => match inner(value)? {
            secret @ Value::Sensitive(_) => secret,
            open => Value::Sensitive(Rc::new(open)),
        },
        value => value.clone(),
    })
}
