//! Expansion: `$(x)` in text, `@(x)` in lists, and right-hand sides as a whole.

use std::rc::Rc;

use crate::policy::{Call, Rval};
use crate::text::{Str, has_variable, is_expandable, naked};
use crate::vocabulary;

use super::Context;
use super::frames::Frame;
use super::value::Value;

/// Deepest nesting of references in references.
const MAX_DEPTH: usize = 10;

/// Where a reference that starts at `text[0]` (`$(` or `${`) ends: index of its bracket.
pub(crate) fn reference_end(text: &[u8]) -> Option<usize> {
    let mut stack = [0_u8; MAX_DEPTH];
    stack[1] = text[1];
    let mut level = 1;
    for (at, byte) in text.iter().enumerate().skip(2) {
        match byte {
            b'{' | b'(' => {
                level += 1;
                if level >= MAX_DEPTH {
                    return None;
                }
                stack[level] = *byte;
            }
            b'}' => {
                if stack[level] != b'{' {
                    return None;
                }
                level -= 1;
            }
            b')' => {
                if stack[level] != b'(' {
                    return None;
                }
                level -= 1;
            }
            _ => {}
        }
        if level == 0 {
            return Some(at);
        }
    }
    None
}

/// Position of the next `$(` or `${`.
pub(crate) fn next_reference(text: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    while let Some(found) = text.get(at..)?.iter().position(|byte| *byte == b'$') {
        at += found;
        if matches!(text.get(at + 1), Some(b'(' | b'{')) {
            return Some(at);
        }
        at += 1;
    }
    None
}

impl Context<'_> {
    /// Text with its references replaced by what they stand for now; others stay as written.
    pub fn expand(&self, text: &Str, namespace: Option<&str>, scope: Option<&str>) -> Str {
        match next_reference(text.as_bytes(), 0) {
            None => Rc::clone(text),
            Some(first) => {
                let mut out = String::with_capacity(text.len() + 32);
                self.expand_from(text, first, namespace, scope, &mut out);
                out.into()
            }
        }
    }

    pub fn expand_text(&self, text: &str, namespace: Option<&str>, scope: Option<&str>) -> String {
        match next_reference(text.as_bytes(), 0) {
            None => text.to_owned(),
            Some(first) => {
                let mut out = String::with_capacity(text.len() + 32);
                self.expand_from(text, first, namespace, scope, &mut out);
                out
            }
        }
    }

    fn expand_from(
        &self,
        text: &str,
        first: usize,
        namespace: Option<&str>,
        scope: Option<&str>,
        out: &mut String,
    ) {
        let bytes = text.as_bytes();
        let mut done = 0;
        let mut next = Some(first);
        while let Some(at) = next {
            out.push_str(&text[done..at]);
            let Some(end) = reference_end(&bytes[at..]) else {
                self.error(&format!("Variable reference close mismatch '{}'", &text[at..]));
                out.push_str(&text[at..at + 2]);
                done = at + 2;
                next = next_reference(bytes, done);
                continue;
            };
            let inner = &text[at + 2..at + end];
            done = at + end + 1;
            next = next_reference(bytes, done);
            let (open, close) = if bytes[at + 1] == b'{' { ("${", "}") } else { ("$(", ")") };
            let expanded;
            let inner = if inner.as_bytes().contains(&b'$') && has_variable(inner) {
                expanded = self.expand_text(inner, namespace, scope);
                &expanded
            } else {
                inner
            };
            let value =
                if is_expandable(inner) { None } else { self.scalar_of(inner, namespace, scope) };
            match value {
                Some(value) => out.push_str(&value),
                None => {
                    out.push_str(open);
                    out.push_str(inner);
                    out.push_str(close);
                }
            }
        }
        out.push_str(&text[done..]);
    }

    fn scalar_of(&self, name: &str, namespace: Option<&str>, scope: Option<&str>) -> Option<Str> {
        // A qualified list that is being iterated stands for its current element.
        if matches!(self.stack.last(), Some(Frame::Promise(_) | Frame::Iteration(_)))
            && let Some(frame) = self.promise_frame()
            && !frame.qualified.is_empty()
            && let Some((_, value)) = frame.qualified.iter().find(|(known, _)| &**known == name)
        {
            return Some(Rc::clone(value));
        }
        self.lookup(name, namespace, scope)?.scalar()
    }

    /// Expands a right-hand side without calling functions.
    pub fn expand_rval(&self, rval: &Rval, namespace: Option<&str>, scope: Option<&str>) -> Rval {
        match rval {
            Rval::Scalar(text) => Rval::Scalar(self.expand(text, namespace, scope)),
            Rval::List(items) => Rval::List(self.expand_list(items, namespace, scope, true).into()),
            Rval::Call(call) => Rval::Call(Rc::new(self.expand_call(call, namespace, scope))),
            Rval::Data(_) | Rval::None => rval.clone(),
        }
    }

    pub(crate) fn expand_call(
        &self,
        call: &Call,
        namespace: Option<&str>,
        scope: Option<&str>,
    ) -> Call {
        Call {
            name: self.expand(&call.name, namespace, scope),
            args: self.expand_list(&call.args, namespace, scope, false),
        }
    }

    pub(crate) fn expand_list(
        &self,
        items: &[Rval],
        namespace: Option<&str>,
        scope: Option<&str>,
        splice: bool,
    ) -> Vec<Rval> {
        let mut out = Vec::with_capacity(items.len());
        for item in items {
            match self.expand_entry(item, namespace, scope, splice) {
                Rval::List(more) => out.extend(more.iter().cloned()),
                Rval::Data(_) | Rval::None => {}
                other => out.push(other),
            }
        }
        out
    }

    fn expand_entry(
        &self,
        item: &Rval,
        namespace: Option<&str>,
        scope: Option<&str>,
        splice: bool,
    ) -> Rval {
        let Rval::Scalar(text) = item else { return self.expand_rval(item, namespace, scope) };
        let Some(inner) = naked(text, b'@') else {
            return Rval::Scalar(self.expand(text, namespace, scope));
        };
        let expanded;
        let inner = if is_expandable(inner) {
            expanded = self.expand_text(inner, namespace, scope);
            &expanded
        } else {
            inner
        };
        if !splice {
            if is_expandable(text) {
                return Rval::Scalar(format!("@({inner})").into());
            }
            return item.clone();
        }
        if !is_expandable(inner)
            && let Some(found) = self.lookup(inner, None, scope)
        {
            let value = found.value().to_rval();
            return self.expand_rval(&value, namespace, scope);
        }
        Rval::Scalar(self.expand(text, namespace, scope))
    }

    /// Splices lists named by `@(x)` into a list, as far as they are known.
    pub(crate) fn flatten(&self, items: &[Rval]) -> Vec<Rval> {
        let mut out = Vec::with_capacity(items.len());
        for item in items {
            if let Rval::Scalar(text) = item
                && let Some(inner) = naked(text, b'@')
                && !is_expandable(inner)
                && let Some(found) = self.lookup(inner, None, None)
            {
                match found.value() {
                    Value::List(list) => {
                        out.extend(list.iter().map(|item| Rval::Scalar(Rc::clone(item))));
                        continue;
                    }
                    _ => self.warning(&format!(
                        "'{text}' failed - variable is not list but {}",
                        found.kind().word()
                    )),
                }
            }
            out.push(item.clone());
        }
        out
    }

    /// Expands a right-hand side and calls its functions. `force` expands a list by name.
    pub(crate) fn evaluate(
        &mut self,
        rval: &Rval,
        namespace: Option<&str>,
        scope: Option<&str>,
        force: bool,
    ) -> Rval {
        let expanded = match rval {
            Rval::Scalar(text) if text.starts_with('@') && naked(text, b'@').is_some() => {
                self.evaluate_naked(text, namespace, scope)
            }
            _ if force => self.expand_rval(rval, namespace, scope),
            Rval::Call(call) if vocabulary::find_function(&call.name).is_some() => rval.clone(),
            _ => self.expand_rval(rval, None, Some("this")),
        };
        match expanded {
            Rval::List(items) => {
                let needs = items.iter().any(|item| match item {
                    Rval::Call(_) => true,
                    Rval::Scalar(text) => has_variable(text),
                    _ => false,
                });
                if !needs {
                    return Rval::List(items);
                }
                let in_promise = self.stack.iter().any(|frame| matches!(frame, Frame::Promise(_)));
                let mut out: Vec<Rval> = Vec::with_capacity(items.len());
                for item in items.iter() {
                    match item {
                        // What a function returns as a list becomes part of this one.
                        Rval::Call(call) => match self.call(call) {
                            Some(Rval::List(more)) => out.extend(more.iter().cloned()),
                            Some(value) => out.push(value),
                            None => out.push(item.clone()),
                        },
                        Rval::Scalar(text) if in_promise && has_variable(text) => {
                            out.push(Rval::Scalar(self.expand(text, None, Some("this"))));
                        }
                        other => out.push(other.clone()),
                    }
                }
                Rval::List(out.into())
            }
            Rval::Call(call) if vocabulary::find_function(&call.name).is_some() => {
                self.call(&call).unwrap_or(Rval::Call(call))
            }
            other => other,
        }
    }

    fn evaluate_naked(&self, text: &Str, namespace: Option<&str>, scope: Option<&str>) -> Rval {
        if let Some(inner) = naked(text, b'@')
            && !is_expandable(inner)
            && let Some(found) = self.lookup(inner, None, scope)
            && let value @ Value::List(_) = found.value()
            && let Rval::List(items) = value.to_rval()
        {
            return Rval::List(self.expand_list(&items, namespace, scope, true).into());
        }
        Rval::Scalar(self.expand(text, None, Some("this")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_end_at_their_bracket() {
        let table = [("$(a)", Some(3)), ("${a[$(b)]} x", Some(9)), ("$(a", None), ("$(a}", None)];
        for (text, expected) in table {
            assert_eq!(reference_end(text.as_bytes()), expected, "{text}");
        }
        assert_eq!(next_reference(b"a$b$(c)", 0), Some(3));
    }
}
