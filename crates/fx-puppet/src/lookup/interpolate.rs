//! `%{…}` in data and in paths: variables, and lookups of further keys.

use std::rc::Rc;

use super::{Query, dig, split_key};
use crate::eval::{Evaluated, Evaluator, Flow, interpolated};
use crate::value::{Hash, Value};

/// A word with one quoted argument: `lookup('a')`.
pub(super) fn method(expression: &str) -> Option<(&str, &str)> {
    let (name, rest) = expression.split_once('(')?;
    let inner = rest.strip_suffix(')')?;
    let quote = inner.chars().next()?;
    let body = inner.strip_prefix(quote)?.strip_suffix(quote)?;
    let is_word = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    (matches!(quote, '\'' | '"') && is_word && !body.is_empty()).then_some((name, body))
}

impl Evaluator {
    /// Data with everything put in.
    pub(super) fn interpolate_data(&self, value: &Value, query: &mut Query<'_>) -> Evaluated {
        Ok(match value {
            Value::String(text) if text.contains("%{") => {
                self.interpolate_text(text, query, true)?
            }
            Value::Array(items) if items.iter().any(is_changing) => {
                let mut out = Vec::with_capacity(items.len());
                for item in items.iter() {
                    out.push(self.interpolate_data(item, query)?);
                }
                Value::array(out)
            }
            Value::Hash(hash)
                if hash.iter().any(|(key, value)| is_changing(key) || is_changing(value)) =>
            {
                let mut out = Hash::default();
                for (key, value) in &**hash {
                    let key = self.interpolate_data(key, query)?;
                    out.insert(key, self.interpolate_data(value, query)?);
                }
                Value::Hash(Rc::new(out))
            }
            other => other.clone(),
        })
    }

    /// A path or address with everything put in.
    pub(super) fn interpolate_path(&self, text: &str, query: &mut Query<'_>) -> Evaluated<String> {
        if !text.contains("%{") {
            return Ok(text.to_owned());
        }
        Ok(interpolated(&self.interpolate_text(text, query, true)?))
    }

    fn interpolate_text(&self, text: &str, query: &mut Query<'_>, methods: bool) -> Evaluated {
        let mut out = String::new();
        let mut rest = text;
        while let Some(start) = rest.find("%{") {
            out.push_str(&rest[..start]);
            let inner = &rest[start + 2..];
            let Some(end) = inner.find('}') else {
                out.push_str(&rest[start..]);
                rest = "";
                break;
            };
            let written = &inner[..end];
            // A call must fill the braces.
            let expression = if written.contains('(') { written } else { written.trim() };
            rest = &inner[end + 1..];
            if matches!(expression, "" | "::" | "\"\"" | "''" | "\"::\"" | "'::'") {
                continue;
            }
            match method(expression) {
                Some((name, key)) if methods => match name {
                    "literal" => out.push_str(key),
                    "scope" => {
                        if let Some(value) = self.scope_value(key, query)? {
                            out.push_str(&self.shown(&value, query)?);
                        }
                    }
                    "lookup" | "hiera" | "alias" => {
                        let found = self.lookup(key, None, query)?;
                        if name == "alias" {
                            if !(out.is_empty() && rest.is_empty()) {
                                return Err(Flow::bare(
                                    "'alias' interpolation is only permitted if the expression is equal to the entire string",
                                ));
                            }
                            // The options of the key hold for what it stands for.
                            return Ok(found.unwrap_or_else(|| Value::from("")));
                        }
                        if let Some(value) = found {
                            out.push_str(&interpolated(&value));
                        }
                    }
                    other => {
                        return Err(Flow::bare(format!("Unknown interpolation method '{other}'")));
                    }
                },
                _ => {
                    if let Some(value) = self.scope_value(expression, query)? {
                        out.push_str(&self.shown(&value, query)?);
                    }
                }
            }
        }
        out.push_str(rest);
        Ok(Value::from(out))
    }

    fn shown(&self, value: &Value, query: &mut Query<'_>) -> Evaluated<String> {
        let value = match value {
            Value::String(text) if text.contains("%{") && query.stack.len() < 40 => {
                query.stack.push("scope".into());
                let value = self.interpolate_text(text, query, true);
                query.stack.pop();
                value?
            }
            other => other.clone(),
        };
        Ok(interpolated(&value))
    }

    /// A variable of the scope that asks, with keys inside it.
    pub(super) fn scope_value(&self, key: &str, query: &Query<'_>) -> Evaluated<Option<Value>> {
        if key.contains('(') {
            return Err(Flow::bare(format!("Syntax error in string: %{{{key}}}")));
        }
        let parts = split_key(key).map_err(Flow::bare)?;
        let root = interpolated(&parts[0]);
        let found = self.find_variable(&root, query.scope);
        if found.is_none()
            && let Some(why) = self.warn_undefined(&root)
        {
            return Err(Flow::bare(why));
        }
        Ok(found.and_then(|value| dig(&value, &parts[1..])))
    }
}

impl Evaluator {
    /// Says that a variable is not there, where the settings ask for it; where they ask for an
    /// error, what it says.
    pub(crate) fn warn_undefined(&self, name: &str) -> Option<String> {
        let strict = self.settings.strictness();
        if strict == fx_puppet_syntax::Strictness::Off {
            return None;
        }
        let reason = match name.trim_start_matches("::").rsplit_once("::") {
            Some((class, _)) if matches!(self.class_named(class), Ok(Some(_))) => {
                format!("class {class} has not been evaluated")
            }
            Some((class, _)) => format!("class {class} could not be found"),
            None => String::new(),
        };
        let message = format!("Undefined variable '{name}'; {reason}");
        if strict == fx_puppet_syntax::Strictness::Error {
            return Some(message);
        }
        self.warn(&format!("{message}\n   (file & line not available)"), None);
        None
    }
}

fn is_changing(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains("%{"),
        Value::Array(_) | Value::Hash(_) => true,
        _ => false,
    }
}
