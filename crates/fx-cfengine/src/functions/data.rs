//! Data containers: merging, reading and writing JSON, YAML, CSV and environment files.

use std::rc::Rc;

use crate::eval::Context;
use crate::eval::value::{DataType, Value};
use crate::eval::vars::Found;
use crate::json::{Json, Object, put};
use crate::policy::Rval;
use crate::text::{Str, decode, int_from, path};

use super::{FnResult, arg, container, text, truth};

pub(super) fn call(ctx: &mut Context<'_>, name: &str, args: &[Rval]) -> FnResult {
    match name {
        "mergedata" => merge(ctx, args),
        "parsejson" | "parseyaml" => {
            let source = match args.first()? {
                Rval::Scalar(text) => Rc::clone(text),
                Rval::Data(json) => return Some(Rval::Data(Rc::clone(json))),
                _ => return None,
            };
            let parsed = if name == "parsejson" {
                Json::parse_with(&source, &|word| ctx.variable_json(word, true))
            } else {
                crate::yaml::parse(&source)
            };
            match parsed {
                Some(json) if json.is_container() || name == "parseyaml" => container(json),
                Some(json) => container(json),
                None => {
                    ctx.error(&format!(
                        "Error parsing {} expression '{source}'",
                        if name == "parsejson" { "JSON" } else { "YAML" }
                    ));
                    None
                }
            }
        }
        "storejson" => text(ctx.data_arg(args.first()?, false)?.pretty()),
        "data_expand" => {
            let json = ctx.data_arg(args.first()?, false)?;
            container(expand(ctx, &json))
        }
        "datastate" => container(super::default_template_data(ctx, None)),
        "bundlestate" => {
            // A name that says 'default:' finds nothing in the original.
            if arg(args, 0).starts_with("default:") {
                return None;
            }
            let json = super::default_template_data(ctx, Some(arg(args, 0)));
            if json.len() == 0 { None } else { container(json) }
        }
        "validdata" => validate(ctx, arg(args, 0), arg(args, 1), false),
        "validjson" => {
            let strict = crate::text::bool_from(arg(args, 1)).unwrap_or(false);
            validate(ctx, arg(args, 0), "JSON", strict)
        }
        "type" => type_of(ctx, args),
        "readjson" | "readyaml" | "readcsv" | "readenvfile" => read(ctx, name, args),
        "readdata" => {
            let file = arg(args, 0);
            let mode = match arg(args, 1) {
                "auto" => suffix(file),
                mode => mode.to_owned(),
            };
            let source = read_file(ctx, file, None)?;
            container(parse_as(&mode, &source)?)
        }
        "classfiltercsv" => class_filter(ctx, args),
        _ => None,
    }
}

fn merge(ctx: &Context<'_>, args: &[Rval]) -> FnResult {
    if args.is_empty() {
        ctx.error("mergedata needs at least one argument, a reference to a container variable");
        return None;
    }
    let mut result: Option<Json> = None;
    for value in args {
        let json = ctx.data_arg(value, false)?;
        if !json.is_container() {
            ctx.error(&format!("{} is not mergeable as it it not a container", value.show()));
            return None;
        }
        result = Some(match result {
            None => json,
            Some(before) => before.merge(&json),
        });
    }
    container(result?)
}

/// Expands references in keys and values of data.
fn expand(ctx: &Context<'_>, json: &Json) -> Json {
    match json {
        Json::Str(text) => Json::Str(ctx.expand(text, None, None)),
        Json::Array(items) => Json::Array(items.iter().map(|item| expand(ctx, item)).collect()),
        Json::Object(map) => {
            let mut out = Object::new();
            for (key, value) in map {
                put(&mut out, ctx.expand(key, None, None), expand(ctx, value));
            }
            Json::Object(out)
        }
        other => other.clone(),
    }
}

fn validate(ctx: &Context<'_>, source: &str, kind: &str, strict: bool) -> FnResult {
    if kind != "JSON" {
        ctx.error(&format!("Function 'validdata': Expected data type 'JSON' not '{kind}'"));
        return None;
    }
    let valid = match Json::parse_prefix(source) {
        None => false,
        Some((_, end)) if strict => source[end.min(source.len())..].trim().is_empty(),
        Some(_) => true,
    };
    truth(valid)
}

fn type_of(ctx: &Context<'_>, args: &[Rval]) -> FnResult {
    let name = arg(args, 0);
    let detail =
        if args.len() > 1 { crate::text::bool_from(arg(args, 1)).unwrap_or(false) } else { false };
    let found = ctx.lookup(name, None, None);
    let word = match &found {
        None => "none",
        Some(found) => match found.kind() {
            DataType::StringList => "slist",
            other => other.word(),
        },
    };
    if !detail {
        return text(word);
    }
    let detailed = match found {
        None => "policy none".to_owned(),
        Some(found) => match found.value() {
            Value::Data(json) => format!("data {}", json_kind(&json)),
            _ => format!("policy {word}"),
        },
    };
    text(detailed)
}

fn json_kind(json: &Json) -> &'static str {
    match json {
        Json::Object(_) => "object",
        Json::Array(_) => "array",
        Json::Str(_) => "string",
        Json::Int(_) => "int",
        Json::Real(_) => "real",
        Json::Bool(_) => "boolean",
        Json::Null => "null",
    }
}

fn read_file(ctx: &Context<'_>, file: &str, max: Option<i64>) -> Option<String> {
    match ctx.host().read(&path(file)) {
        Ok(mut bytes) => {
            if let Some(max) = max.filter(|max| *max > 0) {
                bytes.truncate(max as usize);
            }
            Some(decode(&bytes))
        }
        Err(error) => {
            ctx.error(&format!("Error reading data from file '{file}': {error}"));
            None
        }
    }
}

fn read(ctx: &Context<'_>, name: &str, args: &[Rval]) -> FnResult {
    let file = arg(args, 0);
    let max = if args.len() > 1 { Some(int_from(arg(args, 1))?) } else { None };
    let source = read_file(ctx, file, max.filter(|max| *max != 999_999_999))?;
    let mode = match name {
        "readjson" => "JSON",
        "readyaml" => "YAML",
        "readcsv" => "CSV",
        _ => "ENV",
    };
    match parse_as(mode, &source) {
        Some(json) if json.is_container() => container(json),
        _ => {
            ctx.error(&format!("Error parsing {mode} file '{file}'"));
            None
        }
    }
}

fn suffix(file: &str) -> String {
    let lower = file.to_ascii_lowercase();
    let mode = if lower.ends_with(".csv") {
        "CSV"
    } else if lower.ends_with(".env") {
        "ENV"
    } else if lower.ends_with(".yml") || lower.ends_with(".yaml") {
        "YAML"
    } else {
        "JSON"
    };
    mode.to_owned()
}

/// Reads data by the ending of the file's name.
pub(crate) fn parse_by_suffix(file: &str, source: &str) -> Option<Json> {
    parse_as(&suffix(file), source)
}

fn parse_as(mode: &str, source: &str) -> Option<Json> {
    match mode {
        "YAML" => crate::yaml::parse(source),
        "CSV" => Some(csv(source)),
        "ENV" => Some(env_file(source)),
        _ => Json::parse(source),
    }
}

/// Rows of a CSV text as fields, quotes and line ends in quotes respected.
pub(super) fn csv_rows(source: &str) -> Vec<Vec<Str>> {
    let mut rows = Vec::new();
    let mut row: Vec<Str> = Vec::new();
    let mut field = String::new();
    let (mut quoted, mut any) = (false, false);
    let mut chars = source.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            '"' if quoted => {
                if chars.peek() == Some(&'"') {
                    chars.next();
                    field.push('"');
                } else {
                    quoted = false;
                }
            }
            '"' if field.trim().is_empty() => {
                field.clear();
                quoted = true;
                any = true;
            }
            ',' if !quoted => {
                row.push(std::mem::take(&mut field).into());
                any = true;
            }
            '\r' if !quoted && chars.peek() == Some(&'\n') => {}
            '\n' if !quoted => {
                if any || !field.is_empty() {
                    row.push(std::mem::take(&mut field).into());
                    rows.push(std::mem::take(&mut row));
                }
                any = false;
            }
            char => field.push(char),
        }
    }
    if any || !field.is_empty() {
        row.push(field.into());
        rows.push(row);
    }
    rows
}

fn csv(source: &str) -> Json {
    Json::Array(
        csv_rows(source)
            .into_iter()
            .map(|row| Json::Array(row.into_iter().map(Json::Str).collect()))
            .collect(),
    )
}

fn env_file(source: &str) -> Json {
    let mut out = Object::new();
    for line in source.lines() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let Some((key, value)) = line.split_once('=') else { continue };
        let value = value.trim();
        let quote = value.chars().next().filter(|first| matches!(first, '"' | '\''));
        let mut text = String::new();
        let mut chars = value.chars().skip(usize::from(quote.is_some()));
        while let Some(char) = chars.next() {
            match char {
                '\\' => text.extend(chars.next()),
                // What follows the closing quote is not part of it; it may be missing.
                char if Some(char) == quote => break,
                char => text.push(char),
            }
        }
        put(&mut out, key.trim().into(), Json::Str(text.into()));
    }
    Json::Object(out)
}

// Rows of a CSV file whose class expression in one column holds.
fn class_filter(ctx: &Context<'_>, args: &[Rval]) -> FnResult {
    if args.len() < 3 {
        ctx.fatal_note("Function classfiltercsv requires at least 3 arguments");
        return None;
    }
    let file = arg(args, 0);
    let heading = crate::text::bool_from(arg(args, 1))?;
    let class_column = usize::try_from(int_from(arg(args, 2))?).ok()?;
    let sort_column = if args.len() > 3 {
        int_from(arg(args, 3)).and_then(|at| usize::try_from(at).ok())
    } else {
        None
    };
    let source = match ctx.host().read(&path(file)) {
        Ok(bytes) => decode(&bytes),
        Err(error) => {
            ctx.error(&format!("classfiltercsv: Failed to read CSV file {file}: {error}"));
            return None;
        }
    };
    let mut rows = csv_rows(&source);
    rows.retain(|row| row.first().is_some_and(|first| !first.starts_with('#')));
    let header: Option<Vec<Str>> =
        if heading && !rows.is_empty() { Some(rows.remove(0)) } else { None };
    let columns = header.as_ref().map_or_else(|| rows.first().map_or(0, Vec::len), Vec::len);
    if class_column >= columns {
        ctx.error(&format!("classfiltercsv: Class expression index is out of bounds. Row length {columns}, index {class_column}"));
        return None;
    }
    if header.is_none() && rows.is_empty() {
        return container(Json::Array(Vec::new()));
    }
    let names: Vec<Str> =
        header.unwrap_or_else(|| (0..columns).map(|at| at.to_string().into()).collect());
    let mut kept: Vec<Vec<Str>> = rows
        .into_iter()
        .filter(|row| row.len() == columns && ctx.defined(&row[class_column]))
        .collect();
    if let Some(at) = sort_column {
        if at >= columns || at == class_column {
            ctx.warning(&format!(
                "classfiltercsv: Sort index {at} is out of bounds or the class expression column"
            ));
        } else {
            kept.sort_by(|a, b| a[at].cmp(&b[at]));
        }
    }
    let items = kept
        .into_iter()
        .map(|row| {
            let mut object = Object::new();
            for (at, (name, value)) in names.iter().zip(row).enumerate() {
                if at != class_column {
                    put(&mut object, Rc::clone(name), Json::Str(value));
                }
            }
            Json::Object(object)
        })
        .collect();
    container(Json::Array(items))
}

impl Context<'_> {
    fn fatal_note(&self, text: &str) {
        self.error(text);
    }

    /// A variable's text, for callers that want one.
    pub(crate) fn scalar_variable(&self, scope: &str, name: &str) -> Option<Str> {
        self.vars.get(scope, name).and_then(Found::scalar)
    }
}
