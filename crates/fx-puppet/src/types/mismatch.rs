//! How a value that does not fit is told, in the original's words.

use super::{ANY_SIZE, Size, Type, generalize};

/// One line for each thing that does not fit: `where` says what was checked.
pub(crate) fn describe_mismatch(place: &str, expected: &Type, actual: &Type) -> Vec<String> {
    let mut found = Vec::new();
    walk(&Place { path: String::new(), name: place.to_owned() }, expected, actual, &mut found);
    found
}

struct Place {
    path: String,
    name: String,
}

impl Place {
    fn inside(&self, part: String) -> Place {
        let path = if self.path.is_empty() { part } else { format!("{} {part}", self.path) };
        Place { path, name: self.name.clone() }
    }

    fn head(&self) -> String {
        match (self.name.is_empty(), self.path.is_empty()) {
            (true, true) => String::new(),
            (true, false) => format!("{} ", self.path),
            (false, true) => format!("{} ", self.name),
            (false, false) => format!("{} {} ", self.name, self.path),
        }
    }
}

fn walk(place: &Place, expected: &Type, actual: &Type, found: &mut Vec<String>) {
    if expected.accepts(actual) {
        return;
    }
    match (expected.resolved(), actual.resolved()) {
        (Type::Struct(members), Type::Struct(others)) => {
            for member in members {
                match others.iter().find(|other| other.name == member.name) {
                    Some(other) => walk(
                        &place.inside(format!("entry '{}'", member.name)),
                        &member.value,
                        &other.value,
                        found,
                    ),
                    None if member.is_required() => found.push(format!(
                        "{}expects a value for key '{}'",
                        place.head(),
                        member.name
                    )),
                    None => {}
                }
            }
            for other in others {
                if !members.iter().any(|member| member.name == other.name) {
                    found.push(format!("{}unrecognized key '{}'", place.head(), other.name));
                }
            }
        }
        (Type::Tuple { types, size }, Type::Tuple { types: others, .. }) => {
            let wanted = size.unwrap_or(Size::exactly(types.len() as i64));
            if !wanted.contains(others.len() as i64) {
                found.push(format!(
                    "{}expects size to be {}, got {}",
                    place.head(),
                    size_text(wanted),
                    others.len()
                ));
                return;
            }
            for (index, other) in others.iter().enumerate() {
                walk(
                    &place.inside(format!("index {index}")),
                    &types[index.min(types.len() - 1)],
                    other,
                    found,
                );
            }
        }
        (Type::Array { element, size }, Type::Tuple { types: others, .. }) => {
            if !size.contains(others.len() as i64) {
                found.push(format!(
                    "{}expects size to be {}, got {}",
                    place.head(),
                    size_text(*size),
                    others.len()
                ));
                return;
            }
            for (index, other) in others.iter().enumerate() {
                walk(&place.inside(format!("index {index}")), element, other, found);
            }
        }
        (Type::Hash { key, value, size }, Type::Struct(others)) => {
            if !size.contains(others.len() as i64) {
                found.push(format!(
                    "{}expects size to be {}, got {}",
                    place.head(),
                    size_text(*size),
                    others.len()
                ));
                return;
            }
            for other in others {
                let name = Type::Literal(std::rc::Rc::clone(&other.name));
                walk(&place.inside(format!("key of entry '{}'", other.name)), key, &name, found);
                walk(&place.inside(format!("entry '{}'", other.name)), value, &other.value, found);
            }
        }
        (Type::Variant(types), _) => {
            let before = found.len();
            variant(place, types, expected, actual, found);
            // All variants of an alias failed alike: the alias is what does not fit.
            if let Type::Alias { name, target } = expected
                && found.len() == before + 1
            {
                found.truncate(before);
                found.push(format!(
                    "{}expects {} = {target} value, got {}",
                    place.head(),
                    article(name),
                    short_actual(actual)
                ));
            }
        }
        (Type::Optional(Some(inner)), _) if matches!(inner.resolved(), Type::Variant(_)) => {
            let mut types = vec![std::rc::Rc::new(Type::Undef)];
            if let Type::Variant(inner) = inner.resolved() {
                types.extend(inner.iter().cloned());
            }
            variant(place, &types, expected, actual, found);
        }
        (Type::Hash { .. }, Type::Hash { .. }) => found.push(format!(
            "{}expects {} value, got {actual}",
            place.head(),
            article(&expected.to_string())
        )),
        (Type::Optional(Some(inner)), _) => variant_text(
            place,
            &format!("a value of type Undef or {}", short(inner)),
            actual,
            found,
            inner,
        ),
        _ => found.push(format!(
            "{}expects {}, got {}",
            place.head(),
            wanted_text(expected),
            got_text(expected, actual)
        )),
    }
}

fn variant_text(place: &Place, wanted: &str, actual: &Type, found: &mut Vec<String>, inner: &Type) {
    // A collection of the right kind is told where it differs.
    let nested = matches!(
        (inner.resolved(), actual),
        (Type::Struct(_), Type::Struct(_))
            | (Type::Array { .. } | Type::Tuple { .. }, Type::Tuple { .. })
            | (Type::Hash { .. }, Type::Struct(_))
    );
    if nested {
        walk(place, inner, actual, found);
        return;
    }
    let shown = match inner.resolved() {
        Type::Enum { .. } | Type::Pattern(_) => format!(
            "{}expects a value of type Undef or {}, got {}",
            place.head(),
            short(inner),
            got_text(inner, actual)
        ),
        _ => format!("{}expects {wanted}, got {}", place.head(), got_text(inner, actual)),
    };
    found.push(shown);
}

fn variant(
    place: &Place,
    types: &[std::rc::Rc<Type>],
    expected: &Type,
    actual: &Type,
    found: &mut Vec<String>,
) {
    let same_kind: Vec<usize> = types
        .iter()
        .enumerate()
        .filter(|(_, ty)| nested_kind(ty.resolved(), actual))
        .map(|(index, _)| index)
        .collect();
    if same_kind.is_empty() {
        let names: Vec<String> = types.iter().map(|ty| short(ty)).collect();
        let list = match names.split_last() {
            Some((last, rest)) if rest.len() > 1 => format!("{}, or {last}", rest.join(", ")),
            Some((last, [first])) => format!("{first} or {last}"),
            _ => names.join(""),
        };
        let _ = expected;
        found.push(format!(
            "{}expects a value of type {list}, got {}",
            place.head(),
            short_actual(actual)
        ));
        return;
    }
    for (index, ty) in types.iter().enumerate() {
        walk(&place.inside(format!("variant {index}")), ty, actual, found);
    }
}

fn nested_kind(ty: &Type, actual: &Type) -> bool {
    matches!(
        (ty, actual),
        (Type::Struct(_), Type::Struct(_))
            | (Type::Array { .. } | Type::Tuple { .. }, Type::Tuple { .. } | Type::Array { .. })
            | (Type::Hash { .. }, Type::Struct(_) | Type::Hash { .. })
    )
}

fn size_text(size: Size) -> String {
    match (size.min, size.max) {
        (Some(min), Some(max)) if min == max => min.to_string(),
        (Some(min), Some(max)) => format!("between {min} and {max}"),
        (Some(min), None) => format!("at least {min}"),
        (None, Some(max)) => format!("at most {max}"),
        (None, None) => "anything".to_owned(),
    }
}

fn article(text: &str) -> String {
    let vowel = text.starts_with(|c: char| "AEIOUaeiou".contains(c));
    format!("{} {text}", if vowel { "an" } else { "a" })
}

fn short(ty: &Type) -> String {
    match ty {
        Type::Array { .. } => "Array".to_owned(),
        Type::Hash { .. } => "Hash".to_owned(),
        Type::Struct(_) => "Struct".to_owned(),
        Type::Tuple { .. } => "Tuple".to_owned(),
        ty => ty.to_string(),
    }
}

fn wanted_text(expected: &Type) -> String {
    match expected {
        Type::Alias { name, target } => format!("{} = {}", article(&format!("{name}")), target),
        Type::Enum { .. } | Type::Pattern(_) => format!("a match for {expected}"),
        Type::Struct(_) => "a Struct value".to_owned(),
        Type::Array { .. } => "an Array value".to_owned(),
        Type::Tuple { .. } => "a Tuple value".to_owned(),
        Type::Hash { .. } => "a Hash value".to_owned(),
        ty => {
            let text = ty.to_string();
            format!("{} value", article(&text))
        }
    }
}

fn short_actual(actual: &Type) -> String {
    match actual {
        Type::Literal(_) => "String".to_owned(),
        Type::Tuple { .. } => "Tuple".to_owned(),
        Type::Struct(_) => "Struct".to_owned(),
        ty => generalize(ty).to_string(),
    }
}

fn got_text(expected: &Type, actual: &Type) -> String {
    match (expected.resolved(), actual) {
        (Type::Enum { .. } | Type::Pattern(_), Type::Literal(text)) => format!("'{text}'"),
        (Type::Integer(range), Type::Integer(_)) if *range != super::Range::OPEN => {
            actual.to_string()
        }
        (Type::Float(range), Type::Float(_)) if *range != super::Range::OPEN => actual.to_string(),
        (Type::String(size), Type::Literal(text)) if *size != ANY_SIZE => {
            let count = text.chars().count() as i64;
            Type::String(Size::exactly(count)).to_string()
        }
        _ => short_actual(actual),
    }
}
