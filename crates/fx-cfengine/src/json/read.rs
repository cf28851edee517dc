//! The reader of JSON, with what the original forgives and what it calls wrong.
//!
//! Commas and colons may be missing in places, keys may be bare words, escapes are reduced
//! twice in values. A number is read as the original reads it, up to what may follow one.

use crate::text::Str;

use super::{Json, Object, put};

/// Deepest nesting that is read.
const MAX_DEPTH: usize = 200;

/// What is wrong, and what of the text had not been read then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Wrong<'a> {
    pub(crate) why: &'static str,
    pub(crate) rest: &'a str,
}

/// What a bare word in inline JSON stands for.
pub(crate) type Lookup<'a> = &'a dyn Fn(&str) -> Option<Json>;

const BAD_SYMBOL: &str = "Unable to parse json data as object, unrecognized token beginning entry";
const ARRAY_START: &str = "Unable to parse json data as array, did not start with '['";

pub(super) struct Reader<'a> {
    text: &'a [u8],
    source: &'a str,
    at: usize,
    lookup: Option<Lookup<'a>>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(source: &'a str, lookup: Option<Lookup<'a>>) -> Reader<'a> {
        Reader { text: source.as_bytes(), source, at: 0, lookup }
    }

    /// The value; what follows it is left alone, from `at` on.
    pub(super) fn whole(&mut self) -> Result<Json, Wrong<'a>> {
        self.blank();
        let found = match self.text.get(self.at) {
            None => Err("No data"),
            Some(b'{') => self.object(0),
            Some(b'[') => self.array(0),
            Some(b'"') => self.string().map(|text| Json::Str(unescape(&text))),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(_) => self.known_word().ok_or(BAD_SYMBOL),
        };
        found.map_err(|why| {
            let mut at = self.at.min(self.source.len());
            while !self.source.is_char_boundary(at) {
                at -= 1;
            }
            Wrong { why, rest: &self.source[at..] }
        })
    }

    fn blank(&mut self) {
        while self.text.get(self.at).is_some_and(|byte| is_blank(*byte)) {
            self.at += 1;
        }
    }

    // true, false, null.
    fn known_word(&mut self) -> Option<Json> {
        let words =
            [("true", Json::Bool(true)), ("false", Json::Bool(false)), ("null", Json::Null)];
        for (word, value) in words {
            if self.text[self.at..].starts_with(word.as_bytes())
                && self.text.get(self.at + word.len()).is_none_or(|byte| is_separator(*byte))
            {
                self.at += word.len();
                return Some(value);
            }
        }
        None
    }

    // A number, a known word, or the name of a variable.
    fn bare(&mut self) -> Result<Json, &'static str> {
        if matches!(self.text[self.at], b'-' | b'0'..=b'9') {
            return self.number();
        }
        if let Some(value) = self.known_word() {
            return Ok(value);
        }
        let lookup = self.lookup.ok_or(BAD_SYMBOL)?;
        let start = self.at;
        let part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.');
        while self.text.get(self.at).is_some_and(part) {
            self.at += 1;
        }
        if self.at == start {
            return Err(BAD_SYMBOL);
        }
        // One index belongs to the name.
        if self.text.get(self.at) == Some(&b'[') {
            let length = self.text[self.at + 1..]
                .iter()
                .position(|byte| matches!(byte, b'[' | b']'))
                .unwrap_or(0);
            if length > 0 && self.text[self.at + 1 + length] == b']' {
                self.at += length + 2;
            }
        }
        match lookup(&self.source[start..self.at]) {
            Some(value) => Ok(value),
            None => {
                self.at -= 1;
                Err(BAD_SYMBOL)
            }
        }
    }

    fn number(&mut self) -> Result<Json, &'static str> {
        let (value, length) = number(&self.source[self.at..]);
        self.at += length;
        value
    }

    // The text of a string, escapes reduced once; the reader is behind the closing quote.
    fn string(&mut self) -> Result<String, &'static str> {
        self.at += 1;
        let mut out = Vec::new();
        while let Some(byte) = self.text.get(self.at) {
            match *byte {
                b'"' => {
                    self.at += 1;
                    return String::from_utf8(out).map_err(|_| BAD_SYMBOL);
                }
                b'\\' => {
                    self.at += 1;
                    match self.text.get(self.at) {
                        Some(byte @ (b'\\' | b'"' | b'/')) => out.push(*byte),
                        Some(b'b') => out.push(8),
                        Some(b'f') => out.push(12),
                        Some(b'n') => out.push(b'\n'),
                        Some(b'r') => out.push(b'\r'),
                        Some(b't') => out.push(b'\t'),
                        Some(byte) => out.extend([b'\\', *byte]),
                        None => break,
                    }
                }
                byte => out.push(byte),
            }
            self.at += 1;
        }
        Err("Unable to parse json data as string, did not end with doublequote")
    }

    fn array(&mut self, depth: usize) -> Result<Json, &'static str> {
        if depth > MAX_DEPTH {
            return Err("Unable to parse json data, nested too deeply");
        }
        let mut items = Vec::new();
        let mut previous = b'[';
        self.at += 1;
        loop {
            self.blank();
            let Some(byte) = self.text.get(self.at).copied() else {
                return Err("Unable to parse json data as array, did not end with ']'");
            };
            match byte {
                b'"' => items.push(Json::Str(unescape(&self.string()?))),
                // As the original reads it, a comma is only needed before a container.
                b'[' | b'{' if !matches!(previous, b'[' | b',') => return Err(ARRAY_START),
                b'[' => items.push(self.array(depth + 1)?),
                b'{' => items.push(self.object(depth + 1)?),
                b',' => {
                    if matches!(previous, b',' | b'[') {
                        return Err("Unable to parse json data as array, extraneous commas");
                    }
                    self.at += 1;
                }
                b']' => {
                    self.at += 1;
                    return Ok(Json::Array(items));
                }
                _ => items.push(self.bare()?),
            }
            previous = self.text[self.at - 1];
        }
    }

    fn object(&mut self, depth: usize) -> Result<Json, &'static str> {
        if depth > MAX_DEPTH {
            return Err("Unable to parse json data, nested too deeply");
        }
        let mut map = Object::new();
        let mut key: Option<Str> = None;
        let mut previous = b'{';
        self.at += 1;
        loop {
            self.blank();
            let Some(byte) = self.text.get(self.at).copied() else {
                return Err("Unable to parse json data as string, did not end with '}'");
            };
            match (byte, key.take()) {
                (b'"', None) => key = Some(self.string()?.into()),
                (b'"', Some(key)) => {
                    let value = Json::Str(unescape(&self.string()?));
                    put(&mut map, key, value);
                }
                (b':', open) => {
                    if open.is_none() || matches!(previous, b':' | b',') {
                        return Err(
                            "Unable to parse json data as object, ':' seen without having specified an l-value",
                        );
                    }
                    key = open;
                    self.at += 1;
                }
                (b',', open) => {
                    if open.is_some() || matches!(previous, b':' | b',') {
                        return Err(
                            "Unable to parse json data as object, ',' seen without having specified an r-value",
                        );
                    }
                    self.at += 1;
                }
                (b'[', Some(key)) => {
                    let value = self.array(depth + 1)?;
                    put(&mut map, key, value);
                }
                (b'[', None) => {
                    return Err(
                        "Unable to parse json data as object, array not allowed as l-value",
                    );
                }
                (b'{', Some(key)) => {
                    let value = self.object(depth + 1)?;
                    put(&mut map, key, value);
                }
                (b'{', None) => {
                    return Err(
                        "Unable to parse json data as object, object not allowed as l-value",
                    );
                }
                (b'}', Some(_)) => {
                    return Err(
                        "Unable to parse json data as object, tried to close object having opened an l-value",
                    );
                }
                (b'}', None) => {
                    self.at += 1;
                    return Ok(Json::Object(map));
                }
                (_, None) => key = Some(self.bare_key().ok_or(BAD_SYMBOL)?),
                (_, Some(key)) => {
                    let value = self.bare()?;
                    put(&mut map, key, value);
                }
            }
            previous = self.text[self.at - 1];
        }
    }

    // A key without quotes, which only a colon may follow; the colon is read with it.
    fn bare_key(&mut self) -> Option<Str> {
        let word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
        self.text.get(self.at).filter(|byte| word(byte))?;
        let start = self.at;
        let mut end = start;
        while self.text.get(end).is_some_and(|byte| word(byte) || *byte == b'-') {
            end += 1;
        }
        let mut colon = end;
        while self.text.get(colon).is_some_and(|byte| is_blank(*byte)) {
            colon += 1;
        }
        if self.text.get(colon) != Some(&b':') {
            return None;
        }
        self.at = colon + 1;
        Some(self.source[start..end].into())
    }
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

fn is_separator(byte: u8) -> bool {
    is_blank(byte) || matches!(byte, b',' | b']' | b'}')
}

// The messages about numbers share their beginning.
macro_rules! as_number {
    ($why:literal) => {
        concat!("Unable to parse json data as number, ", $why)
    };
}

/// A number at the start of a text, up to what may follow one, and how far it was read.
pub(crate) fn number(text: &str) -> (Result<Json, &'static str>, usize) {
    let (mut zero, mut dot, mut exponent) = (false, false, false);
    let mut previous = 0_u8;
    let mut at = 0;
    for byte in text.bytes() {
        if is_separator(byte) {
            break;
        }
        let wrong = match byte {
            b'-' if previous != 0 && !matches!(previous, b'e' | b'E') => {
                Some(as_number!("- not at the start or not after exponent"))
            }
            b'+' if !matches!(previous, b'e' | b'E') => {
                Some(as_number!("+ without preceding exponent"))
            }
            b'0' if zero && !dot && !exponent => {
                Some(as_number!("started with 0 before dot or exponent, duplicate 0 seen"))
            }
            b'.' if dot => Some(as_number!("two or more dots (decimal points)")),
            b'.' if !previous.is_ascii_digit() => Some(as_number!("dot not preceded by digit")),
            b'e' | b'E' if exponent => Some(as_number!("duplicate exponent")),
            b'e' | b'E' if !previous.is_ascii_digit() => {
                Some(as_number!("exponent without preceding digit"))
            }
            b'-' | b'+' | b'0' | b'.' | b'e' | b'E' => None,
            _ if zero && !dot && !exponent => {
                Some(as_number!("dot or exponent must follow leading 0"))
            }
            byte if !byte.is_ascii_digit() => Some(as_number!("invalid symbol")),
            _ => None,
        };
        if let Some(wrong) = wrong {
            return (Err(wrong), at);
        }
        zero |= byte == b'0' && previous == 0;
        dot |= byte == b'.';
        exponent |= matches!(byte, b'e' | b'E');
        previous = byte;
        at += 1;
    }
    if !previous.is_ascii_digit() {
        return (Err("Unable to parse json data as string, did not end with digit"), at);
    }
    let number = &text[..at];
    let value = if dot || exponent {
        number.parse().map(Json::Real).ok()
    } else {
        number.parse().map(Json::Int).ok().or_else(|| number.parse().map(Json::Real).ok())
    };
    (value.ok_or("Unable to parse json data as number, invalid symbol"), at)
}

// The second reduction of escapes in string values.
fn unescape(text: &str) -> Str {
    if !text.contains('\\') {
        return text.into();
    }
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        if char == '\\' {
            let replacement = match chars.peek() {
                Some('"') => '"',
                Some('\\') => '\\',
                Some('b') => '\u{8}',
                Some('f') => '\u{c}',
                Some('n') => '\n',
                Some('r') => '\r',
                Some('t') => '\t',
                _ => {
                    out.push('\\');
                    continue;
                }
            };
            chars.next();
            out.push(replacement);
        } else {
            out.push(char);
        }
    }
    out.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_and_colons_may_be_missing_as_in_the_original() {
        let table = [
            (r#"{"a" 1 "b" "c"}"#, r#"{"a":1,"b":"c"}"#),
            (r#"{"a" : {} "b": 2}"#, r#"{"a":{},"b":2}"#),
            (r#"{,"a":1}"#, r#"{"a":1}"#),
            ("[1 2]", "[1,2]"),
            (r#"["a" "b",]"#, r#"["a","b"]"#),
            ("{\"a\":1}x", "{\"a\":1}"),
        ];
        for (text, expected) in table {
            assert_eq!(Json::parse(text).map(|json| json.compact()).as_deref(), Some(expected));
        }
    }

    #[test]
    fn broken_text_is_refused() {
        for text in [
            "",
            "{",
            "[1,,2]",
            "nope",
            "[01]",
            "[[1][2]]",
            "[{}{}]",
            "{\"a\", 1}",
            "{\"a\"::1}",
            "{\"a\":1,,\"b\":2}",
            "{\"a\":}",
        ] {
            assert_eq!(Json::parse(text), None, "{text}");
        }
    }

    #[test]
    fn what_is_wrong_is_told_with_the_rest_of_the_text() {
        let table = [
            ("[1,,2]", "as array, extraneous commas", ",2]"),
            ("{\"a\": }", "as object, tried to close object having opened an l-value", "}"),
            ("[01]", "as number, dot or exponent must follow leading 0", "1]"),
            ("{\"a\":1", "as string, did not end with '}'", ""),
            ("[truex]", "as object, unrecognized token beginning entry", "truex]"),
            ("{[1]:2}", "as object, array not allowed as l-value", "[1]:2}"),
        ];
        for (text, why, rest) in table {
            let wrong = Json::try_parse(text, None).expect_err("broken");
            assert_eq!(wrong.why, format!("Unable to parse json data {why}"), "{text}");
            assert_eq!(wrong.rest, rest, "{text}");
        }
    }
}
