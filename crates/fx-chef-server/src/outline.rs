//! Where the fields of a JSON object lie in its text, found in one pass that keeps nothing.
//!
//! It knows what documents usually look like and gives up on all else, which is then read by the
//! usual parser: on mistakes, on exponents, which may be out of range, on halves of a pair of
//! escapes, and on what is nested too deeply to be read later.

use std::ops::Range;

/// Containers within each other. What is read later may be 128 deep, with what is around it.
const DEEPEST: u32 = 100;

/// A field: its name as it is written, without the quotes, and its value.
pub(crate) struct Field<'a> {
    pub(crate) name: &'a str,
    pub(crate) value: &'a str,
}

/// The fields of the object that a text is, in their order.
pub(crate) fn fields(bytes: &[u8]) -> Option<Vec<Field<'_>>> {
    let text = std::str::from_utf8(bytes).ok()?;
    let mut walk = Walk { bytes, at: 0 };
    let mut all = Vec::new();
    walk.take(b'{')?;
    if walk.next()? == b'}' {
        walk.at += 1;
        return walk.is_done().then_some(all);
    }
    loop {
        walk.take(b'"')?;
        let name = walk.string()?;
        walk.take(b':')?;
        let value = walk.value()?;
        all.push(Field { name: text.get(name)?, value: text.get(value)? });
        if !walk.goes_on(b'}')? {
            return walk.is_done().then_some(all);
        }
    }
}

struct Walk<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Walk<'_> {
    /// The next byte that is no space.
    fn next(&mut self) -> Option<u8> {
        loop {
            match *self.bytes.get(self.at)? {
                b' ' | b'\n' | b'\r' | b'\t' => self.at += 1,
                byte => return Some(byte),
            }
        }
    }

    fn take(&mut self, byte: u8) -> Option<()> {
        (self.next()? == byte).then(|| self.at += 1)
    }

    /// Whether a comma follows, and not the end of the container.
    fn goes_on(&mut self, end: u8) -> Option<bool> {
        let byte = self.next()?;
        self.at += 1;
        (byte == b',' || byte == end).then_some(byte == b',')
    }

    fn is_done(&mut self) -> bool {
        self.next().is_none()
    }

    /// A value of any kind. What is open is a bit each: set for an object.
    fn value(&mut self) -> Option<Range<usize>> {
        self.next()?;
        let start = self.at;
        let (mut objects, mut depth) = (0_u128, 0_u32);
        loop {
            match self.next()? {
                open @ (b'{' | b'[') => {
                    self.at += 1;
                    let is_object = open == b'{';
                    // Each bracket closes two places after it opens.
                    if self.next()? == open + 2 {
                        self.at += 1;
                    } else {
                        depth += 1;
                        if depth > DEEPEST {
                            return None;
                        }
                        objects = objects << 1 | u128::from(is_object);
                        if is_object {
                            self.name()?;
                        }
                        continue;
                    }
                }
                b'"' => {
                    self.at += 1;
                    self.string()?;
                }
                b't' => self.word(b"true")?,
                b'f' => self.word(b"false")?,
                b'n' => self.word(b"null")?,
                _ => self.number()?,
            }
            // A value is complete, and so is each container that ends with it.
            loop {
                if depth == 0 {
                    return Some(start..self.at);
                }
                let is_object = objects & 1 == 1;
                if self.goes_on(if is_object { b'}' } else { b']' })? {
                    if is_object {
                        self.name()?;
                    }
                    break;
                }
                objects >>= 1;
                depth -= 1;
            }
        }
    }

    /// The name of a field and its colon.
    fn name(&mut self) -> Option<()> {
        self.take(b'"')?;
        self.string()?;
        self.take(b':')
    }

    fn word(&mut self, word: &[u8]) -> Option<()> {
        self.bytes[self.at..].starts_with(word).then(|| self.at += word.len())
    }

    fn digits(&mut self) -> Option<()> {
        let rest = &self.bytes[self.at..];
        let count = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.at += count;
        (count > 0).then_some(())
    }

    /// A number without an exponent, with so few digits that it is in range.
    fn number(&mut self) -> Option<()> {
        let start = self.at;
        if self.bytes[self.at] == b'-' {
            self.at += 1;
        }
        let first = self.at;
        self.digits()?;
        let is_long = self.at - first > 1;
        if is_long && self.bytes[first] == b'0' {
            return None;
        }
        if self.bytes.get(self.at) == Some(&b'.') {
            self.at += 1;
            self.digits()?;
        }
        let ends = !matches!(self.bytes.get(self.at), Some(b'e' | b'E'));
        (ends && self.at - start <= 64).then_some(())
    }

    /// The inside of a string whose first quote was taken.
    fn string(&mut self) -> Option<Range<usize>> {
        let start = self.at;
        loop {
            self.at += plain_bytes(&self.bytes[self.at..]);
            match *self.bytes.get(self.at)? {
                b'"' => {
                    self.at += 1;
                    return Some(start..self.at - 1);
                }
                b'\\' => self.escape()?,
                _ => return None,
            }
        }
    }

    fn escape(&mut self) -> Option<()> {
        let rest = &self.bytes[self.at..];
        self.at += match *rest.get(1)? {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => 2,
            b'u' => {
                let code = rest.get(2..6)?;
                let is_whole = !matches!(code[0], b'd' | b'D');
                (is_whole && code.iter().all(u8::is_ascii_hexdigit)).then_some(6)?
            }
            _ => return None,
        };
        Some(())
    }
}

/// How many bytes come before one that means something in a string: a quote, a backslash, or a
/// control character, which is a mistake. Eight are looked at together.
fn plain_bytes(bytes: &[u8]) -> usize {
    const ONES: u64 = u64::MAX / 255;
    const HIGH: u64 = ONES << 7;
    // The lowest bit that is set is right; the carry may set others above it.
    let zero = |word: u64| word.wrapping_sub(ONES) & !word & HIGH;
    let mut at = 0;
    while let Some((eight, _)) = bytes[at..].split_first_chunk::<8>() {
        let word = u64::from_le_bytes(*eight);
        let control = word.wrapping_sub(ONES * 0x20) & !word & HIGH;
        let found = zero(word ^ (ONES * u64::from(b'"')))
            | zero(word ^ (ONES * u64::from(b'\\')))
            | control;
        if found != 0 {
            return at + found.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    let rest = &bytes[at..];
    at + rest.iter().position(|byte| matches!(byte, b'"' | b'\\' | 0..0x20)).unwrap_or(rest.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What it takes the usual parser takes as well, and sees the same fields in it.
    fn agrees(bytes: &[u8]) -> bool {
        let Some(fields) = fields(bytes) else { return false };
        let all: serde_json::Value = serde_json::from_slice(bytes)
            .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(bytes)));
        let mut seen = serde_json::Map::new();
        for Field { name, value } in fields {
            let name: String = serde_json::from_str(&format!("\"{name}\"")).unwrap();
            seen.insert(name, serde_json::from_str(value).unwrap());
        }
        assert_eq!(serde_json::Value::Object(seen), all);
        true
    }

    #[test]
    fn usual_documents_are_seen() {
        for text in [
            "{}",
            " { } ",
            r#"{"a":1}"#,
            "{\"a\" : [ ] , \"b\":{ },\r\n\t\"c\":[{},[1,-2.50,0]]}",
            r#"{"a":"x","a":"y"}"#,
            r#"{"\"\\\/\b\f\n\r\tA\u00e9":"über 日本","t":true,"f":false,"n":null}"#,
            r#"{"a":{"b":{"c":[1,{"d":"a text of more than eight bytes, } and ] in it"}]}}}"#,
        ] {
            assert!(agrees(text.as_bytes()), "{text}");
        }
        let deep = |depth| format!("{{\"a\":{}1{}}}", "[".repeat(depth), "]".repeat(depth));
        assert!(agrees(deep(100).as_bytes()));
        assert!(!agrees(deep(101).as_bytes()));
    }

    #[test]
    fn all_else_is_left_to_the_parser() {
        for text in [
            "",
            "[]",
            "7",
            "{",
            "}",
            "{}x",
            "{\"a\"}",
            "{\"a\":}",
            "{\"a\":1,}",
            "{,}",
            "{\"a\":1 2}",
            "{\"a\":[1,]}",
            "{\"a\":[1}}",
            "{\"a\":{1]}",
            "{\"a\":01}",
            "{\"a\":-}",
            "{\"a\":1.}",
            "{\"a\":.5}",
            "{\"a\":+1}",
            "{\"a\":1e5}",
            "{\"a\":1E999}",
            "{\"a\":tru}",
            "{\"a\":truex}",
            "{\"a\":nul}",
            "{\"a\":\"\n\"}",
            "{\"a\":\"12345678\u{1}\"}",
            "{\"a\":\"\\x\"}",
            "{\"a\":\"\\u12\"}",
            "{\"a\":\"\\u12g4\"}",
            "{\"a\":\"\\ud800\"}",
            "{\"a\":\"\\uDC00\"}",
            "{\"a\":\"",
            "{\"a\":\"\\",
            "{'a':1}",
            "{a:1}",
            "{\"a\":NaN}",
        ] {
            assert!(!agrees(text.as_bytes()), "{text}");
        }
        assert!(!agrees(b"{\"a\":\"\xff\"}"));
        assert!(!agrees(format!("{{\"a\":{}}}", "9".repeat(400)).as_bytes()));
    }

    #[test]
    fn changed_documents_are_never_seen_otherwise() {
        let text = r#"{"name": "n\u00e9", "run_list": ["recipe[a]", "role[b]"], "normal": {"a": {"b": [1, -2.5, 300, true, null, {"c": "d\\\"e"}]}}, "automatic": {"fqdn": "host.example.com", "x": [[], {}, ""]}}"#;
        let with: &[u8] = b"{}[]\",:\\ 0-9.eEtfnu\x00\x1f\x7f\xc3\xff";
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut random = move |most: usize| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state % most as u64) as usize
        };
        let mut seen = 0;
        for _ in 0..20_000 {
            let mut bytes = text.as_bytes().to_vec();
            for _ in 0..=random(3) {
                let at = random(bytes.len());
                match random(3) {
                    0 => bytes[at] = with[random(with.len())],
                    1 => bytes.insert(at, with[random(with.len())]),
                    _ => drop(bytes.remove(at)),
                }
            }
            seen += usize::from(agrees(&bytes));
        }
        assert!(seen > 1000, "{seen}");
    }
}
