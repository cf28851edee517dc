//! Functions that call a block for each item.

use std::cmp::Ordering;
use std::rc::Rc;

use super::{Call, Native, items_of, native};
use crate::eval::{Evaluated, Flow, kind, order};
use crate::types::{self, Range, Type};
use crate::value::{Hash, Value};

/// Parameters of what goes over a hash or a list.
const EACH: &[&str] = &[
    "Hash[Any, Any] hash, &Callable[2,2] block",
    "Hash[Any, Any] hash, &Callable[1,1] block",
    "Iterable enumerable, &Callable[2,2] block",
    "Iterable enumerable, &Callable[1,1] block",
];

const HALVES: &[&str] = &[
    "Collection collection, &Callable[1,1] block",
    "Array array, &Callable[2,2] block",
    "Collection collection, &Callable[2,2] block",
];

pub(super) static TABLE: &[Native] = &[
    native("each", EACH, each),
    native("map", EACH, map),
    native("filter", EACH, filter),
    native("all", EACH, all),
    native("any", EACH, any),
    native(
        "index",
        &[
            "Hash[Any, Any] hash, &Callable[2,2] block",
            "Hash[Any, Any] hash, &Callable[1,1] block",
            "Iterable enumerable, &Callable[2,2] block",
            "Iterable enumerable, &Callable[1,1] block",
            "String str, Variant[String,Regexp] match",
            "Iterable enumerable, Any match",
        ],
        index,
    ),
    native(
        "reduce",
        &[
            "Iterable enumerable, &Callable[2,2] block",
            "Iterable enumerable, Any memo, &Callable[2,2] block",
        ],
        reduce,
    ),
    native(
        "slice",
        &[
            "Hash[Any, Any] hash, Integer[1, default] slice_size, &Callable block?",
            "Iterable enumerable, Integer[1, default] slice_size, &Callable block?",
        ],
        slice,
    ),
    native("group_by", HALVES, group_by),
    native("partition", HALVES, partition),
    native("with", &["Any arg*, &Callable block"], with),
    native("then", &["Any arg, &Callable[1,1] block"], then),
    native("lest", &["Any arg, &Callable[0,0] block"], lest),
    native(
        "reverse_each",
        &["Iterable iterable", "Iterable iterable, &Callable[1,1] block"],
        reverse_each,
    ),
    native(
        "step",
        &[
            "Iterable iterable, Integer[1] step",
            "Iterable iterable, Integer[1] step, &Callable[1,1] block",
        ],
        step,
    ),
    native(
        "tree_each",
        &["Variant[Iterator, Array, Hash, Object] tree, Any options?, &Callable[1,2] block?"],
        tree_each,
    ),
    native(
        "sort",
        &["String string_value, &Callable[2,2] block?", "Array array_value, &Callable[2,2] block?"],
        sort,
    ),
    native(
        "unique",
        &[
            "String string, &Callable[String] block?",
            "Hash hash, &Callable[Any] block?",
            "Array array, &Callable[Any] block?",
            "Iterable iterable, &Callable[Any] block?",
        ],
        unique,
    ),
];

fn items(call: &Call<'_>) -> Evaluated<Vec<Value>> {
    items_of(call.arg(0)).ok_or_else(|| Flow::raw(format!("{} is not Iterable", kind(call.arg(0)))))
}

fn block_takes_two(call: &Call<'_>) -> bool {
    call.block.is_some_and(|block| {
        let arity = block.arity();
        arity.min == Some(2)
            || (arity.max != Some(1) && !arity.contains(1))
            || block.params.len() == 2
            || block.params.first().is_some_and(|param| param.captures_rest)
    })
}

/// Calls the block for each item until it says stop; `use_result` gets each result.
fn visit(call: &Call<'_>, mut use_result: impl FnMut(&Value, Value) -> bool) -> Evaluated<()> {
    let two = block_takes_two(call);
    let is_hash = matches!(call.arg(0), Value::Hash(_));
    for (index, item) in items(call)?.into_iter().enumerate() {
        let args = match (&item, two) {
            (Value::Array(pair), true) if is_hash => pair.to_vec(),
            (_, true) => vec![Value::Int(index as i64), item.clone()],
            (_, false) => vec![item.clone()],
        };
        match call.yields(args) {
            Err(Flow::Break(_)) => return Ok(()),
            Err(flow) => return Err(flow),
            Ok(result) => {
                if !use_result(&item, result) {
                    return Ok(());
                }
            }
        }
    }
    Ok(())
}

fn each(call: &Call<'_>) -> Evaluated {
    visit(call, |_, _| true)?;
    Ok(call.arg(0).clone())
}

fn map(call: &Call<'_>) -> Evaluated {
    let mut out = Vec::new();
    visit(call, |_, result| {
        out.push(result);
        true
    })?;
    Ok(Value::array(out))
}

fn filter(call: &Call<'_>) -> Evaluated {
    let mut out = Vec::new();
    visit(call, |item, result| {
        if result.is_true() {
            out.push(item.clone());
        }
        true
    })?;
    Ok(match call.arg(0) {
        Value::Hash(_) => Value::hash(out.into_iter().filter_map(|pair| match pair {
            Value::Array(pair) => Some((pair[0].clone(), pair[1].clone())),
            _ => None,
        })),
        _ => Value::array(out),
    })
}

fn all(call: &Call<'_>) -> Evaluated {
    let mut holds = true;
    visit(call, |_, result| {
        holds = result.is_true();
        holds
    })?;
    Ok(Value::Bool(holds))
}

fn any(call: &Call<'_>) -> Evaluated {
    let mut holds = false;
    visit(call, |_, result| {
        holds = result.is_true();
        !holds
    })?;
    Ok(Value::Bool(holds))
}

fn index(call: &Call<'_>) -> Evaluated {
    if call.block.is_some() {
        let (mut at, mut found) = (0, None);
        visit(call, |item, result| {
            if result.is_true() {
                found = Some(match (call.arg(0), item) {
                    (Value::Hash(_), Value::Array(pair)) => pair[0].clone(),
                    _ => Value::Int(at),
                });
                return false;
            }
            at += 1;
            true
        })?;
        return Ok(found.unwrap_or(Value::Undef));
    }
    let wanted = call.arg(1);
    Ok(match (call.arg(0), wanted) {
        (Value::String(text), Value::String(part)) => text
            .find(&**part)
            .map_or(Value::Undef, |at| Value::Int(text[..at].chars().count() as i64)),
        (Value::String(text), Value::Regex(regex)) => {
            let found = regex
                .engine()
                .map_err(Flow::raw)?
                .find(&**text)
                .map_err(|error| Flow::raw(error.to_string()))?;
            found.map_or(Value::Undef, |found| {
                Value::Int(text[..found.start()].chars().count() as i64)
            })
        }
        (Value::Hash(hash), _) => hash
            .iter()
            .find(|(_, value)| value.equals(wanted))
            .map_or(Value::Undef, |(key, _)| key.clone()),
        _ => {
            let at = items(call)?.iter().position(|item| match wanted {
                Value::Regex(regex) => {
                    item.as_str().is_some_and(|text| regex.is_match(text).unwrap_or(false))
                }
                Value::Type(ty) => types::is_instance(ty, item),
                wanted => item.equals(wanted),
            });
            at.map_or(Value::Undef, |at| Value::Int(at as i64))
        }
    })
}

fn reduce(call: &Call<'_>) -> Evaluated {
    let mut rest = items(call)?.into_iter();
    let mut memo = match call.args.get(1) {
        Some(memo) => memo.clone(),
        None => match rest.next() {
            Some(first) => first,
            None => return Ok(Value::Undef),
        },
    };
    for item in rest {
        match call.yields(vec![memo.clone(), item]) {
            Err(Flow::Break(_)) => break,
            result => memo = result?,
        }
    }
    Ok(memo)
}

fn slice(call: &Call<'_>) -> Evaluated {
    let size = match call.arg(1) {
        Value::Int(size) => *size as usize,
        _ => 1,
    };
    let groups: Vec<Vec<Value>> = items(call)?.chunks(size.max(1)).map(<[Value]>::to_vec).collect();
    let Some(block) = call.block else {
        return Ok(Value::array(groups.into_iter().map(Value::array).collect()));
    };
    let many = block.params.len() > 1;
    for mut group in groups {
        let args = if many {
            group.resize(size.min(1000), Value::Undef);
            group
        } else {
            vec![Value::array(group)]
        };
        match call.yields(args) {
            Err(Flow::Break(_)) => break,
            result => result?,
        };
    }
    Ok(call.arg(0).clone())
}

fn group_by(call: &Call<'_>) -> Evaluated {
    let mut groups: Vec<(Value, Vec<Value>)> = Vec::new();
    visit(call, |item, key| {
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, group)) => group.push(item.clone()),
            None => groups.push((key, vec![item.clone()])),
        }
        true
    })?;
    Ok(Value::hash(groups.into_iter().map(|(key, group)| (key, Value::array(group)))))
}

fn partition(call: &Call<'_>) -> Evaluated {
    let (mut yes, mut no) = (Vec::new(), Vec::new());
    visit(call, |item, result| {
        if result.is_true() { &mut yes } else { &mut no }.push(item.clone());
        true
    })?;
    Ok(Value::array(vec![Value::array(yes), Value::array(no)]))
}

fn with(call: &Call<'_>) -> Evaluated {
    call.yields(call.args.to_vec())
}

fn then(call: &Call<'_>) -> Evaluated {
    if matches!(call.arg(0), Value::Undef) {
        Ok(Value::Undef)
    } else {
        call.yields(vec![call.arg(0).clone()])
    }
}

fn lest(call: &Call<'_>) -> Evaluated {
    if matches!(call.arg(0), Value::Undef) {
        call.yields(Vec::new())
    } else {
        Ok(call.arg(0).clone())
    }
}

fn iterated(call: &Call<'_>, items: Vec<Value>, element: Type) -> Evaluated {
    if call.block.is_none() {
        return Ok(Value::Iterator(Rc::new(items), Rc::new(element)));
    }
    for item in items {
        match call.yields(vec![item]) {
            Err(Flow::Break(_)) => break,
            result => result?,
        };
    }
    Ok(call.arg(0).clone())
}

fn reverse_each(call: &Call<'_>) -> Evaluated {
    let mut items = items(call)?;
    items.reverse();
    iterated(call, items, types::yielded(call.arg(0)))
}

fn step(call: &Call<'_>) -> Evaluated {
    let Value::Int(step) = call.arg(1) else { return Ok(Value::Undef) };
    let items: Vec<Value> = items(call)?.into_iter().step_by((*step).max(1) as usize).collect();
    let element = match (types::yielded(call.arg(0)), call.arg(0), items.last()) {
        // Steps over a range end where the last of them does.
        (Type::Integer(range), Value::Type(_), Some(Value::Int(last))) => {
            Type::Integer(Range { max: Some(*last), ..range })
        }
        (element, ..) => element,
    };
    iterated(call, items, element)
}

fn tree_each(call: &Call<'_>) -> Evaluated {
    let option = |name: &str| match call.arg(1) {
        Value::Hash(hash) => hash.get(&Value::from(name)).cloned(),
        _ => None,
    };
    let is = |name: &str| !matches!(option(name), Some(Value::Bool(false)));
    let (containers, values, root) =
        (is("include_containers"), is("include_values"), is("include_root"));
    let breadth = option("order").is_some_and(|order| order.as_str() == Some("breadth_first"));
    let mut queue = std::collections::VecDeque::from([(Vec::new(), call.arg(0).clone())]);
    let mut out = Vec::new();
    while let Some((path, value)) = queue.pop_front() {
        let inner: Option<Vec<(Value, Value)>> = match &value {
            Value::Array(items) | Value::Iterator(items, _) => Some(
                items
                    .iter()
                    .enumerate()
                    .map(|(at, item)| (Value::Int(at as i64), item.clone()))
                    .collect(),
            ),
            Value::Hash(hash) => {
                Some(hash.iter().map(|(key, value)| (key.clone(), value.clone())).collect())
            }
            _ => None,
        };
        let shown = if inner.is_some() { containers } else { values };
        if shown && (root || !path.is_empty()) {
            out.push(Value::array(vec![Value::array(path.clone()), value.clone()]));
        }
        let deeper: Vec<_> = inner
            .into_iter()
            .flatten()
            .map(|(key, value)| {
                let mut path = path.clone();
                path.push(key);
                (path, value)
            })
            .collect();
        if breadth {
            queue.extend(deeper);
        } else {
            for entry in deeper.into_iter().rev() {
                queue.push_front(entry);
            }
        }
    }
    let Some(block) = call.block else {
        return Ok(Value::Iterator(Rc::new(out), Rc::new(Type::Any)));
    };
    for entry in out {
        let args = match (&entry, block.params.len()) {
            (Value::Array(pair), 2) => pair.to_vec(),
            _ => vec![entry],
        };
        match call.yields(args) {
            Err(Flow::Break(_)) => break,
            result => result?,
        };
    }
    Ok(call.arg(0).clone())
}

/// `<=>` of Ruby: lists item by item, nothing for what has no order.
fn ruby_order(a: &Value, b: &Value) -> Option<Ordering> {
    match (a, b) {
        (Value::String(a), Value::String(b)) => Some(a.cmp(b)),
        (Value::Array(a), Value::Array(b)) => {
            for (a, b) in a.iter().zip(b.iter()) {
                match ruby_order(a, b)? {
                    Ordering::Equal => {}
                    found => return Some(found),
                }
            }
            Some(a.len().cmp(&b.len()))
        }
        (a, b) if a == b => Some(Ordering::Equal),
        _ => order(a, b).ok(),
    }
}

fn sort(call: &Call<'_>) -> Evaluated {
    let mut items = items(call)?;
    let mut failed = None;
    let compare = |a: &Value, b: &Value| -> Evaluated<Ordering> {
        if call.block.is_some() {
            return match call.yields(vec![a.clone(), b.clone()])? {
                Value::Int(number) => Ok(number.cmp(&0)),
                other => Err(Flow::raw(format!("comparison of {} with 0 failed", kind(&other)))),
            };
        }
        ruby_order(a, b).ok_or_else(|| {
            Flow::raw(format!(
                "comparison of {} with {} failed",
                kind(a),
                crate::eval::inspected(b)
            ))
        })
    };
    items.sort_by(|a, b| match compare(a, b) {
        Ok(order) => order,
        Err(flow) => {
            failed.get_or_insert(flow);
            Ordering::Equal
        }
    });
    if let Some(flow) = failed {
        return Err(flow);
    }
    Ok(match call.arg(0) {
        Value::String(_) => Value::from(items.iter().filter_map(Value::as_str).collect::<String>()),
        _ => Value::array(items),
    })
}

fn unique(call: &Call<'_>) -> Evaluated {
    let key_of = |item: &Value| {
        if call.block.is_some() { call.yields(vec![item.clone()]) } else { Ok(item.clone()) }
    };
    if let Value::Hash(hash) = call.arg(0) {
        let mut groups: Vec<(Value, Vec<Value>, Vec<Value>)> = Vec::new();
        for (key, value) in &**hash {
            let by = key_of(value)?;
            match groups.iter_mut().find(|(known, ..)| *known == by) {
                Some((_, keys, values)) => {
                    keys.push(key.clone());
                    if !values.contains(value) {
                        values.push(value.clone());
                    }
                }
                None => groups.push((by, vec![key.clone()], vec![value.clone()])),
            }
        }
        let out: Hash = groups
            .into_iter()
            .map(|(_, keys, values)| (Value::array(keys), Value::array(values)))
            .collect();
        return Ok(Value::Hash(Rc::new(out)));
    }
    let mut seen = rustc_hash::FxHashSet::default();
    let mut out = Vec::new();
    for item in items(call)? {
        if seen.insert(key_of(&item)?) {
            out.push(item);
        }
    }
    Ok(match call.arg(0) {
        Value::String(_) => Value::from(out.iter().filter_map(Value::as_str).collect::<String>()),
        _ => Value::array(out),
    })
}
