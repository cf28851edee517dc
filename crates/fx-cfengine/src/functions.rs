//! Every function of the language: dispatch by name, and how arguments become data.
//!
//! A function gets expanded arguments and returns a value, or `None` when it fails; the
//! caller leaves the variable as it was then.

mod address;
mod csv;
pub(crate) mod data;
mod eval_math;
pub(crate) mod files;
pub(crate) mod hash;
pub(crate) mod list;
pub(crate) mod logic;
pub(crate) mod net;
mod order;
pub(crate) mod policy;
pub(crate) mod read;
pub(crate) mod string;
pub(crate) mod system;
pub(crate) mod time;

use std::rc::Rc;

use crate::eval::Context;
use crate::eval::value::Value;
use crate::eval::vars::{Found, Ref, split_indices};
use crate::json::{Json, Object, put};
use crate::policy::{Call, Rval, scope_key};
use crate::text::{Str, naked};

pub use hash::{digest_hex, digest_of_file};
pub use policy::default_template_data;

/// Result of a function.
pub type FnResult = Option<Rval>;

/// A whole number as IntFromString reads it, which logs a text that is none.
pub(crate) fn whole(ctx: &Context<'_>, text: &str) -> Option<i64> {
    let number = crate::text::int_from(text);
    if number.is_none() && !text.contains('$') {
        ctx.error(&crate::text::number_problem(text, "integer"));
    }
    number
}

/// The text of an argument; empty when it is not there or is data.
pub(crate) fn arg(args: &[Rval], index: usize) -> &str {
    match args.get(index) {
        Some(Rval::Scalar(text)) => text,
        _ => "",
    }
}

pub(crate) fn text(value: impl Into<Str>) -> FnResult {
    Some(Rval::Scalar(value.into()))
}

pub(crate) fn truth(value: bool) -> FnResult {
    text(if value { "any" } else { "!any" })
}

pub(crate) fn list(items: Vec<Str>) -> FnResult {
    Some(Rval::List(items.into_iter().map(Rval::Scalar).collect()))
}

pub(crate) fn container(json: Json) -> FnResult {
    Some(Rval::Data(Rc::new(json)))
}

/// A right-hand side as data.
pub fn rval_to_json(value: &Rval) -> Json {
    match value {
        Rval::None => Json::Null,
        Rval::Scalar(text) => Json::Str(Rc::clone(text)),
        Rval::List(items) => Json::Array(items.iter().map(rval_to_json).collect()),
        Rval::Call(_) => Json::Str(value.show().into()),
        Rval::Data(json) => (**json).clone(),
    }
}

/// What a function is called with.
#[derive(Clone, Copy)]
pub(crate) struct Given<'a> {
    /// The name it is called by.
    pub(crate) name: &'a str,
    /// Its arguments, expanded.
    pub(crate) args: &'a [Rval],
    /// The call as it is written.
    pub(crate) call: &'a Rc<Call>,
}

/// The code behind a function; the table of the vocabulary names it for each.
pub(crate) type Native = fn(&mut Context<'_>, Given<'_>) -> FnResult;

impl Context<'_> {
    /// A name as functions take it, qualified by the calling bundle.
    pub(crate) fn qualify(&self, name: &str) -> (Option<Str>, Str) {
        let reference = Ref::parse(name);
        if reference.scope.is_some() {
            let namespace = reference.namespace.unwrap_or("default");
            let scope = reference.scope.unwrap_or_default();
            return (Some(scope_key(namespace, scope)), reference.name.into());
        }
        let head = self.bundle_frame().map(|frame| Rc::clone(&frame.head));
        (head.map(|head| Rc::clone(&head.scope)), reference.name.into())
    }

    /// The data an argument stands for: itself, inline JSON, or a variable of any kind.
    pub(crate) fn data_arg(&self, value: &Rval, allow_scalars: bool) -> Option<Json> {
        let text = match value {
            Rval::Data(json) => return Some((**json).clone()),
            Rval::Scalar(text) => text,
            _ => return None,
        };
        let trimmed = text.trim_start();
        if trimmed.starts_with(['{', '['])
            && let Some(json) = Json::parse_with(text, &|word| self.variable_json(word, true))
            && json.is_container()
        {
            return Some(json);
        }
        let name = naked(text, b'@').unwrap_or(text);
        self.variable_json(name, allow_scalars)
    }

    /// A container that format() writes is in order from then on: the original sorts it for
    /// that and keeps it so, which later listings of its keys show.
    pub(crate) fn sort_written(&mut self, value: &Rval) {
        let Rval::Scalar(text) = value else { return };
        let (Some(scope), name) = self.qualify(naked(text, b'@').unwrap_or(text)) else { return };
        let Some(variable) =
            self.vars.scopes.get_mut(&scope).and_then(|scope| scope.vars.get_mut(&*name))
        else {
            return;
        };
        if let Value::Data(json) = &variable.value
            && let Some(sorted) = json.sorted()
        {
            variable.value = Value::Data(Rc::new(sorted));
        }
    }

    /// A variable, list, container or array as data.
    pub(crate) fn variable_json(&self, name: &str, allow_scalars: bool) -> Option<Json> {
        let name = naked(name, b'@').unwrap_or(name);
        match self.lookup_function_arg(name) {
            Some(Found::Part(json)) => return Some(json.clone()),
            Some(Found::Variable(variable)) => match &variable.value {
                Value::List(_) | Value::Data(_) => return Some(variable.value.to_json()),
                Value::Scalar(text) if allow_scalars => return Some(Json::Str(Rc::clone(text))),
                Value::Scalar(_) => {}
            },
            None => {}
        }
        self.array_json(name)
    }

    // As ResolveAndQualifyVarName does: an unqualified name belongs to the calling bundle.
    pub(crate) fn lookup_function_arg(&self, name: &str) -> Option<Found<'_>> {
        let reference = Ref::parse(name);
        if reference.scope.is_none()
            && let Some(frame) = self.bundle_frame()
        {
            let scope = match reference.namespace {
                Some(namespace) => scope_key(namespace, &frame.head.name),
                None => Rc::clone(&frame.head.scope),
            };
            return self.vars.get(&scope, reference.name).or_else(|| self.lookup(name, None, None));
        }
        self.lookup(name, None, None)
    }

    /// Array elements `name[…]` as an object.
    pub(crate) fn array_json(&self, name: &str) -> Option<Json> {
        let (scope_name, base) = self.qualify(name);
        let scope_name = scope_name?;
        let scope = self.vars.scope(&scope_name)?;
        if scope.elements == 0 {
            return None;
        }
        let depth = base
            .find('[')
            .and_then(|at| split_indices(&base[at..]))
            .map_or(0, |indices| indices.len());
        let mut object = Object::new();
        let elements = scope.vars.iter().filter_map(|(key, variable)| {
            let rest = key.strip_prefix(&*base)?;
            rest.starts_with('[').then_some((&*scope_name, &**key, (key, variable)))
        });
        for (key, variable) in self.variables_in_table_order(elements.collect()) {
            let Some(indices) = key.find('[').and_then(|at| split_indices(&key[at..])) else {
                continue;
            };
            insert_path(&mut object, &indices[depth..], &variable.value);
        }
        (!object.is_empty()).then_some(Json::Object(object))
    }
}

fn insert_path(object: &mut Object, path: &[&str], value: &Value) {
    match path {
        [] => {}
        [last] => {
            if matches!(object.get(*last), Some(Json::Object(_)))
                && matches!(value, Value::Scalar(_))
            {
                return;
            }
            if !matches!(value, Value::Data(_)) {
                put(object, (*last).into(), value.to_json());
            }
        }
        [first, rest @ ..] => {
            if !matches!(object.get(*first), Some(Json::Object(_))) {
                put(object, (*first).into(), Json::Object(Object::new()));
            }
            if let Some(Json::Object(inner)) = object.get_mut(*first) {
                insert_path(inner, rest, value);
            }
        }
    }
}

/// Primitive children as text, nulls left out.
pub(crate) fn primitives(json: &Json) -> Vec<Str> {
    json.values().filter(|value| **value != Json::Null).filter_map(Json::primitive).collect()
}
