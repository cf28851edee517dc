//! Reading files and strings into text, lists and arrays, line by line or by pattern.

use std::rc::Rc;

use crate::eval::Context;
use crate::eval::value::{DataType, Value};
use crate::json::{Json, Object, put};
use crate::module_protocol::Module;
use crate::policy::Rval;
use crate::regex;
use crate::text::{Str, decode, encode, int_from, path, real_from};

use super::{FnResult, Given, arg, container, list, string, text, truth};

/// `readfile`.
pub(crate) fn readfile(ctx: &mut Context<'_>, Given { args, .. }: Given<'_>) -> FnResult {
    let max = if args.len() > 1 { super::whole(ctx, arg(args, 1))? } else { 0 };
    if max < 0 {
        ctx.error(&format!("readfile: requested max size {max} is less than 0"));
        return None;
    }
    text(read(ctx, arg(args, 0), max)?)
}

/// `readstringlist`, `readintlist`, `readreallist`.
pub(crate) fn read_typed_list(
    ctx: &mut Context<'_>,
    Given { name, args, .. }: Given<'_>,
) -> FnResult {
    read_list(ctx, name, args)
}

/// `readstringarray`.
pub(crate) fn readstringarray(ctx: &mut Context<'_>, Given { args, .. }: Given<'_>) -> FnResult {
    array(ctx, args, DataType::String, false, true)
}

/// `readstringarrayidx`.
pub(crate) fn readstringarrayidx(ctx: &mut Context<'_>, Given { args, .. }: Given<'_>) -> FnResult {
    array(ctx, args, DataType::String, true, true)
}

/// `readintarray`.
pub(crate) fn readintarray(ctx: &mut Context<'_>, Given { args, .. }: Given<'_>) -> FnResult {
    array(ctx, args, DataType::Int, false, true)
}

/// `readrealarray`.
pub(crate) fn readrealarray(ctx: &mut Context<'_>, Given { args, .. }: Given<'_>) -> FnResult {
    array(ctx, args, DataType::Real, false, true)
}

/// `parsestringarray`.
pub(crate) fn parsestringarray(ctx: &mut Context<'_>, Given { args, .. }: Given<'_>) -> FnResult {
    array(ctx, args, DataType::String, false, false)
}

/// `parsestringarrayidx`.
pub(crate) fn parsestringarrayidx(
    ctx: &mut Context<'_>,
    Given { args, .. }: Given<'_>,
) -> FnResult {
    array(ctx, args, DataType::String, true, false)
}

/// `parseintarray`.
pub(crate) fn parseintarray(ctx: &mut Context<'_>, Given { args, .. }: Given<'_>) -> FnResult {
    array(ctx, args, DataType::Int, false, false)
}

/// `parserealarray`.
pub(crate) fn parserealarray(ctx: &mut Context<'_>, Given { args, .. }: Given<'_>) -> FnResult {
    array(ctx, args, DataType::Real, false, false)
}

/// `data_readstringarray`, `data_readstringarrayidx`.
pub(crate) fn data_read_array(
    ctx: &mut Context<'_>,
    Given { name, args, .. }: Given<'_>,
) -> FnResult {
    data_array(ctx, name, args)
}

/// `countlinesmatching`.
pub(crate) fn countlinesmatching(ctx: &mut Context<'_>, Given { args, .. }: Given<'_>) -> FnResult {
    count(ctx, args)
}

/// `regline`.
pub(crate) fn regline(ctx: &mut Context<'_>, Given { args, .. }: Given<'_>) -> FnResult {
    regex::compile(arg(args, 0))?;
    let found = match ctx.host().read(&path(arg(args, 1))) {
        Ok(bytes) => decode(&bytes).lines().any(|line| regex::full(arg(args, 0), line)),
        Err(error) => {
            if ctx.host().stat(&path(arg(args, 1))).is_ok_and(|meta| meta.is_dir()) {
                ctx.error(&format!(
                    "In function 'regline', error reading from file. (getline: {})",
                    crate::reason::reason(&error)
                ));
            }
            false
        }
    };
    truth(found)
}

/// `getfields`.
pub(crate) fn getfields(ctx: &mut Context<'_>, Given { args, .. }: Given<'_>) -> FnResult {
    fields(ctx, args)
}

/// `read_module_protocol`.
pub(crate) fn read_module_protocol(
    ctx: &mut Context<'_>,
    Given { args, .. }: Given<'_>,
) -> FnResult {
    let file = arg(args, 0);
    match ctx.host().read(&path(file)) {
        Ok(bytes) => {
            let mut module = Module::new(file, false);
            for line in decode(&bytes).lines() {
                module.line(ctx, line);
            }
            truth(true)
        }
        Err(_) => truth(false),
    }
}

/// A file as most functions read it; one that cannot be read is logged.
pub(super) fn read(ctx: &Context<'_>, file: &str, max: i64) -> Option<String> {
    match ctx.host().read(&path(file)) {
        Ok(mut bytes) => {
            if max > 0 && max != 999_999_999 && bytes.len() as i64 > max {
                ctx.verbose(&format!(
                    "Truncating long file '{file}' in readfile() to max limit {max}"
                ));
                bytes.truncate(max as usize);
            }
            // A file of one line is that line.
            if bytes.last() == Some(&b'\n')
                && !bytes[..bytes.len() - 1].iter().any(|byte| matches!(byte, b'\n' | b'\r'))
            {
                bytes.pop();
            }
            Some(decode(&bytes))
        }
        Err(error) => {
            let reason = crate::reason::reason(&error);
            if ctx.checks_only() {
                ctx.error(&format!("Could not examine file '{file}'"));
            } else if ctx.host().stat(&path(file)).is_ok() {
                ctx.error(&format!("CfReadFile: Error while reading file '{file}' ({reason})"));
            } else {
                ctx.error(&format!("CfReadFile: Could not examine file '{file}' (stat: {reason})"));
            }
            None
        }
    }
}

// Takes out every match of the comment pattern.
fn strip(ctx: &Context<'_>, source: String, pattern: &str, from: &str) -> String {
    if pattern.is_empty() {
        return source;
    }
    let Some(regex) = regex::compile(pattern) else { return source };
    let mut bytes = encode(&source).into_owned();
    let mut rounds = bytes.len() + 1;
    while let Ok(Some(found)) = regex.find(&bytes) {
        let (start, end) = (found.start(), found.end());
        if start == end {
            ctx.warning(&format!("Comment regex '{pattern}' matched empty string in '{from}'"));
            break;
        }
        bytes.drain(start..end);
        rounds -= 1;
        if rounds == 0 {
            break;
        }
    }
    decode(&bytes)
}

fn read_list(ctx: &Context<'_>, name: &str, args: &[Rval]) -> FnResult {
    let file = arg(args, 0);
    let max = super::whole(ctx, arg(args, 3))?;
    let size = super::whole(ctx, arg(args, 4))?;
    let source = strip(ctx, read(ctx, file, size)?, arg(args, 1), file);
    let items: Vec<Str> = split_without_blanks(&source, arg(args, 2), max);
    let bad = items.iter().filter(|item| match name {
        "readintlist" => int_from(item).is_none(),
        "readreallist" => real_from(item).is_none(),
        _ => false,
    });
    let mut failed = false;
    for item in bad {
        let kind = if name == "readintlist" { "int" } else { "real" };
        ctx.error(&crate::text::number_problem(item, if kind == "int" { "integer" } else { kind }));
        ctx.error(&format!(
            "Presumed {kind} value '{item}' read from file '{file}' has no recognizable value"
        ));
        failed = true;
    }
    if failed { None } else { list(items) }
}

fn split_without_blanks(source: &str, pattern: &str, max: i64) -> Vec<Str> {
    let mut out: Vec<Str> = Vec::new();
    let bytes = encode(source);
    let regex = regex::compile(pattern);
    let mut at = 0;
    while (out.len() as i64) < max {
        let found = regex.as_ref().and_then(|regex| regex.find_at(&bytes, at).ok().flatten());
        match found {
            Some(found) if found.end() > at => {
                if found.start() > at {
                    out.push(decode(&bytes[at..found.start()]).into());
                }
                at = found.end();
            }
            _ => break,
        }
    }
    if (out.len() as i64) < max && at < bytes.len() {
        out.push(decode(&bytes[at..]).into());
    }
    out
}

fn array(
    ctx: &mut Context<'_>,
    args: &[Rval],
    kind: DataType,
    by_line: bool,
    from_file: bool,
) -> FnResult {
    let name = arg(args, 0);
    let max = super::whole(ctx, arg(args, 4))?;
    let size = super::whole(ctx, arg(args, 5))?;
    let source = if from_file {
        read(ctx, arg(args, 1), size)
    } else {
        let bytes = encode(arg(args, 1));
        Some(decode(&bytes[..bytes.len().min(size.max(0) as usize)]))
    };
    let Some(source) = source else { return text("0") };
    let from = if from_file { arg(args, 1) } else { "string argument 2" };
    let source = strip(ctx, source, arg(args, 2), from);
    let pattern = arg(args, 3);
    let (scope, base) = ctx.qualify(name);
    let scope = scope?;
    let tags: Rc<[Str]> = Rc::from(["source=function".into(), "function=buildlinearray".into()]);
    let mut lines = 0_i64;
    for line in source.split('\n') {
        if lines >= max {
            break;
        }
        let line = line.strip_suffix('\r').unwrap_or(line);
        if line.is_empty() {
            continue;
        }
        let mut first: Option<Str> = None;
        for (at, token) in string::split(line, pattern, 99_999, false).into_iter().enumerate() {
            let converted: Str = match kind {
                DataType::Int => match super::whole(ctx, &token) {
                    Some(number) => number.to_string().into(),
                    None => {
                        ctx.fatal("Could not convert token to int");
                        return None;
                    }
                },
                DataType::Real if real_from(&token).is_none() => {
                    ctx.error(&crate::text::number_problem(&token, "real"));
                    ctx.fatal("Could not convert token to double");
                    return None;
                }
                _ => token,
            };
            let key = first.get_or_insert_with(|| Rc::clone(&converted));
            let full = if by_line {
                format!("{base}[{lines}][{at}]")
            } else {
                format!("{base}[{key}][{at}]")
            };
            ctx.vars.put(&scope, &full, kind, Value::Scalar(converted), &tags);
        }
        lines += 1;
    }
    text(lines.to_string())
}

fn data_array(ctx: &Context<'_>, name: &str, args: &[Rval]) -> FnResult {
    let file = arg(args, 0);
    let max = super::whole(ctx, arg(args, 3))?;
    let size = super::whole(ctx, arg(args, 4))?;
    let Some(source) = read(ctx, file, size) else {
        ctx.error(&format!("{name}: error reading from file '{file}'"));
        return None;
    };
    let source = strip(ctx, source, arg(args, 1), arg(args, 0));
    let mut rows: Vec<Json> = Vec::new();
    let mut keyed = Object::new();
    let mut lines = 0_i64;
    for line in source.split('\n') {
        if lines >= max {
            break;
        }
        let line = line.strip_suffix('\r').unwrap_or(line);
        if line.is_empty() {
            continue;
        }
        let mut tokens = string::split(line, arg(args, 2), 99_999, false);
        if name.ends_with("idx") {
            rows.push(Json::Array(tokens.into_iter().map(Json::Str).collect()));
        } else if !tokens.is_empty() {
            let key = tokens.remove(0);
            put(&mut keyed, key, Json::Array(tokens.into_iter().map(Json::Str).collect()));
        }
        lines += 1;
    }
    container(if name.ends_with("idx") { Json::Array(rows) } else { Json::Object(keyed) })
}

fn count(ctx: &Context<'_>, args: &[Rval]) -> FnResult {
    regex::compile(arg(args, 0))?;
    let file = arg(args, 1);
    match ctx.host().read(&path(file)) {
        Ok(bytes) => text(
            decode(&bytes)
                .lines()
                .filter(|line| regex::full(arg(args, 0), line))
                .count()
                .to_string(),
        ),
        Err(error) => {
            ctx.error(&format!(
                "File '{file}' could not be read in countlinesmatching(). (fopen: {})",
                crate::reason::reason(&error)
            ));
            text("0")
        }
    }
}

fn fields(ctx: &mut Context<'_>, args: &[Rval]) -> FnResult {
    let pattern = arg(args, 0);
    regex::compile(pattern)?;
    let file = arg(args, 1);
    let source = match ctx.host().read(&path(file)) {
        Ok(bytes) => decode(&bytes),
        Err(error) => {
            ctx.error(&format!(
                "File '{file}' could not be read in getfields(). (fopen: {})",
                crate::reason::reason(&error)
            ));
            return None;
        }
    };
    let (scope, base) = ctx.qualify(arg(args, 3));
    let scope = scope?;
    let tags: Rc<[Str]> = Rc::from(["source=function".into(), "function=getfields".into()]);
    let mut matching = 0;
    for line in source.lines().filter(|line| regex::full(pattern, line)) {
        if matching == 0 {
            for (at, value) in string::split(line, arg(args, 2), 31, false).into_iter().enumerate()
            {
                ctx.vars.put(
                    &scope,
                    &format!("{base}[{}]", at + 1),
                    DataType::String,
                    Value::Scalar(value),
                    &tags,
                );
            }
        }
        matching += 1;
    }
    text(matching.to_string())
}
