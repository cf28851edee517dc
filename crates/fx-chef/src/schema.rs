//! The table of built-in resources: their properties, actions and the names they answer to.
//!
//! One JSON line a class or name, read when it is first asked for.

use fx_ruby::object::c;
use fx_ruby::value::NIL;
use fx_ruby::{Args, R, Value, Vm};
use serde_json::Value as J;

use crate::machine::{Machine, Method, text};

static TABLE: &str = include_str!("../prelude/resources.jsonl");

pub(crate) const METHODS: &[(&str, Method)] = &[
    ("schema", schema),
    ("provides", provides),
    ("known_resource?", known_resource),
    ("known_provider?", known_provider),
    ("resource_names", resource_names),
    ("nearest", nearest),
    ("meant", meant),
];

fn line(start: &str) -> Option<&'static str> {
    TABLE.lines().find(|line| line.starts_with(start))
}

fn class_line(name: &str) -> Option<J> {
    line(&format!("{{\"n\":\"{name}\",")).and_then(|line| serde_json::from_str(line).ok())
}

/// Whether an object is of a resource class that ships, not of a cookbook's.
pub(crate) fn is_built_in(vm: &mut Vm, object: Value) -> bool {
    let class = vm.real_class(object);
    let name = vm.class_name(class);
    name.strip_prefix("Chef::Resource::").is_some_and(|name| class_line(name).is_some())
}

fn known_resource(_: &Machine, vm: &mut Vm, a: Args) -> R {
    let name = text(vm, a, 0)?.unwrap_or_default();
    Ok(Value::bool(line(&format!("{{\"u\":\"{name}\",")).is_some()))
}

/// `FX.resource_names`: the names of all resources that ship, with blanks between them.
fn resource_names(_: &Machine, vm: &mut Vm, _: Args) -> R {
    let names = TABLE.lines().filter_map(|line| line.strip_prefix("{\"u\":\"")?.split('"').next());
    Ok(vm.str(names.collect::<Vec<_>>().join(" ")))
}

/// `FX.nearest(name, names)`: which of the names, with blanks between them, was likely meant by
/// one that may be another's.
fn nearest(_: &Machine, vm: &mut Vm, a: Args) -> R {
    let (name, names) = (text(vm, a, 0)?.unwrap_or_default(), text(vm, a, 1)?.unwrap_or_default());
    Ok(fx_source::nearest(&name, names.split(' ')).map_or(NIL, |near| vm.str(near)))
}

/// `FX.meant(name, names)`: the same for a name that is surely wrong.
fn meant(_: &Machine, vm: &mut Vm, a: Args) -> R {
    let (name, names) = (text(vm, a, 0)?.unwrap_or_default(), text(vm, a, 1)?.unwrap_or_default());
    Ok(fx_source::meant(&name, names.split(' ')).map_or(NIL, |near| vm.str(near)))
}

/// Provider classes that have no resource of the same name.
fn known_provider(_: &Machine, vm: &mut Vm, a: Args) -> R {
    let name = text(vm, a, 0)?.unwrap_or_default();
    Ok(Value::bool(matches!(name.as_str(), "Package" | "Service" | "User" | "Group" | "Mount")))
}

/// `[[class, filters], …]` for a name.
fn provides(_: &Machine, vm: &mut Vm, a: Args) -> R {
    let name = text(vm, a, 0)?.unwrap_or_default();
    let Some(line) = line(&format!("{{\"u\":\"{name}\",")) else { return Ok(NIL) };
    let Ok(json) = serde_json::from_str::<J>(line) else { return Ok(NIL) };
    let mut list = Vec::new();
    for candidate in json["c"].as_array().into_iter().flatten() {
        let class = vm.str(candidate[0].as_str().unwrap_or_default());
        let filters = vm.hash();
        for (key, value) in candidate[1].as_object().into_iter().flatten() {
            // The block only says that the class goes before those of cookbooks.
            let value = match key.as_str() {
                "block" => Value::bool(true),
                _ => crate::machine::from_json(vm, value)?,
            };
            let key = Value::sym(vm.intern(key));
            vm.hash_set(filters, key, value)?;
        }
        list.push(vm.arr(vec![class, filters]));
    }
    Ok(vm.arr(list))
}

fn symbol(vm: &mut Vm, name: &str) -> Value {
    Value::sym(vm.intern(name))
}

/// `[superclass, resource name, actions, default actions, [[name, options], …], [[other name of a
/// property, name], …]]`.
fn schema(_: &Machine, vm: &mut Vm, a: Args) -> R {
    let name = text(vm, a, 0)?.unwrap_or_default();
    let Some(json) = class_line(&name) else { return Ok(NIL) };
    let parent = vm.str(json["s"].as_str().unwrap_or_default());
    let rname = vm.str(json["r"].as_str().unwrap_or_default());
    let words = |vm: &mut Vm, key: &str| -> Value {
        let list: Vec<Value> = json[key]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(J::as_str)
            .map(|word| Value::sym(vm.intern(word)))
            .collect();
        vm.arr(list)
    };
    let actions = words(vm, "a");
    let default = words(vm, "d");
    let mut props = Vec::new();
    for prop in json["p"].as_array().into_iter().flatten() {
        let name = symbol(vm, prop[0].as_str().unwrap_or_default());
        let options = vm.hash();
        for (key, value) in prop[1].as_object().into_iter().flatten() {
            let value = match key.as_str() {
                "is" => types(vm, value)?,
                "regex" => regex(vm, value)?,
                _ => literal(vm, value)?,
            };
            let key = symbol(vm, key);
            vm.hash_set(options, key, value)?;
        }
        props.push(vm.arr(vec![name, options]));
    }
    let props = vm.arr(props);
    let mut aliases = Vec::new();
    for (other, name) in json["l"].as_object().into_iter().flatten() {
        let pair = vec![symbol(vm, other), symbol(vm, name.as_str().unwrap_or_default())];
        aliases.push(vm.arr(pair));
    }
    let aliases = vm.arr(aliases);
    Ok(vm.arr(vec![parent, rname, actions, default, props, aliases]))
}

/// Types by name; other values stand for themselves.
fn types(vm: &mut Vm, json: &J) -> R {
    match json {
        J::String(name) if name.starts_with(|ch: char| ch.is_ascii_uppercase()) => {
            let sym = vm.intern(name);
            Ok(vm.const_in(c::OBJECT, sym, true)?.unwrap_or(NIL))
        }
        J::Array(items) => {
            let mut list = Vec::new();
            for item in items {
                list.push(types(vm, item)?);
            }
            Ok(vm.arr(list))
        }
        other => literal(vm, other),
    }
}

fn literal(vm: &mut Vm, json: &J) -> R {
    Ok(match json {
        J::String(text) if text.len() > 1 && text.starts_with(':') => symbol(vm, &text[1..]),
        J::Array(items) => {
            let mut list = Vec::new();
            for item in items {
                list.push(literal(vm, item)?);
            }
            vm.arr(list)
        }
        J::Object(map) => {
            let h = vm.hash();
            for (key, value) in map {
                let key = symbol(vm, key);
                let value = literal(vm, value)?;
                vm.hash_set(h, key, value)?;
            }
            h
        }
        other => crate::machine::from_json(vm, other)?,
    })
}

/// `/source/options` or a list of such.
fn regex(vm: &mut Vm, json: &J) -> R {
    match json {
        J::String(text) => {
            let (body, flags) =
                text.trim_start_matches('/').rsplit_once('/').unwrap_or((text, "0"));
            let source = vm.str(body);
            let flags = Value::fix(flags.parse().unwrap_or(0));
            vm.call_name(Value::class(c::REGEXP), "new", &[source, flags])
        }
        J::Array(items) => {
            let mut list = Vec::new();
            for item in items {
                list.push(regex(vm, item)?);
            }
            Ok(vm.arr(list))
        }
        _ => Ok(NIL),
    }
}
