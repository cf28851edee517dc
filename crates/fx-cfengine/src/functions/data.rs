//! Data containers: merging, reading and writing JSON, YAML, CSV and environment files.

use std::rc::Rc;

use crate::eval::Context;
use crate::eval::value::{DataType, Value};
use crate::eval::vars::Found;
use crate::json::{Json, Object, put};
use crate::policy::Rval;
use crate::text::{Str, decode, int_from, path};

use super::{FnResult, Given, arg, container, text, truth};

/// `mergedata`.
pub(crate) fn mergedata(ctx: &mut Context<'_>, Given { args, .. }: Given<'_>) -> FnResult {
    merge(ctx, args)
}

/// `parsejson`, `parseyaml`.
pub(crate) fn parse_text(ctx: &mut Context<'_>, Given { name, args, .. }: Given<'_>) -> FnResult {
    let source = match args.first()? {
        Rval::Scalar(text) => Rc::clone(text),
        Rval::Data(json) => return Some(Rval::Data(Rc::clone(json))),
        _ => return None,
    };
    if name == "parsejson" {
        parse_json(ctx, &source)
    } else {
        match crate::yaml::parse(&source) {
            Some(json) if json.is_container() => container(json),
            _ => {
                ctx.error(&format!("Non-container from parsing YAML expression '{source}'"));
                None
            }
        }
    }
}

/// `storejson`.
pub(crate) fn storejson(ctx: &mut Context<'_>, Given { args, .. }: Given<'_>) -> FnResult {
    text(ctx.data_arg(args.first()?, false)?.pretty())
}

/// `data_expand`.
pub(crate) fn data_expand(ctx: &mut Context<'_>, Given { args, .. }: Given<'_>) -> FnResult {
    let json = ctx.data_arg(args.first()?, false)?;
    container(expand(ctx, &json))
}

/// `datastate`.
pub(crate) fn datastate(ctx: &mut Context<'_>, _: Given<'_>) -> FnResult {
    container(super::default_template_data(ctx, None))
}

/// `bundlestate`.
pub(crate) fn bundlestate(ctx: &mut Context<'_>, Given { args, .. }: Given<'_>) -> FnResult {
    // A name that says 'default:' finds nothing in the original.
    if arg(args, 0).starts_with("default:") {
        return None;
    }
    let json = super::default_template_data(ctx, Some(arg(args, 0)));
    if json.len() == 0 { None } else { container(json) }
}

/// `validdata`.
pub(crate) fn validdata(ctx: &mut Context<'_>, Given { args, .. }: Given<'_>) -> FnResult {
    validate(ctx, arg(args, 0), arg(args, 1))
}

/// `validjson`.
pub(crate) fn validjson(ctx: &mut Context<'_>, Given { args, .. }: Given<'_>) -> FnResult {
    validate(ctx, arg(args, 0), "JSON")
}

/// `type`.
pub(crate) fn call_type(ctx: &mut Context<'_>, Given { args, .. }: Given<'_>) -> FnResult {
    type_of(ctx, args)
}

/// `readjson`, `readyaml`, `readcsv`, `readenvfile`.
pub(crate) fn read_typed(ctx: &mut Context<'_>, Given { name, args, .. }: Given<'_>) -> FnResult {
    read(ctx, name, args)
}

/// `readdata`.
pub(crate) fn readdata(ctx: &mut Context<'_>, Given { name, args, .. }: Given<'_>) -> FnResult {
    let file = arg(args, 0);
    let mode = match arg(args, 1) {
        "auto" => suffix(file),
        mode => known_type(mode).to_owned(),
    };
    read_data(ctx, name, &mode, file, 999_999_999)
}

/// `classfiltercsv`.
pub(crate) fn classfiltercsv(ctx: &mut Context<'_>, Given { args, .. }: Given<'_>) -> FnResult {
    class_filter(ctx, args)
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

// What a variable made of the type's name is only known here.
fn known_type(name: &str) -> &str {
    if matches!(name, "CSV" | "YAML" | "JSON" | "ENV" | "auto") { name } else { "unknown" }
}

// What follows the data is left alone, whatever is asked for.
fn validate(ctx: &Context<'_>, source: &str, kind: &str) -> FnResult {
    if kind != "JSON" {
        let kind = known_type(kind);
        ctx.error(&format!("validdata: Data type {kind} is not supported by this function"));
        return None;
    }
    truth(Json::parse(source).is_some())
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

fn parse_json(ctx: &Context<'_>, source: &str) -> FnResult {
    let lookup = |word: &str| ctx.variable_json(word, true);
    match Json::try_parse(source, Some(&lookup)) {
        Ok(json) if json.is_container() => container(json),
        // The original logs what is left of the text where it stopped.
        Ok(Json::Str(_)) => {
            ctx.error("Non-container from parsing JSON expression '\"'");
            None
        }
        Ok(json) => {
            let last = json.primitive().and_then(|text| text.chars().last()).unwrap_or(' ');
            ctx.error(&format!("Non-container from parsing JSON expression '{last}'"));
            None
        }
        Err(wrong) => {
            ctx.error(&format!("Error parsing JSON expression '{}': {}", wrong.rest, wrong.why));
            None
        }
    }
}

/// A file of data, of at most so many bytes; the original's messages.
fn read_data(ctx: &Context<'_>, name: &str, mode: &str, file: &str, max: u64) -> FnResult {
    let bytes = match ctx.host().read(&path(file)) {
        Ok(bytes) => bytes,
        // A directory opens and gives no line.
        Err(error)
            if mode == "CSV" && ctx.host().stat(&path(file)).is_ok_and(|meta| meta.is_dir()) =>
        {
            let why = crate::reason::reason(&error);
            ctx.error(&format!(
                "JsonParseCsvFile: unable to read line from CSV file '{file}'. (fread: {why})"
            ));
            return None;
        }
        Err(error) => {
            if matches!(mode, "CSV" | "ENV") {
                let (reader, kind) = if mode == "CSV" {
                    ("JsonParseCsvFile", "csv")
                } else {
                    ("JsonParseEnvFile", "ENV")
                };
                ctx.verbose(&format!(
                    "{reader} cannot open the {kind} file '{file}' (fopen: {})",
                    crate::reason::reason(&error)
                ));
            } else {
                ctx.error(&format!(
                    "{name}: data error parsing {mode} file '{file}': No such file or directory"
                ));
            }
            return None;
        }
    };
    let source = decode(&bytes);
    let parsed = match mode {
        "CSV" => {
            let rows = csv(&source, max);
            if rows.len() == 0 {
                ctx.warning(&format!(
                    "JsonParseCsvFile: CSV file '{file}' is not empty, but nothing was parsed"
                ));
                ctx.warning("Make sure the file contains DOS (CRLF) line endings");
            }
            Some(rows)
        }
        "ENV" => Some(env_file(&source, max)),
        _ if bytes.len() as u64 > max => {
            ctx.error(&format!(
                "{name}: error parsing {mode} file '{file}': Unable to parse JSON without truncating"
            ));
            return None;
        }
        "YAML" => crate::yaml::parse(&source),
        _ => match Json::try_parse(&source, None) {
            Ok(json) => Some(json),
            Err(wrong) => {
                let kind = if wrong.why == "No data" { "data error" } else { "error" };
                ctx.error(&format!("{name}: {kind} parsing {mode} file '{file}': {}", wrong.why));
                return None;
            }
        },
    };
    match parsed {
        Some(json) if json.is_container() => container(json),
        _ => {
            ctx.error(&format!("{name}: non-container from parsing {mode} file '{file}'"));
            None
        }
    }
}

fn read(ctx: &Context<'_>, name: &str, args: &[Rval]) -> FnResult {
    let max = if args.len() > 1 { int_from(arg(args, 1))? } else { 999_999_999 };
    let mode = match name {
        "readjson" => "JSON",
        "readyaml" => "YAML",
        "readcsv" => "CSV",
        _ => "ENV",
    };
    read_data(ctx, name, mode, arg(args, 0), u64::try_from(max).unwrap_or(u64::MAX))
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
        "CSV" => Some(csv(source, u64::MAX)),
        "ENV" => Some(env_file(source, u64::MAX)),
        _ => Json::parse(source),
    }
}

fn csv(source: &str, max: u64) -> Json {
    let mut bytes = 0;
    let rows = super::csv::raw_rows(source)
        .into_iter()
        .take_while(|row| {
            bytes += row.len() as u64;
            bytes <= max
        })
        .filter_map(super::csv::fields)
        .map(|row| Json::Array(row.into_iter().map(Json::Str).collect()));
    Json::Array(rows.collect())
}

fn env_file(source: &str, max: u64) -> Json {
    let mut out = Object::new();
    let mut bytes = 0;
    for line in source.lines() {
        bytes += line.len() as u64;
        if bytes > max {
            break;
        }
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let Some((key, value)) = line.split_once('=') else { continue };
        if let Some(value) = env_value(value.trim())
            && !key.is_empty()
        {
            put(&mut out, key.trim().into(), Json::Str(value.into()));
        }
    }
    Json::Object(out)
}

// The value of a line, without its quotes; `None` where a quote stands in the middle of it.
fn env_value(value: &str) -> Option<String> {
    let quote = value.chars().next().filter(|first| matches!(first, '"' | '\''));
    let mut text = String::new();
    let mut chars = value.chars().skip(usize::from(quote.is_some()));
    while let Some(char) = chars.next() {
        match char {
            '\\' => match chars.next() {
                Some('n') => text.push('\n'),
                other => text.extend(other),
            },
            // What follows the closing quote is not part of it; it may be missing.
            char if Some(char) == quote => break,
            '"' | '\'' if quote.is_none() => return None,
            char => text.push(char),
        }
    }
    Some(text)
}

// Rows of a CSV file whose class expression in one column holds.
fn class_filter(ctx: &mut Context<'_>, args: &[Rval]) -> FnResult {
    if args.len() < 3 {
        ctx.fatal("Function classfiltercsv requires at least 3 arguments");
        return None;
    }
    let file = arg(args, 0);
    let heading = crate::text::bool_from(arg(args, 1)).unwrap_or(false);
    let class_column = usize::try_from(int_from(arg(args, 2))?).ok()?;
    let source = match ctx.host().read(&path(file)) {
        Ok(bytes) => decode(&bytes),
        Err(error) => {
            let reason = crate::reason::reason(&error);
            ctx.error(&format!("classfiltercsv: Failed to read file {file}: {reason}"));
            return None;
        }
    };
    let mut columns = 0;
    let mut names: Option<Vec<Str>> = None;
    let mut kept: Vec<Vec<Str>> = Vec::new();
    for (line, row) in super::csv::raw_rows(&source).into_iter().enumerate() {
        if row.starts_with('#') {
            continue;
        }
        let Some(mut row) = super::csv::fields(row) else {
            ctx.warning(&format!(
                "classfiltercsv: Failed to parse line {}, line ignored.",
                line + 1
            ));
            continue;
        };
        if row.len() == 1 && row[0].is_empty() {
            continue;
        }
        if columns == 0 {
            columns = row.len();
            if class_column >= columns {
                ctx.error(&format!("classfiltercsv: Class expression index is out of bounds. Row length {columns}, index {class_column}"));
                return None;
            }
        } else if columns != row.len() {
            ctx.warning(&format!(
                "classfiltercsv: Line {} has incorrect amount of elements, {} instead of {columns}. Line ignored.",
                line + 1,
                row.len()
            ));
            continue;
        }
        let class = row.remove(class_column);
        if heading && names.is_none() {
            names = Some(row);
        } else if ctx.defined(&class) {
            kept.push(row);
        }
    }
    if args.len() > 3 {
        sort_rows(ctx, &mut kept, arg(args, 3), class_column, columns)?;
    }
    // Without a heading the columns that are left are counted anew.
    let names: Vec<Str> =
        names.unwrap_or_else(|| (0..columns).map(|at| at.to_string().into()).collect());
    let items = kept.into_iter().map(|row| {
        let mut object = Object::new();
        for (name, value) in names.iter().zip(row) {
            put(&mut object, Rc::clone(name), Json::Str(value));
        }
        Json::Object(object)
    });
    container(Json::Array(items.collect()))
}

fn sort_rows(
    ctx: &Context<'_>,
    rows: &mut [Vec<Str>],
    column: &str,
    class_column: usize,
    columns: usize,
) -> Option<()> {
    let column = usize::try_from(int_from(column)?).ok()?;
    if column == class_column {
        ctx.warning(&format!(
            "classfiltercsv: sorting column ({column}) is the same as class expression column ({class_column}). Not sorting data container."
        ));
    } else if column >= columns {
        ctx.warning(&format!(
            "classfiltercsv: sorting index {column} out of bounds. Not sorting data container."
        ));
    } else {
        let at = if column > class_column { column - 1 } else { column };
        rows.sort_by(|a, b| a[at].cmp(&b[at]));
    }
    Some(())
}

impl Context<'_> {
    /// A variable's text, for callers that want one.
    pub(crate) fn scalar_variable(&self, scope: &str, name: &str) -> Option<Str> {
        self.vars.get(scope, name).and_then(Found::scalar)
    }
}
