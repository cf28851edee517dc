//! What type a value has, and whether it is an instance of one.

use std::rc::Rc;

use super::{ANY_SIZE, KeyForm, Member, Range, Size, Type};
use crate::value::Value;

/// The most exact type of a value, with collections taken item by item.
pub(crate) fn infer_set(value: &Value) -> Type {
    match value {
        Value::Array(items) if items.is_empty() => {
            Type::Array { element: Rc::new(Type::Unit), size: Size::exactly(0) }
        }
        Value::Array(items) => Type::Tuple {
            types: items.iter().map(|item| Rc::new(infer_set(item))).collect(),
            size: None,
        },
        Value::Hash(hash) if hash.is_empty() => Type::Hash {
            key: Rc::new(Type::Unit),
            value: Rc::new(Type::Unit),
            size: Size::exactly(0),
        },
        Value::Hash(hash)
            if hash.keys().all(|key| key.as_str().is_some_and(|key| !key.is_empty())) =>
        {
            Type::Struct(
                hash.iter()
                    .map(|(key, value)| Member {
                        name: key.as_str().unwrap_or_default().into(),
                        key: KeyForm::Plain,
                        value: Rc::new(infer_set(value)),
                    })
                    .collect(),
            )
        }
        Value::Hash(hash) => Type::Hash {
            key: Rc::new(unite(hash.keys().map(infer_set))),
            value: Rc::new(unite(hash.values().map(infer_set))),
            size: Size::exactly(hash.len() as i64),
        },
        value => infer(value),
    }
}

/// The type of a value, with collections as arrays and hashes of one element type.
pub(crate) fn infer(value: &Value) -> Type {
    match value {
        Value::Undef => Type::Undef,
        Value::Default => Type::Default,
        Value::Bool(value) => Type::Boolean(Some(*value)),
        Value::Int(value) => Type::Integer(Range::exactly(*value)),
        Value::Float(value) if *value == f64::INFINITY => {
            Type::Float(Range::new(Some(*value), None))
        }
        Value::Float(value) => Type::Float(Range::exactly(*value)),
        Value::String(text) => Type::Literal(Rc::clone(text)),
        Value::Regex(regex) => Type::Regexp(Some(Rc::clone(regex))),
        Value::Array(items) if items.is_empty() => {
            Type::Array { element: Rc::new(Type::Unit), size: Size::exactly(0) }
        }
        Value::Array(items) => Type::Array {
            element: Rc::new(common(items.iter().map(infer))),
            size: Size::exactly(items.len() as i64),
        },
        Value::Hash(hash) if hash.is_empty() => Type::Hash {
            key: Rc::new(Type::Unit),
            value: Rc::new(Type::Unit),
            size: Size::exactly(0),
        },
        Value::Hash(hash) => Type::Hash {
            key: Rc::new(common(hash.keys().map(infer))),
            value: Rc::new(common(hash.values().map(infer))),
            size: Size::exactly(hash.len() as i64),
        },
        Value::Type(ty) => Type::Meta(Some(Rc::clone(ty))),
        Value::Sensitive(inner) => Type::Sensitive(Some(Rc::new(generalize(&infer(inner))))),
        Value::Binary(_) => Type::Binary,
        Value::Timespan(nanos) => Type::Timespan(Range::exactly(*nanos)),
        Value::Timestamp(nanos) => Type::Timestamp(Range::exactly(*nanos)),
        Value::SemVer(version) => Type::SemVer(vec![format!("{version} - {version}").into()]),
        Value::SemVerRange(_) => Type::SemVerRange,
        Value::Uri(text) => Type::Uri(Some(text.clone())),
        Value::Deferred(..) => Type::Deferred,
        Value::Iterator(_, element) => Type::Iterator(Some(Rc::clone(element))),
        Value::Object(ty, _) => (**ty).clone(),
    }
}

/// The type of what iterating over a value yields, as the original's iterables name it.
pub(crate) fn yielded(value: &Value) -> Type {
    match value {
        Value::Iterator(_, element) => (**element).clone(),
        Value::Array(items) if items.is_empty() => Type::Unit,
        Value::Array(items) => unite(items.iter().map(infer_set)),
        Value::Hash(hash) if hash.is_empty() => Type::Unit,
        Value::Hash(hash) => Type::Tuple {
            types: vec![
                Rc::new(common(hash.keys().map(infer))),
                Rc::new(common(hash.values().map(infer))),
            ],
            size: Some(Size::exactly(2)),
        },
        Value::String(_) => Type::String(Size::exactly(1)),
        Value::Int(count) => Type::Integer(Range::new(Some(0), Some(count - 1))),
        Value::Type(ty) => ty.resolved().clone(),
        _ => Type::Any,
    }
}

/// Without sizes, ranges and texts.
pub(crate) fn generalize(ty: &Type) -> Type {
    let inner = |ty: &Rc<Type>| Rc::new(generalize(ty));
    match ty {
        Type::Boolean(_) => Type::Boolean(None),
        Type::Integer(_) => Type::INTEGER,
        Type::Float(_) => Type::FLOAT,
        Type::Literal(_) => Type::STRING,
        Type::Array { element, .. } => Type::Array { element: inner(element), size: ANY_SIZE },
        Type::Hash { key, size, .. } if **key == Type::Unit && *size == Size::exactly(0) => {
            ty.clone()
        }
        Type::Hash { key, value, .. } => {
            Type::Hash { key: inner(key), value: inner(value), size: ANY_SIZE }
        }
        Type::Tuple { types, .. } => Type::Array {
            element: Rc::new(common(types.iter().map(|ty| generalize(ty)))),
            size: ANY_SIZE,
        },
        Type::Variant(types) => unite(types.iter().map(|ty| generalize(ty))),
        Type::SemVer(_) => Type::SemVer(Vec::new()),
        Type::Uri(_) => Type::Uri(None),
        Type::Timestamp(_) => Type::Timestamp(Range::OPEN),
        Type::Timespan(_) => Type::Timespan(Range::OPEN),
        Type::Meta(Some(ty)) => Type::Meta(Some(inner(ty))),
        Type::Sensitive(Some(ty)) => Type::Sensitive(Some(inner(ty))),
        Type::Iterator(Some(ty)) => Type::Iterator(Some(inner(ty))),
        Type::Iterable(Some(ty)) => Type::Iterable(Some(inner(ty))),
        ty => ty.clone(),
    }
}

/// A type that covers all: one of them, a wider one, or a variant.
fn unite(types: impl Iterator<Item = Type>) -> Type {
    let mut kept: Vec<Rc<Type>> = Vec::new();
    for ty in types {
        if !kept.iter().any(|known| **known == ty) {
            kept.push(Rc::new(ty));
        }
    }
    match kept.len() {
        1 => (*kept[0]).clone(),
        _ => Type::Variant(kept),
    }
}

/// The nearest type that covers all, as the language finds it.
fn common(types: impl Iterator<Item = Type>) -> Type {
    types.reduce(|a, b| common_of(&a, &b)).unwrap_or(Type::Unit)
}

fn common_of(a: &Type, b: &Type) -> Type {
    if a.accepts(b) {
        return a.clone();
    }
    if b.accepts(a) {
        return b.clone();
    }
    let join = |a: &Rc<Type>, b: &Rc<Type>| Rc::new(common_of(a, b));
    let spread = |a: &Size, b: &Size| {
        let min = a.min.zip(b.min).map(|(a, b)| a.min(b));
        Range::new(min, a.max.zip(b.max).map(|(a, b)| a.max(b)))
    };
    match (a, b) {
        (Type::Integer(a), Type::Integer(b)) => Type::Integer(Range::new(
            a.min.zip(b.min).map(|(a, b)| a.min(b)),
            a.max.zip(b.max).map(|(a, b)| a.max(b)),
        )),
        (Type::Float(a), Type::Float(b)) => Type::Float(Range::new(
            a.min.zip(b.min).map(|(a, b)| a.min(b)),
            a.max.zip(b.max).map(|(a, b)| a.max(b)),
        )),
        (Type::Boolean(_), Type::Boolean(_)) => Type::Boolean(None),
        (Type::Literal(a), Type::Literal(b)) => {
            let (a, b) = (a.chars().count() as i64, b.chars().count() as i64);
            Type::String(Range::new(Some(a.min(b)), Some(a.max(b))))
        }
        (Type::String(size), Type::Literal(text)) | (Type::Literal(text), Type::String(size)) => {
            Type::String(spread(size, &Size::exactly(text.chars().count() as i64)))
        }
        (Type::String(a), Type::String(b)) => Type::String(spread(a, b)),
        (Type::Array { element: x, size: s }, Type::Array { element: y, size: t }) => {
            Type::Array { element: join(x, y), size: spread(s, t) }
        }
        (Type::Hash { key: k, value: v, size: s }, Type::Hash { key: l, value: w, size: t }) => {
            Type::Hash { key: join(k, l), value: join(v, w), size: spread(s, t) }
        }
        (Type::Meta(Some(x)), Type::Meta(Some(y))) => Type::Meta(Some(join(x, y))),
        _ if Type::Numeric.accepts(a) && Type::Numeric.accepts(b) => Type::Numeric,
        _ if Type::ScalarData.accepts(a) && Type::ScalarData.accepts(b) => Type::ScalarData,
        _ if Type::Scalar.accepts(a) && Type::Scalar.accepts(b) => Type::Scalar,
        _ if Type::Data.accepts(a) && Type::Data.accepts(b) => Type::Data,
        _ if Type::RichData.accepts(a) && Type::RichData.accepts(b) => Type::RichData,
        _ => Type::Any,
    }
}

/// Whether a value is an instance of a type.
pub(crate) fn is_instance(ty: &Type, value: &Value) -> bool {
    match (ty, value) {
        (Type::Any, _) => true,
        (Type::Alias { target, .. }, _) => is_instance(target, value),
        (Type::Later(later), _) => {
            later.target.get().is_none_or(|target| is_instance(target, value))
        }
        (Type::Variant(types), _) => types.iter().any(|ty| is_instance(ty, value)),
        (Type::Optional(inner), _) => {
            matches!(value, Value::Undef)
                || inner.as_deref().is_none_or(|inner| is_instance(inner, value))
        }
        (Type::NotUndef(inner), _) => {
            !matches!(value, Value::Undef)
                && inner.as_deref().is_none_or(|inner| is_instance(inner, value))
        }
        (Type::Array { element, size }, Value::Array(items)) => {
            size.contains(items.len() as i64) && items.iter().all(|item| is_instance(element, item))
        }
        (Type::Tuple { types, size }, Value::Array(items)) => {
            let size = size.unwrap_or(Size::exactly(types.len() as i64));
            types.is_empty()
                || (size.contains(items.len() as i64)
                    && items
                        .iter()
                        .enumerate()
                        .all(|(index, item)| is_instance(&types[index.min(types.len() - 1)], item)))
        }
        (Type::Hash { key, value: wanted, size }, Value::Hash(hash)) => {
            size.contains(hash.len() as i64)
                && hash.iter().all(|(k, v)| is_instance(key, k) && is_instance(wanted, v))
        }
        (Type::Struct(members), Value::Hash(hash)) => {
            let known = hash.keys().all(|key| {
                key.as_str().is_some_and(|key| members.iter().any(|member| *member.name == *key))
            });
            members.is_empty()
                || (known
                    && members.iter().all(|member| {
                        match hash.get(&Value::String(Rc::clone(&member.name))) {
                            None => !member.is_required(),
                            Some(value) => is_instance(&member.value, value),
                        }
                    }))
        }
        (Type::Collection(size), Value::Array(items)) => size.contains(items.len() as i64),
        (Type::Collection(size), Value::Hash(hash)) => size.contains(hash.len() as i64),
        (Type::Data | Type::RichData, Value::Array(items)) => {
            items.iter().all(|item| is_instance(ty, item))
        }
        (Type::Data, Value::Hash(hash)) => {
            hash.iter().all(|(key, value)| key.as_str().is_some() && is_instance(ty, value))
        }
        (Type::RichData, Value::Hash(hash)) => {
            hash.iter().all(|(key, value)| is_instance(ty, key) && is_instance(ty, value))
        }
        (Type::Sensitive(inner), Value::Sensitive(value)) => {
            inner.as_deref().is_none_or(|inner| is_instance(inner, value))
        }
        (Type::Iterable(inner), Value::Int(count)) => {
            *count >= 0
                && inner.as_deref().is_none_or(|inner| {
                    inner.accepts(&Type::Integer(Range::new(Some(0), Some(count - 1))))
                })
        }
        (Type::SemVer(ranges), Value::SemVer(version)) => {
            ranges.is_empty() || ranges.iter().any(|range| crate::semver::satisfies(version, range))
        }
        (Type::Uri(Some(wanted)), Value::Uri(text)) => crate::eval::uri_fits(wanted, text),
        // An iteration is judged by what its items have in common.
        (Type::Iterable(Some(_)), Value::Array(_)) => ty.accepts(&infer(value)),
        (ty, value) => ty.accepts(&infer_set(value)),
    }
}
