//! Policy in its JSON form, as `cf-promises -p json` writes it and `callstack_callers()`
//! shows the bundles under way. Reading that form is done in `load`.

use std::rc::Rc;

use crate::json::{Json, Object};
use crate::policy::{Attribute, Body, Bundle, Policy, Promise, Rval};
use crate::text::Str;

fn object(fields: impl IntoIterator<Item = (&'static str, Json)>) -> Json {
    let mut out = Object::new();
    for (name, value) in fields {
        crate::json::put(&mut out, name.into(), value);
    }
    Json::Object(out)
}

fn names(names: &[Str]) -> Json {
    Json::Array(names.iter().map(|name| Json::Str(Rc::clone(name))).collect())
}

fn line(number: u32) -> Json {
    Json::Int(i64::from(number))
}

// The whole policy, or what one file holds.
fn policy(policy: &Policy, only: Option<&str>) -> Json {
    let wanted = |file: &Str| only.is_none_or(|only| &**file == only);
    let bodies = policy.bodies.iter().filter(|it| wanted(&it.file)).map(body);
    let bundles = policy.bundles.iter().filter(|it| wanted(&it.head.file)).map(|it| bundle(it));
    object([("bodies", Json::Array(bodies.collect())), ("bundles", Json::Array(bundles.collect()))])
}

/// One bundle.
pub(crate) fn bundle(bundle: &Bundle) -> Json {
    let head = &bundle.head;
    let sections = bundle.sections.iter().map(|section| {
        object([
            ("line", line(section.line)),
            ("name", Json::Str(Rc::clone(&section.kind))),
            ("contexts", promises(&section.promises)),
        ])
    });
    object([
        ("sourcePath", Json::Str(Rc::clone(&head.file))),
        ("line", line(head.line)),
        ("namespace", Json::Str(Rc::clone(&head.namespace))),
        ("name", Json::Str(Rc::clone(&head.name))),
        ("bundleType", Json::Str(Rc::clone(&head.kind))),
        ("arguments", names(&head.args)),
        ("promiseTypes", Json::Array(sections.collect())),
    ])
}

fn body(body: &Rc<Body>) -> Json {
    let any: Str = "any".into();
    let mut contexts: Vec<(Str, Vec<Json>)> = Vec::new();
    for inner in &body.attributes {
        let guard = inner.guard.as_ref().unwrap_or(&any);
        push(&mut contexts, guard, attribute(inner));
    }
    let contexts = contexts.into_iter().map(|(name, attributes)| {
        object([("name", Json::Str(name)), ("attributes", Json::Array(attributes))])
    });
    object([
        ("sourcePath", Json::Str(Rc::clone(&body.file))),
        ("line", line(body.line)),
        ("namespace", Json::Str(Rc::clone(&body.namespace))),
        ("name", Json::Str(Rc::clone(&body.name))),
        ("bodyType", Json::Str(Rc::clone(&body.kind))),
        ("arguments", names(&body.args)),
        ("contexts", Json::Array(contexts.collect())),
    ])
}

// Consecutive items under one guard stand together.
fn push(groups: &mut Vec<(Str, Vec<Json>)>, guard: &Str, item: Json) {
    match groups.last_mut() {
        Some((known, items)) if known == guard => items.push(item),
        _ => groups.push((Rc::clone(guard), vec![item])),
    }
}

fn promises(promises: &[Rc<Promise>]) -> Json {
    let mut contexts: Vec<(Str, Vec<Json>)> = Vec::new();
    for promise in promises {
        let attributes = promise.attributes.iter().map(attribute).collect();
        let mut fields = vec![
            ("line", line(promise.line)),
            ("promiser", Json::Str(Rc::clone(&promise.promiser))),
            ("attributes", Json::Array(attributes)),
        ];
        match &promise.promisee {
            Rval::Scalar(text) => fields.push(("promisee", Json::Str(Rc::clone(text)))),
            Rval::List(items) => {
                let items = items.iter().filter_map(Rval::as_scalar);
                let items = items.map(|item| Json::Str(Rc::clone(item))).collect();
                fields.push(("promisee", Json::Array(items)));
            }
            _ => {}
        }
        push(&mut contexts, &promise.guard, object(fields));
    }
    let contexts = contexts.into_iter().map(|(name, promises)| {
        object([("name", Json::Str(name)), ("promises", Json::Array(promises))])
    });
    Json::Array(contexts.collect())
}

fn attribute(attribute: &Attribute) -> Json {
    let value = match &attribute.value {
        Rval::Scalar(text) if attribute.bare => {
            object([("type", Json::str("symbol")), ("value", Json::Str(Rc::clone(text)))])
        }
        value => rval(value),
    };
    object([
        ("line", line(attribute.line)),
        ("lval", Json::Str(Rc::clone(&attribute.name))),
        ("rval", value),
    ])
}

fn rval(value: &Rval) -> Json {
    match value {
        Rval::Scalar(text) => {
            object([("type", Json::str("string")), ("value", Json::Str(Rc::clone(text)))])
        }
        Rval::List(items) => object([
            ("type", Json::str("list")),
            ("value", Json::Array(items.iter().map(rval).collect())),
        ]),
        Rval::Call(call) => object([
            ("type", Json::str("functionCall")),
            ("name", Json::Str(Rc::clone(&call.name))),
            ("arguments", Json::Array(call.args.iter().map(rval).collect())),
        ]),
        Rval::Data(json) => (**json).clone(),
        Rval::None => Json::Null,
    }
}

/// The text of `cf-promises -p json-full`, or of `-p json` for one file: written two levels in.
pub(crate) fn output(whole: &Policy, only: Option<&str>) -> String {
    policy(whole, only).pretty().lines().collect::<Vec<_>>().join("\n    ")
}
