//! field_edits: columns of matching lines set, appended, prepended, sorted or deleted.

use std::rc::Rc;

use fx_cfengine::eval::promise::Expanded;
use fx_cfengine::outcome::Outcome;
use fx_cfengine::regex;
use fx_cfengine::text::{Str, decode, encode};
use fx_engine::{Change, Level};

use crate::agent::Agent;
use crate::change::{self, ABSENT};

use super::bundle::{Edit, conclude};
use super::region;

struct Column {
    separator: Str,
    field: i64,
    value: Str,
    operation: Str,
    inner: Option<char>,
    extend: bool,
    blanks: bool,
}

/// Keeps a field_edits promise.
pub(super) fn edit(ctx: &mut Agent<'_>, promise: &Rc<Expanded>, edit: &mut Edit) -> Outcome {
    let name = Rc::clone(&promise.promiser);
    let Some(separator) = promise.scalar("field_separator").cloned() else {
        let text = format!("No field_separator in promise to edit by column for '{name}'");
        return ctx.settle(Level::Error, Outcome::Failed, promise, &text);
    };
    let mut field = promise.int("select_field").unwrap_or(0);
    if promise.bool("start_fields_from_zero").unwrap_or(false) {
        field += 1;
    }
    if field <= 0 {
        let text = format!("No select_field in promise to edit '{name}'");
        return ctx.settle(Level::Error, Outcome::Failed, promise, &text);
    }
    let Some(value) = promise.scalar("field_value").cloned() else {
        let text = format!("No field_value is promised to column_edit '{name}'");
        return ctx.settle(Level::Error, Outcome::Failed, promise, &text);
    };
    let column = Column {
        separator,
        field,
        value,
        operation: promise.scalar("field_operation").cloned().unwrap_or_else(|| "append".into()),
        inner: promise.scalar("value_separator").and_then(|text| text.chars().next()),
        extend: promise.bool("extend_fields").unwrap_or(false),
        blanks: promise.bool("allow_blank_fields").unwrap_or(false),
    };
    let range = match region::lines_of(ctx, promise, &edit.lines, &edit.file, "column edit") {
        Ok(range) => range,
        Err(outcome) => return outcome,
    };
    if !ctx.acquire(promise, &format!("column-{name}-{}", edit.file)) {
        return Outcome::Skipped;
    }
    let mut result = Outcome::Kept;
    let mut found = false;
    for at in range {
        let Some(line) = edit.lines.get(at).cloned() else { break };
        if !regex::full_or_same(&name, &line) {
            continue;
        }
        found = true;
        let bytes = encode(&line);
        let Some((start, end)) = regex::find(&column.separator, &line) else {
            let text = format!(
                "Field edit, no fields found by promised pattern '{}' in '{}'",
                column.separator, edit.file
            );
            result = result.merge(ctx.settle(Level::Error, Outcome::Interrupted, promise, &text));
            return conclude(ctx, promise, "fields_edit", result);
        };
        let joiner = decode(&bytes[start..end]);
        let mut columns = split_fields(&line, &column.separator, column.blanks);
        if edit_columns(ctx, promise, &column, &mut columns, edit, &mut result) {
            edit.lines.set(at, columns.join(&joiner).into());
            edit.lines.edits += 1;
        }
    }
    if !found && regex::compile(&name).is_some() {
        let text =
            format!("No matched line to edit fields of for pattern '{name}' in '{}'", edit.file);
        result = result.merge(ctx.settle(Level::Error, Outcome::Failed, promise, &text));
    }
    conclude(ctx, promise, "fields_edit", result)
}

fn split_fields(line: &str, pattern: &str, blanks: bool) -> Vec<String> {
    let bytes = encode(line);
    let mut out = Vec::new();
    let Some(regex) = regex::compile(pattern) else { return vec![line.to_owned()] };
    let mut at = 0;
    while let Ok(Some(found)) = regex.find_at(&bytes, at) {
        if found.end() == at {
            break;
        }
        if blanks || found.start() > at {
            out.push(decode(&bytes[at..found.start()]));
        }
        at = found.end();
        if at > bytes.len() {
            break;
        }
    }
    if (blanks && at > 0) || at < bytes.len() {
        out.push(decode(&bytes[at..]));
    }
    out
}

// Edits one line's columns; whether it is to be written.
fn edit_columns(
    ctx: &mut Agent<'_>,
    promise: &Rc<Expanded>,
    column: &Column,
    columns: &mut Vec<String>,
    edit: &mut Edit,
    result: &mut Outcome,
) -> bool {
    let index = column.field as usize - 1;
    if index >= columns.len() {
        if !column.extend {
            let text = format!(
                "The file {} has only {} fields, but there is a promise for field {}",
                edit.file,
                columns.len(),
                column.field
            );
            *result = result.merge(ctx.settle(Level::Error, Outcome::Interrupted, promise, &text));
            return false;
        }
        columns.resize(index + 1, String::new());
    }
    let value = &column.value;
    if let Some(inner) = column.inner {
        let field = &columns[index];
        if !(field.contains(&**value) || **field != **value) {
            return false;
        }
        let edited = [field_of(&edit.file, field, value)];
        let should = format!("edit field '{value}' in '{}'", edit.file);
        if !ctx.may_edit(promise, result, &edited, &should) {
            return false;
        }
        let mut parts: Vec<String> = if field.is_empty() {
            Vec::new()
        } else {
            field.split(inner).map(str::to_owned).collect()
        };
        if !edit_parts(ctx, promise, column, &mut parts, edit, result) {
            return false;
        }
        columns[index] = parts.join(&inner.to_string());
        return true;
    }
    let old = columns[index].clone();
    if &*column.operation == "delete" {
        let should = format!("delete field value '{old}' in '{}'", edit.file);
        if !ctx.may_edit(promise, result, &[field_of(&edit.file, &old, ABSENT)], &should) {
            return false;
        }
        columns[index].clear();
        let text = format!("Deleted column field value '' in '{}'", edit.file);
        *result = result.merge(ctx.settle(Level::Info, Outcome::Repaired, promise, &text));
        return true;
    }
    let should = format!("set column field value '{old}' to '{value}' in '{}'", edit.file);
    if !ctx.may_edit(promise, result, &[field_of(&edit.file, &old, value)], &should) {
        return false;
    }
    let text = format!("Set whole column field value '{old}' to '{value}' in '{}'", edit.file);
    *result = result.merge(ctx.settle(Level::Info, Outcome::Repaired, promise, &text));
    columns[index] = value.to_string();
    true
}

// A field of a line, for what is withheld.
fn field_of(file: &str, from: &str, to: &str) -> Change {
    change::of_file(file, "field", change::value(from), change::value(to))
}

fn edit_parts(
    ctx: &mut Agent<'_>,
    promise: &Rc<Expanded>,
    column: &Column,
    parts: &mut Vec<String>,
    edit: &Edit,
    result: &mut Outcome,
) -> bool {
    let value = column.value.to_string();
    let file = &edit.file;
    let mut changed = |ctx: &mut Agent<'_>, text: String| {
        *result = result.merge(ctx.settle(Level::Info, Outcome::Repaired, promise, &text));
        true
    };
    let present = parts.contains(&value);
    match &*column.operation {
        "delete" => {
            if !present {
                return false;
            }
            parts.retain(|part| *part != value);
            changed(ctx, format!("Deleted column field sub-value '{value}' in '{file}'"))
        }
        "set" => {
            let same =
                (parts.len() == 1 && parts[0] == value) || (parts.is_empty() && value.is_empty());
            if same {
                ctx.settle(
                    Level::Verbose,
                    Outcome::Kept,
                    promise,
                    "Field sub-value set as promised",
                );
                return false;
            }
            *parts = vec![value.clone()];
            changed(ctx, format!("Set field sub-value '{value}' in '{file}'"))
        }
        operation => {
            let did = match operation {
                "prepend" => "Prepended",
                "alphanum" => "Inserted",
                _ => "Appended",
            };
            if present {
                let text = format!("Field sub-value '{value}' already present in '{file}'");
                ctx.settle(Level::Verbose, Outcome::Kept, promise, &text);
                return false;
            }
            if operation == "append" || !matches!(operation, "prepend" | "alphanum") {
                parts.push(value.clone());
            } else {
                parts.insert(0, value.clone());
            }
            if operation == "alphanum" {
                parts.sort();
            }
            changed(ctx, format!("{did} field sub-value '{value}' in '{file}'"))
        }
    }
}
