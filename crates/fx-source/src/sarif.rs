//! Diagnostics as SARIF 2.1.0, the form in which code hosts and editors take findings.
//! Only what we know is filled in: rule, level, message, places, help.

use serde_json::{Value, json};

use crate::{Diagnostic, Severity, SourceMap, Span};

/// One log with one run for all findings. Each part brings the map its spans belong to.
pub fn render_sarif(version: &str, parts: &[(&SourceMap, &[Diagnostic])]) -> String {
    let mut rules: Vec<&'static str> =
        parts.iter().flat_map(|(_, found)| found.iter().map(|one| one.code)).collect();
    rules.sort_unstable();
    rules.dedup();
    let results: Vec<Value> =
        parts.iter().flat_map(|(map, found)| found.iter().map(|one| result(map, one))).collect();
    let rules: Vec<Value> = rules.into_iter().map(|id| json!({ "id": id })).collect();
    let log = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": { "name": "fixpoint", "version": version, "rules": rules } },
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    });
    format!("{log:#}\n")
}

fn result(map: &SourceMap, one: &Diagnostic) -> Value {
    let level = match one.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    };
    let mut text = one.message.clone();
    if let Some(help) = &one.help {
        text.push_str("\nhelp: ");
        text.push_str(help);
    }
    let mut places = one.labels.iter().map(|label| place(map, label.span, &label.text));
    let first: Vec<Value> = places.next().into_iter().collect();
    json!({
        "ruleId": one.code,
        "level": level,
        "message": { "text": text },
        "locations": first,
        "relatedLocations": places.collect::<Vec<_>>(),
    })
}

fn place(map: &SourceMap, span: Span, text: &str) -> Value {
    let start = map.location(span);
    let end = map.location(Span::new(span.file, span.end, span.end));
    let mut place = json!({
        "physicalLocation": {
            "artifactLocation": { "uri": uri(&start.file) },
            "region": {
                "startLine": start.line, "startColumn": start.column,
                "endLine": end.line, "endColumn": end.column,
            },
        },
    });
    if !text.is_empty() {
        place["message"] = json!({ "text": text });
    }
    place
}

// A path as a relative or absolute URI reference: what may not stand in one is escaped.
fn uri(path: &str) -> String {
    let mut out = String::from(if path.starts_with('/') { "file://" } else { "" });
    for byte in path.bytes() {
        match byte {
            b'/' | b'-' | b'_' | b'.' | b'~' => out.push(char::from(byte)),
            byte if byte.is_ascii_alphanumeric() => out.push(char::from(byte)),
            byte => {
                use std::fmt::Write;
                let _ = write!(out, "%{byte:02X}");
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_has_rule_level_place_and_help() {
        let map = SourceMap::new();
        let id = map.add("a b.cf", b"bundle agent main\n{\n  file:\n}\n".as_slice());
        let found = [Diagnostic::error("cf-type", "unknown promise type 'file'")
            .label(Span::new(id, 22, 26), "not a promise type")
            .help("did you mean 'files'?")];
        let log: Value =
            serde_json::from_str(&render_sarif("1.0", &[(&map, &found)])).expect("it is JSON");
        let result = &log["runs"][0]["results"][0];
        assert_eq!(result["ruleId"], "cf-type");
        assert_eq!(result["level"], "error");
        assert_eq!(
            result["message"]["text"],
            "unknown promise type 'file'\nhelp: did you mean 'files'?"
        );
        let place = &result["locations"][0]["physicalLocation"];
        assert_eq!(place["artifactLocation"]["uri"], "a%20b.cf");
        assert_eq!(place["region"]["startLine"], 3);
        assert_eq!(place["region"]["startColumn"], 3);
        assert_eq!(place["region"]["endColumn"], 7);
        assert_eq!(log["runs"][0]["tool"]["driver"]["rules"][0]["id"], "cf-type");
    }
}
