//! Scopes: who sees which variable, and what the last match captured.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::regex::Captures;
use crate::value::Value;

/// What kind of code variables belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FrameKind {
    Top,
    Node,
    Class,
    Define,
    Function,
    Lambda,
    Template,
}

/// Variables of one body of code.
#[derive(Debug)]
pub(crate) struct Frame {
    /// Where to look further.
    pub parent: Option<Rc<Frame>>,
    /// What it belongs to.
    pub kind: FrameKind,
    /// The resource around, as messages name it: `Class[main]`.
    pub name: Rc<str>,
    /// Index of the resource around in the catalog.
    pub resource: Cell<usize>,
    /// The module the code is from.
    pub module: Rc<str>,
    /// The class or define the code is of: `class a`; empty at the top.
    pub source: Rc<str>,
    vars: RefCell<FxHashMap<Rc<str>, Value>>,
    /// The frame whose code declared the class or define this belongs to.
    pub declared_in: RefCell<Option<Rc<Frame>>>,
    /// Attributes set for all resources of a type: name of the type in lower case first.
    pub defaults: RefCell<Vec<(Rc<str>, Rc<str>, Value)>>,
    out: RefCell<String>,
    /// Whether there is a secret in that text.
    secret: Cell<bool>,
}

impl Frame {
    /// An empty frame.
    pub(crate) fn new(
        parent: Option<Rc<Frame>>,
        kind: FrameKind,
        name: Rc<str>,
        resource: usize,
        module: Rc<str>,
        source: Rc<str>,
    ) -> Rc<Frame> {
        Rc::new(Frame {
            parent,
            kind,
            name,
            resource: Cell::new(resource),
            module,
            source,
            vars: RefCell::default(),
            declared_in: RefCell::default(),
            defaults: RefCell::default(),
            out: RefCell::default(),
            secret: Cell::default(),
        })
    }

    /// A frame inside, for code that belongs to the same resource.
    pub(crate) fn inner(self: &Rc<Frame>, kind: FrameKind) -> Rc<Frame> {
        Frame::new(
            Some(Rc::clone(self)),
            kind,
            Rc::clone(&self.name),
            self.resource.get(),
            Rc::clone(&self.module),
            Rc::clone(&self.source),
        )
    }

    /// A variable here or further out.
    pub(crate) fn get(&self, name: &str) -> Option<Value> {
        let mut frame = self;
        loop {
            if let Some(value) = frame.vars.borrow().get(name) {
                return Some(value.clone());
            }
            frame = frame.parent.as_deref()?;
        }
    }

    /// A variable of this very frame.
    pub(crate) fn own(&self, name: &str) -> Option<Value> {
        self.vars.borrow().get(name).cloned()
    }

    /// Everything that can be seen from here, by name.
    pub(crate) fn all(&self) -> std::collections::BTreeMap<Rc<str>, Value> {
        let mut all = match &self.parent {
            Some(parent) => parent.all(),
            None => std::collections::BTreeMap::new(),
        };
        let own = self.vars.borrow();
        all.extend(own.iter().map(|(name, value)| (Rc::clone(name), value.clone())));
        all
    }

    /// Sets a variable once; `false` if it is set already.
    pub(crate) fn set(&self, name: &Rc<str>, value: Value) -> bool {
        use std::collections::hash_map::Entry;
        match self.vars.borrow_mut().entry(Rc::clone(name)) {
            Entry::Occupied(_) => false,
            Entry::Vacant(free) => {
                free.insert(value);
                true
            }
        }
    }

    /// Gives another value to each variable whose value is meant.
    pub(crate) fn replace(&self, is_meant: &dyn Fn(&Value) -> bool, value: &Value) {
        #[expect(clippy::iter_over_hash_type, reason = "each is looked at by itself")]
        for own in self.vars.borrow_mut().values_mut() {
            if is_meant(own) {
                *own = value.clone();
            }
        }
    }

    /// Sets a variable of the language itself.
    pub(crate) fn define(&self, name: &str, value: Value) {
        self.vars.borrow_mut().insert(name.into(), value);
    }

    /// Whether a value is what the code around set for all resources of a type.
    pub(crate) fn is_default(&self, kind: &str, attribute: &str, wanted: &Value) -> bool {
        let found = self
            .defaults
            .borrow()
            .iter()
            .rev()
            .find(|(of, name, _)| **of == *kind && **name == *attribute)
            .is_some_and(|(.., value)| value == wanted);
        found
            || self
                .declared_in
                .borrow()
                .clone()
                .or_else(|| self.parent.clone())
                .is_some_and(|outer| outer.is_default(kind, attribute, wanted))
    }

    /// All attributes set for resources of a type by the code around, nearest first.
    pub(crate) fn defaults_of(&self, kind: &str, found: &mut Vec<(Rc<str>, Value)>) {
        for (of, name, value) in self.defaults.borrow().iter().rev() {
            if **of == *kind && !found.iter().any(|(known, _)| known == name) {
                found.push((Rc::clone(name), value.clone()));
            }
        }
        let outer = self.declared_in.borrow().clone().or_else(|| self.parent.clone());
        if let Some(outer) = outer {
            outer.defaults_of(kind, found);
        }
    }
}

/// A frame together with the captures that hold in it.
#[derive(Debug)]
pub(crate) struct Scope {
    /// The variables.
    pub frame: Rc<Frame>,
    matches: RefCell<Option<Rc<Captures>>>,
}

impl Scope {
    /// A scope without captures.
    pub(crate) fn new(frame: Rc<Frame>) -> Rc<Scope> {
        Rc::new(Scope { frame, matches: RefCell::default() })
    }

    /// The same variables; captures made inside end with it.
    pub(crate) fn with_matches(&self) -> Rc<Scope> {
        self.over(Rc::clone(&self.frame))
    }

    /// Another frame that sees the captures made so far.
    pub(crate) fn over(&self, frame: Rc<Frame>) -> Rc<Scope> {
        Rc::new(Scope { frame, matches: RefCell::new(self.matches.borrow().clone()) })
    }

    /// Remembers a match.
    pub(crate) fn capture(&self, captures: Captures) {
        *self.matches.borrow_mut() = Some(Rc::new(captures));
    }

    /// What a group captured.
    pub(crate) fn captured(&self, number: usize) -> Option<String> {
        self.matches.borrow().as_ref()?.get(number)?.clone()
    }

    /// Adds to the text of the template around.
    pub(crate) fn render(&self, text: &str) {
        if let Some(frame) = self.template() {
            frame.out.borrow_mut().push_str(text);
        }
    }

    /// Says that there is a secret in the text of the template around.
    pub(crate) fn render_secret(&self) {
        if let Some(frame) = self.template() {
            frame.secret.set(true);
        }
    }

    fn template(&self) -> Option<&Rc<Frame>> {
        let mut frame = Some(&self.frame);
        while let Some(at) = frame {
            if at.kind == FrameKind::Template {
                return Some(at);
            }
            frame = at.parent.as_ref();
        }
        None
    }

    /// The text rendered so far.
    pub(crate) fn rendered(&self) -> Value {
        let text = Value::from(self.frame.out.take());
        if self.frame.secret.get() { Value::Sensitive(Rc::new(text)) } else { text }
    }
}
