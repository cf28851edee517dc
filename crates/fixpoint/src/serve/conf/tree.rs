//! A value of a file of settings, with the way to it, so that errors can name the place.

use serde_json::Value;

/// A value and where it stands.
#[derive(Clone, Debug)]
pub(super) struct Part<'a> {
    file: &'a str,
    text: &'a str,
    pub(super) value: &'a Value,
    /// The line from which on names are looked for, …
    line: usize,
    /// … or around which, where it is that of one member among others.
    is_amid: bool,
    /// `authorization.rules`
    path: String,
}

impl<'a> Part<'a> {
    pub(super) fn top(file: &'a str, text: &'a str, value: &'a Value) -> Part<'a> {
        Part { file, text, value, line: 1, is_amid: false, path: String::new() }
    }

    /// The first line from here on that has a word; the nearest one where this is the middle.
    fn line_of(&self, word: &str) -> usize {
        let is_comment = |line: &str| matches!(line.trim_start().get(..1), Some("#" | "/"));
        let lines = self.text.lines().zip(1..);
        let found = lines.filter(|(line, _)| !is_comment(line) && line.contains(word));
        let mut found = found.map(|(_, number)| number);
        let line = if self.is_amid {
            found.min_by_key(|number: &usize| number.abs_diff(self.line))
        } else {
            found.find(|number| *number >= self.line)
        };
        line.unwrap_or(self.line)
    }

    fn part(&self, name: &str, value: &'a Value) -> Part<'a> {
        let path = match self.path.as_str() {
            "" => name.to_owned(),
            path => format!("{path}.{name}"),
        };
        Part { value, line: self.line_of(name), is_amid: false, path, ..self.clone() }
    }

    /// The same from the line on that has a text.
    pub(super) fn at_line_of(&self, word: &str) -> Part<'a> {
        Part { line: self.line_of(word), is_amid: true, ..self.clone() }
    }

    /// An error that names the place.
    pub(super) fn wrong(&self, why: &str) -> String {
        let path = if self.path.is_empty() { String::new() } else { format!("{}: ", self.path) };
        format!("{}:{}: {path}{why}", self.file, self.line)
    }

    pub(super) fn members(&self) -> Result<Vec<(&'a str, Part<'a>)>, String> {
        let Value::Object(members) = self.value else {
            return Err(self.wrong("this must be an object in braces"));
        };
        Ok(members.iter().map(|(name, value)| (name.as_str(), self.part(name, value))).collect())
    }

    /// Items of a list; a single value is a list of one.
    pub(super) fn items(&self) -> Vec<Part<'a>> {
        let at = |value| Part { value, ..self.clone() };
        match self.value {
            Value::Array(items) => items.iter().map(at).collect(),
            one => vec![at(one)],
        }
    }

    pub(super) fn text(&self) -> Result<String, String> {
        match self.value {
            Value::String(text) => Ok(text.clone()),
            Value::Number(_) | Value::Bool(_) => Ok(self.value.to_string()),
            _ => Err(self.wrong("this must be a text")),
        }
    }

    pub(super) fn flag(&self) -> Result<bool, String> {
        match self.value {
            Value::Bool(on) => Ok(*on),
            Value::String(text) if text == "true" => Ok(true),
            Value::String(text) if text == "false" => Ok(false),
            _ => Err(self.wrong("this must be true or false")),
        }
    }

    pub(super) fn number(&self) -> Result<u64, String> {
        let number = self.text()?.parse();
        number.map_err(|_| self.wrong("this must be a number"))
    }
}
