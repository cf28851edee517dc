//! Types as text, in the form the language reads.

use std::fmt::{Display, Formatter, Result};

use super::{ANY_SIZE, KeyForm, ObjectType, Range, Signature, Size, Type};

fn joined<T: Display>(items: impl IntoIterator<Item = T>) -> String {
    items.into_iter().map(|item| item.to_string()).collect::<Vec<_>>().join(", ")
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"))
}

/// `name` or `Name[a, b]`.
fn with(name: &str, params: Vec<String>) -> String {
    if params.is_empty() { name.to_owned() } else { format!("{name}[{}]", params.join(", ")) }
}

fn limits<T: Copy>(range: Range<T>, show: fn(T) -> String) -> Vec<String> {
    match (range.min, range.max) {
        (None, None) => Vec::new(),
        (Some(min), None) => vec![show(min)],
        (min, Some(max)) => vec![min.map_or_else(|| "default".to_owned(), show), show(max)],
    }
}

fn size(size: Size) -> Vec<String> {
    if size == ANY_SIZE {
        return Vec::new();
    }
    let mut shown = vec![size.min.map_or_else(|| "default".to_owned(), |min| min.to_string())];
    shown.extend(size.max.map(|max| max.to_string()));
    shown
}

/// A float as the language writes it: `1.0`, `1.0e+16`.
pub(crate) fn float_text(value: f64) -> String {
    let magnitude = value.abs();
    if value.is_infinite() {
        return if value > 0.0 { "Infinity".into() } else { "-Infinity".into() };
    }
    if value.is_nan() {
        return "NaN".into();
    }
    if magnitude != 0.0 && !(1e-4..1e15).contains(&magnitude) {
        let text = format!("{value:e}");
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let mantissa =
            if mantissa.contains('.') { mantissa.to_owned() } else { format!("{mantissa}.0") };
        let exponent: i32 = exponent.parse().unwrap_or(0);
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{mantissa}e{sign}{:02}", exponent.abs());
    }
    format!("{value:?}")
}

/// A resource type's name with each part capitalised.
pub fn capitalized(name: &str) -> String {
    let part = |part: &str| {
        let mut chars = part.chars();
        chars
            .next()
            .map(|first| first.to_uppercase().chain(chars).collect::<String>())
            .unwrap_or_default()
    };
    name.split("::").map(part).collect::<Vec<_>>().join("::")
}

fn optional(name: &str, inner: Option<&Type>) -> String {
    match inner {
        None => name.to_owned(),
        Some(Type::Literal(text)) => format!("{name}[{}]", quoted(text)),
        Some(inner) => format!("{name}[{inner}]"),
    }
}

impl Display for Type {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let text = match self {
            Type::Any => "Any".to_owned(),
            Type::Unit => "Unit".to_owned(),
            Type::Undef => "Undef".to_owned(),
            Type::Default => "Default".to_owned(),
            Type::Boolean(None) => "Boolean".to_owned(),
            Type::Boolean(Some(value)) => format!("Boolean[{value}]"),
            Type::Integer(range) => with("Integer", limits(*range, |value| value.to_string())),
            Type::Float(range) => with("Float", limits(*range, float_text)),
            Type::Numeric => "Numeric".to_owned(),
            Type::String(range) => with("String", size(*range)),
            Type::Literal(_) => "String".to_owned(),
            Type::Enum { values, ignore_case } => {
                let mut params: Vec<String> = values.iter().map(|value| quoted(value)).collect();
                if *ignore_case {
                    params.push("true".to_owned());
                }
                with("Enum", params)
            }
            Type::Pattern(patterns) => {
                with("Pattern", patterns.iter().map(|regex| regex_text(regex.source())).collect())
            }
            Type::Regexp(regex) => {
                with("Regexp", regex.iter().map(|regex| regex_text(regex.source())).collect())
            }
            Type::Scalar => "Scalar".to_owned(),
            Type::ScalarData => "ScalarData".to_owned(),
            Type::Data => "Data".to_owned(),
            Type::RichData => "RichData".to_owned(),
            Type::Collection(range) => with("Collection", size(*range)),
            Type::Array { element, size: range } => {
                let mut params = Vec::new();
                if **element != Type::Any
                    && !(**element == Type::Unit && *range == Size::exactly(0))
                {
                    params.push(element.to_string());
                }
                params.extend(size(*range));
                with("Array", params)
            }
            Type::Hash { key, value, size: range } => {
                let mut params = Vec::new();
                let open = **key == Type::Any && **value == Type::Any;
                let empty = *range == Size::exactly(0) && (open || **key == Type::Unit);
                if !open && !empty {
                    params.extend([key.to_string(), value.to_string()]);
                }
                params.extend(size(*range));
                with("Hash", params)
            }
            Type::Tuple { types, size: range } => {
                let mut params: Vec<String> = types.iter().map(ToString::to_string).collect();
                params.extend(range.map(size).unwrap_or_default());
                with("Tuple", params)
            }
            Type::Struct(members) if members.is_empty() => "Struct".to_owned(),
            Type::Struct(members) => {
                let members = members.iter().map(|member| {
                    let name = quoted(&member.name);
                    let key = match member.key {
                        KeyForm::Plain => name,
                        KeyForm::Optional => format!("Optional[{name}]"),
                        KeyForm::NotUndef => format!("NotUndef[{name}]"),
                    };
                    format!("{key} => {}", member.value)
                });
                format!("Struct[{{{}}}]", joined(members))
            }
            Type::Iterable(inner) => optional("Iterable", inner.as_deref()),
            Type::Iterator(inner) => optional("Iterator", inner.as_deref()),
            Type::Variant(types) => {
                with("Variant", types.iter().map(ToString::to_string).collect())
            }
            Type::Optional(inner) => optional("Optional", inner.as_deref()),
            Type::NotUndef(inner) => optional("NotUndef", inner.as_deref()),
            Type::Meta(inner) => optional("Type", inner.as_deref()),
            Type::Callable(None) => "Callable".to_owned(),
            Type::Callable(Some(signature)) => callable(signature),
            Type::CatalogEntry => "CatalogEntry".to_owned(),
            Type::Resource { name: None, .. } => "Resource".to_owned(),
            Type::Resource { name: Some(name), title: None } => capitalized(name),
            Type::Resource { name: Some(name), title: Some(title) } => {
                format!("{}[{}]", capitalized(name), quoted(title))
            }
            Type::Class(None) => "Class".to_owned(),
            Type::Class(Some(name)) => format!("Class[{name}]"),
            Type::Sensitive(inner) => optional("Sensitive", inner.as_deref()),
            Type::Binary => "Binary".to_owned(),
            Type::SemVer(ranges) => {
                with("SemVer", ranges.iter().map(|range| quoted(range)).collect())
            }
            Type::SemVerRange => "SemVerRange".to_owned(),
            Type::Timestamp(Range { min: Some(at), max }) if Some(*at) == *max => {
                with("Timestamp", vec![quoted(&crate::types::time_text(*at))])
            }
            Type::Timespan(Range { min: Some(span), max }) if Some(*span) == *max => {
                with("Timespan", vec![quoted(&crate::types::span_text(*span))])
            }
            Type::Timestamp(range) => {
                with("Timestamp", limits(*range, |at| quoted(&crate::types::time_text(at))))
            }
            Type::Timespan(range) => {
                with("Timespan", limits(*range, |span| quoted(&crate::types::span_text(span))))
            }
            Type::Uri(None) => "URI".to_owned(),
            Type::Uri(Some(text)) => crate::eval::uri_type_text(text),
            Type::Runtime(None) => "Runtime".to_owned(),
            Type::Runtime(Some((runtime, name))) => format!("Runtime[{runtime}, {}]", quoted(name)),
            Type::Init(inner) => optional("Init", inner.as_deref()),
            Type::Object(None) => "Object".to_owned(),
            Type::Object(Some(object)) => object_text(object),
            Type::TypeSet => "TypeSet".to_owned(),
            Type::Deferred => "Deferred".to_owned(),
            Type::Alias { name, .. } => name.to_string(),
            Type::Later(later) => later.name.to_string(),
            Type::Reference(text) => text.to_string(),
        };
        f.write_str(&text)
    }
}

fn object_text(object: &ObjectType) -> String {
    object.name.to_string()
}

fn callable(signature: &Signature) -> String {
    let mut params: Vec<String> = signature.params.iter().map(ToString::to_string).collect();
    let count = signature.params.len() as i64;
    if signature.size != Size::exactly(count) || count == 0 {
        params.push(signature.size.min.unwrap_or(0).to_string());
        params.extend(signature.size.max.map(|max| max.to_string()));
    }
    params.extend(signature.block.as_ref().map(ToString::to_string));
    match &signature.returns {
        Some(returns) => format!("Callable[[{}], {returns}]", params.join(", ")),
        None => with("Callable", params),
    }
}

/// Between slashes, with slashes inside escaped.
pub(crate) fn regex_text(source: &str) -> String {
    format!("/{}/", source.replace('/', "\\/"))
}
