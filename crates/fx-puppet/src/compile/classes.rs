//! Classes and defines: putting them into the catalog, giving their parameters values, and
//! evaluating their bodies.

use std::rc::Rc;

use fx_puppet_syntax::Param;
use fx_source::Span;

use super::catalog::{Attribute, Attributes, Resource};
use super::definitions::Entry;
use crate::eval::{Evaluated, Evaluator, Flow, Frame, FrameKind, Scope};
use crate::types::{Type, describe_mismatch, infer_set, is_instance};
use crate::value::Value;

/// A class as a parameter sees it: a resource of the kind `class`.
fn as_resource(value: &Value) -> Value {
    match value {
        Value::Type(ty) => match &**ty {
            Type::Class(Some(name)) => Value::ty(Type::Resource {
                name: Some("class".into()),
                title: Some(crate::types::capitalized(name).into()),
            }),
            _ => value.clone(),
        },
        _ => value.clone(),
    }
}

pub(super) fn not_declared(name: &str) -> String {
    format!("Could not find declared class {name}")
}

impl Evaluator {
    /// Puts classes into the catalog unless they are there, then evaluates the new ones; the
    /// places of all.
    pub(crate) fn include(&self, names: &[Rc<str>], scope: &Rc<Scope>) -> Evaluated<Vec<usize>> {
        let mut entries = Vec::new();
        for name in names {
            let Some(entry) = self.class_named(name)? else {
                return Err(Flow::raw(format!(
                    "Could not find class ::{name} for {}",
                    self.settings.node
                )));
            };
            entries.push(entry);
        }
        let (mut known, mut new) = (Vec::new(), Vec::new());
        for (name, entry) in names.iter().zip(&entries) {
            if let Some(frame) = self.pending.borrow().class_frames.get(name) {
                known.push(frame.resource.get());
                continue;
            }
            new.push(self.ensure_class(name, entry, scope)?);
        }
        for at in &new {
            self.evaluate(*at)?;
        }
        known.extend(new);
        Ok(known)
    }

    /// The place of a class without parameters; what it inherits from comes before it.
    fn ensure_class(
        &self,
        name: &Rc<str>,
        entry: &Rc<Entry>,
        scope: &Rc<Scope>,
    ) -> Evaluated<usize> {
        if let Some(at) = self.catalog.borrow().exact("class", name) {
            return Ok(at);
        }
        let span = Span::new(self.builtin, 0, 0);
        let mut resource = Resource::new("class", name, span, Rc::clone(&scope.frame));
        resource.definition = Some(Rc::clone(entry));
        self.complete_resource(&mut resource)?;
        self.enter_class(resource, entry, scope)
    }

    /// Whether a class is among those it inherits from.
    fn is_own_parent(&self, parent: &Rc<str>, name: &str) -> bool {
        let definitions = self.definitions.borrow();
        let mut at = Some(parent);
        for _ in 0..100 {
            match at {
                Some(parent) if **parent == *name => return true,
                Some(parent) => {
                    at = definitions.classes.get(parent).and_then(|above| above.parent.as_ref())
                }
                None => return false,
            }
        }
        true
    }

    fn enter_class(
        &self,
        resource: Resource,
        entry: &Rc<Entry>,
        scope: &Rc<Scope>,
    ) -> Evaluated<usize> {
        if let Some(parent) = &entry.parent {
            let Some(above) = self.class_named(parent)? else {
                return Err(Flow::line(
                    entry.definition.span,
                    format!(
                        "Could not find parent resource type '::{parent}' of type hostclass in {}",
                        self.settings.environment
                    ),
                ));
            };
            if self.is_own_parent(parent, resource.title.as_ref()) {
                return Err(Flow::bare("stack level too deep"));
            }
            self.ensure_class(parent, &above, scope)?;
        }
        let tags = resource.tags.clone();
        self.catalog.borrow_mut().tags.extend(tags);
        self.add_resource(resource, scope)
    }

    /// `class { name: … }`
    pub(super) fn declare_class(
        &self,
        name: &Rc<str>,
        attributes: Attributes,
        span: Span,
        scope: &Rc<Scope>,
    ) -> Evaluated<()> {
        let Some(entry) = self.class_named(name)? else {
            let issue = crate::eval::Issue::UnknownClass(Rc::clone(name));
            return Err(Flow::raw(not_declared(name)).with(issue));
        };
        let mut resource = Resource::new("class", name, span, Rc::clone(&scope.frame));
        resource.definition = Some(Rc::clone(&entry));
        resource.attributes = attributes;
        self.complete_resource(&mut resource)?;
        let at = self.enter_class(resource, &entry, scope)?;
        self.evaluate(at)
    }

    /// Evaluates the body of a class or define, once.
    pub(super) fn evaluate(&self, at: usize) -> Evaluated<()> {
        let (entry, frame, low, title) = {
            let mut catalog = self.catalog.borrow_mut();
            let resource = &mut catalog.resources[at];
            if resource.evaluated {
                return Ok(());
            }
            resource.evaluated = true;
            let Some(entry) = resource.definition.clone() else { return Ok(()) };
            let frame = Rc::clone(&resource.frame);
            let (low, title) = (Rc::clone(&resource.low), Rc::clone(&resource.title));
            catalog.hand_tags(frame.resource.get(), at);
            (entry, frame, low, title)
        };
        self.phase(|| format!("evaluate {}", self.catalog.borrow().resources[at].reference()));
        if &*low == "class" {
            self.evaluate_class(at, &title, &entry, &frame)
        } else {
            self.evaluate_define(at, &entry, &frame)
        }
    }

    fn evaluate_class(
        &self,
        at: usize,
        name: &Rc<str>,
        entry: &Rc<Entry>,
        declared_in: &Rc<Frame>,
    ) -> Evaluated<()> {
        let parent = match &entry.parent {
            Some(parent) => {
                let above = self.catalog.borrow().exact("class", parent);
                if let Some(above) = above {
                    self.evaluate(above)?;
                }
                self.pending.borrow().class_frames.get(parent).cloned()
            }
            None => None,
        };
        let outer = match &parent {
            Some(parent) => Rc::clone(parent),
            None => enclosing(declared_in),
        };
        let label = self.catalog.borrow().resources[at].reference();
        let frame = Frame::new(
            Some(outer),
            FrameKind::Class,
            label.as_str().into(),
            at,
            Rc::clone(&entry.module),
            Rc::clone(&entry.source),
        );
        // What it inherits from counts as what called it.
        let caller = parent.unwrap_or_else(|| Rc::clone(declared_in));
        *frame.declared_in.borrow_mut() = Some(Rc::clone(&caller));
        self.catalog.borrow_mut().add_class(name);
        self.pending.borrow_mut().class_frames.insert(Rc::clone(name), Rc::clone(&frame));
        let scope = Scope::new(Rc::clone(&frame));
        frame.define("title", Value::String(Rc::clone(name)));
        frame.define("name", Value::String(Rc::clone(name)));
        self.define_modules(&frame, &caller);
        self.bind(&label, entry, at, &scope, Some(name))?;
        self.enter_stage(at)?;
        match self.eval(&entry.definition.body, &scope) {
            Ok(_) | Err(Flow::Return(..)) => Ok(()),
            Err(flow) => Err(flow.misplaced()),
        }
    }

    /// A class hangs under its stage.
    fn enter_stage(&self, at: usize) -> Evaluated<()> {
        let mut catalog = self.catalog.borrow_mut();
        let resource = &catalog.resources[at];
        let own = resource.attributes.get("stage").map(|stage| stage.value.clone());
        let outer = resource.frame.resource.get();
        let around = || {
            catalog.resources.get(outer)?.attributes.get("stage").map(|stage| stage.value.clone())
        };
        let wanted =
            own.filter(|value| !matches!(value, Value::Undef)).or_else(around).and_then(|value| {
                match value {
                    Value::String(name) => Some(name),
                    Value::Type(ty) => match &*ty {
                        Type::Resource { title: Some(title), .. } => Some(Rc::clone(title)),
                        _ => None,
                    },
                    _ => None,
                }
            });
        let name: Rc<str> = wanted.unwrap_or_else(|| "main".into());
        let Some(stage) = catalog.exact("stage", &name) else {
            return Err(Flow::raw(format!(
                "Could not find stage {name} specified by {}",
                resource.reference()
            )));
        };
        if &*name != "main" && !resource.attributes.contains_key("stage") {
            let (span, source) = (resource.span, Rc::clone(&resource.frame.source));
            let attribute = Attribute::new(Value::String(Rc::clone(&name)), span, &source);
            catalog.resources[at].attributes.insert("stage".into(), attribute);
        }
        catalog.contain(stage, at);
        Ok(())
    }

    fn define_modules(&self, frame: &Rc<Frame>, caller: &Rc<Frame>) {
        frame.define("module_name", Value::String(Rc::clone(&frame.module)));
        frame.define("caller_module_name", Value::String(Rc::clone(&caller.module)));
    }

    /// Gives parameters their values: given, from data, or by default.
    fn bind(
        &self,
        label: &str,
        entry: &Entry,
        at: usize,
        scope: &Rc<Scope>,
        class: Option<&Rc<str>>,
    ) -> Evaluated<()> {
        let params: &[Param] = &entry.definition.params;
        let given = self.catalog.borrow().resources[at].attributes.clone();
        let mut wrong = Vec::new();
        for (name, attribute) in &given {
            if super::is_metaparameter(name) {
                scope.frame.define(name, attribute.value.clone());
            } else if &**name != "name" && !params.iter().any(|param| param.name == *name) {
                wrong.push(format!("has no parameter named '{name}'"));
            }
        }
        let is_set = |value: &Value| !matches!(value, Value::Undef);
        // What data binds is known before any default is evaluated.
        let mut bound: Vec<Option<Value>> = Vec::with_capacity(params.len());
        for param in params {
            let explicit =
                given.get(&param.name).map(|attribute| attribute.value.clone()).filter(is_set);
            bound.push(match (explicit, class) {
                (Some(value), _) => Some(value),
                (None, Some(class)) => match self.bound_data(class, &param.name, scope)? {
                    Some(Value::Undef) if param.default.is_some() => None,
                    found => found,
                },
                (None, None) => None,
            });
        }
        for (param, bound) in params.iter().zip(bound) {
            let value = match (bound, &param.default) {
                (Some(value), _) => value,
                (None, Some(default)) => self.eval(default, scope)?,
                (None, None) if given.contains_key(&param.name) => Value::Undef,
                (None, None) => {
                    wrong.push(format!("expects a value for parameter '{}'", param.name));
                    continue;
                }
            };
            let (span, source) = match given.get(&param.name) {
                Some(attribute) => (attribute.span, Rc::clone(&attribute.source)),
                None => (param.span, Rc::clone(&scope.frame.source)),
            };
            if let Some(ty) = &param.ty {
                let ty = self.type_of(ty, scope)?;
                if !is_instance(&ty, &value) {
                    wrong.extend(describe_mismatch(
                        &format!("parameter '{}'", param.name),
                        &ty,
                        &infer_set(&as_resource(&value)),
                    ));
                    continue;
                }
            }
            if super::is_metaparameter(&param.name) {
                scope.frame.define(&param.name, value.clone());
            } else {
                scope.frame.set(&param.name, value.clone());
            }
            // What was not given is kept under a name of small letters.
            let name = if given.contains_key(&param.name)
                || !param.name.bytes().any(|byte| byte.is_ascii_uppercase())
            {
                Rc::clone(&param.name)
            } else {
                param.name.to_lowercase().into()
            };
            self.catalog.borrow_mut().resources[at]
                .attributes
                .insert(name, Attribute::new(value, span, &source));
        }
        match wrong.as_slice() {
            [] => Ok(()),
            [line] => Err(Flow::raw(format!("{label}: {line}"))),
            lines => Err(Flow::raw(format!(
                "{label}:{}",
                lines.iter().map(|line| format!("\n  {line}")).collect::<String>()
            ))),
        }
    }

    /// Evaluates the body of a define for one resource.
    fn evaluate_define(
        &self,
        at: usize,
        entry: &Rc<Entry>,
        declared_in: &Rc<Frame>,
    ) -> Evaluated<()> {
        let (label, title, name, span) = {
            let catalog = self.catalog.borrow();
            let resource = &catalog.resources[at];
            let name = resource.attributes.get("name").map(|name| name.value.clone());
            (resource.reference(), Rc::clone(&resource.title), name, resource.span)
        };
        let frame = Frame::new(
            Some(enclosing(declared_in)),
            FrameKind::Define,
            label.as_str().into(),
            at,
            Rc::clone(&entry.module),
            Rc::clone(&entry.source),
        );
        *frame.declared_in.borrow_mut() = Some(Rc::clone(declared_in));
        let scope = Scope::new(Rc::clone(&frame));
        frame.define("title", Value::String(Rc::clone(&title)));
        frame.define("name", name.unwrap_or(Value::String(title)));
        self.define_modules(&frame, declared_in);
        let done = self
            .bind(&label, entry, at, &scope, None)
            .and_then(|()| self.eval(&entry.definition.body, &scope));
        match done {
            Ok(_) | Err(Flow::Return(..) | Flow::Next(..)) => Ok(()),
            Err(Flow::Fail(failure)) => {
                let why = self.failure_text(*failure);
                Err(Flow::line(
                    span,
                    format!("Evaluation Error: Error while evaluating a Resource Statement, {why}"),
                ))
            }
            Err(flow) => match flow.misplaced() {
                Flow::Fail(failure) => Err(Flow::Fail(Box::new(crate::eval::Failure {
                    message: format!(
                        "Evaluation Error: Error while evaluating an Object, {}",
                        failure.message
                    ),
                    place: failure.place,
                    issue: failure.issue,
                }))),
                flow => Err(flow),
            },
        }
    }
}

/// The scope around a class or define: that of the node, or the outermost.
fn enclosing(frame: &Rc<Frame>) -> Rc<Frame> {
    let mut at = Rc::clone(frame);
    loop {
        if matches!(at.kind, FrameKind::Top | FrameKind::Node) {
            return at;
        }
        let outer = at.declared_in.borrow().clone().or_else(|| at.parent.clone());
        match outer {
            Some(outer) => at = outer,
            None => return at,
        }
    }
}
