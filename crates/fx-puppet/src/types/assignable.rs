//! What fits into what.

use std::rc::Rc;

use super::{ANY_SIZE, Member, Range, Signature, Size, Type};

/// Deepest chain of types looked through, for aliases that name themselves.
const MAX_DEPTH: u32 = 60;

impl Type {
    /// Whether every value of another type is a value of this one.
    pub fn accepts(&self, other: &Type) -> bool {
        assignable(self, other, 0)
    }
}

pub(super) fn accepts_undef(ty: &Type) -> bool {
    assignable(ty, &Type::Undef, 0)
}

fn all(left: &Type, items: &[Rc<Type>], depth: u32) -> bool {
    items.iter().all(|item| assignable(left, item, depth))
}

/// The right side first: what stands for several types must fit with each. Nothing where it
/// stands for itself.
fn right_side(left: &Type, right: &Type, depth: u32) -> Option<bool> {
    let fits = |left: &Type, right: &Type| assignable(left, right, depth + 1);
    Some(match right {
        Type::Alias { target, .. } => left == right || fits(left, target),
        Type::Later(later) => {
            left == right || later.target.get().is_none_or(|target| fits(left, target))
        }
        Type::Variant(types) if !types.is_empty() => left == right || all(left, types, depth + 1),
        Type::Optional(inner) => {
            let inner = inner.as_deref().unwrap_or(&Type::Any);
            matches!(left, Type::Any) || (fits(left, &Type::Undef) && fits(left, inner))
        }
        Type::NotUndef(Some(inner))
            if !matches!(left, Type::NotUndef(_)) && !accepts_undef(inner) =>
        {
            fits(left, inner)
        }
        Type::Unit => true,
        _ => return None,
    })
}

/// Types of texts; nothing for others.
fn texts(left: &Type, right: &Type) -> Option<bool> {
    Some(match (left, right) {
        (Type::String(a), Type::String(b)) => a.covers(b),
        (Type::String(a), Type::Literal(text)) => a.contains(text.chars().count() as i64),
        (Type::String(a), Type::Enum { values, .. }) => {
            if values.is_empty() {
                *a == ANY_SIZE
            } else {
                values.iter().all(|value| a.contains(value.chars().count() as i64))
            }
        }
        (Type::String(a), Type::Pattern(_)) => *a == ANY_SIZE,
        (Type::Literal(a), Type::Literal(b)) => a == b,
        (Type::Literal(a), Type::Enum { values, ignore_case: false }) => {
            values.len() == 1 && values[0] == *a
        }
        (Type::Enum { values, ignore_case }, Type::Literal(text)) => {
            values.is_empty()
                || values.iter().any(|value| {
                    value == text || (*ignore_case && value.to_lowercase() == text.to_lowercase())
                })
        }
        (
            Type::Enum { values, ignore_case },
            Type::Enum { values: others, ignore_case: other_case },
        ) => {
            let has = |other: &Rc<str>| {
                values.iter().any(|value| {
                    value == other || (*ignore_case && value.to_lowercase() == other.to_lowercase())
                })
            };
            values.is_empty()
                || (!others.is_empty() && (*ignore_case || !other_case) && others.iter().all(has))
        }
        (Type::Enum { values, .. }, Type::String(_)) => values.is_empty(),
        (Type::Pattern(patterns), Type::Literal(text)) => {
            patterns.is_empty()
                || patterns.iter().any(|regex| regex.is_match(text).unwrap_or(false))
        }
        (Type::Pattern(patterns), Type::Enum { values, .. }) => {
            patterns.is_empty()
                || (!values.is_empty()
                    && values.iter().all(|value| {
                        patterns.iter().any(|regex| regex.is_match(value).unwrap_or(false))
                    }))
        }
        (Type::Pattern(a), Type::Pattern(b)) => {
            a.is_empty() || (!b.is_empty() && b.iter().all(|regex| a.contains(regex)))
        }
        (Type::Pattern(a), Type::String(_)) => a.is_empty(),
        (Type::Regexp(a), Type::Regexp(b)) => a.is_none() || a == b,
        _ => return None,
    })
}

/// Types of lists and hashes; nothing for others.
fn collections(left: &Type, right: &Type, depth: u32) -> Option<bool> {
    let fits = |left: &Type, right: &Type| assignable(left, right, depth + 1);
    Some(match (left, right) {
        (Type::Array { element, size }, Type::Array { element: other, size: other_size }) => {
            size.covers(other_size) && (*other_size == Size::exactly(0) || fits(element, other))
        }
        (Type::Array { element, size }, Type::Tuple { types, .. }) => {
            size_of(right).is_some_and(|other| size.covers(&other))
                && types.iter().all(|ty| fits(element, ty))
        }
        (Type::Tuple { types, size }, Type::Tuple { types: others, .. }) => {
            tuple_fits(types, size.as_ref(), others, right, depth)
        }
        (Type::Tuple { types, size }, Type::Array { element, size: other }) => {
            let wanted = size.unwrap_or(Size::exactly(types.len() as i64));
            types.is_empty() || (wanted.covers(other) && types.iter().all(|ty| fits(ty, element)))
        }
        (Type::Hash { key, value, size }, Type::Hash { key: k, value: v, size: other }) => {
            size.covers(other) && (*other == Size::exactly(0) || (fits(key, k) && fits(value, v)))
        }
        (Type::Hash { key, value, size }, Type::Struct(members)) => {
            let required = members.iter().filter(|member| member.is_required()).count() as i64;
            size.covers(&Range::new(Some(required), Some(members.len() as i64)))
                && members.iter().all(|member| {
                    fits(key, &Type::Literal(Rc::clone(&member.name))) && fits(value, &member.value)
                })
        }
        (Type::Struct(members), Type::Struct(others)) => {
            members.is_empty() || struct_fits(members, others, depth)
        }
        (Type::Struct(members), Type::Hash { value, size, .. }) => {
            let required = members.iter().filter(|member| member.is_required()).count() as i64;
            members.is_empty()
                || (*size == Size::exactly(0) && required == 0)
                || (Range::new(Some(required), Some(members.len() as i64)).covers(size)
                    && members.iter().all(|member| fits(&member.value, value)))
        }
        _ => return None,
    })
}

fn assignable(left: &Type, right: &Type, depth: u32) -> bool {
    if depth > MAX_DEPTH {
        return true;
    }
    let fits = |left: &Type, right: &Type| assignable(left, right, depth + 1);
    let known = right_side(left, right, depth)
        .or_else(|| texts(left, right))
        .or_else(|| collections(left, right, depth));
    if let Some(known) = known {
        return known;
    }
    let inner_fits = |left: &Option<Rc<Type>>, right: &Option<Rc<Type>>| match (left, right) {
        (None, _) => true,
        (Some(left), None) => fits(left, &Type::Any),
        (Some(left), Some(right)) => fits(left, right),
    };
    match (left, right) {
        (Type::Any, _) | (Type::Unit, _) => true,
        (Type::Alias { target, .. }, _) => fits(target, right),
        (Type::Later(later), _) => later.target.get().is_none_or(|target| fits(target, right)),
        (Type::Variant(types), _) => {
            types.iter().any(|ty| fits(ty, right)) || split_scalar(left, right, depth)
        }
        (Type::Optional(inner), _) => {
            matches!(right, Type::Undef) || inner.as_deref().is_none_or(|inner| fits(inner, right))
        }
        (Type::NotUndef(inner), _) => {
            !accepts_undef(right) && inner.as_deref().is_none_or(|inner| fits(inner, right))
        }
        (Type::Boolean(a), Type::Boolean(b)) => a.is_none() || a == b,
        (Type::Integer(a), Type::Integer(b)) => a.covers(b),
        (Type::Float(a), Type::Float(b)) => a.covers(b),
        (Type::Numeric, Type::Integer(_) | Type::Float(_) | Type::Numeric) => true,
        (Type::Scalar, _) => is_scalar(right),
        (Type::ScalarData, _) => is_scalar_data(right),
        (Type::Data, _) => is_data(right, depth + 1),
        (Type::RichData, _) => is_rich(right, depth + 1),
        (Type::Collection(a), _) => size_of(right).is_some_and(|size| a.covers(&size)),
        (Type::Iterable(inner), _) => match element_of(right) {
            Some(element) => inner.as_deref().is_none_or(|inner| fits(inner, &element)),
            None => false,
        },
        (Type::Iterator(a), Type::Iterator(b)) => inner_fits(a, b),
        (Type::Meta(a), Type::Meta(b)) => inner_fits(a, b),
        (Type::Sensitive(a), Type::Sensitive(b)) => inner_fits(a, b),
        (Type::Init(a), Type::Init(b)) => inner_fits(a, b),
        (Type::Callable(None), Type::Callable(_)) => true,
        (Type::Callable(Some(a)), Type::Callable(Some(b))) => callable_fits(a, b, depth),
        (Type::CatalogEntry, Type::CatalogEntry | Type::Resource { .. } | Type::Class(_)) => true,
        (Type::Resource { name, title }, Type::Resource { name: n, title: t }) => {
            (name.is_none() || name == n) && (title.is_none() || title == t)
        }
        (Type::Resource { name: Some(name), title }, Type::Class(class)) => {
            &**name == "class" && (title.is_none() || title == class)
        }
        (Type::Class(a), Type::Class(b)) => a.is_none() || a == b,
        (Type::Uri(None), Type::Uri(_)) => true,
        (Type::Uri(Some(wanted)), Type::Uri(Some(text))) => crate::eval::uri_fits(wanted, text),
        (Type::SemVer(a), Type::SemVer(b)) => {
            let inside = |range: &Rc<str>| {
                let exact = range.split_once(" - ").map_or(&**range, |(version, _)| version);
                a.contains(range) || a.iter().any(|wide| crate::semver::satisfies(exact, wide))
            };
            a.is_empty() || (!b.is_empty() && b.iter().all(inside))
        }
        (Type::Timestamp(a), Type::Timestamp(b)) | (Type::Timespan(a), Type::Timespan(b)) => {
            a.covers(b)
        }
        (Type::Runtime(a), Type::Runtime(b)) => a.is_none() || a == b,
        (Type::Object(None), Type::Object(_)) => true,
        (Type::Object(Some(a)), Type::Object(Some(b))) => {
            a == b || b.parent.as_deref().is_some_and(|parent| fits(left, parent))
        }
        _ => left == right,
    }
}

/// A numeric or data type on the right may be covered by several of a variant's types.
fn split_scalar(left: &Type, right: &Type, depth: u32) -> bool {
    let parts: &[Type] = match right {
        Type::Numeric => &[Type::INTEGER, Type::FLOAT],
        Type::ScalarData => &[Type::INTEGER, Type::FLOAT, Type::STRING, Type::Boolean(None)],
        _ => return false,
    };
    parts.iter().all(|part| assignable(left, part, depth + 1))
}

fn is_scalar_data(ty: &Type) -> bool {
    matches!(
        ty,
        Type::ScalarData
            | Type::Integer(_)
            | Type::Float(_)
            | Type::Numeric
            | Type::String(_)
            | Type::Literal(_)
            | Type::Enum { .. }
            | Type::Pattern(_)
            | Type::Boolean(_)
    )
}

fn is_scalar(ty: &Type) -> bool {
    is_scalar_data(ty)
        || matches!(
            ty,
            Type::Scalar
                | Type::Regexp(_)
                | Type::SemVer(_)
                | Type::SemVerRange
                | Type::Timestamp(_)
                | Type::Timespan(_)
                | Type::Binary
        ) && !matches!(ty, Type::Binary)
}

fn is_data(ty: &Type, depth: u32) -> bool {
    match ty {
        Type::Data | Type::Undef => true,
        Type::Array { element, size } => {
            *size == Size::exactly(0) || assignable(&Type::Data, element, depth)
        }
        Type::Tuple { types, .. } => types.iter().all(|ty| assignable(&Type::Data, ty, depth)),
        Type::Hash { key, value, size } => {
            *size == Size::exactly(0)
                || (assignable(&Type::STRING, key, depth) && assignable(&Type::Data, value, depth))
        }
        Type::Struct(members) => {
            members.iter().all(|member| assignable(&Type::Data, &member.value, depth))
        }
        _ => is_scalar_data(ty),
    }
}

fn is_rich(ty: &Type, depth: u32) -> bool {
    match ty {
        Type::RichData
        | Type::Data
        | Type::Undef
        | Type::Default
        | Type::Sensitive(_)
        | Type::Meta(_)
        | Type::Object(_)
        | Type::Deferred
        | Type::Uri(_)
        | Type::Binary => true,
        Type::Array { element, size } => {
            *size == Size::exactly(0) || assignable(&Type::RichData, element, depth)
        }
        Type::Tuple { types, .. } => types.iter().all(|ty| assignable(&Type::RichData, ty, depth)),
        Type::Hash { key, value, size } => {
            *size == Size::exactly(0)
                || (is_rich(key, depth) && assignable(&Type::RichData, value, depth))
        }
        Type::Struct(members) => {
            members.iter().all(|member| assignable(&Type::RichData, &member.value, depth))
        }
        _ => is_scalar(ty),
    }
}

/// How many items a collection type has.
fn size_of(ty: &Type) -> Option<Size> {
    Some(match ty {
        Type::Array { size, .. } | Type::Hash { size, .. } | Type::Collection(size) => *size,
        Type::Tuple { types, size } => size.unwrap_or(Size::exactly(types.len() as i64)),
        Type::Struct(members) => {
            let required = members.iter().filter(|member| member.is_required()).count() as i64;
            Range::new(Some(required), Some(members.len() as i64))
        }
        _ => return None,
    })
}

/// What iterating over a type yields.
fn element_of(ty: &Type) -> Option<Type> {
    Some(match ty {
        Type::Array { element, .. } => (**element).clone(),
        Type::Tuple { types, .. } => Type::Variant(types.clone()),
        Type::Hash { key, value, .. } => {
            Type::Tuple { types: vec![Rc::clone(key), Rc::clone(value)], size: None }
        }
        Type::Struct(_) => Type::any_array(),
        Type::Iterable(inner) | Type::Iterator(inner) => {
            inner.as_deref().cloned().unwrap_or(Type::Any)
        }
        Type::String(_) | Type::Literal(_) | Type::Enum { .. } | Type::Pattern(_) => {
            Type::String(Size::exactly(1))
        }
        Type::Integer(range) if range.min.is_some() || range.max.is_some() => Type::Integer(*range),
        // Only what has an end can be gone through.
        Type::Meta(Some(inner)) => match inner.resolved() {
            Type::Integer(range) if range.min.is_some() && range.max.is_some() => {
                Type::Integer(*range)
            }
            ty @ Type::Enum { .. } => ty.clone(),
            _ => return None,
        },
        _ => return None,
    })
}

fn tuple_fits(
    types: &[Rc<Type>],
    size: Option<&Size>,
    others: &[Rc<Type>],
    right: &Type,
    depth: u32,
) -> bool {
    let Some(other_size) = size_of(right) else { return false };
    let wanted = size.copied().unwrap_or(Size::exactly(types.len() as i64));
    if types.is_empty() {
        return true;
    }
    let last = types.len() - 1;
    wanted.covers(&other_size)
        && others
            .iter()
            .enumerate()
            .all(|(index, other)| assignable(&types[index.min(last)], other, depth + 1))
}

fn struct_fits(members: &[Member], others: &[Member], depth: u32) -> bool {
    let known = others.iter().all(|other| members.iter().any(|member| member.name == other.name));
    known
        && members.iter().all(|member| {
            match others.iter().find(|other| other.name == member.name) {
                None => !member.is_required(),
                Some(other) => {
                    (!member.is_required() || other.is_required())
                        && assignable(&member.value, &other.value, depth + 1)
                }
            }
        })
}

/// A function fits where it can be called with the arguments promised there.
fn callable_fits(wanted: &Signature, given: &Signature, depth: u32) -> bool {
    let args = Type::Tuple { types: wanted.params.clone(), size: Some(wanted.size) };
    let params = Type::Tuple { types: given.params.clone(), size: Some(given.size) };
    let returns = match (&wanted.returns, &given.returns) {
        (None, _) => true,
        (Some(wanted), given) => {
            assignable(wanted, given.as_deref().unwrap_or(&Type::Any), depth + 1)
        }
    };
    returns
        && (given.params.is_empty() && given.size.covers(&wanted.size)
            || assignable(&params, &args, depth + 1))
}
