//! Types in their plainest form, and with the meaning of every alias written out: what
//! messages about them need.

use std::rc::Rc;

use super::{Member, Signature, Size, Type};

/// A type made again from changed parts.
fn rebuilt(ty: &Type, change: &mut dyn FnMut(&Type) -> Type) -> Type {
    fn some(inner: Option<&Rc<Type>>, change: &mut dyn FnMut(&Type) -> Type) -> Option<Rc<Type>> {
        inner.map(|inner| Rc::new(change(inner)))
    }
    fn list(items: &[Rc<Type>], change: &mut dyn FnMut(&Type) -> Type) -> Vec<Rc<Type>> {
        items.iter().map(|item| Rc::new(change(item))).collect()
    }
    match ty {
        Type::Array { element, size } => {
            Type::Array { element: Rc::new(change(element)), size: *size }
        }
        Type::Hash { key, value, size } => {
            Type::Hash { key: Rc::new(change(key)), value: Rc::new(change(value)), size: *size }
        }
        Type::Tuple { types, size } => Type::Tuple { types: list(types, change), size: *size },
        Type::Struct(members) => Type::Struct(
            members
                .iter()
                .map(|member| Member {
                    name: Rc::clone(&member.name),
                    key: member.key,
                    value: Rc::new(change(&member.value)),
                })
                .collect(),
        ),
        Type::Variant(types) => Type::Variant(list(types, change)),
        Type::Iterable(inner) => Type::Iterable(some(inner.as_ref(), change)),
        Type::Iterator(inner) => Type::Iterator(some(inner.as_ref(), change)),
        Type::Optional(inner) => Type::Optional(some(inner.as_ref(), change)),
        Type::NotUndef(inner) => Type::NotUndef(some(inner.as_ref(), change)),
        Type::Meta(inner) => Type::Meta(some(inner.as_ref(), change)),
        Type::Sensitive(inner) => Type::Sensitive(some(inner.as_ref(), change)),
        Type::Callable(Some(signature)) => Type::Callable(Some(Signature {
            params: list(&signature.params, change),
            size: signature.size,
            block: some(signature.block.as_ref(), change),
            returns: some(signature.returns.as_ref(), change),
        })),
        ty => ty.clone(),
    }
}

/// The text of a type in which each alias says what it stands for: `Port = Integer[0, 65535]`.
pub(crate) fn expanded(ty: &Type) -> String {
    fn written_out(ty: &Type) -> Type {
        match ty {
            Type::Alias { name, target } => {
                Type::Reference(format!("{name} = {}", written_out(target)).into())
            }
            ty => rebuilt(ty, &mut written_out),
        }
    }
    written_out(ty).to_string()
}

/// The plainest type with the same values; aliases stay.
pub(crate) fn normalized(ty: &Type) -> Type {
    match ty {
        Type::Optional(Some(inner)) => match normalized(inner) {
            Type::NotUndef(inner) => normalized(&Type::Optional(inner)),
            inner if super::assignable::accepts_undef(&inner) => inner,
            inner => Type::Optional(Some(Rc::new(inner))),
        },
        Type::NotUndef(Some(inner)) => match normalized(inner) {
            Type::Optional(inner) => normalized(&Type::NotUndef(inner)),
            inner if !super::assignable::accepts_undef(&inner) => inner,
            inner => Type::NotUndef(Some(Rc::new(inner))),
        },
        Type::Variant(types) if !types.is_empty() => {
            variant(types.iter().map(|ty| normalized(ty)).collect())
        }
        Type::Collection(_) => Type::Collection(super::ANY_SIZE),
        ty => rebuilt(ty, &mut normalized),
    }
}

/// One of several types, without saying anything twice.
pub(super) fn one_of(types: Vec<Type>) -> Type {
    let mut kept: Vec<Type> = Vec::new();
    for ty in types {
        if !kept.contains(&ty) {
            kept.push(ty);
        }
    }
    match kept.len() {
        1 => kept.remove(0),
        _ => Type::Variant(kept.into_iter().map(Rc::new).collect()),
    }
}

fn variant(mut types: Vec<Type>) -> Type {
    if types.len() == 1 {
        return types.remove(0);
    }
    if types.iter().any(|ty| matches!(ty, Type::Undef | Type::Optional(_))) {
        let others = types
            .into_iter()
            .filter(|ty| *ty != Type::Undef)
            .map(|ty| match ty {
                Type::Optional(Some(inner)) => Rc::unwrap_or_clone(inner),
                Type::Optional(None) => Type::Any,
                ty => ty,
            })
            .collect();
        return normalized(&Type::Optional(Some(Rc::new(one_of(others)))));
    }
    let mut flat = Vec::new();
    for ty in types {
        match ty {
            Type::Variant(inner) => flat.extend(inner.iter().map(|ty| (**ty).clone())),
            ty => flat.push(ty),
        }
    }
    let flat = merged_texts(flat);
    let flat = merged_patterns(flat);
    one_of(merged_integers(flat))
}

/// Texts and lists of texts become one list, behind the other types.
fn merged_texts(types: Vec<Type>) -> Vec<Type> {
    for loose in [false, true] {
        let is_texts = |ty: &Type| match ty {
            Type::Enum { values, ignore_case } => *ignore_case == loose && !values.is_empty(),
            Type::Literal(_) => !loose,
            _ => false,
        };
        if types.iter().filter(|ty| is_texts(ty)).count() > 1 {
            let (texts, mut others): (Vec<_>, Vec<_>) = types.into_iter().partition(is_texts);
            let values = texts.into_iter().flat_map(|ty| match ty {
                Type::Enum { values, .. } => values,
                Type::Literal(text) => vec![text],
                _ => Vec::new(),
            });
            let values =
                values.map(|text| if loose { text.to_lowercase().into() } else { text }).collect();
            others.push(super::enumeration(values, loose));
            return merged_texts(others);
        }
    }
    types
}

fn merged_patterns(types: Vec<Type>) -> Vec<Type> {
    let is_pattern = |ty: &Type| matches!(ty, Type::Pattern(_));
    if types.iter().filter(|ty| is_pattern(ty)).count() < 2 {
        return types;
    }
    let (patterns, mut others): (Vec<_>, Vec<_>) = types.into_iter().partition(is_pattern);
    let all = patterns.into_iter().flat_map(|ty| match ty {
        Type::Pattern(all) => all,
        _ => Vec::new(),
    });
    others.push(Type::Pattern(all.collect()));
    others
}

/// Ranges that meet become one, in front of the other types.
fn merged_integers(types: Vec<Type>) -> Vec<Type> {
    let is_range = |ty: &Type| matches!(ty, Type::Integer(_));
    if types.iter().filter(|ty| is_range(ty)).count() < 2 {
        return types;
    }
    let (ranges, others): (Vec<_>, Vec<_>) = types.into_iter().partition(is_range);
    let mut left: Vec<Size> = ranges
        .into_iter()
        .filter_map(|ty| match ty {
            Type::Integer(range) => Some(range),
            _ => None,
        })
        .collect();
    let mut out = Vec::new();
    while let Some(mut range) = left.pop() {
        left.retain(|other| match joined(range, *other) {
            Some(both) => {
                range = both;
                false
            }
            None => true,
        });
        out.push(Type::Integer(range));
    }
    out.extend(others);
    out
}

fn joined(a: Size, b: Size) -> Option<Size> {
    let low = |range: Size| range.min.unwrap_or(i64::MIN);
    let high = |range: Size| range.max.unwrap_or(i64::MAX);
    let meet = low(a) <= high(b).saturating_add(1) && low(b) <= high(a).saturating_add(1);
    meet.then(|| Size {
        min: a.min.zip(b.min).map(|(a, b)| a.min(b)),
        max: a.max.zip(b.max).map(|(a, b)| a.max(b)),
    })
}
