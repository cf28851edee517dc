//! Lists and arrays: selection, order, sets, sums, and mapping.

use std::rc::Rc;

use rustc_hash::FxHashSet;

use crate::eval::Context;
use crate::json::Json;
use crate::policy::{Call, Rval};
use crate::regex;
use crate::text::{Str, canonify, int_from};

use super::{FnResult, Given, arg, container, list, order, primitives, text, truth};

/// `maplist`.
pub(crate) fn maplist(ctx: &mut Context<'_>, Given { call, .. }: Given<'_>) -> FnResult {
    map_list(ctx, call)
}

/// `maparray`, `mapdata`.
pub(crate) fn map_elements(ctx: &mut Context<'_>, Given { name, call, .. }: Given<'_>) -> FnResult {
    map_array(ctx, name, call)
}

/// `expandrange`.
pub(crate) fn expandrange(ctx: &mut Context<'_>, Given { args, .. }: Given<'_>) -> FnResult {
    expand_range(ctx, args)
}

/// `getindices`.
pub(crate) fn getindices(ctx: &mut Context<'_>, Given { args, .. }: Given<'_>) -> FnResult {
    indices(ctx, args.first()?)
}

/// `getvalues`.
pub(crate) fn getvalues(ctx: &mut Context<'_>, Given { args, .. }: Given<'_>) -> FnResult {
    values(ctx, args.first()?)
}

/// `makerule`.
pub(crate) fn makerule(ctx: &mut Context<'_>, Given { args, .. }: Given<'_>) -> FnResult {
    make_rule(ctx, args)
}

/// Functions of a list, an array or a container, which is read in the same way for all.
pub(crate) fn of_container(ctx: &mut Context<'_>, Given { name, args, .. }: Given<'_>) -> FnResult {
    let at = match name {
        "join" | "grep" | "every" | "some" | "none" => 1,
        "filter" => 1,
        _ => 0,
    };
    // A pattern is read before what it is held against.
    match name {
        "grep" | "every" | "some" | "none" => drop(regex::compile(arg(args, 0))?),
        "filter" if crate::text::bool_from(arg(args, 2)) == Some(true) => {
            regex::compile(arg(args, 0))?;
        }
        "reglist" | "regarray" => drop(regex::compile(arg(args, 1))?),
        _ => {}
    }
    let json = ctx.data_arg(args.get(at)?, false)?;
    if !json.is_container() {
        ctx.verbose(&format!(
            "Function '{name}', argument '{}' was not a data container or list",
            arg(args, at)
        ));
        return None;
    }
    match name {
        "join" => text(join(&json, arg(args, 0))),
        "length" => text(json.len().to_string()),
        "sort" => sort(&json, if args.len() > 1 { arg(args, 1) } else { "lex" }),
        "grep" => list(
            matched(&json).into_iter().filter(|item| regex::full(arg(args, 0), item)).collect(),
        ),
        "filter" => filter(&json, args),
        "every" | "some" | "none" => truth(count(name, &json, arg(args, 0))),
        "reglist" | "regarray" => {
            truth(matched(&json).iter().any(|item| regex::full(arg(args, 1), item)))
        }
        "nth" => nth(ctx, &json, arg(args, 1)),
        "unique" => {
            let mut seen = FxHashSet::default();
            list(
                primitives(&json).into_iter().filter(|item| seen.insert(Rc::clone(item))).collect(),
            )
        }
        "reverse" => list(primitives(&json).into_iter().rev().collect()),
        "shuffle" => shuffle(&json, arg(args, 1)),
        "sublist" => sublist(ctx, &json, arg(args, 1), arg(args, 2)),
        "intersection" | "difference" => {
            let other = ctx.data_arg(args.get(1)?, false)?;
            let others: FxHashSet<Str> = primitives(&other).into_iter().collect();
            let wanted = name == "intersection";
            let mut seen = FxHashSet::default();
            list(
                primitives(&json)
                    .into_iter()
                    .filter(|item| others.contains(item) == wanted && seen.insert(Rc::clone(item)))
                    .collect(),
            )
        }
        "sum" | "product" => fold_numbers(name, &json),
        "max" | "min" | "mean" | "variance" => fold(name, &json, arg(args, 1)),
        _ => None,
    }
}

fn join(json: &Json, separator: &str) -> String {
    primitives(json).join(separator)
}

// Primitive children as patterns are held against them: reals with two decimals.
fn matched(json: &Json) -> Vec<Str> {
    json.values().filter_map(Json::iterated).collect()
}

fn count(name: &str, json: &Json, pattern: &str) -> bool {
    let items = matched(json);
    match name {
        "every" => !items.is_empty() && items.iter().all(|item| regex::full(pattern, item)),
        "some" => items.iter().any(|item| regex::full(pattern, item)),
        _ => !items.iter().any(|item| regex::full(pattern, item)),
    }
}

fn filter(json: &Json, args: &[Rval]) -> FnResult {
    let pattern = arg(args, 0);
    let is_regex = crate::text::bool_from(arg(args, 2))?;
    let invert = crate::text::bool_from(arg(args, 3))?;
    let max = int_from(arg(args, 4))?;
    let found = |item: &Str| if is_regex { regex::full(pattern, item) } else { **item == *pattern };
    list(
        matched(json)
            .into_iter()
            .filter(|item| found(item) != invert)
            .take(max.max(0) as usize)
            .collect(),
    )
}

fn nth(ctx: &Context<'_>, json: &Json, index: &str) -> FnResult {
    let item = match json {
        Json::Object(map) => map.get(index)?,
        Json::Array(items) => {
            let index = super::whole(ctx, index)?;
            let index = if index < 0 { index + items.len() as i64 } else { index };
            items.get(usize::try_from(index).ok()?)?
        }
        _ => return None,
    };
    text(item.primitive()?)
}

fn sublist(ctx: &Context<'_>, json: &Json, end: &str, max: &str) -> FnResult {
    let items = primitives(json);
    let max = super::whole(ctx, max)?.max(0) as usize;
    match end {
        "head" => list(items.into_iter().take(max).collect()),
        _ => {
            let skip = items.len().saturating_sub(max);
            list(items.into_iter().skip(skip).collect())
        }
    }
}

fn shuffle(json: &Json, seed: &str) -> FnResult {
    let mut items = primitives(json);
    let mut random = LibcRandom::new(crate::eval::table_order::string_hash(seed));
    for at in (1..items.len()).rev() {
        items.swap(at, random.next() as usize % (at + 1));
    }
    // The original prepends the shuffled items to its result.
    items.reverse();
    list(items)
}

/// The sequence of the C library's `rand()` after `srand()`, by which the original shuffles:
/// an additive generator over the last 31 numbers.
struct LibcRandom {
    last: [u32; 34],
    at: usize,
}

impl LibcRandom {
    fn new(seed: u32) -> LibcRandom {
        let mut last = [0_u32; 34];
        last[0] = seed.max(1);
        for at in 1..31 {
            let previous = i64::from(last[at - 1] as i32);
            let next = (16807 * previous) % 2_147_483_647;
            last[at] = (if next < 0 { next + 2_147_483_647 } else { next }) as u32;
        }
        for at in 31..34 {
            last[at] = last[at - 31];
        }
        let mut random = LibcRandom { last, at: 34 };
        for _ in 34..344 {
            random.step();
        }
        random
    }

    // The ring keeps 34 numbers: the one 31 before and the one 3 before are in it.
    fn step(&mut self) -> u32 {
        let sum = self.last[(self.at + 3) % 34].wrapping_add(self.last[(self.at + 31) % 34]);
        self.last[self.at % 34] = sum;
        self.at += 1;
        sum
    }

    fn next(&mut self) -> u32 {
        self.step() >> 1
    }
}

fn sort(json: &Json, mode: &str) -> FnResult {
    list(order::sort(primitives(json), mode))
}

fn fold_numbers(name: &str, json: &Json) -> FnResult {
    let mut result = if name == "sum" { 0.0 } else { 1.0 };
    for item in primitives(json) {
        let number = order::scan_real(&item).unwrap_or(0.0);
        if name == "sum" {
            result += number;
        } else {
            result *= number;
        }
    }
    text(format!("{result:.6}"))
}

fn fold(name: &str, json: &Json, mode: &str) -> FnResult {
    let items = primitives(json);
    if matches!(name, "max" | "min") {
        let mut items = items.into_iter();
        let mut chosen = items.next()?;
        for item in items {
            if order::less(mode, &chosen, &item) == (name == "max") {
                chosen = item;
            }
        }
        return text(chosen);
    }
    if items.is_empty() {
        return None;
    }
    let numbers: Vec<f64> =
        items.iter().map(|item| order::scan_real(item).unwrap_or(0.0)).collect();
    let mean = numbers.iter().sum::<f64>() / numbers.len() as f64;
    if name == "mean" {
        return text(format!("{mean:.6}"));
    }
    // Welford's form, as the original: the sample variance.
    let square: f64 = numbers.iter().map(|number| (number - mean).powi(2)).sum();
    let divisor = if numbers.len() > 1 { numbers.len() - 1 } else { 1 };
    text(format!("{:.6}", square / divisor as f64))
}

fn indices(ctx: &Context<'_>, value: &Rval) -> FnResult {
    let json = match value {
        Rval::Data(json) => Some((**json).clone()),
        Rval::Scalar(source) => {
            let name = crate::text::naked(source, b'@').unwrap_or(source);
            match ctx.lookup_function_arg(name).map(super::super::eval::vars::Found::value) {
                Some(crate::eval::value::Value::Data(json)) => Some((*json).clone()),
                _ => {
                    let inline = source.trim_start().starts_with(['{', '[']);
                    let parsed = inline
                        .then(|| Json::parse_with(source, &|word| ctx.variable_json(word, true)))
                        .flatten()
                        .filter(Json::is_container);
                    match parsed {
                        Some(json) => Some(json),
                        None => return list(array_keys(ctx, name)),
                    }
                }
            }
        }
        _ => None,
    }?;
    match json {
        Json::Object(map) => list(map.keys().cloned().collect()),
        Json::Array(items) => {
            list((0..items.len()).map(|index| index.to_string().into()).collect())
        }
        _ => list(Vec::new()),
    }
}

fn array_keys(ctx: &Context<'_>, name: &str) -> Vec<Str> {
    let (Some(scope_name), base) = ctx.qualify(name) else { return Vec::new() };
    let Some(scope) = ctx.vars.scope(&scope_name) else { return Vec::new() };
    let mut keys: Vec<Str> = Vec::new();
    if scope.elements == 0 {
        return keys;
    }
    let mut seen: FxHashSet<&str> = FxHashSet::default();
    let elements = scope.vars.keys().filter_map(|key| {
        let rest = key.strip_prefix(&*base)?;
        rest.starts_with('[').then_some((&*scope_name, &**key, rest))
    });
    for rest in ctx.variables_in_table_order(elements.collect()) {
        if let Some(first) =
            crate::eval::vars::split_indices(rest).and_then(|indices| indices.first().copied())
            && seen.insert(first)
        {
            keys.push(first.into());
        }
    }
    keys
}

fn values(ctx: &Context<'_>, value: &Rval) -> FnResult {
    fn collect(json: &Json, out: &mut Vec<Str>) {
        match json {
            Json::Array(_) | Json::Object(_) => json.values().for_each(|child| collect(child, out)),
            Json::Null => {}
            Json::Real(number) => out.push(format!("{number:.2}").into()),
            primitive => out.extend(primitive.primitive()),
        }
    }
    let mut out = Vec::new();
    if let Some(json) = ctx.data_arg(value, true) {
        collect(&json, &mut out);
    }
    list(out)
}

// a[1-3] style ranges.
fn expand_range(ctx: &mut Context<'_>, args: &[Rval]) -> FnResult {
    let template = arg(args, 0);
    let step = super::whole(ctx, arg(args, 1))?;
    let range = template.find('[').and_then(|open| {
        let close = template[open..].find(']')? + open;
        let (from, to) = template[open + 1..close].split_once('-')?;
        let range: (i64, i64) = (from.trim().parse().ok()?, to.trim().parse().ok()?);
        Some((open, close, range))
    });
    let begins = template.find('[').is_some_and(|open| {
        template[open + 1..].trim_start().starts_with(|char: char| char.is_ascii_digit())
    });
    if range.is_none() && begins && step >= 1 {
        ctx.fatal("EXPANDRANGE malformed range expression");
        return None;
    }
    let Some((open, close, (from, to))) = range else {
        ctx.fatal("EXPANDRANGE Step size cannot be less than 1 or greater than the interval");
        return None;
    };
    if step < 1 || (from - to).abs() < step {
        ctx.fatal("EXPANDRANGE Step size cannot be less than 1 or greater than the interval");
        return None;
    }
    let (before, after) = (&template[..open], &template[close + 1..]);
    let mut out: Vec<Str> = Vec::new();
    let mut at = from;
    while (from <= to && at <= to || from > to && at >= to) && out.len() <= 1_000_000 {
        out.push(format!("{before}{at}{after}").into());
        at += if from <= to { step } else { -step };
    }
    list(out)
}

fn make_rule(ctx: &Context<'_>, args: &[Rval]) -> FnResult {
    let target = arg(args, 0);
    let found = |file: &str| ctx.host().lstat(&crate::text::path(file)).ok();
    let meta = found(target);
    if meta.as_ref().is_some_and(|meta| !meta.is_file()) {
        ctx.warning(&format!(
            "Function 'makerule' target-file '{target}' exists and is not a plain file"
        ));
    }
    let mut stale = meta.is_none();
    // Whole seconds, as the original compares them.
    let made = meta.map_or(0, |meta| meta.mtime.secs);
    if let Some(source) = args.get(1)?.as_scalar().and_then(|source| found(source)) {
        return truth(stale || source.mtime.secs > made);
    }
    let json = ctx.data_arg(&args[1], false)?;
    if !matches!(json, Json::Array(_) | Json::Object(_)) {
        return None;
    }
    for source in primitives(&json) {
        match found(&source) {
            Some(meta) => stale |= meta.mtime.secs > made,
            None => return truth(false),
        }
    }
    truth(stale)
}

// The arguments as they expand now; nested calls are made with `this` as it is now.
fn late_args(ctx: &mut Context<'_>, call: &Call) -> Vec<Rval> {
    let mut out = Vec::new();
    for value in &call.args {
        let expanded = match value {
            Rval::Call(inner) => ctx.call(inner).unwrap_or_else(|| value.clone()),
            other => ctx.expand_rval(other, None, None),
        };
        match expanded {
            Rval::List(items) => {
                out.push(Rval::Data(Rc::new(Json::Array(
                    items.iter().map(super::rval_to_json).collect(),
                ))));
            }
            other => out.push(other),
        }
    }
    out
}

fn map_list(ctx: &mut Context<'_>, call: &Rc<Call>) -> FnResult {
    let args = late_args(ctx, call);
    let json = match args.get(1)? {
        Rval::Call(_) => return None,
        value => ctx.data_arg(value, false)?,
    };
    if !json.is_container() {
        return None;
    }
    let mut out = Vec::new();
    for item in primitives(&json) {
        ctx.put_this("this", item);
        let args = late_args(ctx, call);
        let mapped = match args.first() {
            Some(Rval::Scalar(template)) => ctx.expand_text(template, None, Some("this")),
            _ => String::new(),
        };
        ctx.remove_this("this");
        if mapped.contains("$(this)") || mapped.contains("${this}") {
            return None;
        }
        out.push(mapped.into());
    }
    list(out)
}

fn map_array(ctx: &mut Context<'_>, name: &str, call: &Rc<Call>) -> FnResult {
    let data_mode = name == "mapdata";
    let args = late_args(ctx, call);
    let (mode, template_at, data_at) =
        if data_mode { (arg(&args, 0).to_owned(), 1, 2) } else { ("none".into(), 0, 1) };
    let json = match args.get(data_at)? {
        Rval::Call(_) => return None,
        value => ctx.data_arg(value, false)?,
    };
    if !json.is_container() {
        ctx.error(&format!(
            "Function '{name}' got an unexpected non-container from argument '{}'",
            arg(&args, data_at)
        ));
        return None;
    }
    if data_mode && mode == "json_pipe" {
        return json_pipe(ctx, arg(&args, 1), &json);
    }
    let escaped = |value: &str| -> Str {
        if mode == "json" {
            let mut out = String::new();
            crate::json::escape(value, &mut out);
            out.into()
        } else {
            value.into()
        }
    };
    let entries: Vec<(Str, Json)> = match &json {
        Json::Object(map) => {
            map.iter().map(|(key, value)| (Rc::clone(key), value.clone())).collect()
        }
        Json::Array(items) => items
            .iter()
            .enumerate()
            .map(|(at, value)| (at.to_string().into(), value.clone()))
            .collect(),
        _ => Vec::new(),
    };
    let head = ctx.bundle_frame().map(|frame| Rc::clone(&frame.head))?;
    let mut out: Vec<Str> = Vec::new();
    for (key, value) in entries {
        ctx.put_this("k", escaped(&key));
        let children: Vec<(Option<Str>, Str)> = match &value {
            Json::Object(map) => map
                .iter()
                .filter(|(_, child)| **child != Json::Null)
                .filter_map(|(key, child)| {
                    child.primitive().map(|text| (Some(Rc::clone(key)), text))
                })
                .collect(),
            Json::Array(items) => items
                .iter()
                .filter(|child| **child != Json::Null)
                .filter_map(Json::primitive)
                .map(|text| (None, text))
                .collect(),
            primitive => primitive.primitive().map(|text| (None, text)).into_iter().collect(),
        };
        let nested = value.is_container();
        for (inner, child) in children {
            if let Some(inner) = &inner {
                ctx.put_this("k[1]", escaped(inner));
            }
            ctx.put_this("v", escaped(&child));
            let args = late_args(ctx, call);
            let mapped = match args.get(template_at) {
                Some(Rval::Scalar(template)) => {
                    ctx.expand_text(template, Some(&head.namespace), Some(&head.name))
                }
                _ => String::new(),
            };
            ctx.remove_this("k[1]");
            ctx.remove_this("v");
            let open = ["$(this.k)", "${this.k}", "$(this.v)", "${this.v}"]
                .iter()
                .any(|text| mapped.contains(text));
            if open {
                ctx.remove_this("k");
                return None;
            }
            let mapped: Str =
                if mode == "canonify" { canonify(&mapped).into() } else { mapped.into() };
            if !(nested && out.contains(&mapped)) {
                out.push(mapped);
            }
        }
        ctx.remove_this("k");
    }
    if !data_mode {
        return list(out);
    }
    let items: Vec<Json> = if mode == "json" {
        out.iter()
            .filter_map(|text| Json::parse_with(text, &|word| ctx.variable_json(word, true)))
            .collect()
    } else {
        out.into_iter().map(Json::Str).collect()
    };
    container(Json::Array(items))
}

// The output of a command that is given the data, line by line: each JSON in it becomes one
// element, over as many lines as it takes.
fn json_pipe(ctx: &Context<'_>, command: &str, json: &Json) -> FnResult {
    let spec = crate::command::spec_for(ctx, command, false).stdin(json.pretty().into_bytes());
    let output = match ctx.in_evaluation("mapdata", |act| act.run(&spec)) {
        Ok(ended) if !ended.stdout.is_empty() => crate::text::decode(&ended.stdout),
        _ => {
            ctx.error("Function mapdata failed to get output from 'json_pipe' execution");
            return None;
        }
    };
    let (mut items, mut open) = (Vec::new(), String::new());
    for line in output.lines() {
        if !open.is_empty() {
            open.push('\n');
        }
        open.push_str(line);
        if let Some(item) = Json::parse(&open) {
            items.push(item);
            open.clear();
        }
    }
    container(Json::Array(items))
}
