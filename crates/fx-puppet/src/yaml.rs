//! YAML to values as Psych reads it: YAML 1.1 scalars, anchors, merge keys. Writing YAML is
//! not here.

use std::rc::Rc;

use rustc_hash::FxHashMap;
use saphyr_parser::{Event, Parser, ScalarStyle};

use crate::value::{Hash, Value};

/// Deepest nesting that is read.
const MAX_DEPTH: usize = 200;

/// Values that all aliases of a text may stand for together. They share what they stand for, but
/// whoever looks a value up walks through all of it.
const MAX_ALIASED: u64 = 2_000_000;

enum Open {
    Array(Vec<Value>, usize),
    Map(Hash, Option<Value>, usize),
}

/// Reads the first document. An empty text is undef.
pub fn parse(source: &str) -> Result<Value, String> {
    read(source, false)
}

/// The same for data files, in which only plain data may stand: no dates, no objects.
pub(crate) fn parse_data(source: &str) -> Result<Value, String> {
    read(source, true)
}

/// What is wrong with a text of YAML: its line, counted from one, its column, and the words.
pub fn error(source: &str) -> Option<(usize, usize, String)> {
    let first = |text: &str| Parser::new_from_str(text).find_map(Result::err);
    let wrong = first(source)?;
    let further = fx_ruby::flow_further_in(source);
    if further.is_some_and(|text| first(&text).is_none()) {
        return None;
    }
    let at = wrong.marker();
    Some((at.line(), at.col(), complaint(wrong.info())))
}

/// A parser's complaint in the words of Psych.
fn complaint(info: &str) -> String {
    if info.contains("must be followed by a valid YAML whitespace") {
        return "found a tab character that violates indentation while scanning a plain scalar"
            .into();
    }
    match info.strip_prefix("while ").and_then(|rest| rest.split_once(", ")) {
        Some((context, problem)) => {
            let context = context.replace("parsing a node", "parsing a flow node");
            format!("{problem} while {context}")
        }
        None => info.to_owned(),
    }
}

/// What a tag makes of a scalar; nothing where it says nothing.
fn tagged(text: &str, tag: &str, strict: bool) -> Result<Option<Value>, String> {
    Ok(Some(match tag {
        "str" => Value::from(text),
        "float" => Value::Float(text.parse().unwrap_or(0.0)),
        "int" => Value::Int(text.parse().unwrap_or(0)),
        "binary" => {
            let bytes = fx_formats::base64::decode_relaxed(text).unwrap_or_default();
            Value::from(String::from_utf8_lossy(&bytes).into_owned())
        }
        tag if strict && tag.starts_with("ruby/object:") => {
            return Err(unspecified(tag.trim_start_matches("ruby/object:")));
        }
        _ => return Ok(None),
    }))
}

fn unspecified(class: &str) -> String {
    format!("Tried to load unspecified class: {class}")
}

/// Whether a plain text is a date, and whether it has a time behind.
fn date(text: &str) -> Option<bool> {
    let mut parts = text.splitn(3, '-');
    let (year, month, rest) = (parts.next()?, parts.next()?, parts.next()?);
    let digits = |text: &str, most: usize| {
        !text.is_empty() && text.len() <= most && text.bytes().all(|byte| byte.is_ascii_digit())
    };
    let day = rest.bytes().take_while(u8::is_ascii_digit).count();
    if year.len() != 4 || !digits(year, 4) || !digits(month, 2) || !(1..=2).contains(&day) {
        return None;
    }
    match rest[day..].chars().next() {
        None => Some(false),
        Some('T' | 't' | ' ') if rest[day + 1..].contains(':') => Some(true),
        _ => None,
    }
}

fn read(source: &str, strict: bool) -> Result<Value, String> {
    events(source, strict).or_else(|why| {
        // Only what cannot be read otherwise is worth a second look.
        let further = fx_ruby::flow_further_in(source).and_then(|text| events(&text, strict).ok());
        further.ok_or(why)
    })
}

fn events(source: &str, strict: bool) -> Result<Value, String> {
    let mut stack: Vec<Open> = Vec::new();
    let mut anchors: FxHashMap<usize, Value> = FxHashMap::default();
    let mut sizes = Sizes::default();
    let mut result = Value::Undef;
    for event in Parser::new_from_str(source) {
        let (event, span) = event.map_err(|error| {
            let at = *error.marker();
            let place = if strict { "" } else { "(<unknown>): " };
            format!(
                "{place}{} at line {} column {}",
                complaint(error.info()),
                at.line(),
                at.col() + 1
            )
        })?;
        if !sizes.admits(&event) {
            let place = if strict { "" } else { "(<unknown>): " };
            let line = span.start.line();
            return Err(format!(
                "{place}aliases stand for more than {MAX_ALIASED} values at line {line}"
            ));
        }
        let value = match event {
            Event::SequenceStart(anchor, _) => {
                stack.push(Open::Array(Vec::new(), anchor));
                None
            }
            Event::MappingStart(_, Some(tag)) if strict && tag.suffix == "set" => {
                return Err(unspecified("Psych::Set"));
            }
            Event::MappingStart(_, Some(tag))
                if strict && tag.suffix.starts_with("ruby/object:") =>
            {
                return Err(unspecified(tag.suffix.trim_start_matches("ruby/object:")));
            }
            Event::MappingStart(anchor, _) => {
                stack.push(Open::Map(Hash::default(), None, anchor));
                None
            }
            Event::SequenceEnd | Event::MappingEnd => match stack.pop() {
                Some(Open::Array(items, anchor)) => {
                    let value = Value::array(items);
                    anchors.insert(anchor, value.clone());
                    Some(value)
                }
                Some(Open::Map(map, _, anchor)) => {
                    let value = Value::Hash(Rc::new(map));
                    anchors.insert(anchor, value.clone());
                    Some(value)
                }
                None => None,
            },
            Event::Scalar(text, style, anchor, tag) => {
                let by_tag = match &tag {
                    Some(tag) => tagged(&text, &tag.suffix, strict)?,
                    None => None,
                };
                let value = match by_tag {
                    Some(value) => value,
                    None if style != ScalarStyle::Plain => Value::from(text.to_string()),
                    None => {
                        if strict && let Some(timed) = date(&text) {
                            return Err(unspecified(if timed { "Time" } else { "Date" }));
                        }
                        plain(&text)
                    }
                };
                if anchor > 0 {
                    anchors.insert(anchor, value.clone());
                }
                Some(value)
            }
            Event::Alias(anchor) => Some(anchors.get(&anchor).cloned().unwrap_or(Value::Undef)),
            Event::DocumentEnd => break,
            _ => None,
        };
        if stack.len() > MAX_DEPTH {
            return Err("nesting is too deep".into());
        }
        let Some(value) = value else { continue };
        match stack.last_mut() {
            None => result = value,
            Some(Open::Array(items, _)) => items.push(value),
            Some(Open::Map(map, key, _)) => match key.take() {
                None => *key = Some(value),
                Some(key) if key.as_str() == Some("<<") => merge(map, &value),
                Some(key) => {
                    map.insert(key, value);
                }
            },
        }
    }
    Ok(result)
}

/// How many values there are below each anchor, aliases included.
#[derive(Default)]
struct Sizes {
    open: Vec<(usize, u64)>,
    anchors: FxHashMap<usize, u64>,
    aliased: u64,
}

impl Sizes {
    /// Counts an event; whether there are not too many.
    fn admits(&mut self, event: &Event<'_>) -> bool {
        let size = match event {
            Event::SequenceStart(anchor, _) | Event::MappingStart(anchor, _) => {
                self.open.push((*anchor, 1));
                return true;
            }
            Event::SequenceEnd | Event::MappingEnd => {
                let Some((anchor, size)) = self.open.pop() else { return true };
                if anchor > 0 {
                    self.anchors.insert(anchor, size);
                }
                size
            }
            Event::Scalar(..) => 1,
            Event::Alias(anchor) => {
                let size = self.anchors.get(anchor).copied().unwrap_or(1);
                self.aliased = self.aliased.saturating_add(size);
                size
            }
            _ => return true,
        };
        if let Some((_, above)) = self.open.last_mut() {
            *above = above.saturating_add(size);
        }
        self.aliased <= MAX_ALIASED
    }
}

/// `<<: *other`: all its keys; of several the first has the last word.
fn merge(map: &mut Hash, value: &Value) {
    match value {
        Value::Hash(other) => {
            for (key, value) in &**other {
                map.insert(key.clone(), value.clone());
            }
        }
        Value::Array(items) => items.iter().rev().for_each(|item| merge(map, item)),
        _ => {}
    }
}

/// A scalar without quotes.
fn plain(text: &str) -> Value {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Value::Undef,
        "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => {
            return Value::Bool(true);
        }
        "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => {
            return Value::Bool(false);
        }
        ".inf" | ".Inf" | ".INF" => return Value::Float(f64::INFINITY),
        "-.inf" | "-.Inf" | "-.INF" => return Value::Float(f64::NEG_INFINITY),
        ".nan" | ".NaN" | ".NAN" => return Value::Float(f64::NAN),
        _ => {}
    }
    if text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.'))
        && let Some(number) = number(text)
    {
        return number;
    }
    // A symbol becomes text on its way into the language.
    Value::from(text.strip_prefix(':').filter(|rest| !rest.is_empty()).unwrap_or(text))
}

fn number(text: &str) -> Option<Value> {
    let (sign, digits) = match text.as_bytes().first()? {
        b'-' => (-1, &text[1..]),
        b'+' => (1, &text[1..]),
        _ => (1, text),
    };
    if !digits.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return None;
    }
    let clean: String = digits.chars().filter(|c| !matches!(c, '_' | ',')).collect();
    if let Some(hex) = clean.strip_prefix("0x") {
        return i64::from_str_radix(hex, 16).ok().map(|value| Value::Int(sign * value));
    }
    if let Some(bits) = clean.strip_prefix("0b") {
        return i64::from_str_radix(bits, 2).ok().map(|value| Value::Int(sign * value));
    }
    if clean.len() > 1
        && clean.starts_with('0')
        && clean.bytes().all(|byte| (b'0'..b'8').contains(&byte))
    {
        return i64::from_str_radix(&clean, 8).ok().map(|value| Value::Int(sign * value));
    }
    if clean.bytes().all(|byte| byte.is_ascii_digit()) && !clean.is_empty() {
        if clean.starts_with('0') && clean.len() > 1 {
            return None;
        }
        return clean.parse::<i64>().ok().map(|value| Value::Int(sign * value));
    }
    // Base sixty.
    if clean.contains(':')
        && clean
            .split(':')
            .skip(1)
            .all(|part| part.len() <= 2 && part.parse::<u8>().is_ok_and(|part| part < 60))
        && clean
            .split(':')
            .all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()))
    {
        // Psych takes the first for hours, however many there are; the sign is the first's.
        let parts: Vec<i64> = clean.split(':').map(|part| part.parse().unwrap_or(0)).collect();
        if parts.len() > 3 {
            return None;
        }
        let hours = sign * parts[0] * 3600;
        let rest = parts.iter().skip(1).zip([60, 1]).map(|(part, unit)| part * unit);
        return Some(Value::Int(hours + rest.sum::<i64>()));
    }
    let (mantissa, exponent) = match clean.find(['e', 'E']) {
        Some(at) => (&clean[..at], Some(&clean[at + 1..])),
        None => (clean.as_str(), None),
    };
    let (whole, part) = mantissa.split_once('.')?;
    let all_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if !all_digits(whole) || !all_digits(part) || (whole.is_empty() && part.is_empty()) {
        return None;
    }
    if let Some(exponent) = exponent
        && (exponent.is_empty() || !all_digits(exponent.trim_start_matches(['+', '-'])))
    {
        return None;
    }
    clean.parse::<f64>().ok().map(|value| Value::Float(sign as f64 * value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::program_text;

    #[test]
    fn scalars_are_read_as_psych_reads_them() {
        let check = |text: &str, expected: &str| {
            assert_eq!(program_text(&parse(text).unwrap()), expected, "{text}");
        };
        check("a: 017", "{'a' => 15}");
        check("a: 0o17", "{'a' => '0o17'}");
        check("a: 1:30", "{'a' => 5400}");
        check("a: 12:30:45", "{'a' => 45045}");
        check("a: -1:30", "{'a' => -1800}");
        check(
            "b: &b {x: 1}\nk: {z: 1, <<: [*b, {y: 2, z: 3}]}",
            "{'b' => {'x' => 1}, 'k' => {'z' => 3, 'y' => 2, 'x' => 1}}",
        );
        check("a: 1,000", "{'a' => 1000}");
        check("a: 1e3", "{'a' => '1e3'}");
        check("a: yes", "{'a' => true}");
        check("a: y", "{'a' => 'y'}");
        check("a: 10.0.0.1", "{'a' => '10.0.0.1'}");
        check("a: '17'", "{'a' => '17'}");
        check("a: -3", "{'a' => -3}");
        check("a: 1.5", "{'a' => 1.5}");
        check("a: ~", "{'a' => undef}");
        check(
            "x: &x {k: 1}\ny:\n  <<: *x\n  z: 2",
            "{'x' => {'k' => 1}, 'y' => {'k' => 1, 'z' => 2}}",
        );
    }

    #[test]
    fn aliases_that_stand_for_too_much_are_refused_with_their_line() {
        let mut text = String::from("a: &a [x,x,x,x,x,x,x,x,x,x]\n");
        for (from, to) in "abcdefgh".chars().zip("bcdefghi".chars()) {
            let list = vec![format!("*{from}"); 10].join(",");
            text.push_str(&format!("{to}: &{to} [{list}]\n"));
        }
        let refused = parse_data(&text).unwrap_err();
        assert_eq!(refused, "aliases stand for more than 2000000 values at line 7");
        let mut keys = String::from("a: &a {k1: 1, k2: 2, k3: 3}\n");
        for (from, to) in "abcdefghijklmnopqr".chars().zip("bcdefghijklmnopqrs".chars()) {
            keys.push_str(&format!("{to}: &{to} {{x: *{from}, y: *{from}, z: *{from}}}\n"));
        }
        assert!(parse(&keys).is_err());
        // What is used often but small is read as ever.
        let many = format!("a: &a [1, 2]\nb: [{}]\n", vec!["*a"; 10_000].join(", "));
        assert!(parse_data(&many).is_ok());
    }

    #[test]
    fn what_psych_writes_reads_back_the_same() {
        #[rustfmt::skip]
        const PIECES: &[&str] = &[
            "a", "é", "→", "€", "😀", "\u{85}", "\u{2028}", "\u{feff}", "\u{7f}", "\u{9b}", "\0",
            "\t", "\r", "\n", " ", "  ", "- ", ": ", " #", "'", "\"", "\\", "{", "[", "|", ">", "%",
            "@", "`", "&", "*", "!", "?", "~", "null", "yes", "0x1", "1e5", "2026-01-01", "12:30",
            "\u{a0}", "\u{300}", "\u{202e}", "漢字", "ß", "...", "---",
            "word word word word word word word word word word ",
        ];
        let mut random = fx_fuzz::Random::new(7);
        let mut text = || {
            let count = random.below(12);
            (0..count).map(|_| PIECES[random.below(PIECES.len())]).collect::<String>()
        };
        for _ in 0..5_000 {
            let value = serde_json::json!({text(): text(), "list": [text(), {text(): [text()]}]});
            let written = fx_formats::yaml::psych::document(&value);
            let read = parse(&written).map(|read| crate::compile::to_json(&read));
            assert_eq!(read.as_ref(), Ok(&value), "{written}");
        }
    }
}
