//! Variables: scopes by `namespace:bundle`, look-up by name, with indices into containers.
//!
//! Array elements are variables whose name ends in `[index]`. A reference is taken apart
//! by position, without building a structure.

use std::cell::Cell;
use std::rc::Rc;

use indexmap::IndexMap;
use rustc_hash::{FxBuildHasher, FxHashMap};

use crate::json::Json;
use crate::text::Str;

use super::value::{DataType, Value, Variable};

/// Variables of one scope in order of definition.
#[derive(Debug, Default)]
pub struct Scope {
    pub vars: IndexMap<Str, Variable, FxBuildHasher>,
    /// How many names have an index; spares a scan when there are none.
    pub(crate) elements: usize,
}

impl Scope {
    pub(crate) fn put(&mut self, name: Str, variable: Variable) {
        let element = name.contains('[');
        if self.vars.insert(name, variable).is_none() && element {
            self.elements += 1;
        }
    }

    pub fn remove(&mut self, name: &str) {
        if self.vars.shift_remove(name).is_some() && name.contains('[') {
            self.elements -= 1;
        }
    }

    /// Drops all array elements.
    pub fn clear_elements(&mut self) {
        if self.elements > 0 {
            self.vars.retain(|name, _| !name.contains('['));
            self.elements = 0;
        }
    }

    /// A variable by full name, or a part of a container by indices.
    pub(crate) fn get(&self, name: &str) -> Option<Found<'_>> {
        if let Some(variable) = self.vars.get(name) {
            return Some(Found::Variable(variable));
        }
        let at = name.find('[')?;
        let variable = self.vars.get(&name[..at])?;
        let Value::Data(json) = &variable.value else { return None };
        let indices = split_indices(&name[at..])?;
        json.select(&indices).map(Found::Part)
    }
}

/// What a look-up found.
#[derive(Clone, Copy, Debug)]
pub enum Found<'a> {
    Variable(&'a Variable),
    /// A part of a container.
    Part(&'a Json),
}

impl Found<'_> {
    pub(crate) fn kind(self) -> DataType {
        match self {
            Found::Variable(variable) => variable.kind,
            Found::Part(_) => DataType::Data,
        }
    }

    /// The value; a part of a container is copied.
    pub fn value(self) -> Value {
        match self {
            Found::Variable(variable) => variable.value.clone(),
            Found::Part(json) => Value::Data(Rc::new(json.clone())),
        }
    }

    /// The text `$(x)` becomes; `None` for lists and containers.
    pub fn scalar(self) -> Option<Str> {
        match self {
            Found::Variable(Variable { value: Value::Scalar(text), .. }) => Some(Rc::clone(text)),
            Found::Variable(Variable { value: Value::Data(json), .. }) => json.primitive(),
            Found::Variable(_) => None,
            Found::Part(json) => json.primitive(),
        }
    }

    /// Whether `$(x)` makes a promise loop.
    pub(crate) fn iterates(self) -> bool {
        match self {
            Found::Variable(variable) => !matches!(variable.value, Value::Scalar(_)),
            Found::Part(_) => true,
        }
    }
}

/// All scopes.
#[derive(Debug, Default)]
pub struct Variables {
    pub(crate) scopes: FxHashMap<Str, Scope>,
    /// Grows whenever a variable or a class may have become another, or something was said.
    pub(crate) changes: Cell<u64>,
}

impl Variables {
    pub fn scope(&self, key: &str) -> Option<&Scope> {
        self.scopes.get(key)
    }

    pub(crate) fn note_change(&self) {
        self.changes.set(self.changes.get() + 1);
    }

    /// A scope to be changed at will.
    pub fn scope_mut(&mut self, key: &str) -> &mut Scope {
        self.note_change();
        self.scope_made(key)
    }

    fn scope_made(&mut self, key: &str) -> &mut Scope {
        if !self.scopes.contains_key(key) {
            self.scopes.insert(key.into(), Scope::default());
        }
        self.scopes.get_mut(key).expect("the scope was just made")
    }

    pub fn get(&self, scope: &str, name: &str) -> Option<Found<'_>> {
        self.scopes.get(scope)?.get(name)
    }

    pub(crate) fn put(
        &mut self,
        scope: &str,
        name: &str,
        kind: DataType,
        value: Value,
        tags: &Rc<[Str]>,
    ) {
        let variable = Variable { kind, value, tags: Rc::clone(tags), comment: None };
        self.assign(scope, name.into(), variable);
    }

    /// Gives a variable its value; one that has it already does not count as changed.
    pub fn assign(&mut self, scope: &str, name: Str, variable: Variable) {
        let scope = self.scope_made(scope);
        if scope.vars.get(&name) != Some(&variable) {
            scope.put(name, variable);
            self.note_change();
        }
    }

    pub(crate) fn put_string(
        &mut self,
        scope: &str,
        name: &str,
        value: impl Into<Str>,
        tags: &Rc<[Str]>,
    ) {
        self.put(scope, name, DataType::String, Value::Scalar(value.into()), tags);
    }

    /// Names of all scopes, sorted.
    pub(crate) fn scope_names(&self) -> Vec<Str> {
        let mut names: Vec<Str> = self.scopes.keys().cloned().collect();
        names.sort();
        names
    }
}

/// A reference taken apart: `ns:scope.name[index]…`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ref<'a> {
    pub(crate) namespace: Option<&'a str>,
    pub(crate) scope: Option<&'a str>,
    /// Name with its indices.
    pub(crate) name: &'a str,
}

impl<'a> Ref<'a> {
    pub(crate) fn parse(text: &'a str) -> Ref<'a> {
        // One look over a few bytes is less than three searches.
        let (mut colon, mut dot) = (None, None);
        for (at, byte) in text.bytes().enumerate() {
            match byte {
                b'[' => break,
                b':' if colon.is_none() => (colon, dot) = (Some(at), None),
                b'.' if dot.is_none() => dot = Some(at),
                _ => {}
            }
        }
        let namespace = colon.map(|at| &text[..at]);
        let mut start = colon.map_or(0, |at| at + 1);
        let mut scope = dot.map(|at| &text[start..at]);
        start = dot.map_or(start, |at| at + 1);
        let name = &text[start..];
        if scope == Some("this") && !is_special_this(name) {
            scope = None;
        }
        Ref { namespace, scope, name }
    }
}

/// Names that belong to `this` itself; `this.x` with any other `x` is plain `x`.
pub(crate) fn is_special_this(name: &str) -> bool {
    let base = &name[..name.find('[').unwrap_or(name.len())];
    matches!(
        base,
        "v" | "k"
            | "this"
            | "service_policy"
            | "promiser"
            | "promiser_uid"
            | "promiser_gid"
            | "promiser_pid"
            | "promiser_ppid"
            | "bundle"
            | "handle"
            | "namespace"
            | "promise_filename"
            | "promise_dirname"
            | "promise_linenumber"
    )
}

/// Whether a scope is one of the language's own.
pub(crate) fn is_special_scope(scope: &str) -> bool {
    matches!(scope, "const" | "edit" | "match" | "mon" | "sys" | "def" | "this" | "body")
}

/// `[a][b]` to its parts; `None` where brackets do not balance.
pub(crate) fn split_indices(text: &str) -> Option<Vec<&str>> {
    let mut indices = Vec::new();
    let (mut depth, mut start) = (0_usize, 0);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'[' => {
                if depth == 0 {
                    start = at + 1;
                }
                depth += 1;
            }
            b']' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    indices.push(&text[start..at]);
                }
            }
            _ if depth == 0 => return None,
            _ => {}
        }
    }
    (depth == 0).then_some(indices)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_taken_apart() {
        let table = [
            ("x", (None, None, "x")),
            ("b.x", (None, Some("b"), "x")),
            ("n:b.x[a.b:c]", (Some("n"), Some("b"), "x[a.b:c]")),
            ("n:x", (Some("n"), None, "x")),
            ("this.x", (None, None, "x")),
            ("this.k", (None, Some("this"), "k")),
            ("sys.a.b", (None, Some("sys"), "a.b")),
            ("a.b:c", (Some("a.b"), None, "c")),
        ];
        for (text, (namespace, scope, name)) in table {
            assert_eq!(Ref::parse(text), Ref { namespace, scope, name }, "{text}");
        }
        assert_eq!(split_indices("[a][b[c]]"), Some(vec!["a", "b[c]"]));
        assert_eq!(split_indices("[a"), None);
    }
}
