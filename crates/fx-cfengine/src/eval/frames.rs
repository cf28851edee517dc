//! The stack: bundles, bodies, promises, and how a name is looked up through it.

use std::cell::OnceCell;
use std::rc::Rc;

use crate::config::Config;
use crate::policy::{Head, Promise};
use crate::text::{Str, canonify};

use super::Context;
use super::classes::ClassTable;
use super::promise::Expanded;
use super::value::{DataType, Value, Variable};
use super::vars::{Found, Ref, Scope, is_special_scope};

/// One level of the stack.
pub enum Frame {
    Bundle(BundleFrame),
    Section,
    Body { namespace: Str, vars: Scope },
    Promise(PromiseFrame),
    Iteration(Rc<Expanded>),
}

/// A bundle being run.
pub struct BundleFrame {
    pub head: Rc<Head>,
    pub(crate) classes: ClassTable,
    /// Whether classes of the caller are seen.
    pub(crate) inherits: bool,
    /// `edit.*`.
    pub(crate) edit: Scope,
}

/// A promise being expanded.
pub struct PromiseFrame {
    pub promise: Rc<Promise>,
    /// `this.*`, with iteration values of unqualified variables.
    pub(crate) vars: Scope,
    /// Iteration values of qualified variables, by the text of the reference.
    pub(crate) qualified: Vec<(Str, Str)>,
    /// What `this.handle` is: as written, or made from the place when it is asked for.
    pub(crate) handle: OnceCell<Str>,
    /// `this.promise_filename` and the like, made on first use.
    pub(crate) specials: OnceCell<Scope>,
    /// Which iteration it is, from one.
    pub turn: u64,
    /// Whether no time has to pass between two attempts, so that nothing is taken from caches.
    pub(crate) immediate: bool,
}

impl PromiseFrame {
    /// The promise's handle.
    pub fn handle(&self) -> Str {
        let made = || {
            let base = self.promise.bundle.file.rsplit('/').next().unwrap_or_default();
            format!("promise_{}_{}", canonify(base), self.promise.line).into()
        };
        Rc::clone(self.handle.get_or_init(made))
    }

    fn specials(&self, config: &Config) -> &Scope {
        self.specials.get_or_init(|| {
            let bundle = &self.promise.bundle;
            let file: Str = if bundle.file.starts_with('/') {
                Rc::clone(&bundle.file)
            } else {
                format!("{}/{}", config.launch_dir, bundle.file).into()
            };
            let dir: Str = match file.rfind('/') {
                Some(0) => "/".into(),
                Some(at) => file[..at].into(),
                None => ".".into(),
            };
            let ids = &config.ids;
            let values: [Str; SPECIALS.len()] = [
                file,
                dir,
                self.promise.line.to_string().into(),
                Rc::clone(&ids.uid),
                Rc::clone(&ids.gid),
                Rc::clone(&ids.pid),
                Rc::clone(&ids.ppid),
                Rc::clone(&bundle.name),
                Rc::clone(&bundle.namespace),
                self.handle(),
            ];
            let mut scope = Scope::default();
            for (name, value) in SPECIALS.into_iter().zip(values) {
                let variable = Variable {
                    kind: DataType::String,
                    value: Value::Scalar(value),
                    tags: Rc::clone(&ids.no_tags),
                    comment: None,
                };
                scope.put(name.into(), variable);
            }
            scope
        })
    }
}

/// What every promise knows of itself.
const SPECIALS: [&str; 10] = [
    "promise_filename",
    "promise_dirname",
    "promise_linenumber",
    "promiser_uid",
    "promiser_gid",
    "promiser_pid",
    "promiser_ppid",
    "bundle",
    "namespace",
    "handle",
];

impl Context<'_> {
    pub(crate) fn bundle_frame(&self) -> Option<&BundleFrame> {
        self.stack.iter().rev().find_map(|frame| match frame {
            Frame::Bundle(bundle) => Some(bundle),
            _ => None,
        })
    }

    pub(crate) fn bundle_frame_mut(&mut self) -> Option<&mut BundleFrame> {
        self.stack.iter_mut().rev().find_map(|frame| match frame {
            Frame::Bundle(bundle) => Some(bundle),
            _ => None,
        })
    }

    pub fn promise_frame(&self) -> Option<&PromiseFrame> {
        self.stack.iter().rev().find_map(|frame| match frame {
            Frame::Promise(promise) => Some(promise),
            _ => None,
        })
    }

    pub(crate) fn promise_frame_mut(&mut self) -> Option<&mut PromiseFrame> {
        self.stack.iter_mut().rev().find_map(|frame| match frame {
            Frame::Promise(promise) => Some(promise),
            _ => None,
        })
    }

    /// The namespace of what is being evaluated.
    pub(crate) fn current_namespace(&self) -> &str {
        match self.stack.last() {
            Some(Frame::Body { namespace, .. }) => namespace,
            _ => self.bundle_frame().map_or("default", |frame| &frame.head.namespace),
        }
    }

    /// Sets `this.name`.
    pub fn put_this(&mut self, name: &str, value: impl Into<Str>) {
        let tags = Rc::clone(&self.config.ids.no_tags);
        let Some(frame) = self.promise_frame_mut() else { return };
        let value = Value::Scalar(value.into());
        match frame.vars.vars.get_mut(name) {
            Some(old) => old.value = value,
            None => {
                let variable = Variable { kind: DataType::String, value, tags, comment: None };
                frame.vars.put(name.into(), variable);
            }
        }
    }

    pub fn remove_this(&mut self, name: &str) {
        if let Some(frame) = self.promise_frame_mut() {
            frame.vars.remove(name);
        }
    }

    /// Sets `edit.name`.
    pub fn put_edit(&mut self, name: &str, value: impl Into<Str>) {
        let variable = Variable {
            kind: DataType::String,
            value: Value::Scalar(value.into()),
            tags: Rc::from([]),
            comment: None,
        };
        if let Some(frame) = self.bundle_frame_mut() {
            frame.edit.put(name.into(), variable);
        }
    }

    /// Sets `match.*` from the groups of a match, as BlockTextMatch does, by number alone, whether or not a group has a name.
    pub fn put_matches(&mut self, found: &crate::regex::Captures) {
        let taken = found.spans.iter().enumerate().filter(|(_, span)| span.is_some());
        for ((number, _), (_, text)) in taken.zip(&found.groups) {
            let variable = Variable {
                kind: DataType::String,
                value: Value::Scalar(Rc::clone(text)),
                tags: Rc::from([]),
                comment: None,
            };
            self.matches.put(number.to_string().into(), variable);
        }
    }

    /// Looks a reference up with a default namespace and scope, as the original resolves it:
    /// as given, then qualified by the stack, then in the innermost bundle.
    pub fn lookup(
        &self,
        text: &str,
        namespace: Option<&str>,
        scope: Option<&str>,
    ) -> Option<Found<'_>> {
        let reference = Ref::parse(text);
        let special = reference.scope.is_some_and(is_special_scope);
        let namespace = reference.namespace.or(if special { None } else { namespace });
        let mut scope = reference.scope.or(scope);
        if let Some(found) = self.lookup_in(namespace, scope, reference.name) {
            return Some(found);
        }
        if scope.is_none() {
            match self.stack.last()? {
                Frame::Body { .. } => scope = Some("body"),
                Frame::Promise(_) | Frame::Iteration(_) => scope = Some("this"),
                Frame::Bundle(_) | Frame::Section => {
                    let head = &self.bundle_frame()?.head;
                    return self.vars.get(&head.scope, reference.name);
                }
            }
            if let Some(found) = self.lookup_in(None, scope, reference.name) {
                return Some(found);
            }
        }
        if matches!(scope, Some("this" | "body")) {
            let head = &self.bundle_frame()?.head;
            return self.vars.get(&head.scope, reference.name);
        }
        None
    }

    fn lookup_in(
        &self,
        namespace: Option<&str>,
        scope: Option<&str>,
        name: &str,
    ) -> Option<Found<'_>> {
        let scope = scope?;
        match scope {
            "this" => {
                let frame = self.promise_frame()?;
                frame.vars.get(name).or_else(|| {
                    SPECIALS.contains(&name).then(|| frame.specials(&self.config).get(name))?
                })
            }
            "body" => self
                .stack
                .iter()
                .rev()
                .find_map(|frame| match frame {
                    Frame::Body { vars, .. } => Some(vars),
                    _ => None,
                })?
                .get(name),
            "edit" => self.bundle_frame()?.edit.get(name),
            "match" => self.matches.get(name),
            "sys" => self.vars.get(scope, name).or_else(|| self.late_variable(name)),
            "mon" | "const" => self.vars.get(scope, name),
            _ => match namespace {
                None | Some("default") => self.vars.get(scope, name),
                Some(namespace) => self.vars.get(&format!("{namespace}:{scope}"), name),
            },
        }
    }

    fn late_variable(&self, name: &str) -> Option<Found<'_>> {
        let is_late = name.starts_with("inet") || name.starts_with("interfaces_data");
        if is_late { self.late_sys().get(name) } else { None }
    }

    /// Variables of a scope, late ones included.
    pub(crate) fn variables_of(&self, scope: &str) -> impl Iterator<Item = (&Str, &Variable)> {
        let late = (scope == "sys").then(|| self.late_sys());
        self.vars.scope(scope).into_iter().chain(late).flat_map(|scope| &scope.vars)
    }

    /// Looks a name up from inside a bundle.
    pub(crate) fn lookup_from(&self, text: &str, head: &Head) -> Option<Found<'_>> {
        self.lookup(text, Some(&head.namespace), Some(&head.name))
    }
}

/// The scope key and name a variable promise of this bundle writes to.
pub fn target(text: &str, head: &Head) -> (Str, Str) {
    let reference = Ref::parse(text);
    match (reference.namespace, reference.scope) {
        (None, None) => (Rc::clone(&head.scope), reference.name.into()),
        (namespace, scope) => {
            let namespace = namespace.unwrap_or(&head.namespace);
            let scope = scope.unwrap_or(&head.name);
            (crate::policy::scope_key(namespace, scope), reference.name.into())
        }
    }
}
