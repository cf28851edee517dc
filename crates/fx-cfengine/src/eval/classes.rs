//! Classes: hard ones of the machine, soft ones by namespace, local ones of a bundle call,
//! and those kept across runs.

use std::collections::BTreeMap;
use std::rc::Rc;

use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

use crate::text::{Str, canonify_class};

use super::expr::{self, Expr};
use super::frames::Frame;
use super::table_order::{class_hash, qualified_hash, some_in_map_order};
use super::{Context, log};

/// What is known about a class.
#[derive(Clone, Debug, Default)]
pub(crate) struct Class {
    pub(crate) tags: Rc<[Str]>,
    pub(crate) comment: Option<Str>,
}

/// Classes by name, `ns:name` outside the default namespace.
pub(crate) type ClassTable = IndexMap<Str, Class, FxBuildHasher>;

/// How far a class is seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClassScope {
    Bundle,
    Namespace,
}

/// Classes kept across runs: name to the second they expire and their tags.
#[derive(Clone, Debug, Default)]
pub(crate) struct Persistent {
    pub(crate) classes: BTreeMap<Str, PersistentClass>,
    pub(crate) changed: bool,
}

/// One class kept across runs.
#[derive(Clone, Debug)]
pub(crate) struct PersistentClass {
    pub(crate) expires: i64,
    /// Whether renewing keeps an earlier end.
    pub(crate) preserve: bool,
    pub(crate) tags: Str,
}

/// Key of a class in its table.
pub(crate) fn class_key(namespace: &str, name: &str) -> Str {
    if namespace == "default" || namespace.is_empty() {
        name.into()
    } else {
        format!("{namespace}:{name}").into()
    }
}

// An entry is a pattern for the name of a class, and no expression.
fn abort_matches(class: &str, set: &str) -> Option<Str> {
    crate::regex::full(class, set).then(|| set.into())
}

impl Context<'_> {
    /// Whether a single name is a defined class.
    pub(crate) fn class_defined(&self, name: &str) -> bool {
        if name == "any" {
            return true;
        }
        match name.split_once(':') {
            Some((namespace, base)) => {
                if base == "any" {
                    return true;
                }
                if namespace == "default" {
                    return self.hard.contains_key(base)
                        || self.soft.contains_key(base)
                        || self.local_class(base);
                }
                self.soft.contains_key(name) || self.local_class(base)
            }
            None => self.local_class(name) || self.global_class(name),
        }
    }

    // Hard classes and those of the namespace, by a name without one.
    fn global_class(&self, name: &str) -> bool {
        if self.hard.contains_key(name) {
            return true;
        }
        let namespace = self.current_namespace();
        if namespace == "default" {
            self.soft.contains_key(name)
        } else {
            self.soft.contains_key(&*class_key(namespace, name))
        }
    }

    // Classes of the callers of the innermost bundle, as far as it inherits.
    fn inherited_class(&self, name: &str) -> bool {
        let mut bundles = self.stack.iter().rev().filter_map(|frame| match frame {
            Frame::Bundle(bundle) => Some(bundle),
            _ => None,
        });
        let mut inherits = bundles.next().is_some_and(|innermost| innermost.inherits);
        for bundle in bundles {
            if !inherits {
                return false;
            }
            if bundle.classes.contains_key(name) {
                return true;
            }
            inherits = bundle.inherits;
        }
        false
    }

    // Classes of the innermost bundle call, and of its callers as far as it inherits.
    fn local_class(&self, name: &str) -> bool {
        for frame in self.stack.iter().rev() {
            if let Frame::Bundle(bundle) = frame {
                if bundle.classes.contains_key(name) {
                    return true;
                }
                if !bundle.inherits {
                    return false;
                }
            }
        }
        false
    }

    /// The truth of an expression; `None` when it does not parse or holds variables.
    pub(crate) fn check_expression(&self, text: &str) -> Option<bool> {
        self.check_with(text, &|name| self.class_defined(name))
    }

    /// Whether a guard in a body holds. As in the original, whose frame of a body inherits
    /// nothing, classes of bundles are not seen there, and names are those of its namespace.
    pub fn holds_in_body(&self, guard: &str, namespace: &str) -> bool {
        let global = |name: &str| match name.split_once(':') {
            Some((_, "any")) => true,
            Some(("default", base)) => self.hard.contains_key(base) || self.soft.contains_key(base),
            Some(_) => self.soft.contains_key(name),
            None => {
                name == "any" || self.hard.contains_key(name) || {
                    if namespace == "default" {
                        self.soft.contains_key(name)
                    } else {
                        self.soft.contains_key(&*class_key(namespace, name))
                    }
                }
            }
        };
        guard == "any" || self.check_with(guard, &global) == Some(true)
    }

    fn check_with(&self, text: &str, defined: &dyn Fn(&str) -> bool) -> Option<bool> {
        // Most expressions are one name; iterated ones are all different, so that keeping
        // them parsed would cost more than it spares.
        if expr::is_name(text) {
            return Some(match text {
                "true" => true,
                "false" => false,
                name => defined(name),
            });
        }
        let parsed = {
            let mut exprs = self.exprs.borrow_mut();
            match exprs.get(text) {
                Some(parsed) => parsed.clone(),
                None => {
                    let parsed: Option<Rc<Expr>> = if expr::lacks_operator(text) {
                        None
                    } else {
                        expr::parse(text).map(Rc::new)
                    };
                    if exprs.len() < 100_000 {
                        exprs.insert(text.into(), parsed.clone());
                    }
                    parsed
                }
            }
        };
        match parsed {
            Some(parsed) => parsed.eval(defined),
            None => {
                if expr::lacks_operator(text) {
                    log!(
                        self,
                        Error,
                        "class expressions can't be separated by whitespace without an intervening operator in expression '{text}'"
                    );
                } else {
                    log!(self, Error, "Unable to parse class expression '{text}'");
                }
                None
            }
        }
    }

    /// Whether an expression holds.
    pub fn defined(&self, text: &str) -> bool {
        text == "any" || self.check_expression(text) == Some(true)
    }

    /// Defines a hard class.
    pub(crate) fn put_hard(&mut self, name: &str, tags: &Rc<[Str]>) {
        let name: Str = crate::text::canonify(name).into();
        if !name.is_empty() && !self.hard.contains_key(&name) {
            self.hard.insert(name, Class { tags: Rc::clone(tags), comment: None });
            self.vars.note_change();
        }
    }

    /// Defines a soft class as seen from where we are; whether it was new.
    pub fn put_class(
        &mut self,
        name: &str,
        scope: ClassScope,
        tags: Rc<[Str]>,
        comment: Option<Str>,
    ) -> bool {
        let name = canonify_class(name);
        if name.is_empty() || name == "any" {
            return false;
        }
        let class = Class { tags, comment };
        let (namespace, base) = match name.split_once(':') {
            Some((namespace, base)) => (Some(namespace), base),
            None => (None, &*name),
        };
        if scope == ClassScope::Bundle && self.bundle_frame().is_some() {
            if self.global_class(base) || self.inherited_class(base) {
                return false;
            }
            let Some(frame) = self.bundle_frame_mut() else { return false };
            match frame.classes.entry(base.into()) {
                indexmap::map::Entry::Occupied(_) => return false,
                indexmap::map::Entry::Vacant(place) => place.insert(class),
            };
        } else {
            let key = class_key(namespace.unwrap_or_else(|| self.current_namespace()), base);
            if self.soft.contains_key(&key) {
                return false;
            }
            self.soft.insert(key, class);
        }
        self.vars.note_change();
        self.note_class(&name);
        self.check_aborts(&name);
        true
    }

    fn note_class(&self, name: &str) {
        if self.config.trace {
            let fields = [
                ("name".into(), fx_value::Value::from(name)),
                (
                    "bundle".into(),
                    self.bundle_frame()
                        .map_or(String::new(), |frame| frame.head.name.to_string())
                        .into(),
                ),
            ];
            let span = self.promise_frame().and_then(|frame| frame.promise.span);
            let origin = span.map_or_else(Default::default, fx_source::Origin::at);
            self.run.ledger.note("cf.class", &fields, &origin);
        }
    }

    /// Ends the run or the bundle when a class that asks for it is defined.
    pub(crate) fn check_aborts(&mut self, set: &str) {
        if !self.control.abort_classes.is_empty() && self.stop.is_none() {
            let classes = self.control.abort_classes.clone();
            if let Some(class) = classes.iter().find_map(|class| abort_matches(class, set)) {
                log!(self, Notice, "cf-agent aborted on defined class '{class}'");
                self.exit(6);
                return;
            }
        }
        if !self.control.abort_bundle_classes.is_empty() && !self.bundle_aborted {
            let classes = self.control.abort_bundle_classes.clone();
            if let Some(class) = classes.iter().find_map(|class| abort_matches(class, set)) {
                match self.bundle_frame() {
                    Some(frame) => log!(
                        self,
                        Error,
                        "Bundle '{}' aborted on defined class '{class}'",
                        frame.head.name
                    ),
                    None => {
                        log!(self, Error, "Bundle (unknown) aborted on defined class '{class}'")
                    }
                }
                self.bundle_aborted = true;
            } else if let Some(class) = classes.iter().find(|class| {
                // Other than for the run, an expression will do.
                expr::parse(class).is_some() && self.defined(class)
            }) {
                log!(self, Error, "Setting abort for '{class}' when setting class '{set}'");
                self.bundle_aborted = true;
            }
        }
    }

    /// The same for all classes that are already defined.
    pub(crate) fn check_aborts_of_all(&mut self) {
        if self.control.abort_classes.is_empty() {
            return;
        }
        let names: Vec<Str> = self.hard.keys().chain(self.soft.keys()).cloned().collect();
        for name in names {
            self.check_aborts(&name);
            if self.stopped() {
                return;
            }
        }
    }

    /// Undefines a soft class, wherever it is.
    pub(crate) fn cancel_class(&mut self, name: &str) {
        let name = canonify_class(name);
        let (namespace, base) = match name.split_once(':') {
            Some((namespace, base)) => (namespace.to_owned(), base.to_owned()),
            None => (self.current_namespace().to_owned(), name.clone()),
        };
        self.vars.note_change();
        self.soft.shift_remove(&class_key(&namespace, &base));
        if let Some(frame) = self.bundle_frame_mut() {
            frame.classes.shift_remove(&*base);
        }
        self.forget_persistent(&name);
    }

    /// Remembers a class for some minutes after this run.
    pub fn persist_class(&mut self, name: &str, minutes: i64, preserve: bool, tags: &str) {
        let key = match name.split_once(':') {
            Some(_) => name.into(),
            None => class_key(self.current_namespace(), name),
        };
        let now = self.host().now().secs;
        if preserve
            && let Some(old) = self.persistent.classes.get(&key)
            && old.preserve
            && now < old.expires
        {
            log!(
                self,
                Verbose,
                "Persistent class '{name}' is already in a preserved state --  {} minutes to go",
                (old.expires - now) / 60
            );
            return;
        }
        log!(self, Verbose, "Updated persistent class '{name}'");
        let class = PersistentClass { expires: now + minutes * 60, preserve, tags: tags.into() };
        self.persistent.classes.insert(key, class);
        self.persistent.changed = true;
    }

    pub(crate) fn forget_persistent(&mut self, name: &str) {
        let key = match name.split_once(':') {
            Some(_) => name.into(),
            None => class_key(self.current_namespace(), name),
        };
        if self.persistent.classes.remove(&key).is_some() {
            self.persistent.changed = true;
        }
    }

    /// Hard and soft classes that are wanted by their full name, in the order of the
    /// original's table.
    pub(crate) fn global_classes(&self, wanted: impl Fn(&str, &Class) -> bool) -> Vec<Str> {
        let all = self.hard.iter().chain(self.soft.iter()).enumerate();
        let entries = all
            .filter(|(_, (name, class))| wanted(name, class))
            .map(|(index, (name, _))| (index, class_hash(name), Rc::clone(name)));
        some_in_map_order(self.hard.len() + self.soft.len(), entries.collect())
    }

    /// Classes of the innermost bundle call, likewise; their names hold the namespace.
    pub(crate) fn local_classes(&self, wanted: impl Fn(&str, &Class) -> bool) -> Vec<Str> {
        let Some(frame) = self.bundle_frame() else { return Vec::new() };
        let namespace = &frame.head.namespace;
        let named = frame.classes.iter().enumerate().map(|(index, (name, class))| {
            (index, qualified_hash(namespace, name), (class_key(namespace, name), class))
        });
        let entries = named
            .filter(|(_, _, (name, class))| wanted(name, class))
            .map(|(index, hash, (name, _))| (index, hash, name));
        some_in_map_order(frame.classes.len(), entries.collect())
    }

    /// Names of all classes seen from here, with what is known of them.
    pub(crate) fn visible_classes(&self) -> Vec<(Str, Class)> {
        let mut all: Vec<(Str, Class)> =
            self.hard.iter().map(|(name, class)| (Rc::clone(name), class.clone())).collect();
        all.extend(self.soft.iter().map(|(name, class)| (Rc::clone(name), class.clone())));
        for frame in self.stack.iter().rev() {
            if let Frame::Bundle(bundle) = frame {
                all.extend(
                    bundle.classes.iter().map(|(name, class)| (Rc::clone(name), class.clone())),
                );
                if !bundle.inherits {
                    break;
                }
            }
        }
        all
    }
}
