//! `String(value, formats)`: values as text by format maps.

use fx_formats::base64;

use std::iter::Peekable;
use std::rc::Rc;
use std::str::Chars;

use super::Evaluated;
use super::error::Flow;
use super::sprintf;
use super::text::{double_quoted, program_text, quoted};
use crate::types::{Type, generalize, infer, is_instance};
use crate::value::Value;
use fx_formats::printf::Spec;

/// How values of one type are shown.
#[derive(Clone, Debug)]
pub(crate) struct Format {
    letter: char,
    spec: Spec,
    delimiter: Option<char>,
    separator: Option<Rc<str>>,
    separator2: Option<Rc<str>>,
    nested: Option<Rc<FormatMap>>,
}

type FormatMap = Vec<(Type, Format)>;

fn is_container(value: &Value) -> bool {
    matches!(value, Value::Array(_) | Value::Hash(_) | Value::Iterator(_, _))
}

/// Digits of a format, if there are any.
fn number(chars: &mut Peekable<Chars<'_>>, what: &str) -> Evaluated<Option<usize>> {
    let mut digits = String::new();
    while let Some(digit) = chars.next_if(char::is_ascii_digit) {
        digits.push(digit);
    }
    if digits.is_empty() {
        return Ok(None);
    }
    let number = digits.parse::<usize>().ok().filter(|number| *number < 1 << 31);
    number.map(Some).ok_or_else(|| Flow::raw(format!("{what} too big")))
}

impl Format {
    fn parse(text: &str) -> Evaluated<Format> {
        let bad = || {
            Flow::raw(format!(
                "The format '{text}' is not a valid format on the form '%<flags><width>.<prec><format>'"
            ))
        };
        let mut chars = text.chars().peekable();
        if chars.next() != Some('%') {
            return Err(bad());
        }
        let mut spec = Spec::default();
        let mut delimiter = None;
        while let Some(c) = chars.peek().copied() {
            match c {
                '-' => spec.minus = true,
                '+' => spec.plus = true,
                ' ' => spec.space = true,
                '#' => spec.alt = true,
                '0' => spec.zero = true,
                '[' | '{' | '<' | '(' | '|' => delimiter = Some(c),
                _ => break,
            }
            chars.next();
        }
        spec.width = number(&mut chars, "width")?;
        if chars.next_if_eq(&'.').is_some() {
            spec.precision = Some(number(&mut chars, "precision")?.ok_or_else(bad)?);
        }
        let letter = chars.next().filter(char::is_ascii_alphabetic).ok_or_else(bad)?;
        if chars.next().is_some() {
            return Err(bad());
        }
        Ok(Format { letter, spec, delimiter, separator: None, separator2: None, nested: None })
    }

    fn plain(letter: char) -> Format {
        Format {
            letter,
            spec: Spec::default(),
            delimiter: None,
            separator: None,
            separator2: None,
            nested: None,
        }
    }

    fn delimiters(&self, open: char, close: char) -> (String, String) {
        match self.delimiter {
            _ if self.spec.space => (String::new(), String::new()),
            None => (open.into(), close.into()),
            Some('[') => ("[".into(), "]".into()),
            Some('{') => ("{".into(), "}".into()),
            Some('(') => ("(".into(), ")".into()),
            Some('<') => ("<".into(), ">".into()),
            Some(other) => (other.into(), other.into()),
        }
    }

    fn illegal(&self, kind: &str, letters: &str) -> Flow {
        Flow::raw(format!(
            "Illegal format '{}' specified for value of {kind} type - expected one of the characters '{letters}'",
            self.letter
        ))
    }
}

/// How deep in indented output we are.
#[derive(Clone, Copy)]
struct Indent {
    level: usize,
    first: bool,
    active: bool,
}

impl Indent {
    fn padding(self) -> String {
        " ".repeat(2 * self.level)
    }

    fn breaks(self) -> bool {
        self.active && self.level > 0 && !self.first
    }
}

/// The text of a value by the formats given, which may be undef, a string or a hash.
pub(crate) fn format_value(value: &Value, formats: &Value) -> Evaluated<String> {
    let map = match formats {
        Value::Undef | Value::Default => Vec::new(),
        Value::String(text) => vec![(generalize(&infer(value)), Format::parse(text)?)],
        Value::Hash(hash) => format_map(hash)?,
        other => return Err(Flow::raw(format!("illegal format {}", program_text(other)))),
    };
    convert(value, &map, true, Indent { level: 0, first: true, active: false })
}

fn format_map(hash: &crate::value::Hash) -> Evaluated<FormatMap> {
    let mut map = Vec::new();
    for (key, value) in hash {
        let Value::Type(ty) = key else {
            return Err(Flow::raw("the keys of a format map must be types"));
        };
        let format = match value {
            Value::String(text) => Format::parse(text)?,
            Value::Hash(options) => {
                let text = |name: &str| {
                    options.get(&Value::from(name)).and_then(Value::as_str).map(Rc::from)
                };
                let letters: Option<Rc<str>> = text("format");
                let default = if matches!(**ty, Type::Hash { .. }) { "%h" } else { "%a" };
                let mut format = Format::parse(letters.as_deref().unwrap_or(default))?;
                format.separator = text("separator");
                format.separator2 = text("separator2");
                if let Some(Value::Hash(nested)) = options.get(&Value::from("string_formats")) {
                    format.nested = Some(Rc::new(format_map(nested)?));
                }
                format
            }
            other => return Err(Flow::raw(format!("illegal format {}", program_text(other)))),
        };
        map.push(((**ty).clone(), format));
    }
    Ok(map)
}

fn format_for(value: &Value, map: &FormatMap, outer: bool) -> Format {
    // The narrowest type that the value is an instance of.
    let mut best: Option<&(Type, Format)> = None;
    for entry in map {
        if is_instance(&entry.0, value) && best.is_none_or(|best| best.0.accepts(&entry.0)) {
            best = Some(entry);
        }
    }
    if let Some((_, format)) = best {
        return format.clone();
    }
    Format::plain(match value {
        Value::Array(_) | Value::Iterator(_, _) => 'a',
        Value::Hash(_) => 'h',
        Value::Float(_) if outer => 'f',
        _ if outer => 's',
        _ => 'p',
    })
}

fn convert(value: &Value, map: &FormatMap, outer: bool, indent: Indent) -> Evaluated<String> {
    let format = format_for(value, map, outer);
    let spec = &format.spec;
    let quote = |text: String| if spec.alt { quoted(&text) } else { text };
    Ok(match value {
        Value::Array(items) | Value::Iterator(items, _) => array(items, &format, map, indent)?,
        Value::Hash(hash) => self::hash(hash, &format, map, indent)?,
        Value::Undef => spec.text(&match format.letter {
            'n' => "nil".to_owned(),
            'u' => "undef".to_owned(),
            'd' | 'x' | 'X' | 'o' | 'b' | 'B' | 'e' | 'E' | 'f' | 'g' | 'G' | 'a' | 'A' => {
                "NaN".to_owned()
            }
            'v' => "n/a".to_owned(),
            'V' => "N/A".to_owned(),
            's' => {
                if spec.alt {
                    "\"\"".to_owned()
                } else {
                    String::new()
                }
            }
            'p' => {
                if spec.alt {
                    "\"undef\"".to_owned()
                } else {
                    "undef".to_owned()
                }
            }
            _ => return Err(format.illegal("Undef", "nudxXobBeEfgGaAvVsp")),
        }),
        Value::Default => spec.text(&match format.letter {
            'd' | 's' | 'p' => quote("default".into()),
            'D' => quote("Default".into()),
            _ => return Err(format.illegal("Default", "dDsp")),
        }),
        Value::Bool(truth) => boolean(*truth, &format)?,
        Value::Int(number) => match format.letter {
            'd' | 'x' | 'X' | 'o' | 'b' | 'B' => sprintf::integer(spec, format.letter, *number),
            'e' | 'E' | 'f' | 'g' | 'G' | 'a' | 'A' => {
                sprintf::float(spec, format.letter, *number as f64)
            }
            'p' => sprintf::integer(spec, 'd', *number),
            's' => spec.text(&quote(number.to_string())),
            'c' => spec.text(&quote(
                u32::try_from(*number)
                    .ok()
                    .and_then(char::from_u32)
                    .unwrap_or('\u{fffd}')
                    .to_string(),
            )),
            _ => return Err(format.illegal("Integer", "dxXobBeEfgGaAspc")),
        },
        Value::Float(number) => match format.letter {
            'd' | 'x' | 'X' | 'o' | 'b' | 'B' => {
                sprintf::integer(spec, format.letter, *number as i64)
            }
            'e' | 'E' | 'f' | 'g' | 'G' | 'a' | 'A' => sprintf::float(spec, format.letter, *number),
            'p' => spec.text(&program_text(value)),
            's' => spec.text(&quote(program_text(value))),
            _ => return Err(format.illegal("Float", "dxXobBeEfgGaAsp")),
        },
        Value::String(text) => spec.text(&match format.letter {
            's' => {
                if spec.alt {
                    quoted(text)
                } else {
                    text.to_string()
                }
            }
            'p' => {
                if spec.alt {
                    double_quoted(text)
                } else {
                    quoted(text)
                }
            }
            'c' => quote(capitalize(text)),
            'C' => quote(text.split("::").map(capitalize).collect::<Vec<_>>().join("::")),
            'u' => quote(text.to_uppercase()),
            'd' => quote(text.to_lowercase()),
            't' => quote(text.trim().to_owned()),
            _ => return Err(format.illegal("String", "cCudspt")),
        }),
        Value::Regex(regex) => spec.text(&match format.letter {
            'p' => program_text(value),
            's' => quote(regex.source().to_owned()),
            _ => return Err(format.illegal("Regexp", "sp")),
        }),
        Value::Binary(bytes) => spec.text(&match format.letter {
            's' => String::from_utf8(bytes.to_vec())
                .map_err(|_| Flow::raw("The given binary value is not valid UTF-8"))?,
            'p' => program_text(value),
            'b' | 'B' => base64::encode(bytes),
            'u' => base64::encode(bytes).replace('+', "-").replace('/', "_"),
            't' => "Binary".into(),
            'T' => "BINARY".into(),
            _ => return Err(format.illegal("Binary", "bButTsp")),
        }),
        Value::Sensitive(_) if format.letter == 'p' => "#<Sensitive [value redacted]>".into(),
        Value::Sensitive(_) => "Sensitive [value redacted]".into(),
        Value::Uri(text) if format.letter == 's' => spec.text(text),
        value => spec.text(&match format.letter {
            's' | 'p' => quote(program_text(value)),
            _ => return Err(format.illegal(&super::label::short(&infer(value)), "sp")),
        }),
    })
}

/// First letter large, the rest small.
pub fn capitalize(text: &str) -> String {
    let mut chars = text.chars();
    match chars.next() {
        Some(first) => first.to_uppercase().chain(chars.flat_map(char::to_lowercase)).collect(),
        None => String::new(),
    }
}

fn boolean(truth: bool, format: &Format) -> Evaluated<String> {
    let spec = &format.spec;
    let word = |yes: &str, no: &str| {
        let word = if truth { yes } else { no };
        spec.text(if spec.alt { &word[..1] } else { word })
    };
    Ok(match format.letter {
        't' => word("true", "false"),
        'T' => word("True", "False"),
        'y' => word("yes", "no"),
        'Y' => word("Yes", "No"),
        'd' | 'x' | 'X' | 'o' | 'b' | 'B' => {
            sprintf::integer(spec, format.letter, i64::from(truth))
        }
        'e' | 'E' | 'f' | 'g' | 'G' | 'a' | 'A' => {
            sprintf::float(spec, format.letter, f64::from(u8::from(truth)))
        }
        's' | 'p' => spec.text(if truth { "true" } else { "false" }),
        _ => return Err(format.illegal("Boolean", "tTyYdxXobBeEfgGaAsp")),
    })
}

fn nested(value: &Value, format: &Format, map: &FormatMap, indent: Indent) -> Evaluated<String> {
    match &format.nested {
        _ if is_container(value) => convert(value, map, false, indent),
        Some(own) => convert(value, own, false, indent),
        None => convert(value, &Vec::new(), false, indent),
    }
}

fn array(items: &[Value], format: &Format, map: &FormatMap, indent: Indent) -> Evaluated<String> {
    if !matches!(format.letter, 'a' | 's' | 'p') {
        return Err(format.illegal("Array", "asp"));
    }
    let alt = format.spec.alt;
    let indent = Indent { active: alt || indent.active, ..indent };
    let (open, close) = format.delimiters('[', ']');
    let separator = format.separator.as_deref().unwrap_or(", ");
    let mut out = String::new();
    if indent.breaks() {
        out.push('\n');
        out.push_str(&indent.padding());
    }
    out.push_str(&open);
    let inner = Indent { level: indent.level + 1, first: false, active: alt };
    let mut shown = Vec::new();
    for item in items {
        shown.push(nested(item, format, map, inner)?);
    }
    let most = format.spec.width.unwrap_or(0);
    let mut run = 0;
    let mut widest = 0;
    for (item, text) in items.iter().zip(&shown) {
        run = if is_container(item) { 0 } else { run + text.chars().count() };
        widest = widest.max(run);
    }
    let breaking = alt && most > 0 && widest >= most;
    for (index, (item, text)) in items.iter().zip(&shown).enumerate() {
        if index > 0 {
            out.push_str(separator);
            if breaking && !is_container(item) {
                out.truncate(out.trim_end_matches(' ').len());
                out.push('\n');
                out.push_str(&inner.padding());
            }
        } else if breaking && !is_container(item) {
            out.push(' ');
        }
        if text.starts_with('\n') {
            out.truncate(out.trim_end_matches(' ').len());
        }
        out.push_str(text);
    }
    out.push_str(&close);
    Ok(out)
}

fn hash(
    hash: &crate::value::Hash,
    format: &Format,
    map: &FormatMap,
    indent: Indent,
) -> Evaluated<String> {
    match format.letter {
        'a' => {
            let pairs: Vec<Value> = hash
                .iter()
                .map(|(key, value)| Value::array(vec![key.clone(), value.clone()]))
                .collect();
            let plain = Format { nested: format.nested.clone(), ..Format::plain('a') };
            return array(&pairs, &plain, map, indent);
        }
        'h' | 's' | 'p' => {}
        _ => return Err(format.illegal("Hash", "hasp")),
    }
    let alt = format.spec.alt;
    let indent = Indent { active: alt || indent.active, ..indent };
    let (open, close) = format.delimiters('{', '}');
    let separator = format.separator.as_deref().unwrap_or(", ");
    let arrow = format.separator2.as_deref().unwrap_or(" => ");
    let mut out = String::new();
    if indent.breaks() {
        out.push('\n');
        out.push_str(&indent.padding());
    }
    out.push_str(&open);
    let inner = Indent { level: indent.level + 1, first: true, active: alt };
    let line = if alt { format!("\n{}", inner.padding()) } else { String::new() };
    let between = if alt {
        format!("{}{line}", separator.trim_end_matches(' '))
    } else {
        separator.to_owned()
    };
    let mut pairs = Vec::new();
    for (key, value) in hash {
        pairs.push(format!(
            "{}{arrow}{}",
            nested(key, format, map, inner)?,
            nested(value, format, map, inner)?
        ));
    }
    out.push_str(&line);
    out.push_str(&pairs.join(&between));
    if alt {
        out.push('\n');
        out.push_str(&indent.padding());
    }
    out.push_str(&close);
    Ok(out)
}
