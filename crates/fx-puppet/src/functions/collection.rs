//! Functions on arrays and hashes.

use std::cmp::Ordering;
use std::rc::Rc;

use super::{Call, Native, native};
use crate::eval::{Evaluated, Flow, interpolated, number_from, order};
use crate::value::Value;

pub(super) static TABLE: &[Native] = &[
    native("join", &["Array arg, String delimiter?"], join),
    native("flatten", &["Any args*"], |call| Ok(Value::array(flat(call.args)))),
    native("keys", &["Hash hsh"], |call| match call.arg(0) {
        Value::Hash(hash) => Ok(Value::array(hash.keys().cloned().collect())),
        _ => Ok(Value::Undef),
    }),
    native("values", &["Hash hsh"], |call| match call.arg(0) {
        Value::Hash(hash) => Ok(Value::array(hash.values().cloned().collect())),
        _ => Ok(Value::Undef),
    }),
    native("length", &["Collection arg", "String arg", "Binary arg"], size),
    native("size", &["Variant[Collection, String, Binary] arg"], size),
    native(
        "empty",
        &[
            "Collection coll",
            "Sensitive[String] str",
            "String str",
            "Numeric num",
            "Binary bin",
            "Undef x",
        ],
        empty,
    ),
    native("dig", &["Optional[Collection] data, Any arg*"], dig),
    native(
        "get",
        &["Any value, String dotted_string, Any default_value?, &Callable[1,1] block?"],
        get,
    ),
    native(
        "getvar",
        &[
            "Pattern[/\\A(?:::)?(?:[a-z]\\w*::)*[a-z_]\\w*(?:\\.|\\Z)/] get_string, Any default_value?, &Callable[1, 1] block?",
        ],
        getvar,
    ),
    native("max", &[], |call| extreme(call, Ordering::Greater)),
    native("min", &[], |call| extreme(call, Ordering::Less)),
    native("compare", &[], compare),
];

fn join(call: &Call<'_>) -> Evaluated {
    let Value::Array(items) = call.arg(0) else { return Ok(Value::Undef) };
    let parts: Vec<String> = flat(items).iter().map(crate::eval::ruby_text).collect();
    Ok(Value::from(parts.join(call.text(1))))
}

fn flat(items: &[Value]) -> Vec<Value> {
    let mut out = Vec::new();
    for item in items {
        match item {
            Value::Array(inner) | Value::Iterator(inner, _) => out.extend(flat(inner)),
            other => out.push(other.clone()),
        }
    }
    out
}

fn size(call: &Call<'_>) -> Evaluated {
    Ok(Value::Int(match call.arg(0) {
        Value::Array(items) => items.len(),
        Value::Hash(hash) => hash.len(),
        Value::String(text) => text.chars().count(),
        Value::Binary(bytes) => bytes.len(),
        _ => 0,
    } as i64))
}

fn empty(call: &Call<'_>) -> Evaluated {
    let deprecated = |what: &str| {
        let place = call.evaluator.line_text(call.span);
        call.evaluator.warn(
            &format!("Calling function empty() with {what} value is deprecated.\n   {place}"),
            None,
        )
    };
    Ok(Value::Bool(match call.arg(0) {
        Value::Array(items) => items.is_empty(),
        Value::Hash(hash) => hash.is_empty(),
        Value::String(text) => text.is_empty(),
        Value::Binary(bytes) => bytes.is_empty(),
        Value::Sensitive(inner) => inner.as_str().is_some_and(str::is_empty),
        Value::Undef => true,
        _ => {
            deprecated("Numeric");
            false
        }
    }))
}

fn dig(call: &Call<'_>) -> Evaluated {
    dug(call.arg(0).clone(), &call.args[1..]).map_err(|lost| Flow::raw(lost.message))
}

/// Why a path leads nowhere.
struct Lost {
    message: String,
    code: &'static str,
    details: Vec<(Value, Value)>,
}

/// What a path of keys leads to; nothing where it ends early.
fn dug(start: Value, keys: &[Value]) -> Result<Value, Lost> {
    let mut at = start;
    for (index, key) in keys.iter().enumerate() {
        let lost = |walked: &[Value], what: &str, found: &Value, name: &str, code| {
            let path = walked.iter().map(crate::eval::inspected).collect::<Vec<_>>().join(", ");
            let ty = Value::ty(crate::types::infer(found));
            Lost {
                message: format!("The given data {what} at [{path}], got '{}'", interpolated(&ty)),
                code,
                details: vec![
                    (Value::from("walked_path"), Value::array(walked.to_vec())),
                    (Value::from(name), ty),
                ],
            }
        };
        at = match (&at, key) {
            (Value::Undef, _) | (_, Value::Undef) => return Ok(Value::Undef),
            (Value::Array(items), Value::Int(place)) => {
                let place = if *place < 0 { items.len() as i64 + place } else { *place };
                let item = usize::try_from(place).ok().and_then(|place| items.get(place));
                item.cloned().unwrap_or(Value::Undef)
            }
            (Value::Array(_), other) => {
                let (what, code) = ("requires an Integer index", "EXPECTED_INTEGER_INDEX");
                return Err(lost(&keys[..=index], what, other, "index_type", code));
            }
            (Value::Hash(hash), key) => hash.get(key).cloned().unwrap_or(Value::Undef),
            (other, _) => {
                let (what, code) = ("does not contain a Collection", "EXPECTED_COLLECTION");
                return Err(lost(&keys[..index], what, other, "value_type", code));
            }
        };
    }
    Ok(at)
}

/// The keys of a path with dots; nothing where it is none.
fn segments(text: &str) -> Option<Vec<Value>> {
    let mut out = Vec::new();
    let mut rest = text;
    loop {
        let trimmed = rest.trim_start();
        let quote = trimmed.chars().next().filter(|c| matches!(c, '\'' | '"'));
        let after = if let Some(quote) = quote {
            let (part, after) = trimmed[1..].split_once(quote)?;
            out.push(Value::from(part));
            after.trim_start()
        } else {
            let end = rest.find(['.', '\'', '"']).unwrap_or(rest.len());
            let part = rest[..end].trim();
            out.push(part.parse::<i64>().map_or_else(|_| Value::from(part), Value::Int));
            if end == 0 {
                return None;
            }
            &rest[end..]
        };
        match after.strip_prefix('.') {
            Some(more) => rest = more,
            None => return after.is_empty().then_some(out),
        }
    }
}

fn walk(call: &Call<'_>, start: Value, path: &str, default: &Value) -> Evaluated {
    if matches!(start, Value::Undef) {
        return Ok(default.clone());
    }
    if path.is_empty() {
        return Ok(start);
    }
    let Some(keys) = segments(path) else {
        return Err(Flow::raw("Syntax error in dotted-navigation string"));
    };
    match (dug(start, &keys), call.block) {
        (Ok(Value::Undef), _) => Ok(default.clone()),
        (Ok(found), _) => Ok(found),
        (Err(lost), None) => Err(Flow::raw(lost.message)),
        (Err(lost), Some(_)) => {
            let error = call.evaluator.error_value(
                &lost.message,
                "SLICE_ERROR",
                Value::hash(lost.details),
                lost.code,
            )?;
            call.yields(vec![error])
        }
    }
}

fn get(call: &Call<'_>) -> Evaluated {
    walk(call, call.arg(0).clone(), call.text(1), call.arg(2))
}

fn getvar(call: &Call<'_>) -> Evaluated {
    let (name, rest) = call.text(0).split_once('.').unwrap_or((call.text(0), ""));
    let start = call.evaluator.find_variable(name, call.scope).unwrap_or(Value::Undef);
    walk(call, start, rest, call.arg(1))
}

fn extreme(call: &Call<'_>, wanted: Ordering) -> Evaluated {
    let name = if wanted == Ordering::Greater { "max" } else { "min" };
    let args: Rc<Vec<Value>> = match call.args {
        [Value::Array(items)] => Rc::clone(items),
        args => Rc::new(args.to_vec()),
    };
    let Some(first) = args.first() else {
        return Err(Flow::raw(format!("{name}(): Wrong number of arguments need at least one")));
    };
    // One alone needs no comparison.
    if args.len() == 1 && call.block.is_none() {
        return Ok(first.clone());
    }
    let numeric = |value: &Value| matches!(value, Value::Int(_) | Value::Float(_));
    let texts = args.iter().all(|value| value.as_str().is_some());
    let words = texts && args.iter().all(|value| value.as_str().and_then(number_from).is_none());
    let alike = words || args.iter().all(numeric);
    if !alike && call.block.is_none() {
        let readable = args.iter().all(|value| {
            numeric(value) || value.as_str().is_some_and(|text| number_from(text).is_some())
        });
        let what = if texts || readable { "String to Numeric" } else { "Any to String" };
        call.evaluator.warn(&format!("The {name}() function's auto conversion of {what} is deprecated - change to convert input before calling, or use lambda\n   (file & line not available)"), None);
    }
    let mut best = first.clone();
    for item in &args[1..] {
        let found = if call.block.is_some() {
            match call.yields(vec![item.clone(), best.clone()])? {
                Value::Int(number) => number.cmp(&0),
                _ => Ordering::Equal,
            }
        } else {
            legacy_order(item, &best)
        };
        if found == wanted {
            best = item.clone();
        }
    }
    Ok(best)
}

/// Numbers and what reads as numbers by value, the rest as text.
fn legacy_order(a: &Value, b: &Value) -> Ordering {
    let number = |value: &Value| match value {
        Value::String(text) => number_from(text),
        Value::Int(_) | Value::Float(_) => Some(value.clone()),
        _ => None,
    };
    if let (Some(a), Some(b)) = (number(a), number(b)) {
        return order(&a, &b).unwrap_or(Ordering::Equal);
    }
    match (a, b) {
        (Value::Timespan(_) | Value::Timestamp(_) | Value::SemVer(_), _) => {
            order(a, b).unwrap_or(Ordering::Equal)
        }
        _ => interpolated(a).cmp(&interpolated(b)),
    }
}

fn compare(call: &Call<'_>) -> Evaluated {
    let (a, b) = (call.arg(0), call.arg(1));
    if call.args.len() < 2 {
        let got = match call.args.len() {
            0 => "none".to_owned(),
            count => count.to_string(),
        };
        return Err(Flow::raw(format!("'compare' expects between 2 and 3 arguments, got {got}")));
    }
    let comparable = |value: &Value| {
        matches!(
            value,
            Value::String(_)
                | Value::Int(_)
                | Value::Float(_)
                | Value::SemVer(_)
                | Value::Timespan(_)
                | Value::Timestamp(_)
        )
    };
    if !comparable(a) || !comparable(b) {
        let kind = |value: &Value| match value {
            Value::Default => "Object".to_owned(),
            value => crate::eval::kind(value),
        };
        return Err(Flow::raw(format!(
            "'compare' compare(): Non comparable type. Only values of the types Numeric, String, Semver, Timestamp and Timestamp can be compared. Got {} and {}",
            kind(a),
            kind(b)
        )));
    }
    if call.args.len() > 2 && (a.as_str().is_none() || b.as_str().is_none()) {
        return Err(Flow::raw(
            "'compare' compare(): The third argument (ignore case) can only be used when comparing strings",
        ));
    }
    let found = match (a, b) {
        (Value::String(a), Value::String(b)) => {
            if matches!(call.args.get(2), Some(Value::Bool(false))) {
                a.cmp(b)
            } else {
                a.to_lowercase().cmp(&b.to_lowercase())
            }
        }
        (
            Value::Int(_)
            | Value::Float(_)
            | Value::SemVer(_)
            | Value::Timespan(_)
            | Value::Timestamp(_),
            _,
        ) => match order(a, b) {
            Ok(found) => found,
            Err(_) => return Err(different(a, b)),
        },
        _ => return Err(different(a, b)),
    };
    Ok(Value::Int(found as i64))
}

fn different(a: &Value, b: &Value) -> Flow {
    Flow::raw(format!(
        "'compare' compare(): Can only compare values of the same type (or for Timestamp/Timespan also against Numeric). Got {} and {}",
        crate::eval::kind(a),
        crate::eval::kind(b)
    ))
}
