//! Functions that take strings apart: matching, splitting, replacing, comparing versions.

use std::cmp::Ordering;
use std::rc::Rc;

use super::{Call, Native, native};
use crate::eval::{Evaluated, Flow, strfspan, strftime};
use crate::regex::Regex;
use crate::types::Type;
use crate::value::Value;

pub(super) static TABLE: &[Native] = &[
    native(
        "split",
        &[
            "String str, String pattern",
            "String str, Regexp pattern",
            "String str, Type[Regexp] pattern",
        ],
        split,
    ),
    native(
        "regsubst",
        &[
            "Variant[Array[String],String] target, String pattern, Variant[String,Hash[String,String]] replacement, Pattern[/^[GEIM]*$/] flags?, Enum['N','E','S','U'] encoding?",
            "Variant[Array[String],String] target, Variant[Regexp,Type[Regexp]] pattern, Variant[String,Hash[String,String]] replacement, Pattern[/^G?$/] flags?",
        ],
        regsubst,
    ),
    native(
        "match",
        &[
            "String string, Variant[Any, Type] pattern",
            "Array[String] string, Variant[Any, Type] pattern",
        ],
        matching,
    ),
    native("versioncmp", &["String a, String b, Boolean ignore_trailing_zeroes?"], versioncmp),
    native("shellquote", &[], shellquote),
    native(
        "strftime",
        &[
            "Timespan time_object, String format",
            "Timestamp time_object, String format, String timezone?",
            "String format, String timezone?",
        ],
        format_time,
    ),
    native("scanf", &["String data, String format, &Callable block?"], scanf),
];

fn regex_of(value: &Value) -> Evaluated<Rc<Regex>> {
    let regex = match value {
        Value::Regex(regex) => Rc::clone(regex),
        Value::String(source) => Rc::new(Regex::new(source)),
        Value::Type(ty) => match ty.resolved() {
            Type::Regexp(Some(regex)) => Rc::clone(regex),
            Type::Pattern(patterns) if !patterns.is_empty() => Rc::clone(&patterns[0]),
            _ => Rc::new(Regex::new(".*")),
        },
        other => {
            return Err(Flow::raw(format!(
                "Match operator expects Pattern, Regexp or String, got {}",
                crate::eval::kind(other)
            )));
        }
    };
    regex.check().map_err(Flow::raw)?;
    Ok(regex)
}

fn split(call: &Call<'_>) -> Evaluated {
    let text = call.text(0);
    let mut parts: Vec<String> = Vec::new();
    let regex = regex_of(call.arg(1))?;
    let engine = regex.engine().map_err(Flow::raw)?;
    let mut start = 0;
    for found in engine.captures_iter(text) {
        let found = found.map_err(|error| Flow::raw(error.to_string()))?;
        let Some(whole) = found.get(0) else { continue };
        if whole.end() == 0 || (whole.start() == whole.end() && whole.start() >= text.len()) {
            continue;
        }
        parts.push(text[start..whole.start()].to_owned());
        // Groups are part of the result.
        parts.extend(found.iter().skip(1).flatten().map(|group| group.as_str().to_owned()));
        start = whole.end();
    }
    parts.push(text[start..].to_owned());
    while parts.last().is_some_and(String::is_empty) {
        parts.pop();
    }
    Ok(Value::array(parts.into_iter().map(Value::from).collect()))
}

fn regsubst(call: &Call<'_>) -> Evaluated {
    let flags = call.text(3);
    let regex = match call.arg(1) {
        Value::String(source) => {
            let mut inline = String::new();
            inline.push_str(if flags.contains('I') { "i" } else { "" });
            inline.push_str(if flags.contains('M') { "m" } else { "" });
            inline.push_str(if flags.contains('E') { "x" } else { "" });
            let source = if inline.is_empty() {
                source.to_string()
            } else {
                format!("(?{inline}:{source})")
            };
            regex_of(&Value::from(source))?
        }
        other => regex_of(other)?,
    };
    let all = flags.contains('G');
    let one = |text: &str| -> Evaluated {
        let engine = regex.engine().map_err(Flow::raw)?;
        let mut out = String::new();
        let mut at = 0;
        for found in engine.captures_iter(text) {
            let found = found.map_err(|error| Flow::raw(error.to_string()))?;
            let Some(whole) = found.get(0) else { continue };
            out.push_str(&text[at..whole.start()]);
            match call.arg(2) {
                Value::Hash(hash) => {
                    if let Some(with) =
                        hash.get(&Value::from(whole.as_str())).and_then(Value::as_str)
                    {
                        out.push_str(with);
                    }
                }
                with => expand(&mut out, with.as_str().unwrap_or_default(), &found, text),
            }
            at = whole.end();
            if !all {
                break;
            }
        }
        out.push_str(&text[at..]);
        Ok(Value::from(out))
    };
    match call.arg(0) {
        Value::Array(items) => Ok(Value::array(
            items
                .iter()
                .map(|item| one(item.as_str().unwrap_or_default()))
                .collect::<Evaluated<Vec<_>>>()?,
        )),
        other => one(other.as_str().unwrap_or_default()),
    }
}

/// Puts groups into a replacement: `\1`, `\0`, `\&`, `\k<name>`.
fn expand(out: &mut String, with: &str, found: &fancy_regex::Captures<'_, str>, text: &str) {
    let group = |number: usize| found.get(number).map_or("", |group| group.as_str());
    let mut chars = with.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some(digit) if digit.is_ascii_digit() => {
                out.push_str(group(digit as usize - '0' as usize))
            }
            Some('&') => out.push_str(group(0)),
            Some('`') => out.push_str(&text[..found.get(0).map_or(0, |whole| whole.start())]),
            Some('\'') => {
                out.push_str(&text[found.get(0).map_or(text.len(), |whole| whole.end())..])
            }
            Some('k') if chars.peek() == Some(&'<') => {
                chars.next();
                let name: String = chars.by_ref().take_while(|c| *c != '>').collect();
                out.push_str(found.name(&name).map_or("", |group| group.as_str()));
            }
            Some('\\') => out.push('\\'),
            Some(other) => {
                out.push('\\');
                out.push(other);
            }
            None => out.push('\\'),
        }
    }
}

fn matching(call: &Call<'_>) -> Evaluated {
    if let Value::Array(items) = call.arg(0) {
        let mut out = Vec::new();
        for item in items.iter() {
            out.push(match_one(item.as_str().unwrap_or_default(), call.arg(1))?);
        }
        return Ok(Value::array(out));
    }
    match_one(call.text(0), call.arg(1))
}

fn match_one(text: &str, pattern: &Value) -> Evaluated {
    let patterns = match pattern {
        Value::Type(ty) => match ty.resolved() {
            Type::Pattern(patterns) => patterns.clone(),
            Type::Regexp(_) => vec![regex_of(pattern)?],
            other => {
                return Err(Flow::raw(format!(
                    "match() expects pattern of T, where T is String, Regexp, Regexp[r], Pattern[p], or Array[T]. Got {other}"
                )));
            }
        },
        Value::Array(items) => {
            for item in items.iter() {
                let found = match_one(text, item)?;
                if !matches!(found, Value::Undef) {
                    return Ok(found);
                }
            }
            return Ok(Value::Undef);
        }
        other => vec![regex_of(other)?],
    };
    for regex in patterns {
        if let Some(captures) = regex.captures(text).map_err(Flow::raw)? {
            return Ok(Value::array(
                captures.into_iter().map(|group| group.map_or(Value::Undef, Value::from)).collect(),
            ));
        }
    }
    Ok(Value::Undef)
}

fn versioncmp(call: &Call<'_>) -> Evaluated {
    let trim = matches!(call.arg(2), Value::Bool(true));
    let cut = |text: &str| {
        let mut text = text.to_owned();
        if trim {
            let (core, rest) = text
                .split_once('-')
                .map_or((text.as_str(), None), |(core, rest)| (core, Some(rest)));
            let mut core = core.to_owned();
            while let Some(shorter) = core.strip_suffix(".0") {
                core = shorter.to_owned();
            }
            text = rest.map_or(core.clone(), |rest| format!("{core}-{rest}"));
        }
        text
    };
    Ok(Value::Int(compare_versions(&cut(call.text(0)), &cut(call.text(1))) as i64))
}

/// Part by part: dashes before dots, numbers by value, a leading zero makes a text.
pub(crate) fn compare_versions(a: &str, b: &str) -> Ordering {
    fn parts(text: &str) -> Vec<&str> {
        let mut out = Vec::new();
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let length = match first {
                '-' | '.' => 1,
                c if c.is_ascii_digit() => rest.bytes().take_while(u8::is_ascii_digit).count(),
                _ => rest
                    .find(|c: char| c == '-' || c == '.' || c.is_ascii_digit())
                    .unwrap_or(rest.len()),
            };
            out.push(&rest[..length]);
            rest = &rest[length..];
        }
        out
    }
    let (left, right) = (parts(a), parts(b));
    for (x, y) in left.iter().zip(&right) {
        if x == y {
            continue;
        }
        let number = |text: &str| {
            text.bytes()
                .all(|byte| byte.is_ascii_digit())
                .then(|| text.parse::<u128>().unwrap_or(u128::MAX))
        };
        return match (*x, *y) {
            ("-", _) => Ordering::Less,
            (_, "-") => Ordering::Greater,
            (".", _) => Ordering::Less,
            (_, ".") => Ordering::Greater,
            (x, y) => match (number(x), number(y)) {
                (Some(p), Some(q))
                    if !x.starts_with('0') && !y.starts_with('0')
                        || p != q && (x == "0" || y == "0") =>
                {
                    p.cmp(&q)
                }
                _ => x.to_uppercase().cmp(&y.to_uppercase()),
            },
        };
    }
    a.cmp(b)
}

fn shellquote(call: &Call<'_>) -> Evaluated {
    let mut out = Vec::new();
    let mut queue: Vec<Value> = call.args.iter().rev().cloned().collect();
    while let Some(value) = queue.pop() {
        if let Value::Array(items) = &value {
            queue.extend(items.iter().rev().cloned());
            continue;
        }
        let text = crate::eval::interpolated(&value);
        let safe = |c: char| c.is_ascii_alphanumeric() || "@%_+=:,./-".contains(c);
        out.push(if !text.is_empty() && text.chars().all(safe) {
            text
        } else if !text.contains(['$', '`', '"', '\\', '!']) {
            format!("\"{text}\"")
        } else if !text.contains('\'') {
            format!("'{text}'")
        } else {
            let mut quoted = String::from("\"");
            for c in text.chars() {
                if matches!(c, '$' | '`' | '"' | '\\') {
                    quoted.push('\\');
                }
                quoted.push(c);
            }
            quoted.push('"');
            quoted
        });
    }
    Ok(Value::from(out.join(" ")))
}

fn format_time(call: &Call<'_>) -> Evaluated {
    Ok(Value::from(match call.arg(0) {
        Value::Timespan(nanos) => strfspan(*nanos, call.text(1))?,
        Value::Timestamp(nanos) => {
            strftime(*nanos, call.text(1), call.args.get(2).and_then(Value::as_str))?
        }
        _ => {
            strftime(call.evaluator.now(), call.text(0), call.args.get(1).and_then(Value::as_str))?
        }
    }))
}

/// `%d`, `%i`, `%s`, `%f`, `%x`, `%o` and literal text.
fn scanf(call: &Call<'_>) -> Evaluated {
    let (mut rest, mut out) = (call.text(0), Vec::new());
    let mut chars = call.text(1).chars().peekable();
    while let Some(c) = chars.next() {
        if c.is_whitespace() {
            rest = rest.trim_start();
            continue;
        }
        if c != '%' {
            match rest.strip_prefix(c) {
                Some(after) => rest = after,
                None => break,
            }
            continue;
        }
        let mut width = String::new();
        while let Some(digit) = chars.next_if(char::is_ascii_digit) {
            width.push(digit);
        }
        let most = width.parse().unwrap_or(usize::MAX);
        rest = rest.trim_start();
        let letter = chars.next().unwrap_or('s');
        let good = |at: usize, c: char| match letter {
            'd' | 'i' | 'u' => c.is_ascii_digit() || (at == 0 && matches!(c, '-' | '+')),
            'x' | 'X' => c.is_ascii_hexdigit(),
            'o' => ('0'..='7').contains(&c),
            'f' | 'e' | 'g' => c.is_ascii_digit() || matches!(c, '.' | '-' | '+' | 'e' | 'E'),
            _ => !c.is_whitespace(),
        };
        let word: String = rest
            .chars()
            .take(most)
            .enumerate()
            .take_while(|(at, c)| good(*at, *c))
            .map(|(_, c)| c)
            .collect();
        if word.is_empty() {
            break;
        }
        rest = &rest[word.len()..];
        out.push(match letter {
            'd' | 'i' | 'u' => word.parse().map_or(Value::Undef, Value::Int),
            'x' | 'X' => i64::from_str_radix(&word, 16).map_or(Value::Undef, Value::Int),
            'o' => i64::from_str_radix(&word, 8).map_or(Value::Undef, Value::Int),
            'f' | 'e' | 'g' => word.parse().map_or(Value::Undef, Value::Float),
            _ => Value::from(word),
        });
    }
    let found = Value::array(out);
    if call.block.is_some() { call.yields(vec![found]) } else { Ok(found) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_compare_part_by_part() {
        let table = [
            ("1.10", "1.9", Ordering::Greater),
            ("2.0-rc1", "2.0", Ordering::Greater),
            ("1.0", "1.0.0", Ordering::Less),
            ("1.0.0a", "1.0.0b", Ordering::Less),
            ("1.2-3", "1.2.3", Ordering::Less),
            ("1.0", "1.0", Ordering::Equal),
        ];
        for (a, b, expected) in table {
            assert_eq!(compare_versions(a, b), expected, "{a} and {b}");
        }
    }
}
