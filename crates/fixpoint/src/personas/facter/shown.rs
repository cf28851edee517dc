//! Facts as JSON, YAML and HOCON, each in the form that Facter gives it.

use fx_puppet::facter;
use fx_value::{Map, Value};

use super::options::Format;

/// All facts.
pub(crate) fn whole(format: Format, facts: Map) -> String {
    match format {
        Format::Text => facter::text(&facts),
        Format::Json => format!("{:#}\n", Value::Map(facts).to_json()),
        Format::Yaml => yaml(&Value::Map(facts)),
        Format::Hocon => hocon(&Value::Map(facts), 0),
    }
}

/// Answers by the questions they belong to.
pub(crate) fn answers(format: Format, found: Vec<(String, Value)>) -> String {
    if let (Format::Hocon, [(_, value)]) = (format, found.as_slice()) {
        return match value {
            Value::Map(_) => hocon(value, 0),
            Value::Undef => "\n".to_owned(),
            value => format!("{value}\n"),
        };
    }
    whole(format, found.into_iter().map(|(name, value)| (name.into(), value)).collect())
}

/// YAML without its head, and with Facter's own idea of what needs quotes.
fn yaml(value: &Value) -> String {
    let mut out = String::new();
    block(value, 0, &mut out);
    out
}

fn block(value: &Value, depth: usize, out: &mut String) {
    let indent = "  ".repeat(depth);
    match value {
        Value::Map(map) => {
            for (key, value) in map {
                out.extend([format!("{indent}{}:", key.to_text())]);
                member(value, depth, out);
            }
        }
        Value::List(items) => {
            for item in items {
                match item {
                    Value::Map(map) if !map.is_empty() => {
                        let mut inner = String::new();
                        block(item, depth + 1, &mut inner);
                        let start = 2 * (depth + 1);
                        out.extend([format!("{indent}- {}", inner.get(start..).unwrap_or(&inner))]);
                    }
                    item => out.extend([format!("{indent}- {}\n", scalar(item))]),
                }
            }
        }
        other => out.extend([format!("{indent}{}\n", scalar(other))]),
    }
}

fn member(value: &Value, depth: usize, out: &mut String) {
    match value {
        Value::Map(map) if !map.is_empty() => {
            out.push('\n');
            block(value, depth + 1, out);
        }
        Value::List(items) if !items.is_empty() => {
            out.push('\n');
            block(value, depth, out);
        }
        other => out.extend([format!(" {}\n", scalar(other))]),
    }
}

fn scalar(value: &Value) -> String {
    match value {
        Value::Undef => "\"\"".to_owned(),
        Value::Map(_) => "{}".to_owned(),
        Value::List(_) => "[]".to_owned(),
        Value::Bytes(bytes) => {
            let text = bytes.to_text().into_owned();
            if needs_quotes(&text) {
                return format!("{text:?}");
            }
            // Psych itself quotes what would be read as something else.
            if text.parse::<f64>().is_ok()
                || text.starts_with("0x")
                || text == "true"
                || text == "false"
                || text.is_empty()
            {
                return format!("'{text}'");
            }
            text
        }
        other => {
            let text = other.to_string();
            if needs_quotes(&text) { format!("\"{text}\"") } else { text }
        }
    }
}

/// Facter's rule, which looks for letters anywhere in the text.
fn needs_quotes(text: &str) -> bool {
    if text.contains("true") || text.contains("false") {
        return false;
    }
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        return false;
    }
    const PARTS: [&str; 9] = ["y", "Y", "n", "N", "True", "TRUE", "False", "FALSE", ":"];
    const WORDS: [&str; 6] = ["on", "On", "ON", "off", "Off", "OFF"];
    if PARTS.iter().chain(&WORDS).any(|part| text.contains(part)) {
        return true;
    }
    if text.chars().any(|c| c.is_ascii_alphabetic()) {
        return false;
    }
    let decimal = text.split_once('.').is_some_and(|(whole, part)| {
        whole.ends_with(|c: char| c.is_ascii_digit())
            && part.starts_with(|c: char| c.is_ascii_digit())
    });
    !decimal
}

fn hocon(value: &Value, depth: usize) -> String {
    let indent = "    ".repeat(depth);
    match value {
        Value::Map(map) => {
            let mut out = String::new();
            for (key, value) in map {
                let key = key.to_text();
                let bare = key.starts_with(|c: char| c.is_ascii_alphabetic())
                    && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
                let key = if bare { key.into_owned() } else { format!("{key:?}") };
                match value {
                    Value::Map(inner) if !inner.is_empty() => out.extend([format!(
                        "{indent}{key}={{\n{}{indent}}}\n",
                        hocon(value, depth + 1)
                    )]),
                    value => out.extend([format!("{indent}{key}={}\n", item(value, depth))]),
                }
            }
            out
        }
        other => item(other, depth),
    }
}

fn item(value: &Value, depth: usize) -> String {
    let indent = "    ".repeat(depth);
    match value {
        Value::Undef => "null".to_owned(),
        Value::Map(map) if map.is_empty() => "{}".to_owned(),
        Value::Map(_) => format!("{{\n{}{indent}}}", hocon(value, depth + 1)),
        Value::List(items) if items.is_empty() => "[]".to_owned(),
        Value::List(items) => {
            let inner: Vec<String> =
                items.iter().map(|one| format!("{indent}    {}", item(one, depth + 1))).collect();
            format!("[\n{}\n{indent}]", inner.join(",\n"))
        }
        Value::Bytes(bytes) => {
            let text = bytes.to_text().into_owned();
            let bare = text.starts_with(|c: char| c.is_ascii_alphabetic())
                && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
            if bare && !matches!(text.as_str(), "true" | "false" | "null") {
                text
            } else {
                format!("{text:?}")
            }
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn yaml_is_quoted_by_facters_rule() {
        let table = [
            ("Debian", "\"Debian\""),
            ("12.11", "'12.11'"),
            ("ext4", "ext4"),
            ("amd64", "amd64"),
            ("Linux", "\"Linux\""),
            ("12", "'12'"),
            ("00:11", "\"00:11\""),
        ];
        for (text, expected) in table {
            assert_eq!(scalar(&Value::from(text)), expected, "{text}");
        }
        assert_eq!(scalar(&Value::Undef), "\"\"");
        assert_eq!(scalar(&Value::Bool(true)), "true");
    }
}
