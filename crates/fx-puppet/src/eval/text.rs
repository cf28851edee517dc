//! Values as text: in strings, in messages, and as the language would write them.

use fx_formats::base64;

use std::rc::Rc;

use crate::types::{float_text, span_text, time_text};
use crate::value::Value;

/// As put into a string.
pub fn interpolated(value: &Value) -> String {
    let mut out = String::new();
    push(&mut out, value);
    out
}

fn push(out: &mut String, value: &Value) {
    match value {
        Value::Undef => {}
        Value::String(text) => out.push_str(text),
        Value::Iterator(_, element) => {
            out.push_str(&format!("Iterator[{}]-Value", crate::types::generalize(element)));
        }
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push_str(", ");
                }
                push(out, item);
            }
            out.push(']');
        }
        Value::Hash(hash) => {
            out.push('{');
            for (index, (key, value)) in hash.iter().enumerate() {
                if index > 0 {
                    out.push_str(", ");
                }
                push(out, key);
                out.push_str(" => ");
                push(out, value);
            }
            out.push('}');
        }
        Value::Binary(bytes) => out.push_str(&base64::encode(bytes)),
        Value::Type(ty) => match &**ty {
            ty @ crate::types::Type::Alias { .. } => out.push_str(&crate::types::expanded(ty)),
            crate::types::Type::Object(Some(_)) => out.push_str(&program_text(value)),
            ty => out.push_str(&ty.to_string()),
        },
        Value::Uri(text) | Value::SemVerRange(text) => out.push_str(text),
        value => out.push_str(&program_text(value)),
    }
}

/// As the language would write it.
pub fn program_text(value: &Value) -> String {
    match value {
        Value::Undef => "undef".into(),
        Value::Default => "default".into(),
        Value::Bool(value) => value.to_string(),
        Value::Int(value) => value.to_string(),
        Value::Float(value) => float_text(*value),
        Value::String(text) => quoted(text),
        Value::Regex(regex) => crate::types::regex_text(regex.source()),
        Value::Array(items) | Value::Iterator(items, _) => {
            format!("[{}]", items.iter().map(program_text).collect::<Vec<_>>().join(", "))
        }
        Value::Hash(hash) => hash_text(hash),
        Value::Type(ty) => match &**ty {
            // Written out in full, unlike inside another type.
            crate::types::Type::TypeSet => "TypeSet[{pcore_uri => 'http://puppet.com/2016.1/pcore', pcore_version => '1.0.0', name_authority => 'http://puppet.com/2016.1/runtime', name => 'DefaultTypeSet', version => '0.0.0'}]".into(),
            ty @ crate::types::Type::Alias { .. } => crate::types::expanded(ty),
            crate::types::Type::Object(Some(object)) => {
                let mut parts = vec![format!("name => {}", quoted(&object.name))];
                if let Value::Hash(init) = &object.init {
                    let rest = init.iter().filter(|(key, _)| key.as_str() != Some("name"));
                    parts.extend(rest.map(|(key, value)| format!("{} => {}", interpolated(key), program_text(value))));
                }
                format!("Object[{{{}}}]", parts.join(", "))
            }
            ty => ty.to_string(),
        },
        Value::Sensitive(_) => "Sensitive [value redacted]".into(),
        Value::Binary(bytes) => format!("Binary(\"{}\")", base64::encode(bytes)),
        Value::Timespan(nanos) => span_text(*nanos),
        Value::Timestamp(nanos) => time_text(*nanos),
        Value::SemVer(text) => text.to_string(),
        Value::SemVerRange(text) => {
            crate::semver::range_text(text).unwrap_or_else(|| text.to_string())
        }
        Value::Uri(text) => format!("URI({})", quoted(text)),
        Value::Deferred(name, args) => {
            let mut pairs = vec![format!("'name' => {}", quoted(name))];
            if !args.is_empty() {
                pairs.push(format!("'arguments' => {}", program_text(&Value::Array(Rc::clone(args)))));
            }
            format!("Deferred({{{}}})", pairs.join(", "))
        }
        Value::Object(ty, fields) => format!("{}({})", super::label::short(ty), hash_text(fields)),
    }
}

fn hash_text(hash: &crate::value::Hash) -> String {
    let pair = |(key, value): (&Value, &Value)| {
        format!("{} => {}", program_text(key), program_text(value))
    };
    format!("{{{}}}", hash.iter().map(pair).collect::<Vec<_>>().join(", "))
}

/// A string with quotes around: single ones unless something needs an escape.
pub(crate) fn quoted(text: &str) -> String {
    if text.chars().any(|c| (c as u32) < 0x20) {
        return double_quoted(text);
    }
    let mut out = String::from("'");
    let mut escaped = false;
    for c in text.chars() {
        if escaped {
            out.push('\\');
            out.push(c);
            escaped = false;
        } else if c == '\'' {
            out.push_str("\\'");
        } else if c == '\\' {
            escaped = true;
        } else {
            out.push(c);
        }
    }
    if escaped {
        out.push_str("\\\\");
    }
    out.push('\'');
    out
}

/// A string in double quotes.
pub(crate) fn double_quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '\t' => out.push_str("\\t"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '$' => out.push_str("\\$"),
            c if (c as u32) < 0x20 => out.push_str(&format!("\\u{{{:X}}}", c as u32)),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// As Ruby shows it when asked to inspect.
pub fn inspected(value: &Value) -> String {
    match value {
        Value::Undef => "nil".into(),
        Value::String(text) => {
            let mut out = String::from("\"");
            for c in text.chars() {
                match c {
                    '"' => out.push_str("\\\""),
                    '\\' => out.push_str("\\\\"),
                    '\n' => out.push_str("\\n"),
                    '\t' => out.push_str("\\t"),
                    '\r' => out.push_str("\\r"),
                    '\u{1b}' => out.push_str("\\e"),
                    c if (c as u32) < 0x20 => out.push_str(&format!("\\x{:02X}", c as u32)),
                    c => out.push(c),
                }
            }
            out.push('"');
            out
        }
        Value::Array(items) | Value::Iterator(items, _) => {
            format!("[{}]", items.iter().map(inspected).collect::<Vec<_>>().join(", "))
        }
        Value::Hash(hash) => {
            let pairs =
                hash.iter().map(|(key, value)| format!("{}=>{}", inspected(key), inspected(value)));
            format!("{{{}}}", pairs.collect::<Vec<_>>().join(", "))
        }
        Value::Default => ":default".into(),
        value => program_text(value),
    }
}

/// As Ruby's `to_s` gives it.
pub(crate) fn ruby_text(value: &Value) -> String {
    match value {
        Value::Undef => String::new(),
        Value::String(text) => text.to_string(),
        Value::Array(_) | Value::Hash(_) | Value::Iterator(_, _) => inspected(value),
        Value::Regex(regex) => format!("(?-mix:{})", regex.source()),
        value => interpolated(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_are_single_unless_an_escape_is_needed() {
        assert_eq!(quoted("a'b"), r"'a\'b'");
        assert_eq!(quoted("a\nb$"), r#""a\nb\$""#);
        assert_eq!(quoted("a\\"), r"'a\\'");
    }
}
