//! `Type(value…)`: values made from values.

use std::rc::Rc;

use fx_formats::base64;

use super::constructors::cannot;
use super::error::Flow;
use super::operators::number_from;
use super::time::parse_time;
use super::{Closure, Evaluated, Evaluator, format_value, mismatch_text, uri};
use crate::regex::Regex;
use crate::semver::Version;
use crate::types::{Type, is_instance};
use crate::value::{Hash, Value};

impl Evaluator {
    /// A new instance of a type.
    pub(crate) fn new_instance(
        &self,
        ty: &Rc<Type>,
        args: &[Value],
        block: Option<&Closure>,
    ) -> Evaluated {
        let made = self.make(ty, args)?;
        // A narrow type must be met by what was made.
        if !matches!(**ty, Type::Init(_)) && !is_instance(ty, &made) {
            return Err(Flow::raw(mismatch_text("Converted value from", ty, &made).replacen(
                "Converted value from",
                &format!("Converted value from {}.new()", super::label::short(ty)),
                1,
            )));
        }
        match block {
            Some(block) => self.call_closure(block, vec![made]),
            None => Ok(made),
        }
    }

    fn make(&self, ty: &Rc<Type>, args: &[Value]) -> Evaluated {
        self.check_new(ty, args)?;
        let first = args.first().cloned().unwrap_or(Value::Undef);
        Ok(match &**ty {
            Type::Integer(_) => integer(args)?,
            Type::Float(_) => float(args)?,
            Type::Numeric => number(args, "new_numeric", "Numeric")?,
            Type::Boolean(_) => boolean(&first)?,
            Type::String(_) | Type::Literal(_) => {
                Value::from(format_value(&first, args.get(1).unwrap_or(&Value::Undef))?)
            }
            Type::Array { .. } => array(args)?,
            Type::Tuple { .. } => array(args)?,
            Type::Hash { .. } | Type::Struct(_) => hash(args)?,
            Type::Timespan(_) => self.new_timespan(args)?,
            Type::Timestamp(_) => self.new_timestamp(args)?,
            Type::SemVer(_) => semver(args)?,
            Type::SemVerRange => range(args)?,
            Type::Binary => binary(args)?,
            Type::Uri(_) => match &first {
                Value::String(text) if !uri::is_sound(text) => {
                    return Err(Flow::raw(format!("bad URI(is not URI?): \"{text}\"")));
                }
                Value::String(text) => Value::Uri(uri::text(&uri::parse(text)).into()),
                Value::Hash(hash) => Value::Uri(uri::text(&uri::from_hash(hash)).into()),
                Value::Uri(_) => first,
                other => return Err(cannot("new_error", other, "URI")),
            },
            Type::Regexp(_) => match &first {
                Value::String(source) => {
                    let regex = Regex::new(source);
                    regex.check().map_err(Flow::raw)?;
                    Value::Regex(Rc::new(regex))
                }
                Value::Regex(_) => first,
                other => return Err(cannot("new_regexp", other, "Regexp")),
            },
            Type::Sensitive(_) => match &first {
                Value::Sensitive(_) => first,
                _ => Value::Sensitive(Rc::new(first)),
            },
            Type::Deferred => match args {
                [Value::String(name)] => Value::Deferred(Rc::clone(name), Rc::default()),
                [Value::String(name), Value::Array(rest)] => {
                    Value::Deferred(Rc::clone(name), Rc::clone(rest))
                }
                _ => {
                    return Err(Flow::raw(
                        "'new_Deferred' parameter 'name' expects a String value",
                    ));
                }
            },
            Type::Optional(Some(inner)) => match &first {
                Value::Undef => Value::Undef,
                _ => self.make(inner, args)?,
            },
            Type::NotUndef(Some(inner)) | Type::Init(Some(inner)) => self.make(inner, args)?,
            Type::Meta(_) => match &first {
                Value::String(text) => Value::Type(self.type_from_text(text)?),
                Value::Type(_) => first,
                other => return Err(cannot("new_type", other, "Type")),
            },
            Type::Alias { target, .. } if matches!(target.resolved(), Type::Object(Some(_))) => {
                self.new_object(ty, args)?
            }
            Type::Alias { target, .. } => self.make(target, args)?,
            Type::Object(Some(_)) => self.new_object(ty, args)?,
            _ => {
                let shown = match &**ty {
                    Type::Reference(name) => format!("TypeReference['{name}']"),
                    ty => ty.to_string(),
                };
                return Err(Flow::raw(format!(
                    "Creation of new instance of type '{shown}' is not supported"
                )));
            }
        })
    }

    /// A span from numbers, text, parts or a hash.
    pub(super) fn new_timespan(&self, args: &[Value]) -> Evaluated {
        let whole =
            |value: &Value| if let Value::Int(number) = value { i128::from(*number) } else { 0 };
        let from_parts = |parts: &[i128]| {
            let [days, hours, minutes, seconds, millis, micros, nanos] =
                [0, 1, 2, 3, 4, 5, 6].map(|index| parts.get(index).copied().unwrap_or(0));
            (((days * 24 + hours) * 60 + minutes) * 60 + seconds) * 1_000_000_000
                + millis * 1_000_000
                + micros * 1000
                + nanos
        };
        Ok(Value::Timespan(match args {
            [Value::Int(seconds)] => i128::from(*seconds) * 1_000_000_000,
            [Value::Float(seconds)] => (seconds * 1e9).round() as i128,
            [Value::Timespan(nanos)] => *nanos,
            [Value::String(text)] => parse_time(text, &[], true)?,
            [Value::String(text), formats] => parse_time(text, &texts(formats), true)?,
            [Value::Hash(hash)] => {
                let get = |name: &str| hash.get(&Value::from(name));
                if let Some(Value::String(text)) = get("string") {
                    parse_time(text, &get("format").map(texts).unwrap_or_default(), true)?
                } else {
                    let part = |name: &str| get(name).map_or(0, whole);
                    let total = from_parts(
                        &[
                            "days",
                            "hours",
                            "minutes",
                            "seconds",
                            "milliseconds",
                            "microseconds",
                            "nanoseconds",
                        ]
                        .map(part),
                    );
                    if matches!(get("negative"), Some(Value::Bool(true))) { -total } else { total }
                }
            }
            [Value::Int(_), ..] => from_parts(&args.iter().map(whole).collect::<Vec<_>>()),
            _ => {
                return Err(cannot(
                    "new_timespan",
                    args.first().unwrap_or(&Value::Undef),
                    "Timespan",
                ));
            }
        }))
    }

    /// A moment from a number or text; now, without any.
    pub(super) fn new_timestamp(&self, args: &[Value]) -> Evaluated {
        Ok(Value::Timestamp(match args {
            [] => self.now(),
            [Value::Int(seconds)] => i128::from(*seconds) * 1_000_000_000,
            [Value::Float(seconds)] => (seconds * 1e9).round() as i128,
            [Value::Timestamp(nanos)] => *nanos,
            [Value::String(text)] => parse_time(text, &[], false)?,
            [Value::String(text), formats] => parse_time(text, &texts(formats), false)?,
            [Value::String(text), formats, zone] => {
                let offset = super::time::zone_offset(zone.as_str().unwrap_or_default())?;
                parse_time(text, &texts(formats), false)? - offset
            }
            [Value::Hash(hash)] => {
                let offset = match hash.get(&Value::from("timezone")).and_then(Value::as_str) {
                    Some(zone) => super::time::zone_offset(zone)?,
                    None => 0,
                };
                let text =
                    hash.get(&Value::from("string")).and_then(Value::as_str).unwrap_or_default();
                parse_time(
                    text,
                    &hash.get(&Value::from("format")).map(texts).unwrap_or_default(),
                    false,
                )? - offset
            }
            _ => return Err(cannot("new_timestamp", &args[0], "Timestamp")),
        }))
    }

    /// Now, in nanoseconds.
    pub(crate) fn now(&self) -> i128 {
        let now = self.run.look().now();
        i128::from(now.secs) * 1_000_000_000 + i128::from(now.nanos)
    }
}

fn texts(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => vec![text.to_string()],
        Value::Array(items) => items.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        _ => Vec::new(),
    }
}

/// Arguments by place, or from one hash by name.
fn named(args: &[Value], names: &[&str]) -> Vec<Value> {
    match args {
        [Value::Hash(hash)] if hash.contains_key(&Value::from("from")) => names
            .iter()
            .map(|name| hash.get(&Value::from(*name)).cloned().unwrap_or(Value::Undef))
            .collect(),
        args => args.to_vec(),
    }
}

fn absolute(value: Value, args: &[Value], index: usize) -> Value {
    match (args.get(index), value) {
        (Some(Value::Bool(true)), Value::Int(number)) => Value::Int(number.saturating_abs()),
        (Some(Value::Bool(true)), Value::Float(number)) => Value::Float(number.abs()),
        (_, value) => value,
    }
}

fn integer(args: &[Value]) -> Evaluated {
    let args = named(args, &["from", "radix", "abs"]);
    let from = args.first().cloned().unwrap_or(Value::Undef);
    let radix = match args.get(1) {
        Some(Value::Int(radix)) => Some(*radix as u32),
        _ => None,
    };
    let value = match &from {
        Value::Int(_) => from,
        Value::Float(number) if number.is_finite() => Value::Int(*number as i64),
        Value::Bool(truth) => Value::Int(i64::from(*truth)),
        Value::Timespan(nanos) | Value::Timestamp(nanos) => {
            Value::Int((nanos.div_euclid(1_000_000_000)) as i64)
        }
        Value::String(text) => {
            let failed = || cannot("new", &from, "Integer");
            Value::Int(match radix {
                None => match number_from(text) {
                    Some(Value::Int(number)) => number,
                    _ => return Err(failed()),
                },
                Some(radix) => in_radix(text, radix).ok_or_else(failed)?,
            })
        }
        other => return Err(cannot("new", other, "Integer")),
    };
    Ok(absolute(value, &args, 2))
}

/// A number in a given base; hexadecimal and binary need their prefix unless they cannot
/// be taken for another base.
fn in_radix(text: &str, radix: u32) -> Option<i64> {
    let (sign, digits) =
        text.strip_prefix('-').map_or((1, text.trim_start_matches('+')), |rest| (-1, rest));
    let lower = digits.to_ascii_lowercase();
    let digits = match radix {
        16 => lower
            .strip_prefix("0x")
            .or_else(|| lower.bytes().all(|byte| byte.is_ascii_digit()).then_some(lower.as_str())),
        2 => Some(lower.strip_prefix("0b").unwrap_or(&lower)),
        8 => Some(lower.strip_prefix("0o").unwrap_or(&lower)),
        _ => Some(lower.as_str()),
    }?;
    if !(2..=36).contains(&radix) {
        return None;
    }
    i64::from_str_radix(digits, radix).ok().map(|number| sign * number)
}

fn number(args: &[Value], function: &str, wanted: &str) -> Evaluated {
    let args = named(args, &["from", "abs"]);
    let from = args.first().cloned().unwrap_or(Value::Undef);
    let value = match &from {
        Value::Int(_) | Value::Float(_) => from,
        Value::Bool(truth) => Value::Int(i64::from(*truth)),
        Value::Timespan(nanos) | Value::Timestamp(nanos) => {
            if nanos % 1_000_000_000 == 0 {
                Value::Int((nanos / 1_000_000_000) as i64)
            } else {
                Value::Float(*nanos as f64 / 1e9)
            }
        }
        Value::String(text) => number_from(text).ok_or_else(|| cannot(function, &from, wanted))?,
        other => return Err(cannot(function, other, wanted)),
    };
    Ok(absolute(value, &args, 1))
}

fn float(args: &[Value]) -> Evaluated {
    Ok(match number(args, "new_float", "Float")? {
        Value::Int(number) => Value::Float(number as f64),
        other => other,
    })
}

fn boolean(from: &Value) -> Evaluated {
    Ok(Value::Bool(match from {
        Value::Bool(truth) => *truth,
        Value::Int(number) => *number != 0,
        Value::Float(number) => *number != 0.0,
        Value::String(text) => match text.to_lowercase().as_str() {
            "yes" | "y" | "true" => true,
            "no" | "n" | "false" => false,
            _ => return Err(cannot("new_boolean", from, "Boolean")),
        },
        other => return Err(cannot("new_boolean", other, "Boolean")),
    }))
}

fn array(args: &[Value]) -> Evaluated {
    let from = args.first().cloned().unwrap_or(Value::Undef);
    if matches!(args.get(1), Some(Value::Bool(true))) {
        return Ok(match from {
            Value::Array(_) => from,
            other => Value::array(vec![other]),
        });
    }
    Ok(match &from {
        Value::Array(_) => from,
        Value::Binary(bytes) => {
            Value::array(bytes.iter().map(|byte| Value::Int(i64::from(*byte))).collect())
        }
        other => match crate::functions::items_of(other) {
            Some(items) => Value::array(items),
            None => return Err(cannot("new_array", &from, "Array")),
        },
    })
}

fn hash(args: &[Value]) -> Evaluated {
    let from = args.first().cloned().unwrap_or(Value::Undef);
    let items: Rc<Vec<Value>> = match &from {
        Value::Hash(_) => return Ok(from),
        Value::Array(items) | Value::Iterator(items, _) => Rc::clone(items),
        Value::Undef => return Ok(Value::hash([])),
        other => return Err(cannot("new_hash", other, "Hash")),
    };
    if let Some(Value::String(option)) = args.get(1) {
        return Ok(tree(&items, &**option == "hash_tree"));
    }
    let mut out = Hash::default();
    if items.iter().all(|item| matches!(item, Value::Array(pair) if pair.len() == 2)) {
        for item in items.iter() {
            if let Value::Array(pair) = item {
                out.insert(pair[0].clone(), pair[1].clone());
            }
        }
    } else if items.len().is_multiple_of(2) {
        for pair in items.chunks(2) {
            out.insert(pair[0].clone(), pair[1].clone());
        }
    } else {
        return Err(Flow::raw("odd number of arguments for Hash"));
    }
    Ok(Value::Hash(Rc::new(out)))
}

/// A tree from pairs of path and value.
fn tree(items: &[Value], hashes_only: bool) -> Value {
    fn put(at: Value, path: &[Value], value: &Value, hashes_only: bool) -> Value {
        let Some((key, rest)) = path.split_first() else {
            // What was put in before by a longer path stays.
            return match (&at, value) {
                (Value::Hash(old), Value::Hash(new)) => {
                    let mut merged = Hash::clone(new);
                    merged.extend(old.iter().map(|(key, value)| (key.clone(), value.clone())));
                    Value::Hash(Rc::new(merged))
                }
                _ => value.clone(),
            };
        };
        if let (Value::Int(index), false) = (key, hashes_only) {
            let mut list = if let Value::Array(list) = &at { list.to_vec() } else { Vec::new() };
            let index = (*index).clamp(0, 100_000) as usize;
            if list.len() <= index {
                list.resize(index + 1, Value::Undef);
            }
            let old = std::mem::replace(&mut list[index], Value::Undef);
            list[index] = put(old, rest, value, hashes_only);
            return Value::array(list);
        }
        let mut hash =
            if let Value::Hash(hash) = &at { Hash::clone(hash) } else { Hash::default() };
        let old = hash.get(key).cloned().unwrap_or(Value::Undef);
        hash.insert(key.clone(), put(old, rest, value, hashes_only));
        Value::Hash(Rc::new(hash))
    }
    let mut root = Value::Undef;
    for item in items {
        if let Value::Array(pair) = item
            && let [Value::Array(path), value] = pair.as_slice()
            && path.len() < 100
        {
            root = put(root, path, value, hashes_only);
        }
    }
    if matches!(root, Value::Undef) { Value::hash([]) } else { root }
}

fn semver(args: &[Value]) -> Evaluated {
    let number = |value: &Value| if let Value::Int(number) = value { Some(*number) } else { None };
    Ok(match args {
        [Value::SemVer(_)] => args[0].clone(),
        [Value::String(text)] if Version::parse(text).is_some() => Value::SemVer(Rc::clone(text)),
        [Value::String(text)] => {
            return Err(Flow::raw(format!(
                "'new_Version' The string '{text}' cannot be converted to a SemVer"
            )));
        }
        [Value::Hash(hash)] => {
            let part = |name: &str| hash.get(&Value::from(name)).map(super::interpolated);
            let core = ["major", "minor", "patch"]
                .map(|name| part(name).unwrap_or_else(|| "0".into()))
                .join(".");
            let pre = part("prerelease").map(|text| format!("-{text}")).unwrap_or_default();
            let build = part("build").map(|text| format!("+{text}")).unwrap_or_default();
            Value::SemVer(format!("{core}{pre}{build}").into())
        }
        [major, minor, patch, rest @ ..]
            if number(major).is_some() && number(minor).is_some() && number(patch).is_some() =>
        {
            let core = [major, minor, patch].map(super::interpolated).join(".");
            let pre = rest
                .first()
                .and_then(Value::as_str)
                .map(|text| format!("-{text}"))
                .unwrap_or_default();
            let build = rest
                .get(1)
                .and_then(Value::as_str)
                .map(|text| format!("+{text}"))
                .unwrap_or_default();
            Value::SemVer(format!("{core}{pre}{build}").into())
        }
        _ => return Err(cannot("new_Version", args.first().unwrap_or(&Value::Undef), "a SemVer")),
    })
}

fn range(args: &[Value]) -> Evaluated {
    Ok(match args {
        [Value::SemVerRange(_)] => args[0].clone(),
        [Value::String(text)] => match crate::semver::range_text(text) {
            Some(_) => Value::SemVerRange(Rc::clone(text)),
            None => return Err(Flow::raw(format!("Unparsable version range: \"{text}\""))),
        },
        [Value::Hash(hash)] => {
            let get = |name: &str| hash.get(&Value::from(name)).cloned();
            between(
                &get("min").unwrap_or_default(),
                &get("max").unwrap_or(Value::Default),
                matches!(get("exclude_max"), Some(Value::Bool(true))),
            )
        }
        [min, max, rest @ ..] => between(min, max, matches!(rest, [Value::Bool(true)])),
        _ => {
            return Err(cannot(
                "new_VersionRange",
                args.first().unwrap_or(&Value::Undef),
                "a SemVerRange",
            ));
        }
    })
}

/// A range between two versions, either of which may be open.
fn between(min: &Value, max: &Value, exclude: bool) -> Value {
    let least = if let Value::SemVer(min) = min { format!(">={min}") } else { String::new() };
    let most = match max {
        Value::SemVer(max) => format!("{}{max}", if exclude { "<" } else { "<=" }),
        _ => String::new(),
    };
    Value::SemVerRange([least, most].join(" ").trim().into())
}

fn binary(args: &[Value]) -> Evaluated {
    let args = named(
        &match args {
            [Value::Hash(hash)] if hash.contains_key(&Value::from("value")) => vec![
                hash.get(&Value::from("value")).cloned().unwrap_or(Value::Undef),
                hash.get(&Value::from("format")).cloned().unwrap_or(Value::Undef),
            ],
            args => args.to_vec(),
        },
        &[],
    );
    Ok(match args.as_slice() {
        [Value::Binary(_), ..] => args[0].clone(),
        [Value::String(text), rest @ ..] => {
            let format = rest.first().and_then(Value::as_str).unwrap_or("%B");
            let bytes = match format {
                "%s" | "%r" => text.as_bytes().to_vec(),
                "%b" | "%u" => base64::decode_relaxed(text).unwrap_or_default(),
                _ => base64::decode(text).ok_or_else(|| Flow::raw("invalid base64"))?,
            };
            Value::Binary(bytes.into())
        }
        [Value::Array(items)] => Value::Binary(
            items
                .iter()
                .map(|item| if let Value::Int(byte) = item { *byte as u8 } else { 0 })
                .collect(),
        ),
        _ => return Err(cannot("new_Binary", args.first().unwrap_or(&Value::Undef), "Binary")),
    })
}
