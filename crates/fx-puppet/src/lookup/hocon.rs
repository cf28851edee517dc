//! HOCON: objects with bare and dotted keys, concatenated values, substitutions inside the file.
//! Includes are passed over, as the original passes over those of a text without a place.

use std::rc::Rc;

use crate::value::{Hash, Value};

const MAX_DEPTH: u32 = 100;
/// Most values, items and bytes that substitutions may grow a file to.
const MOST_VALUES: usize = 1_000_000;

/// A value before substitutions are put in.
#[derive(Clone, Debug)]
enum Raw {
    Done(Value),
    Text(String),
    List(Vec<Raw>),
    Map(Vec<(String, Raw)>),
    /// `${path}`, or `${?path}`; the line it stands in.
    Reference(String, bool, usize),
    /// Several, side by side.
    Concat(Vec<Raw>),
    /// One over another: what came before shows through objects, and `${self}` means it.
    Over(Box<Raw>, Box<Raw>),
}

/// Reads a file's text.
pub(super) fn parse(text: &str) -> Result<Value, String> {
    let mut reader = Reader { chars: text.chars().collect(), at: 0, line: 1 };
    reader.gap();
    let map = if reader.eat('{') {
        let map = reader.members(Some('}'), 0)?;
        reader.gap();
        map
    } else {
        reader.members(None, 0)?
    };
    let root = Raw::Map(map);
    let mut resolver = Resolver { root: &root, open: Vec::new(), left: MOST_VALUES };
    Ok(resolver.value(&root, None)?.unwrap_or_else(|| Value::hash([])))
}

struct Reader {
    chars: Vec<char>,
    at: usize,
    line: usize,
}

impl Reader {
    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    fn starts(&self, text: &str) -> bool {
        text.chars().enumerate().all(|(index, c)| self.chars.get(self.at + index) == Some(&c))
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += 1;
        if c == '\n' {
            self.line += 1;
        }
        Some(c)
    }

    fn eat(&mut self, c: char) -> bool {
        let found = self.peek() == Some(c);
        if found {
            self.next();
        }
        found
    }

    fn fail<T>(&self, what: &str) -> Result<T, String> {
        Err(format!("String: {}: {what}", self.line))
    }

    /// Blanks of one line, and a comment at its end.
    fn blanks(&mut self) {
        while let Some(c) = self.peek() {
            if c == '#' || self.starts("//") {
                while self.peek().is_some_and(|c| c != '\n') {
                    self.next();
                }
            } else if c.is_whitespace() && c != '\n' {
                self.next();
            } else {
                break;
            }
        }
    }

    /// Blanks, comments and line ends; whether a line ended.
    fn gap(&mut self) -> bool {
        let line = self.line;
        loop {
            self.blanks();
            if !self.eat('\n') {
                return self.line > line;
            }
        }
    }

    fn members(&mut self, close: Option<char>, depth: u32) -> Result<Vec<(String, Raw)>, String> {
        if depth > MAX_DEPTH {
            return self.fail("nesting is too deep");
        }
        let mut map: Vec<(String, Raw)> = Vec::new();
        loop {
            self.gap();
            match (self.peek(), close) {
                (None, None) => return Ok(map),
                (None, Some(_)) => {
                    return self
                        .fail("Expecting close brace } or a field name here, got end of file");
                }
                (Some(c), Some(close)) if c == close => {
                    self.next();
                    return Ok(map);
                }
                _ => {}
            }
            if self.starts("include ") || self.starts("include\"") {
                while self.peek().is_some_and(|c| c != '\n') {
                    self.next();
                }
                continue;
            }
            let path = self.key()?;
            self.gap();
            let adds = self.starts("+=");
            if adds {
                self.next();
                self.next();
            } else if !self.eat('=') && !self.eat(':') && self.peek() != Some('{') {
                return self.fail("Key must be followed by a token");
            }
            self.gap();
            let value = self.value(depth + 1)?;
            let value = if adds {
                let shown = path.join(".");
                Raw::Concat(vec![Raw::Reference(shown, true, self.line), Raw::List(vec![value])])
            } else {
                value
            };
            put(&mut map, &path, value);
            self.blanks();
            self.eat(',');
        }
    }

    fn key(&mut self) -> Result<Vec<String>, String> {
        let mut path = vec![String::new()];
        let mut any = false;
        loop {
            match self.peek() {
                Some('"') => {
                    let text = self.quoted()?;
                    if let Some(last) = path.last_mut() {
                        last.push_str(&text);
                    }
                    any = true;
                }
                Some('.') => {
                    self.next();
                    path.push(String::new());
                }
                Some(c) if !"=:{}[],+#\n".contains(c) => {
                    if let Some(last) = path.last_mut() {
                        last.push(c);
                    }
                    any = true;
                    self.next();
                }
                _ => break,
            }
        }
        if !any {
            return self.fail("Expecting a field name here");
        }
        Ok(path.iter().map(|part| part.trim().to_owned()).collect())
    }

    fn quoted(&mut self) -> Result<String, String> {
        if self.starts("\"\"\"") {
            self.at += 3;
            let mut text = String::new();
            while !self.starts("\"\"\"") {
                match self.next() {
                    Some(c) => text.push(c),
                    None => {
                        return self.fail("End of input but triple-quoted string was still open");
                    }
                }
            }
            self.at += 3;
            return Ok(text);
        }
        self.next();
        let mut text = String::new();
        loop {
            match self.next() {
                None | Some('\n') => {
                    return self.fail("End of input but string quote was still open");
                }
                Some('"') => return Ok(text),
                Some('\\') => match self.next() {
                    Some('n') => text.push('\n'),
                    Some('t') => text.push('\t'),
                    Some('r') => text.push('\r'),
                    Some('b') => text.push('\u{8}'),
                    Some('f') => text.push('\u{c}'),
                    Some('u') => {
                        let digits: String = (0..4).filter_map(|_| self.next()).collect();
                        let code = u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32);
                        text.push(code.unwrap_or('\u{fffd}'));
                    }
                    Some(other) => text.push(other),
                    None => return self.fail("End of input but string quote was still open"),
                },
                Some(c) => text.push(c),
            }
        }
    }

    /// Everything up to a comma, a line end or a closing sign, put side by side.
    fn value(&mut self, depth: u32) -> Result<Raw, String> {
        let mut parts: Vec<Raw> = Vec::new();
        let mut space = String::new();
        loop {
            match self.peek() {
                None | Some('\n' | ',' | '}' | ']' | '#') => break,
                Some(_) if self.starts("//") => break,
                Some('{') => {
                    self.next();
                    parts.push(Raw::Map(self.members(Some('}'), depth + 1)?));
                }
                Some('[') => {
                    self.next();
                    parts.push(Raw::List(self.items(depth + 1)?));
                }
                Some('"') => {
                    let text = self.quoted()?;
                    between(&mut parts, &mut space);
                    parts.push(Raw::Done(Value::from(text)));
                }
                Some('$') if self.starts("${") => {
                    between(&mut parts, &mut space);
                    parts.push(self.reference()?);
                }
                Some(c) if c.is_whitespace() => {
                    space.push(c);
                    self.next();
                }
                Some(_) => {
                    between(&mut parts, &mut space);
                    let mut text = String::new();
                    while let Some(c) = self.peek() {
                        if "\n,}]#\"{[".contains(c)
                            || c.is_whitespace()
                            || self.starts("${")
                            || self.starts("//")
                        {
                            break;
                        }
                        text.push(c);
                        self.next();
                    }
                    parts.push(Raw::Text(text));
                }
            }
        }
        match parts.len() {
            0 => {
                let got = match self.peek() {
                    None => "end of file".to_owned(),
                    Some(c) => format!("'{c}'"),
                };
                self.fail(&format!("Expecting a value but got wrong token: {got}"))
            }
            1 => Ok(parts.remove(0)),
            _ => Ok(Raw::Concat(parts)),
        }
    }

    fn items(&mut self, depth: u32) -> Result<Vec<Raw>, String> {
        if depth > MAX_DEPTH {
            return self.fail("nesting is too deep");
        }
        let mut items = Vec::new();
        loop {
            self.gap();
            if self.eat(']') {
                return Ok(items);
            }
            if self.peek().is_none() {
                return self.fail(
                    "List should have ended with ] or had a comma, instead had token: end of file",
                );
            }
            items.push(self.value(depth + 1)?);
            self.gap();
            self.eat(',');
        }
    }

    fn reference(&mut self) -> Result<Raw, String> {
        let line = self.line;
        self.at += 2;
        let optional = self.eat('?');
        let mut path = String::new();
        while let Some(c) = self.next() {
            if c == '}' {
                return Ok(Raw::Reference(path.trim().to_owned(), optional, line));
            }
            path.push(c);
        }
        self.fail("Substitution ${ was not closed with a }")
    }
}

/// Blanks between two parts of a text belong to it.
fn between(parts: &mut Vec<Raw>, space: &mut String) {
    let blanks = std::mem::take(space);
    if !blanks.is_empty()
        && parts.last().is_some_and(|last| !matches!(last, Raw::Map(_) | Raw::List(_)))
    {
        parts.push(Raw::Text(blanks));
    }
}

/// Sets a dotted key; what was there shows through.
fn put(map: &mut Vec<(String, Raw)>, path: &[String], value: Raw) {
    let Some((first, rest)) = path.split_first() else { return };
    let value = if rest.is_empty() {
        value
    } else {
        let mut inner = Vec::new();
        put(&mut inner, rest, value);
        Raw::Map(inner)
    };
    match map.iter_mut().find(|(key, _)| key == first) {
        Some((_, old)) => {
            let before = std::mem::replace(old, Raw::List(Vec::new()));
            *old = Raw::Over(Box::new(value), Box::new(before));
        }
        None => map.push((first.clone(), value)),
    }
}

struct Resolver<'r> {
    root: &'r Raw,
    open: Vec<String>,
    /// How much may still be made.
    left: usize,
}

impl Resolver<'_> {
    /// A value with its substitutions; nothing for an optional one that is not there.
    fn value(&mut self, raw: &Raw, before: Option<&Raw>) -> Result<Option<Value>, String> {
        self.spend(1)?;
        Ok(Some(match raw {
            Raw::Done(value) => value.clone(),
            Raw::Text(text) => plain(text),
            Raw::List(items) => {
                let mut out = Vec::new();
                for item in items {
                    out.extend(self.value(item, None)?);
                }
                Value::array(out)
            }
            Raw::Map(members) => {
                let mut out = Hash::default();
                for (key, member) in members {
                    if let Some(value) = self.value(member, None)? {
                        out.insert(Value::from(key.as_str()), value);
                    }
                }
                Value::Hash(Rc::new(out))
            }
            Raw::Over(new, old) => {
                let new = self.value(new, Some(old))?;
                match new {
                    Some(Value::Hash(new)) => match self.value(old, None)? {
                        Some(Value::Hash(old)) => over(&new, &old),
                        _ => Value::Hash(new),
                    },
                    Some(other) => other,
                    None => return self.value(old, None),
                }
            }
            Raw::Reference(path, optional, line) => {
                return match self.find(path, before)? {
                    Some(value) => Ok(Some(value)),
                    None if *optional => Ok(None),
                    None => Err(format!(
                        "String: {line}: Could not resolve substitution to a value: ${{{path}}}"
                    )),
                };
            }
            Raw::Concat(parts) => return self.concat(parts, before),
        }))
    }

    fn spend(&mut self, count: usize) -> Result<(), String> {
        self.left = self.left.checked_sub(count).ok_or("substitutions grow too large")?;
        Ok(())
    }

    fn concat(&mut self, parts: &[Raw], before: Option<&Raw>) -> Result<Option<Value>, String> {
        let mut found = Vec::new();
        for part in parts {
            let blank = matches!(part, Raw::Text(text) if text.trim().is_empty());
            match part {
                Raw::Text(text) => found.push((Value::from(text.as_str()), blank)),
                part => found.extend(self.value(part, before)?.map(|value| (value, false))),
            }
        }
        for (value, _) in &found {
            self.spend(match value {
                Value::Array(items) => items.len(),
                Value::Hash(members) => members.len(),
                Value::String(text) => text.len(),
                _ => 1,
            })?;
        }
        let solid: Vec<&Value> =
            found.iter().filter(|(_, blank)| !blank).map(|(value, _)| value).collect();
        Ok(match solid.as_slice() {
            [] => None,
            all if all.iter().all(|value| matches!(value, Value::Array(_))) => {
                let items = all.iter().flat_map(|value| match value {
                    Value::Array(items) => items.to_vec(),
                    _ => Vec::new(),
                });
                Some(Value::array(items.collect()))
            }
            all if all.iter().all(|value| matches!(value, Value::Hash(_))) => {
                let mut merged = all[0].clone();
                for value in &all[1..] {
                    if let (Value::Hash(new), Value::Hash(old)) = (value, &merged) {
                        merged = over(new, old);
                    }
                }
                Some(merged)
            }
            _ => {
                let text: String =
                    found.iter().map(|(value, _)| crate::eval::interpolated(value)).collect();
                Some(Value::from(text.trim_end()))
            }
        })
    }

    fn find(&mut self, path: &str, before: Option<&Raw>) -> Result<Option<Value>, String> {
        if self.open.iter().any(|open| open == path) || self.open.len() > 50 {
            return match before {
                Some(before) => self.value(before, None),
                None => Ok(None),
            };
        }
        // A value may mean what it replaces.
        if let Some(before) = before
            && self.open.is_empty()
        {
            self.open.push(path.to_owned());
            let found = self.value(before, None);
            self.open.pop();
            return found;
        }
        let mut at = self.root;
        for part in path.split('.') {
            let Some(next) = member(at, part.trim_matches('"')) else { return Ok(None) };
            at = next;
        }
        self.open.push(path.to_owned());
        let found = self.value(at, None);
        self.open.pop();
        found
    }
}

fn member<'r>(raw: &'r Raw, name: &str) -> Option<&'r Raw> {
    match raw {
        Raw::Map(members) => members.iter().find(|(key, _)| key == name).map(|(_, value)| value),
        Raw::Over(new, old) => member(new, name).or_else(|| member(old, name)),
        _ => None,
    }
}

/// New keys come first, then those that show through.
fn over(new: &Hash, old: &Hash) -> Value {
    let mut out = Hash::default();
    for (key, value) in new {
        let value = match (value, old.get(key)) {
            (Value::Hash(new), Some(Value::Hash(old))) => over(new, old),
            _ => value.clone(),
        };
        out.insert(key.clone(), value);
    }
    for (key, value) in old {
        out.entry(key.clone()).or_insert_with(|| value.clone());
    }
    Value::Hash(Rc::new(out))
}

/// A text without quotes.
fn plain(text: &str) -> Value {
    match text.trim() {
        "true" => Value::Bool(true),
        "false" => Value::Bool(false),
        "null" => Value::Undef,
        bare => match serde_json::from_str::<serde_json::Value>(bare) {
            Ok(number @ serde_json::Value::Number(_)) => crate::compile::from_json(&number),
            _ => Value::from(bare),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_as_the_original_reads_them() {
        let table = [
            ("k = v", "{'k' => 'v'}"),
            (
                "r { a = 1, b.c = 2 }\nt = ${r} { d = 4 }",
                "{'r' => {'a' => 1, 'b' => {'c' => 2}}, 't' => {'d' => 4, 'a' => 1, 'b' => {'c' => 2}}}",
            ),
            ("q : 5\ns = [1, \"x\", ${q}]", "{'q' => 5, 's' => [1, 'x', 5]}"),
            ("k = \"a\"${?NOSUCH}\" b\"", "{'k' => 'a b'}"),
            ("// c\nk = \"\"\"tri\nple\"\"\"", "{'k' => \"tri\\nple\"}"),
            ("k += 1\nk += 2", "{'k' => [1, 2]}"),
            ("{ k : [1\n2\n3] }", "{'k' => [1, 2, 3]}"),
            ("k { a = 1 }\nk { b = 2 }\nk.c = 3", "{'k' => {'c' => 3, 'b' => 2, 'a' => 1}}"),
            ("k = [1,2] [3]\nm = {a:1} {b:2}", "{'k' => [1, 2, 3], 'm' => {'b' => 2, 'a' => 1}}"),
            ("k = abc def  ghi \nn = 10 seconds", "{'k' => 'abc def  ghi', 'n' => '10 seconds'}"),
            ("include \"x\"\nk=1", "{'k' => 1}"),
        ];
        for (text, expected) in table {
            let read = parse(text).map(|value| crate::eval::program_text(&value));
            assert_eq!(read.as_deref(), Ok(expected), "{text}");
        }
        assert_eq!(
            parse("k =\n").err().as_deref(),
            Some("String: 2: Expecting a value but got wrong token: end of file")
        );
        assert_eq!(
            parse("k = ${nosuch}").err().as_deref(),
            Some("String: 1: Could not resolve substitution to a value: ${nosuch}")
        );
    }

    #[test]
    fn substitutions_do_not_grow_without_end() {
        let tenfold = |at: u32| format!("x{at} = {}\n", format!("${{x{}}} ", at - 1).repeat(10));
        let text = format!("x0 = [1, 2]\n{}", (1..12).map(tenfold).collect::<String>());
        assert_eq!(parse(&text).err().as_deref(), Some("substitutions grow too large"));
    }
}
