//! Declaring resources and classes.

use std::rc::Rc;

use fx_puppet_syntax::{AttributeOp, Expr, ExprKind, Form, Param, ResourceBody};
use fx_source::Span;
use indexmap::IndexMap;

use super::definitions::Entry;
use super::{Attribute, Resource};
use crate::eval::{Evaluated, Evaluator, Flow, Frame, FrameKind, Scope, interpolated};
use crate::types::{Type, capitalized, describe_mismatch, infer_set, is_instance};
use crate::value::Value;

type Attributes = IndexMap<Rc<str>, Attribute>;

impl Evaluator<'_> {
    /// A statement about resources; its value.
    pub(crate) fn statement(&self, expr: &Expr, scope: &Rc<Scope>) -> Evaluated {
        match &expr.kind {
            ExprKind::Resource { form, ty, bodies } => {
                self.resource_statement(*form, ty, bodies, expr.span, scope)
            }
            ExprKind::ResourceDefaults { ty, operations, .. } => {
                let kind = self.kind_of(ty, scope)?;
                let mut attributes = Attributes::new();
                self.operations(operations, &mut attributes, scope, expr.span)?;
                let mut defaults = scope.frame.defaults.borrow_mut();
                for (name, attribute) in attributes {
                    defaults.push((kind.clone(), name, attribute.value));
                }
                Ok(Value::ty(Type::Resource { name: Some(kind), title: None }))
            }
            ExprKind::ResourceOverride { resources, operations, .. } => {
                let target = self.eval(resources, scope)?;
                self.override_resources(&target, operations, expr.span, scope)?;
                Ok(target)
            }
            ExprKind::Collector { ty, query, operations, form } => {
                let kind = self.kind_of(ty, scope)?;
                if &*kind == "class" {
                    return Err(Flow::raw("Classes cannot be collected"));
                }
                self.collect(&kind, *form, query.as_deref(), operations, expr.span, scope)
            }
            ExprKind::Relationship { op, left, right, .. } => {
                let left = self.eval(left, scope)?;
                let right_value = self.eval(right, scope)?;
                self.relate(*op, &left, &right_value, expr)?;
                Ok(right_value)
            }
            _ => Ok(Value::Undef),
        }
    }

    /// The name of a resource type, in lower case.
    fn kind_of(&self, ty: &Expr, scope: &Rc<Scope>) -> Evaluated<Rc<str>> {
        Ok(match &ty.kind {
            ExprKind::Name(name) | ExprKind::Reference(name) => {
                name.trim_start_matches("::").to_lowercase().into()
            }
            _ => match self.eval(ty, scope)? {
                Value::Type(ty) => match &*ty {
                    Type::Resource { name: Some(name), .. } => Rc::clone(name),
                    Type::Class(_) => "class".into(),
                    other => return Err(Flow::raw(format!("{other} is not a resource type"))),
                },
                Value::String(name) => name.to_lowercase().into(),
                other => {
                    return Err(Flow::raw(format!(
                        "{} is not a resource type",
                        interpolated(&other)
                    )));
                }
            },
        })
    }

    fn operations(
        &self,
        operations: &[AttributeOp],
        into: &mut Attributes,
        scope: &Rc<Scope>,
        span: Span,
    ) -> Evaluated<()> {
        for operation in operations {
            match operation {
                AttributeOp::Set { name, value, span: at, .. } => {
                    let value = self.eval(value, scope)?;
                    if into.contains_key(name) {
                        return Err(Flow::at(
                            span,
                            format!("The attribute '{name}' has already been set"),
                        ));
                    }
                    into.insert(Rc::clone(name), Attribute { value, span: *at });
                }
                AttributeOp::Splat { value, span: at } => match self.eval(value, scope)? {
                    Value::Hash(hash) => {
                        for (name, value) in &*hash {
                            let name: Rc<str> = interpolated(name).into();
                            if into.contains_key(&name) {
                                return Err(Flow::at(
                                    span,
                                    format!("The attribute '{name}' has already been set"),
                                ));
                            }
                            into.insert(name, Attribute { value: value.clone(), span: *at });
                        }
                    }
                    other => {
                        return Err(Flow::at(
                            *at,
                            format!(
                                "The value '{}' cannot be used where a Hash is expected",
                                interpolated(&other)
                            ),
                        ));
                    }
                },
            }
        }
        Ok(())
    }

    fn resource_statement(
        &self,
        form: Form,
        ty: &Expr,
        bodies: &[ResourceBody],
        span: Span,
        scope: &Rc<Scope>,
    ) -> Evaluated {
        let kind = self.kind_of(ty, scope)?;
        if form == Form::Exported {
            self.warn("You cannot collect exported resources without storeconfigs being set; the export is ignored", Some(span));
        }
        let mut base = Attributes::new();
        let mut prepared = Vec::new();
        for body in bodies {
            let mut attributes = Attributes::new();
            if matches!(body.title.kind, ExprKind::Default) {
                self.operations(&body.operations, &mut base, scope, span)?;
                continue;
            }
            let title = self.eval(&body.title, scope)?;
            let mut titles = Vec::new();
            flatten_titles(&title, &mut titles).map_err(|why| Flow::at(body.title.span, why))?;
            self.operations(&body.operations, &mut attributes, scope, span)?;
            prepared.push((titles, attributes));
        }
        let mut references = Vec::new();
        for (titles, attributes) in prepared {
            for title in titles {
                let mut all = attributes.clone();
                for (name, attribute) in &base {
                    all.entry(Rc::clone(name)).or_insert_with(|| attribute.clone());
                }
                references.push(self.declare(form, &kind, &title, all, span, scope)?);
            }
        }
        Ok(Value::array(references))
    }

    /// Declares one resource.
    pub(crate) fn declare(
        &self,
        form: Form,
        kind: &Rc<str>,
        title: &Rc<str>,
        attributes: Attributes,
        span: Span,
        scope: &Rc<Scope>,
    ) -> Evaluated {
        if &**kind == "class" {
            let name: Rc<str> = title.trim_start_matches("::").to_lowercase().into();
            self.declare_class(&name, Some(attributes), span, scope)?;
            return Ok(Value::ty(Type::Class(Some(name))));
        }
        let define =
            if super::parameters_of(kind).is_some() { None } else { self.define_named(kind)? };
        if define.is_none() && super::parameters_of(kind).is_none() {
            return Err(Flow::raw(format!("Unknown resource type: '{kind}'")));
        }
        let mut resource = Resource::new(&capitalized(kind), title, span, Rc::clone(&scope.frame));
        resource.form = form;
        resource.attributes = attributes;
        self.add_resource(resource, span)?;
        if let Some(define) = define {
            let at = self.catalog.borrow().resources.len() - 1;
            self.pending.borrow_mut().queue.push_back((at, define));
        }
        Ok(Value::ty(Type::Resource { name: Some(Rc::clone(kind)), title: Some(Rc::clone(title)) }))
    }

    fn add_resource(&self, mut resource: Resource, span: Span) -> Evaluated<()> {
        let mut catalog = self.catalog.borrow_mut();
        if let Some(known) = catalog.find(&resource.kind, &resource.title) {
            let at = self.line_text(catalog.resources[known].span);
            return Err(Flow::raw(format!(
                "Duplicate declaration: {} is already declared at {at}; cannot redeclare {}",
                resource.reference(),
                self.line_text(span)
            )));
        }
        resource.tags.push(resource.kind.to_lowercase());
        catalog.add(resource);
        Ok(())
    }

    /// Declares resources from a hash of attributes, for functions.
    pub(crate) fn declare_from_hash(
        &self,
        kind: &str,
        title: &str,
        attributes: &crate::value::Hash,
        span: Span,
        scope: &Rc<Scope>,
    ) -> Evaluated {
        let form = if kind.starts_with("@@") {
            Form::Exported
        } else if kind.starts_with('@') {
            Form::Virtual
        } else {
            Form::Regular
        };
        let kind: Rc<str> =
            kind.trim_start_matches('@').trim_start_matches("::").to_lowercase().into();
        let attributes = attributes
            .iter()
            .map(|(name, value)| {
                (interpolated(name).into(), Attribute { value: value.clone(), span })
            })
            .collect();
        self.declare(form, &kind, &title.into(), attributes, span, scope)
    }

    /// Declares a class unless it is declared already.
    pub(crate) fn include(&self, name: &Rc<str>, scope: &Rc<Scope>) -> Evaluated<()> {
        if self.pending.borrow().class_frames.contains_key(name) {
            return Ok(());
        }
        let span = Span::new(self.builtin, 0, 0);
        self.declare_class(name, None, span, scope)
    }

    fn declare_class(
        &self,
        name: &Rc<str>,
        given: Option<Attributes>,
        span: Span,
        scope: &Rc<Scope>,
    ) -> Evaluated<()> {
        let Some(entry) = self.class_named(name)? else {
            let shown = if given.is_some() { name.to_string() } else { format!("::{name}") };
            return Err(Flow::raw(if given.is_some() {
                format!("Could not find declared class {shown}")
            } else {
                format!("Could not find class {shown} for {}", self.settings.node)
            }));
        };
        let mut resource = Resource::new("Class", name, span, Rc::clone(&scope.frame));
        if let Some(given) = given {
            resource.attributes = given;
        }
        resource.tags.extend(name.split("::").map(str::to_owned));
        resource.tags.push(name.to_string());
        let given = resource.attributes.clone();
        self.add_resource(resource, span)?;
        let at = self.catalog.borrow().resources.len() - 1;
        let parent = match &entry.definition.parent {
            Some(parent) => {
                let parent: Rc<str> = parent.trim_start_matches("::").to_lowercase().into();
                self.include(&parent, scope)?;
                self.pending.borrow().class_frames.get(&parent).cloned()
            }
            None => None,
        };
        let outer = parent
            .or_else(|| self.pending.borrow().node_frame.clone())
            .unwrap_or_else(|| Rc::clone(&self.top));
        let module: Rc<str> = name.split("::").next().unwrap_or_default().into();
        let label = format!("Class[{}]", capitalized(name));
        let frame = Frame::new(Some(outer), FrameKind::Class, label.as_str().into(), at, module);
        *frame.declared_in.borrow_mut() = Some(Rc::clone(&scope.frame));
        self.pending.borrow_mut().class_frames.insert(Rc::clone(name), Rc::clone(&frame));
        let inner = Scope::new(Rc::clone(&frame));
        frame.define("title", Value::String(Rc::clone(name)));
        frame.define("name", Value::String(Rc::clone(name)));
        frame.define("module_name", Value::String(Rc::clone(&frame.module)));
        self.bind(&label, &entry, &given, at, &inner, Some(name))?;
        match self.eval(&entry.definition.body, &inner) {
            Ok(_) | Err(Flow::Return(..)) => Ok(()),
            Err(flow) => Err(flow.misplaced()),
        }
    }

    /// Gives parameters their values: given, from data, or by default.
    fn bind(
        &self,
        label: &str,
        entry: &Entry,
        given: &Attributes,
        at: usize,
        scope: &Rc<Scope>,
        class: Option<&Rc<str>>,
    ) -> Evaluated<()> {
        let params: &[Param] = &entry.definition.params;
        let mut wrong = Vec::new();
        for name in given.keys() {
            if !params.iter().any(|param| param.name == *name) && !super::is_metaparameter(name) {
                wrong.push(format!("has no parameter named '{name}'"));
            }
        }
        for param in params {
            let explicit = given
                .get(&param.name)
                .map(|attribute| attribute.value.clone())
                .filter(|value| !matches!(value, Value::Undef));
            let bound = match (explicit, class) {
                (Some(value), _) => Some(value),
                (None, Some(class)) => self
                    .data(&format!("{class}::{}", param.name))?
                    .filter(|value| !matches!(value, Value::Undef)),
                (None, None) => None,
            };
            let value = match (bound, &param.default) {
                (Some(value), _) => value,
                (None, Some(default)) => self.eval(default, scope)?,
                (None, None) if given.contains_key(&param.name) => Value::Undef,
                (None, None) => {
                    wrong.push(format!("expects a value for parameter '{}'", param.name));
                    continue;
                }
            };
            if let Some(ty) = &param.ty {
                let ty = self.type_of(ty, scope)?;
                if !is_instance(&ty, &value) {
                    wrong.extend(describe_mismatch(
                        &format!("parameter '{}'", param.name),
                        &ty,
                        &infer_set(&value),
                    ));
                    continue;
                }
            }
            scope.frame.set(&param.name, value.clone());
            let mut catalog = self.catalog.borrow_mut();
            let span = given.get(&param.name).map_or(param.span, |attribute| attribute.span);
            catalog.resources[at]
                .attributes
                .insert(Rc::clone(&param.name), Attribute { value, span });
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
    pub(super) fn evaluate_define(&self, at: usize, entry: &Entry) -> Evaluated<()> {
        let (label, title, given, declared_in, name, span) = {
            let catalog = self.catalog.borrow();
            let resource = &catalog.resources[at];
            (
                resource.reference(),
                Rc::clone(&resource.title),
                resource.attributes.clone(),
                Rc::clone(&resource.frame),
                Rc::clone(&resource.kind),
                resource.span,
            )
        };
        let outer =
            self.pending.borrow().node_frame.clone().unwrap_or_else(|| Rc::clone(&self.top));
        let module: Rc<str> = if entry.module.is_empty() {
            name.split("::").next().unwrap_or_default().to_lowercase().into()
        } else {
            Rc::clone(&entry.module)
        };
        let frame = Frame::new(Some(outer), FrameKind::Define, label.as_str().into(), at, module);
        *frame.declared_in.borrow_mut() = Some(declared_in);
        let scope = Scope::new(Rc::clone(&frame));
        frame.define("title", Value::String(Rc::clone(&title)));
        frame.define("name", Value::String(title));
        frame.define("module_name", Value::String(Rc::clone(&frame.module)));
        for (name, attribute) in &given {
            if super::is_metaparameter(name) {
                frame.define(name, attribute.value.clone());
            }
        }
        for name in [
            "alias",
            "audit",
            "before",
            "loglevel",
            "noop",
            "notify",
            "require",
            "schedule",
            "stage",
            "subscribe",
            "tag",
        ] {
            if frame.own(name).is_none() {
                frame.define(name, Value::Undef);
            }
        }
        let placed = |flow: Flow| match flow {
            Flow::Fail(failure) if failure.place == crate::eval::Place::Raw => Flow::at(
                span,
                format!("Error while evaluating a Resource Statement, {}", failure.message),
            ),
            flow => flow,
        };
        self.bind(&label, entry, &given, at, &scope, None).map_err(placed)?;
        match self.eval(&entry.definition.body, &scope) {
            Ok(_) | Err(Flow::Return(..)) => Ok(()),
            Err(flow) => Err(flow.misplaced()),
        }
    }

    /// `File['/x']['mode']`
    pub(crate) fn resource_attribute(
        &self,
        kind: &str,
        title: &str,
        attribute: &str,
        span: Span,
    ) -> Evaluated {
        let catalog = self.catalog.borrow();
        let Some(at) = catalog.find(kind, title) else {
            let shown = if kind == "class" {
                format!("Class[{title}]")
            } else {
                format!("{}[{title}]", capitalized(kind))
            };
            return Err(Flow::at(span, format!("Resource not found: {shown}")));
        };
        let resource = &catalog.resources[at];
        if let Some(found) = resource.attributes.get(attribute) {
            return Ok(found.value.clone());
        }
        if let Some(value) = resource.frame.default_of(kind, attribute) {
            return Ok(value);
        }
        let known = super::is_metaparameter(attribute)
            || super::parameters_of(kind).is_none_or(|known| known.contains(&attribute));
        if !known {
            return Err(Flow::at(
                span,
                format!(
                    "The resource {} does not have a parameter called '{attribute}'",
                    resource.reference()
                ),
            ));
        }
        Ok(Value::Undef)
    }
}

fn flatten_titles(value: &Value, into: &mut Vec<Rc<str>>) -> Result<(), String> {
    match value {
        Value::String(title) if title.is_empty() => {
            return Err(
                "Empty string title at 0. Title strings must have a length greater than zero."
                    .into(),
            );
        }
        Value::String(title) => into.push(Rc::clone(title)),
        Value::Array(items) => {
            for item in items.iter() {
                flatten_titles(item, into)?;
            }
        }
        Value::Type(ty) => into.push(match &**ty {
            Type::Class(Some(name)) => Rc::clone(name),
            ty => ty.to_string().into(),
        }),
        Value::Undef => return Err("Missing title. The title expression resulted in undef".into()),
        other => {
            return Err(format!(
                "Illegal title type at index 0. Expected String, got {}",
                crate::eval::kind(other)
            ));
        }
    }
    Ok(())
}
