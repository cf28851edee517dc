//! Facts as text, JSON, YAML and HOCON, each in the form that Facter gives it.

mod text;

use fx_value::{Map, Value};

/// How facts are printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// `name => value`, or the value of the only query.
    #[default]
    Text,
    /// `--json`
    Json,
    /// `--yaml`
    Yaml,
    /// `--hocon`
    Hocon,
}

/// All facts.
pub fn all_text(format: Format, facts: Map) -> String {
    match format {
        Format::Text => text::whole(&facts),
        Format::Json => format!("{}\n", json(&Value::Map(facts), 0)),
        Format::Yaml => yaml(&Value::Map(facts)),
        Format::Hocon => hocon(&Value::Map(facts), 0),
    }
}

/// The values that were queried, by the queries.
pub fn answers_text(format: Format, found: Vec<(String, Value)>) -> String {
    match (format, found.as_slice()) {
        (Format::Hocon, [(name, value)]) => return alone(name, value),
        (Format::Text, _) => return text::answers(&found),
        (Format::Hocon, []) => return "\n".to_owned(),
        (Format::Yaml, []) => return "--- {}\n".to_owned(),
        _ => {}
    }
    all_text(format, found.into_iter().map(|(name, value)| (name.into(), value)).collect())
}

/// JSON as Ruby of Facter's time sets it: what is empty still takes its lines.
fn json(value: &Value, depth: usize) -> String {
    let indent = "  ".repeat(depth + 1);
    let end = "  ".repeat(depth);
    match value {
        Value::Map(map) if map.is_empty() => format!("{{\n{end}}}"),
        Value::Map(map) => {
            let pairs = map.iter().map(|(key, value)| {
                let key = Value::from(key.to_text().into_owned()).to_json();
                format!("{indent}{key}: {}", json(value, depth + 1))
            });
            format!("{{\n{}\n{end}}}", pairs.collect::<Vec<_>>().join(",\n"))
        }
        Value::List(items) => {
            let items = items.iter().map(|item| format!("{indent}{}", json(item, depth + 1)));
            format!("[\n{}\n{end}]", items.collect::<Vec<_>>().join(",\n"))
        }
        plain => plain.to_json().to_string(),
    }
}

/// Facts that Facter puts together from smaller ones; it prints one of them as Ruby does where a
/// single one is asked for as HOCON.
const GROUPS: [&str; 17] = [
    "cloud",
    "dmi",
    "dmi.bios",
    "dmi.board",
    "dmi.chassis",
    "dmi.product",
    "hypervisors",
    "identity",
    "memory",
    "memory.swap",
    "memory.system",
    "networking",
    "os",
    "os.distro",
    "os.selinux",
    "processors",
    "system_uptime",
];

/// The only answer, as HOCON.
fn alone(name: &str, value: &Value) -> String {
    match value {
        Value::Map(_) if GROUPS.contains(&name) => format!("{}\n", inspected(value)),
        Value::Map(map) if map.is_empty() => "{}\n".to_owned(),
        Value::Map(_) => hocon(value, 0),
        Value::Undef | Value::Bool(false) => "\n".to_owned(),
        Value::List(items) => items.iter().map(|item| format!("{item}\n")).collect(),
        value => format!("{value}\n"),
    }
}

/// A value in the notation of Ruby.
fn inspected(value: &Value) -> String {
    match value {
        Value::Undef => "nil".to_owned(),
        Value::Bytes(bytes) => format!("{:?}", bytes.to_text()),
        Value::List(items) => {
            format!("[{}]", items.iter().map(inspected).collect::<Vec<_>>().join(", "))
        }
        Value::Map(map) => {
            let pairs =
                map.iter().map(|(key, value)| format!("{:?}=>{}", key.to_text(), inspected(value)));
            format!("{{{}}}", pairs.collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
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
            // Psych itself quotes what begins with a sign, or would be read as something else.
            if text.starts_with(|c: char| !c.is_alphanumeric() && c != '_') && !text.contains('"') {
                return format!("{text:?}");
            }
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
            let mut sorted: Vec<_> = map.iter().collect();
            sorted.sort_by(|a, b| a.0.cmp(b.0));
            for (key, value) in sorted {
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
        // A whole number is written as one, whatever it was.
        Value::Float(number) if number.fract() == 0.0 => format!("{number:.0}"),
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
            ("/dev/vda", "\"/dev/vda\""),
        ];
        for (text, expected) in table {
            assert_eq!(scalar(&Value::from(text)), expected, "{text}");
        }
        assert_eq!(scalar(&Value::Undef), "\"\"");
        assert_eq!(scalar(&Value::Bool(true)), "true");
    }

    #[test]
    fn what_is_empty_takes_its_lines_in_json() {
        let empty = || Value::Map(Map::new());
        let inner: Value =
            [("kvm", empty()), ("list", Value::List(Vec::new()))].into_iter().collect();
        assert_eq!(json(&inner, 0), "{\n  \"kvm\": {\n  },\n  \"list\": [\n\n  ]\n}");
        assert_eq!(answers_text(Format::Json, Vec::new()), "{\n}\n");
    }

    #[test]
    fn a_single_group_is_told_in_rubys_notation_and_a_single_leaf_in_hocon() {
        let value: Value = [("full", Value::from("12.11"))].into_iter().collect();
        assert_eq!(alone("os.release", &value), "full=\"12.11\"\n");
        assert_eq!(alone("os", &value), "{\"full\"=>\"12.11\"}\n");
        assert_eq!(alone("selinux", &Value::Bool(false)), "\n");
    }
}
