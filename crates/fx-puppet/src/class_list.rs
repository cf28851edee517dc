//! Classes that manifests define, with their parameters, for tools that show them. Nothing is
//! evaluated.

use fx_puppet_syntax::{Definition, DefinitionKind, Expr, ExprKind, Param};
use fx_source::{Severity, SourceMap};
use serde_json::{Map, Value, json};

/// What a manifest defines, in the form of the endpoint `environment_classes`: its classes, or why
/// it cannot be read.
pub fn class_list(path: &str, text: &[u8]) -> Value {
    let sources = SourceMap::new();
    let file = sources.add(path, text.to_vec());
    let (program, found) = fx_puppet_syntax::parse(text, file);
    if let Some(error) = found.iter().find(|found| found.severity == Severity::Error) {
        let place = error.primary().map(|span| sources.location(span));
        let place = place.map_or_else(String::new, |at| {
            format!(" (file: {path}, line: {}, column: {})", at.line, at.column)
        });
        return json!({"path": path, "error": format!("{}{place}", error.message)});
    }
    let classes = program.definitions.iter().filter(|one| one.kind == DefinitionKind::Class);
    let classes: Vec<Value> = classes.map(|one| class(&sources, one)).collect();
    json!({"path": path, "classes": classes})
}

fn class(sources: &SourceMap, one: &Definition) -> Value {
    let params: Vec<Value> = one.params.iter().map(|param| parameter(sources, param)).collect();
    json!({"name": *one.name, "params": params})
}

fn parameter(sources: &SourceMap, param: &Param) -> Value {
    let mut row = Map::new();
    row.insert("name".into(), (*param.name).into());
    if let Some(ty) = &param.ty {
        row.insert("type".into(), sources.text(ty.span).into());
    }
    if let Some(default) = &param.default {
        if let Some(literal) = literal(default).filter(|literal| !literal.is_null()) {
            row.insert("default_literal".into(), literal);
        }
        row.insert("default_source".into(), sources.text(default.span).into());
    }
    Value::Object(row)
}

/// The value of an expression that needs no evaluation.
fn literal(expr: &Expr) -> Option<Value> {
    Some(match &expr.kind {
        ExprKind::Undef => Value::Null,
        ExprKind::Bool(on) => (*on).into(),
        ExprKind::Int { value, .. } => (*value).into(),
        ExprKind::Float(value) => (*value).into(),
        ExprKind::String(text) | ExprKind::Name(text) => (**text).into(),
        ExprKind::Parenthesized(inner) => literal(inner)?,
        ExprKind::Negate(inner) => match literal(inner)? {
            Value::Number(number) if number.is_i64() => (-number.as_i64()?).into(),
            Value::Number(number) => (-number.as_f64()?).into(),
            _ => return None,
        },
        ExprKind::Array(items) => items.iter().map(literal).collect::<Option<Vec<_>>>()?.into(),
        ExprKind::Hash(pairs) => {
            let mut members = Map::new();
            for (key, value) in pairs {
                members.insert(literal(key)?.as_str()?.to_owned(), literal(value)?);
            }
            members.into()
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_have_their_parameters() {
        let text = "class a(String[1] $x = 'y', $z, Optional[Integer] $n = -3, $l = [1, {b => true}], $c = $z) { }\ndefine d($q) { }\n";
        let found = class_list("/m/a.pp", text.as_bytes());
        let wanted = json!({"path": "/m/a.pp", "classes": [{"name": "a", "params": [
            {"name": "x", "type": "String[1]", "default_literal": "y", "default_source": "'y'"},
            {"name": "z"},
            {"name": "n", "type": "Optional[Integer]", "default_literal": -3, "default_source": "-3"},
            {"name": "l", "default_literal": [1, {"b": true}], "default_source": "[1, {b => true}]"},
            {"name": "c", "default_source": "$z"},
        ]}]});
        assert_eq!(found, wanted);
        let found = class_list("/m/b.pp", b"class b {");
        assert_eq!(found["path"], "/m/b.pp");
        assert!(found["error"].as_str().unwrap().contains("(file: /m/b.pp, line: 1"), "{found}");
    }
}
