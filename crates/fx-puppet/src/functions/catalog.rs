//! Functions that declare, ask for and tag resources.

use std::rc::Rc;

use super::{Call, Native, native};
use crate::compile::{from_json, to_json};
use crate::eval::{Evaluated, Flow, interpolated};
use crate::types::Type;
use crate::value::Value;

pub(super) static TABLE: &[Native] = &[
    native("include", &["Any names+"], |call| classes(call, |_, _, _| {})),
    native("contain", &["Any names+"], |call| {
        classes(call, |call, _, places| {
            for at in places {
                call.evaluator.contain(call.scope, *at);
            }
        })
    }),
    native("require", &["Any names+"], |call| {
        classes(call, |call, names, _| {
            for name in names {
                call.evaluator.require(call.scope, name);
            }
        })
    }),
    native("create_resources", &[], create_resources),
    native("realize", &[], |call| {
        call.evaluator.realize(call.args, call.span);
        Ok(Value::Undef)
    }),
    native("tag", &[], |call| {
        for tag in flat(call.args) {
            call.evaluator.tag(call.scope, &interpolated(&tag))?;
        }
        Ok(Value::Undef)
    }),
    native("tagged", &[], |call| {
        let tags = flat(call.args);
        Ok(Value::Bool(
            !tags.is_empty()
                && tags.iter().all(|tag| call.evaluator.is_tagged(call.scope, &interpolated(tag))),
        ))
    }),
    native(
        "defined",
        &["Variant[String, Type[CatalogEntry], Type[Type[CatalogEntry]]] vals+"],
        defined,
    ),
    native("puppetdb_query", &["Variant[String[1], Array[Data, 1]] query"], puppetdb_query),
];

/// What the store of the server answers.
fn puppetdb_query(call: &Call<'_>) -> Evaluated {
    let Some(exports) = &call.evaluator.settings.exports else {
        return Err(Flow::raw("puppetdb_query(): only a server has what nodes report"));
    };
    let found = exports.query(&to_json(call.arg(0)));
    found
        .map(|found| from_json(&found))
        .map_err(|why| Flow::raw(format!("puppetdb_query(): {why}")))
}

fn flat(args: &[Value]) -> Vec<Value> {
    let mut out = Vec::new();
    for arg in args {
        match arg {
            Value::Array(items) => out.extend(flat(items)),
            other => out.push(other.clone()),
        }
    }
    out
}

/// Names of classes from strings and references.
fn classes(call: &Call<'_>, then: fn(&Call<'_>, &[Rc<str>], &[usize])) -> Evaluated {
    let mut names = Vec::new();
    for value in flat(call.args) {
        let name: Rc<str> = match &value {
            Value::String(name) => name.trim_start_matches("::").to_lowercase().into(),
            Value::Type(ty) => match &**ty {
                Type::Class(Some(name)) => Rc::clone(name),
                Type::Resource { name: Some(kind), title: Some(title) } if &**kind == "class" => {
                    title.to_lowercase().into()
                }
                Type::Class(None) => {
                    return Err(Flow::raw("Cannot use an unspecific Class[] Type"));
                }
                other => {
                    return Err(Flow::raw(format!(
                        "Cannot use {other} where a class name is expected"
                    )));
                }
            },
            Value::Undef => return Err(Flow::raw("Cannot use undef as a class name")),
            other => {
                return Err(Flow::raw(format!(
                    "Illegal Class name in class reference. A {} cannot be used where a String is expected",
                    crate::eval::kind(other)
                )));
            }
        };
        if name.is_empty() {
            return Err(Flow::raw("Cannot use empty string as a class name"));
        }
        names.push(name);
    }
    let places = call.evaluator.include(&names, call.scope)?;
    then(call, &names, &places);
    Ok(Value::array(names.into_iter().map(|name| Value::ty(Type::Class(Some(name)))).collect()))
}

fn create_resources(call: &Call<'_>) -> Evaluated {
    if call.args.len() < 2 || call.args.len() > 3 {
        return Err(Flow::raw(format!(
            "create_resources(): wrong number of arguments ({}; must be 2 or 3)",
            call.args.len()
        )));
    }
    let ty = interpolated(call.arg(0));
    let Value::Hash(instances) = call.arg(1) else {
        return Err(Flow::raw("create_resources(): second argument must be a hash"));
    };
    let defaults = match call.args.get(2) {
        Some(Value::Hash(defaults)) => Rc::clone(defaults),
        None => Rc::default(),
        Some(_) => {
            return Err(Flow::raw(
                "create_resources(): third argument, if provided, must be a hash",
            ));
        }
    };
    for (title, attributes) in &**instances {
        let mut all = crate::value::Hash::clone(&defaults);
        let Value::Hash(own) = attributes else {
            let class = match attributes {
                Value::Undef => "nil".to_owned(),
                other => super::sprintf::class_of(other),
            };
            return Err(Flow::raw(format!("no implicit conversion of {class} into Hash")));
        };
        all.extend(own.iter().map(|(key, value)| (key.clone(), value.clone())));
        call.evaluator.declare_from_hash(&ty, title, &all, call.span, call.scope)?;
    }
    Ok(Value::Undef)
}

fn defined(call: &Call<'_>) -> Evaluated {
    let evaluator = call.evaluator;
    for value in call.args {
        let found = match value {
            Value::String(text) => match text.strip_prefix('$') {
                Some(name) => {
                    name == "facts" || evaluator.find_variable(name, call.scope).is_some()
                }
                None if text.contains('[') => match evaluator.type_from_text(text) {
                    Ok(ty) => evaluator.is_declared(&ty),
                    Err(_) => false,
                },
                None => {
                    let name = text.trim_start_matches("::").to_lowercase();
                    if &**text == "main" {
                        true
                    } else {
                        evaluator.is_resource_type(&name)?
                            || evaluator.class_named(&name)?.is_some()
                    }
                }
            },
            Value::Type(ty) => match &**ty {
                Type::Resource { name: Some(name), title: None } => {
                    evaluator.is_resource_type(name)?
                }
                Type::Meta(Some(inner)) => match &**inner {
                    Type::Resource { name: Some(name), .. } => evaluator.is_resource_type(name)?,
                    Type::Class(Some(name)) => evaluator.class_named(name)?.is_some(),
                    _ => false,
                },
                ty => evaluator.is_declared(ty),
            },
            _ => false,
        };
        if found {
            return Ok(Value::Bool(true));
        }
    }
    Ok(Value::Bool(false))
}
