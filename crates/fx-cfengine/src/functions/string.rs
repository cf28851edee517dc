//! Text: parts, case, replacement, formatting, paths, regular expressions.

use std::rc::Rc;

use crate::eval::Context;
use crate::eval::value::{DataType, Value};
use crate::json::{Json, Object};
use crate::mustache;
use crate::policy::Rval;
use crate::regex;
use crate::text::{Str, canonify, decode, encode, int_from, real_from};

use super::{FnResult, Given, arg, container, eval_math, list, text, truth};

/// `concat`.
pub(crate) fn concat(_: &mut Context<'_>, Given { args, .. }: Given<'_>) -> FnResult {
    text((0..args.len()).map(|index| arg(args, index)).collect::<String>())
}

/// `canonify`.
pub(crate) fn call_canonify(_: &mut Context<'_>, Given { args, .. }: Given<'_>) -> FnResult {
    let first = arg(args, 0);
    text(canonify(first))
}

/// `canonifyuniquely`.
pub(crate) fn canonifyuniquely(_: &mut Context<'_>, Given { args, .. }: Given<'_>) -> FnResult {
    let first = arg(args, 0);
    let sum = super::digest_hex("sha1", &encode(first))?;
    text(format!("{}_{sum}", canonify(first)))
}

/// `escape`.
pub(crate) fn escape(_: &mut Context<'_>, Given { args, .. }: Given<'_>) -> FnResult {
    let first = arg(args, 0);
    let mut out = Vec::new();
    for byte in encode(first).iter() {
        if !byte.is_ascii_alphanumeric() {
            out.push(b'\\');
        }
        out.push(*byte);
    }
    text(decode(&out))
}

/// `format`.
pub(crate) fn call_format(ctx: &mut Context<'_>, Given { args, .. }: Given<'_>) -> FnResult {
    format(ctx, args)
}

/// `string_length`.
pub(crate) fn string_length(_: &mut Context<'_>, Given { args, .. }: Given<'_>) -> FnResult {
    let first = arg(args, 0);
    text(encode(first).len().to_string())
}

/// `string_head`, `string_tail`.
pub(crate) fn string_part(ctx: &mut Context<'_>, Given { name, args, .. }: Given<'_>) -> FnResult {
    let first = arg(args, 0);
    part(name, first, super::whole(ctx, arg(args, 1))?)
}

/// `string_downcase`.
pub(crate) fn string_downcase(_: &mut Context<'_>, Given { args, .. }: Given<'_>) -> FnResult {
    let first = arg(args, 0);
    text(first.to_ascii_lowercase())
}

/// `string_upcase`.
pub(crate) fn string_upcase(_: &mut Context<'_>, Given { args, .. }: Given<'_>) -> FnResult {
    let first = arg(args, 0);
    text(first.to_ascii_uppercase())
}

/// `string_reverse`.
pub(crate) fn string_reverse(_: &mut Context<'_>, Given { args, .. }: Given<'_>) -> FnResult {
    let first = arg(args, 0);
    text(first.chars().rev().collect::<String>())
}

/// `string_trim`.
pub(crate) fn string_trim(_: &mut Context<'_>, Given { args, .. }: Given<'_>) -> FnResult {
    let first = arg(args, 0);
    text(first.trim_matches([' ', '\t', '\n', '\r', '\u{b}', '\u{c}']))
}

/// `string_replace`.
pub(crate) fn string_replace(_: &mut Context<'_>, Given { args, .. }: Given<'_>) -> FnResult {
    let first = arg(args, 0);
    let (old, new) = (arg(args, 1), arg(args, 2));
    if old.is_empty() { text(first) } else { text(first.replace(old, new)) }
}

/// `string_split`.
pub(crate) fn string_split(ctx: &mut Context<'_>, Given { args, .. }: Given<'_>) -> FnResult {
    let first = arg(args, 0);
    let max = super::whole(ctx, arg(args, 2))?;
    regex::compile(arg(args, 1))?;
    if max < 1 {
        return None;
    }
    list(split(first, arg(args, 1), max, true))
}

/// `splitstring`.
pub(crate) fn splitstring(ctx: &mut Context<'_>, Given { args, .. }: Given<'_>) -> FnResult {
    let first = arg(args, 0);
    let max = super::whole(ctx, arg(args, 2))?;
    list(split(first, arg(args, 1), max, false))
}

/// `regex_replace`.
pub(crate) fn regex_replace(ctx: &mut Context<'_>, Given { args, .. }: Given<'_>) -> FnResult {
    let first = arg(args, 0);
    let (pattern, with, options) = (arg(args, 1), arg(args, 2), arg(args, 3));
    let replaced = replace(first, pattern, with, options);
    if replaced.is_none() {
        regex::take_wrong();
        ctx.error(&format!(
                    "regex_replace: couldn't use regex '{pattern}', replacement '{with}', and options '{options}': error=(pcre_wrap:) Everything's just fine. Thanks for asking."
                ));
    }
    replaced
}

/// `string`.
pub(crate) fn string(ctx: &mut Context<'_>, Given { args, .. }: Given<'_>) -> FnResult {
    let first = arg(args, 0);
    // Only a reference to a container stands for its content.
    let named = crate::text::naked(first, b'@').and_then(|name| {
        let value = ctx.lookup_function_arg(name)?.value();
        (!matches!(value, Value::Scalar(_))).then(|| value.to_json().compact())
    });
    // Quotes come out as they would be written in policy.
    text(named.unwrap_or_else(|| first.replace('"', "\\\"")))
}

/// `int`.
pub(crate) fn int(ctx: &mut Context<'_>, Given { args, .. }: Given<'_>) -> FnResult {
    let first = arg(args, 0);
    let Some(number) = real_from(first) else {
        ctx.error(&crate::text::number_problem(first, "real"));
        return None;
    };
    text((number.trunc() as i64).to_string())
}

/// `lastnode`.
pub(crate) fn lastnode(_: &mut Context<'_>, Given { args, .. }: Given<'_>) -> FnResult {
    let first = arg(args, 0);
    if first.is_empty() {
        return None;
    }
    let mut rest = first;
    while let Some((_, end)) = regex::find(arg(args, 1), rest).filter(|(_, end)| *end > 0)
        && let Some(after) = rest.get(end..)
    {
        rest = after;
    }
    text(rest)
}

/// `basename`.
pub(crate) fn call_basename(ctx: &mut Context<'_>, Given { args, .. }: Given<'_>) -> FnResult {
    let first = arg(args, 0);
    if args.is_empty() {
        return {
            ctx.error("Function basename requires a filename as first arg!");
            None
        };
    }
    basename(first, arg(args, 1))
}

/// `dirname`.
pub(crate) fn call_dirname(_: &mut Context<'_>, Given { args, .. }: Given<'_>) -> FnResult {
    let first = arg(args, 0);
    text(dirname(first))
}

/// `translatepath`.
pub(crate) fn translatepath(_: &mut Context<'_>, Given { args, .. }: Given<'_>) -> FnResult {
    let first = arg(args, 0);
    text(first)
}

/// `regextract`, `data_regextract`.
pub(crate) fn extract_groups(
    ctx: &mut Context<'_>,
    Given { name, args, .. }: Given<'_>,
) -> FnResult {
    extract(ctx, name, args)
}

/// `string_mustache`.
pub(crate) fn string_mustache(ctx: &mut Context<'_>, Given { args, .. }: Given<'_>) -> FnResult {
    let first = arg(args, 0);
    if args.is_empty() {
        return None;
    }
    let data = match args.get(1) {
        Some(value) => ctx.data_arg(value, false)?,
        None => super::default_template_data(ctx, None),
    };
    match mustache::render(first, &data) {
        Ok(rendered) => text(rendered),
        Err(wrong) => {
            ctx.log(wrong.level, &wrong.text);
            None
        }
    }
}

/// `eval`.
pub(crate) fn call_eval(ctx: &mut Context<'_>, Given { args, .. }: Given<'_>) -> FnResult {
    eval(ctx, args)
}

/// `irange`.
pub(crate) fn irange(ctx: &mut Context<'_>, Given { args, .. }: Given<'_>) -> FnResult {
    let first = arg(args, 0);
    let (mut from, mut to) = (int_from(first)?, super::whole(ctx, arg(args, 1))?);
    if from > to {
        std::mem::swap(&mut from, &mut to);
    }
    text(format!("{from},{to}"))
}

/// `rrange`.
pub(crate) fn rrange(_: &mut Context<'_>, Given { args, .. }: Given<'_>) -> FnResult {
    let first = arg(args, 0);
    let (mut from, mut to) = (real_from(first)?, real_from(arg(args, 1))?);
    if from > to {
        std::mem::swap(&mut from, &mut to);
    }
    text(format!("{from:.6},{to:.6}"))
}

// The first or last bytes; a negative number leaves that many off the other end.
fn part(name: &str, source: &str, wanted: i64) -> FnResult {
    let bytes = encode(source);
    let length = bytes.len() as i64;
    let head = name == "string_head";
    let taken = if wanted < 0 { (length + wanted).max(0) } else { wanted.min(length) } as usize;
    let range = if head { 0..taken } else { bytes.len() - taken..bytes.len() };
    text(decode(&bytes[range]))
}

/// Splits at a pattern into at most `max` pieces; `rest` keeps what is left in the last one.
pub(super) fn split(source: &str, pattern: &str, max: i64, rest: bool) -> Vec<Str> {
    let mut out: Vec<Str> = Vec::new();
    if max <= 0 {
        return out;
    }
    let bytes = encode(source);
    let regex = regex::compile(pattern);
    let mut at = 0;
    let empty = bytes.is_empty() && !rest;
    while (out.len() as i64) < max - i64::from(rest) && at <= bytes.len() {
        let found = regex.as_ref().and_then(|regex| regex.find_at(&bytes, at).ok().flatten());
        match found {
            Some(found) if found.end() > found.start() => {
                out.push(decode(&bytes[at..found.start()]).into());
                at = found.end();
            }
            _ => break,
        }
    }
    if (out.len() as i64) < max && !empty {
        out.push(decode(&bytes[at.min(bytes.len())..]).into());
    }
    out
}

fn basename(source: &str, suffix: &str) -> FnResult {
    let trimmed = source.trim_end_matches('/');
    if trimmed.is_empty() {
        return text(if source.is_empty() { "" } else { "/" });
    }
    let base = trimmed.rsplit('/').next().unwrap_or(trimmed);
    let cut = base
        .strip_suffix(suffix)
        .filter(|rest| !rest.is_empty() && !suffix.is_empty())
        .unwrap_or(base);
    text(cut)
}

/// The directory of a path, as dirname(3) but keeping what has no slash.
pub(crate) fn dirname(source: &str) -> String {
    if source.is_empty() {
        return String::new();
    }
    let mut name = String::with_capacity(source.len());
    for c in source.chars() {
        if c != '/' || !name.ends_with('/') {
            name.push(c);
        }
    }
    let trimmed = name.trim_end_matches('/');
    if trimmed.is_empty() {
        return "/".into();
    }
    match trimmed.rfind('/') {
        None => ".".into(),
        Some(0) => "/".into(),
        Some(at) => trimmed[..at].to_owned(),
    }
}

// format(): each specifier takes the next argument.
fn format(ctx: &mut Context<'_>, args: &[Rval]) -> FnResult {
    let mut rest = arg(args, 0);
    let mut next = 1;
    let mut out = String::new();
    while let Some(at) = rest.find('%') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        if let Some(tail) = rest.strip_prefix("%%") {
            out.push('%');
            rest = tail;
            continue;
        }
        let Some(end) =
            rest[1..].find(|char: char| "diouxXeEfFgGaAcsCSpnm%".contains(char)).map(|at| at + 1)
        else {
            // A mark that nothing follows is left out.
            rest = "";
            break;
        };
        let spec = &rest[1..=end];
        rest = &rest[end + 1..];
        let Some(value) = args.get(next) else {
            ctx.error("format() didn't have enough parameters");
            return None;
        };
        next += 1;
        if let Some(bad) = spec.chars().find(|char| "hLqjzt".contains(*char)) {
            ctx.error(&format!(
                "format() does not allow modifier character '{bad}' in format specifier '%{spec}'."
            ));
            return None;
        }
        let value_text = match value {
            Rval::Scalar(text) => text.to_string(),
            other => other.show(),
        };
        let flags = &spec[..spec.len() - 1];
        match spec.chars().last() {
            Some(kind @ ('d' | 'o' | 'x' | 'i')) if kind != 'i' => {
                out.push_str(&format_int(flags, kind, leading_int(&value_text)));
            }
            Some('f') => out.push_str(&format_real(flags, leading_real(&value_text))),
            Some('s') => out.push_str(&format_text(flags, &value_text)),
            Some('S') => {
                ctx.sort_written(value);
                let shown = match ctx
                    .lookup(&value_text, None, None)
                    .map(super::super::eval::vars::Found::value)
                {
                    Some(Value::Data(json)) => json.compact(),
                    Some(Value::List(items)) => {
                        let items: Vec<String> = items
                            .iter()
                            .map(|item| format!("\"{}\"", item.replace('"', "\\\"")))
                            .collect();
                        format!("{{ {} }}", items.join(", "))
                    }
                    _ => {
                        ctx.verbose(&format!(
                            "format() with %S specifier needs a data container or a list instead of '{value_text}'."
                        ));
                        return None;
                    }
                };
                out.push_str(&format_text(flags, &shown));
            }
            _ => out.push_str("(unhandled format)"),
        }
    }
    out.push_str(rest);
    text(out)
}

fn leading_int(text: &str) -> i64 {
    let text = text.trim_start();
    let end = text
        .char_indices()
        .find(|(at, char)| !(char.is_ascii_digit() || (*at == 0 && matches!(char, '-' | '+'))))
        .map_or(text.len(), |(at, _)| at);
    text[..end].parse().unwrap_or(0)
}

fn leading_real(text: &str) -> f64 {
    let text = text.trim_start();
    (0..=text.len())
        .rev()
        .filter(|end| text.is_char_boundary(*end))
        .find_map(|end| text[..end].parse().ok())
        .unwrap_or(0.0)
}

struct Flags {
    left: bool,
    zero: bool,
    plus: bool,
    space: bool,
    alternate: bool,
    width: usize,
    precision: Option<usize>,
}

fn flags(text: &str) -> Flags {
    let digits = text.trim_start_matches(['-', '0', '+', ' ', '#']);
    let lead = &text[..text.len() - digits.len()];
    let digits = digits.trim_end_matches('l');
    let (width, precision) = match digits.split_once('.') {
        Some((width, precision)) => (width, Some(precision.parse().unwrap_or(0))),
        None => (digits, None),
    };
    Flags {
        left: lead.contains('-'),
        zero: lead.contains('0'),
        plus: lead.contains('+'),
        space: lead.contains(' '),
        alternate: lead.contains('#'),
        width: width.parse().unwrap_or(0).min(65536),
        precision,
    }
}

fn pad(flags: &Flags, sign: &str, body: &str) -> String {
    let length = sign.len() + body.chars().count();
    let fill = flags.width.saturating_sub(length);
    if flags.left {
        format!("{sign}{body}{}", " ".repeat(fill))
    } else if flags.zero {
        format!("{sign}{}{body}", "0".repeat(fill))
    } else {
        format!("{}{sign}{body}", " ".repeat(fill))
    }
}

fn format_int(spec: &str, kind: char, number: i64) -> String {
    let flags = flags(spec);
    let (sign, mut body) = match kind {
        'd' => {
            let sign = if number < 0 {
                "-"
            } else if flags.plus {
                "+"
            } else if flags.space {
                " "
            } else {
                ""
            };
            (sign, number.unsigned_abs().to_string())
        }
        'o' => (if flags.alternate { "0" } else { "" }, format!("{number:o}")),
        _ => (if flags.alternate { "0x" } else { "" }, format!("{number:x}")),
    };
    if let Some(precision) = flags.precision {
        body = format!("{}{body}", "0".repeat(precision.saturating_sub(body.len()).min(65536)));
    }
    pad(&flags, sign, &body)
}

fn format_real(spec: &str, number: f64) -> String {
    let flags = flags(spec);
    let sign = if number.is_sign_negative() {
        "-"
    } else if flags.plus {
        "+"
    } else {
        ""
    };
    pad(&flags, sign, &format!("{:.*}", flags.precision.unwrap_or(6).min(500), number.abs()))
}

fn format_text(spec: &str, value: &str) -> String {
    let mut flags = flags(spec);
    flags.zero = false;
    let cut: String = match flags.precision {
        Some(precision) => value.chars().take(precision).collect(),
        None => value.to_owned(),
    };
    pad(&flags, "", &cut)
}

// Perl-like replacement: `g` for all, `i`, `m`, `s`, `x`, `U`; groups as \1 or $1.
fn replace(source: &str, pattern: &str, replacement: &str, options: &str) -> FnResult {
    let mut prefix = String::new();
    for option in options.chars() {
        match option {
            'i' | 'm' | 's' | 'x' => prefix.push(option),
            'U' => prefix.push('U'),
            _ => {}
        }
    }
    let pattern =
        if prefix.is_empty() { pattern.to_owned() } else { format!("(?{prefix}){pattern}") };
    let regex = regex::compile(&pattern)?;
    let bytes = encode(source);
    let mut out: Vec<u8> = Vec::new();
    let mut at = 0;
    while at <= bytes.len() {
        let Some(found) = regex::captures_bytes(&regex, &bytes, at) else { break };
        out.extend_from_slice(&bytes[at..found.start]);
        out.extend_from_slice(&encode(&substitute(replacement, &found)));
        if found.end == found.start {
            if found.end >= bytes.len() {
                at = bytes.len() + 1;
                break;
            }
            out.push(bytes[found.end]);
            at = found.end + 1;
        } else {
            at = found.end;
        }
        if !options.contains('g') {
            break;
        }
    }
    if at <= bytes.len() {
        out.extend_from_slice(&bytes[at..]);
    }
    text(decode(&out))
}

fn substitute(replacement: &str, found: &regex::Captures) -> String {
    let group = |number: usize| {
        let name = found.names.get(number);
        found
            .groups
            .iter()
            .find(|(known, _)| Some(known) == name)
            .map(|(_, text)| Rc::clone(text))
            .unwrap_or_default()
    };
    let mut out = String::new();
    let mut chars = replacement.chars().peekable();
    while let Some(char) = chars.next() {
        match (char, chars.peek().copied()) {
            ('\\' | '$', Some(next)) if next.is_ascii_digit() => {
                chars.next();
                out.push_str(&group(next as usize - '0' as usize));
            }
            ('$', Some('+')) => {
                chars.next();
                out.push_str(
                    &found.groups.last().map(|(_, text)| Rc::clone(text)).unwrap_or_default(),
                );
            }
            ('$', Some('&')) => {
                chars.next();
                out.push_str(&group(0));
            }
            (char, _) => out.push(char),
        }
    }
    out
}

fn extract(ctx: &mut Context<'_>, name: &str, args: &[Rval]) -> FnResult {
    let source = arg(args, 1);
    let Some(found) = regex::captures(arg(args, 0), source) else {
        // Of a pattern that is none nothing is said here.
        regex::take_wrong();
        return if name == "data_regextract" { None } else { truth(false) };
    };
    // A group that took no part is empty text.
    let bytes = encode(source);
    let groups = found.names.iter().zip(&found.spans).map(|(key, span)| {
        let value = span.map_or(String::new(), |(start, end)| decode(&bytes[start..end]));
        (Rc::clone(key), Str::from(value))
    });
    if name == "data_regextract" {
        let object: Object = groups.map(|(key, value)| (key, Json::Str(value))).collect();
        return container(Json::Object(object));
    }
    let (scope, array) = ctx.qualify(arg(args, 2));
    let scope = scope?;
    let tags: Rc<[Str]> = Rc::from(["source=function".into(), "function=regextract".into()]);
    for (key, value) in groups {
        ctx.vars.put(
            &scope,
            &format!("{array}[{key}]"),
            DataType::String,
            Value::Scalar(value),
            &tags,
        );
    }
    truth(true)
}

fn eval(ctx: &Context<'_>, args: &[Rval]) -> FnResult {
    let source = arg(args, 0);
    let mode = if args.len() > 1 { arg(args, 1) } else { "math" };
    match eval_math::evaluate(source) {
        Ok(value) if mode == "class" => truth(value.abs() >= 1e-17),
        Ok(value) => text(format!("{value:.6}")),
        Err(message) => {
            ctx.info(&format!("eval error: {message} (input '{source}')"));
            if mode == "class" { truth(false) } else { text("") }
        }
    }
}
