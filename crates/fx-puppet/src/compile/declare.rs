//! Declaring resources: statements, defaults and overrides as they are met. What happens
//! with classes and defines once declared is in [`super::classes`].

use std::rc::Rc;

use fx_puppet_syntax::{AttributeOp, Expr, ExprKind, Form, ResourceBody};
use fx_source::Span;
use rustc_hash::FxHashSet;

use super::catalog::{Attribute, Attributes, Resource, add_tag, is_tag, kind_name};
use crate::eval::{Evaluated, Evaluator, Flow, Issue, Scope, interpolated};
use crate::types::{Type, capitalized};
use crate::value::Value;

/// A type that is not known is named with the colons it was written with.
fn as_written(mut flow: Flow, ty: &Expr, kind: &str) -> Flow {
    if let (Flow::Fail(failure), ExprKind::Name(name)) = (&mut flow, &ty.kind)
        && name.starts_with("::")
        && matches!(&failure.issue, Issue::UnknownType(unknown) if **unknown == *kind)
    {
        failure.message = unknown_kind(name);
    }
    flow
}

fn unknown_kind(kind: &str) -> String {
    format!("Unknown resource type: '{kind}'")
}

fn no_such_type(kind: &Rc<str>) -> Flow {
    Flow::raw(unknown_kind(kind)).with(Issue::UnknownType(Rc::clone(kind)))
}

impl Evaluator {
    /// A statement about resources; its value.
    pub(crate) fn statement(&self, expr: &Expr, scope: &Rc<Scope>) -> Evaluated {
        match &expr.kind {
            ExprKind::Resource { form, ty, bodies } => {
                self.resource_statement(*form, ty, bodies, expr.span, scope)
            }
            ExprKind::ResourceDefaults { ty, operations, .. } => {
                let kind = self.kind_of(ty, scope)?;
                if &*kind == "class" {
                    return Err(Flow::at(
                        ty.span,
                        "Illegal Resource Type expression, expected result to be a type name, or untitled Resource, got Type[Class]",
                    ));
                }
                if let ExprKind::Reference(name) = &ty.kind
                    && !self.is_resource_type(&kind)?
                {
                    return Err(Flow::at(ty.span, format!("Resource type not found: {name}")));
                }
                let attributes = self.operations(operations, scope, expr.span)?;
                let mut defaults = scope.frame.defaults.borrow_mut();
                for (name, attribute) in attributes {
                    if defaults.iter().any(|(of, known, _)| *of == kind && *known == name) {
                        return Err(Flow::line(
                            expr.span,
                            format!(
                                "Default already defined for {} {{ {name} }}; cannot redefine",
                                kind_name(&kind)
                            ),
                        ));
                    }
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
            ExprKind::Relationship { op, left, right, op_span } => {
                let left = self.eval(left, scope)?;
                let right_value = self.eval(right, scope)?;
                super::relations::check_operand(&left, *op_span)?;
                super::relations::check_operand(&right_value, *op_span)?;
                self.relate(*op, &left, &right_value, *op_span);
                Ok(right_value)
            }
            _ => Ok(Value::Undef),
        }
    }

    /// The name of a resource type, in lower case.
    fn kind_of(&self, ty: &Expr, scope: &Rc<Scope>) -> Evaluated<Rc<str>> {
        Ok(match &ty.kind {
            ExprKind::Name(name) | ExprKind::Reference(name) => {
                lower(name.trim_start_matches("::"))
            }
            kind => {
                let value = self.eval(ty, scope)?;
                match &value {
                    Value::Type(ty) if !matches!(kind, ExprKind::Variable(_)) => match &**ty {
                        Type::Resource { name: Some(name), title: None } => {
                            return Ok(Rc::clone(name));
                        }
                        Type::Class(None) => return Ok("class".into()),
                        _ => {}
                    },
                    _ => {}
                }
                let got = match &value {
                    Value::Type(ty) => format!("Type[{ty}]"),
                    other => crate::types::infer(other).to_string(),
                };
                let got = if got.starts_with("String") { "String".to_owned() } else { got };
                return Err(Flow::at(
                    ty.span,
                    format!(
                        "Illegal Resource Type expression, expected result to be a type name, or untitled Resource, got {got}"
                    ),
                ));
            }
        })
    }

    /// Values of attributes as written.
    pub(super) fn operations(
        &self,
        operations: &[AttributeOp],
        scope: &Rc<Scope>,
        span: Span,
    ) -> Evaluated<Attributes> {
        let mut found = Attributes::default();
        let source = &scope.frame.source;
        let twice =
            |name: &str| Flow::at(span, format!("The attribute '{name}' has already been set"));
        for operation in operations {
            match operation {
                AttributeOp::Set { name, value, span: at, append } => {
                    let value = self.eval(value, scope)?;
                    let mut attribute = Attribute::new(value, *at, source);
                    attribute.add = *append;
                    if found.insert(Rc::clone(name), attribute).is_some() {
                        return Err(twice(name));
                    }
                }
                AttributeOp::Splat { value: splat, span: at } => match self.eval(splat, scope)? {
                    Value::Hash(hash) => {
                        for (name, value) in &*hash {
                            let name: Rc<str> = match name {
                                Value::String(name) => Rc::clone(name),
                                other => interpolated(other).into(),
                            };
                            let attribute = Attribute::new(value.clone(), *at, source);
                            if found.insert(Rc::clone(&name), attribute).is_some() {
                                return Err(twice(&name));
                            }
                        }
                    }
                    other => {
                        return Err(Flow::at(
                            splat.span,
                            format!(
                                "Expected value of type Hash, got {}",
                                crate::types::generalize(&crate::types::infer(&other))
                            ),
                        ));
                    }
                },
            }
        }
        Ok(found)
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
        if form == Form::Exported && self.settings.exports.is_none() {
            self.warn("You cannot collect exported resources without storeconfigs being set; the export is ignored", Some(span));
        }
        let mut base = Attributes::default();
        let mut prepared = Vec::new();
        let mut used: FxHashSet<Rc<str>> = FxHashSet::default();
        let mut with_default = false;
        let again = |title: &str| {
            Flow::at(
                span,
                format!("The title '{title}' has already been used in this resource expression"),
            )
        };
        for body in bodies {
            if matches!(body.title.kind, ExprKind::Default) {
                if std::mem::replace(&mut with_default, true) {
                    return Err(again("default"));
                }
                base = self.operations(&body.operations, scope, span)?;
                continue;
            }
            let title = self.eval(&body.title, scope)?;
            let mut titles = Vec::new();
            flatten_titles(&title, &mut titles).map_err(|why| Flow::at(body.title.span, why))?;
            if let Some(title) = titles.iter().find(|title| !used.insert(Rc::clone(title))) {
                return Err(again(title));
            }
            let attributes = self.operations(&body.operations, scope, span)?;
            prepared.push((titles, attributes));
        }
        let mut references = Vec::new();
        for (titles, mut attributes) in prepared {
            for (name, attribute) in &base {
                if !attributes.contains_key(name) {
                    attributes.insert(Rc::clone(name), attribute.clone());
                }
            }
            // Even where nothing is declared the type must be there.
            if titles.is_empty() && &*kind != "class" && !self.is_resource_type(&kind)? {
                return Err(as_written(no_such_type(&kind), ty, &kind));
            }
            for title in titles {
                // A resource stands where its statement begins, wherever its title is.
                let declared = self.declare(form, &kind, &title, attributes.clone(), span, scope);
                references.push(declared.map_err(|flow| as_written(flow, ty, &kind))?);
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
            self.declare_class(&name, attributes, span, scope).map_err(|mut flow| {
                // The message names it as it was written.
                if let Flow::Fail(failure) = &mut flow
                    && title.starts_with("::")
                    && matches!(&failure.issue, Issue::UnknownClass(unknown) if *unknown == name)
                {
                    failure.message = super::classes::not_declared(title);
                }
                flow
            })?;
            return Ok(Value::ty(Type::Class(Some(name))));
        }
        let native = self.native_kind(kind)?;
        let define = if native.is_some() { None } else { self.define_named(kind)? };
        if define.is_none() && native.is_none() {
            return Err(no_such_type(kind));
        }
        let mut resource = Resource::new(kind, title, span, Rc::clone(&scope.frame));
        resource.form = form;
        resource.attributes = attributes;
        resource.definition = define;
        self.complete_resource(&mut resource)?;
        self.phase(|| {
            let queued = if resource.definition.is_some() { "queue" } else { "declare" };
            format!("{queued} {}", resource.reference())
        });
        self.add_resource(resource, scope)?;
        Ok(Value::ty(Type::Resource { name: Some(Rc::clone(kind)), title: Some(Rc::clone(title)) }))
    }

    /// Tags and defaults that a new resource has.
    pub(super) fn complete_resource(&self, resource: &mut Resource) -> Evaluated<()> {
        let mut defaults = Vec::new();
        resource.frame.defaults_of(&resource.low, &mut defaults);
        for (name, value) in defaults {
            if !resource.attributes.contains_key(&name) {
                let source = Rc::clone(&resource.frame.source);
                resource.attributes.insert(name, Attribute::new(value, resource.span, &source));
            }
        }
        if let Some(tag) = resource.attributes.get("tag").map(|tag| tag.value.clone()) {
            tag_with(&mut resource.tags, &tag)
                .map_err(|flow| Flow::line(resource.span, flow.text()))?;
        }
        Ok(())
    }

    /// Adds a resource to the catalog, under what its code belongs to; its place.
    pub(super) fn add_resource(&self, resource: Resource, scope: &Rc<Scope>) -> Evaluated<usize> {
        let native = if resource.definition.is_none() && &*resource.low != "class" {
            self.native_kind(&resource.low)?
        } else {
            None
        };
        let mut catalog = self.catalog.borrow_mut();
        let by_alias = if &*resource.low == "class" {
            None
        } else {
            catalog.find(&resource.low, &resource.title)
        };
        if let Some(known) = catalog.exact(&resource.low, &resource.title).or(by_alias) {
            let known = &catalog.resources[known];
            let at = if known.span.file == self.builtin {
                String::new()
            } else {
                format!(" at {}", self.line_text(known.span))
            };
            let here = if resource.span.file == self.builtin {
                String::new()
            } else {
                format!(" {}", self.line_text(resource.span))
            };
            return Err(Flow::raw(format!(
                "Duplicate declaration: {} is already declared{at}; cannot redeclare{here}",
                resource.reference(),
            )));
        }
        if &*resource.low != "class" && resource.attributes.contains_key("stage") {
            return Err(Flow::raw(format!(
                "Only classes can set 'stage'; normal resources like {} cannot change run stage",
                resource.reference()
            )));
        }
        let inside = !matches!(&*resource.low, "class" | "stage");
        let at = catalog.add(resource);
        let mut aliases: Vec<(Rc<str>, bool)> = Vec::new();
        let resource = &catalog.resources[at];
        match resource.attributes.get("alias").map(|alias| &alias.value) {
            Some(Value::String(name)) => aliases.push((Rc::clone(name), false)),
            Some(Value::Array(names)) => {
                aliases.extend(names.iter().filter_map(|name| Some((name.as_str()?.into(), false))))
            }
            _ => {}
        }
        if let Some(native) = &native
            && native.isomorphic
        {
            let parts = native.parse_title(&resource.title).ok_or_else(|| {
                Flow::raw(format!(
                    "No set of title patterns matched the title \"{}\".",
                    resource.title
                ))
            })?;
            let mut keys = native.keys.clone();
            keys.sort();
            let values: Vec<Option<Rc<str>>> = keys
                .iter()
                .map(|key| {
                    resource
                        .attributes
                        .get(key)
                        .or_else(|| {
                            (**key == *native.namevar()).then(|| resource.attributes.get("name"))?
                        })
                        .and_then(|given| given.value.as_str().map(Rc::from))
                        .or_else(|| {
                            parts
                                .iter()
                                .find(|(name, _)| name == key)
                                .map(|(_, text)| Rc::clone(text))
                        })
                })
                .collect();
            match values.as_slice() {
                [Some(only)] if *only != resource.title => aliases.push((Rc::clone(only), true)),
                [_] => {}
                several if several.iter().flatten().count() > 0 => {
                    let key: Vec<&str> =
                        several.iter().map(|part| part.as_deref().unwrap_or("")).collect();
                    aliases.push((key.join("\0").into(), true));
                }
                _ => {}
            }
        }
        for (alias, _) in aliases {
            let taken = catalog
                .exact(&catalog.resources[at].low.clone(), &alias)
                .filter(|known| *known != at);
            if let Some(known) = taken.or_else(|| catalog.alias(at, Rc::clone(&alias))) {
                let (one, other) = (&catalog.resources[at], &catalog.resources[known]);
                let several = alias.contains('\0');
                let key = |part: &str| match part {
                    "" if several => "nil".to_owned(),
                    part => format!("{part:?}"),
                };
                let keys: Vec<String> = alias.split('\0').map(key).collect();
                let keys = keys.join(", ");
                return Err(Flow::raw(format!(
                    "Cannot alias {} to [{keys}] at {}; resource [{:?}, {keys}] already declared {}",
                    one.reference(),
                    self.line_text(one.span),
                    other.kind,
                    self.line_text(other.span)
                )));
            }
        }
        if inside {
            catalog.contain(scope.frame.resource.get(), at);
        }
        Ok(at)
    }

    /// Declares resources from a hash of attributes, for functions.
    pub(crate) fn declare_from_hash(
        &self,
        kind: &str,
        title: &Value,
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
        let kind = lower(kind.trim_start_matches('@').trim_start_matches("::"));
        let attributes = attributes
            .iter()
            .map(|(name, value)| {
                let attribute = Attribute::new(value.clone(), span, &scope.frame.source);
                (interpolated(name).into(), attribute)
            })
            .collect();
        let text: Rc<str> = match title {
            Value::String(text) => Rc::clone(text),
            other => interpolated(other).into(),
        };
        let declared = self.declare(form, &kind, &text, attributes, span, scope)?;
        if title.as_str().is_none() {
            let mut catalog = self.catalog.borrow_mut();
            if let Some(at) = catalog.exact(&kind, &text) {
                let resource = &mut catalog.resources[at];
                resource.odd_title = true;
                resource.tags.shift_remove(&text);
            }
        }
        Ok(declared)
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
            let shown = format!("{}['{title}']", capitalized(kind));
            return Err(Flow::at(span, format!("Resource not found: {shown}")));
        };
        let resource = &catalog.resources[at];
        if let Some(found) = resource.attributes.get(attribute) {
            return Ok(found.value.clone());
        }
        let known = super::is_metaparameter(attribute)
            || match &resource.definition {
                Some(entry) => {
                    entry.definition.params.iter().any(|param| *param.name == *attribute)
                }
                None => {
                    self.native_kind(kind)?.is_none_or(|known| known.parameters.contains(attribute))
                }
            };
        if !known {
            return Err(Flow::at(
                span,
                format!(
                    "The resource {}['{title}'] does not have a parameter called '{attribute}'",
                    capitalized(kind)
                ),
            ));
        }
        Ok(Value::Undef)
    }
}

/// A name in lower case, shared where it is so already.
fn lower(name: &str) -> Rc<str> {
    if name.bytes().any(|byte| byte.is_ascii_uppercase()) {
        name.to_lowercase().into()
    } else {
        name.into()
    }
}

/// Tags from the value of the parameter `tag`.
pub(super) fn tag_with(tags: &mut super::catalog::Tags, value: &Value) -> Evaluated<()> {
    match value {
        Value::Array(items) => {
            for item in items.iter() {
                tag_with(tags, item)?;
            }
        }
        Value::Undef => {}
        other => {
            let text = interpolated(other);
            if !is_tag(&text) {
                return Err(Flow::raw(format!("Invalid tag '{}'", text.to_lowercase())));
            }
            add_tag(tags, &text);
        }
    }
    Ok(())
}

fn flatten_titles(value: &Value, into: &mut Vec<Rc<str>>) -> Result<(), String> {
    match value {
        Value::String(title) if title.is_empty() => {
            return Err(format!(
                "Empty string title at {}. Title strings must have a length greater than zero.",
                into.len()
            ));
        }
        Value::String(title) => into.push(Rc::clone(title)),
        Value::Array(items) => {
            for item in items.iter() {
                if matches!(item, Value::Undef) {
                    return Err(format!(
                        "Missing title at index {}. The title expression resulted in an undef title",
                        into.len()
                    ));
                }
                flatten_titles(item, into)?;
            }
        }
        Value::Type(ty) if matches!(**ty, Type::Class(_) | Type::Resource { .. }) => {
            into.push(match &**ty {
                Type::Class(Some(name)) => Rc::clone(name),
                Type::Resource { name: Some(kind), title: Some(title) } => {
                    format!("{}[{title}]", kind_name(kind)).into()
                }
                ty => ty.to_string().into(),
            })
        }
        Value::Undef => return Err("Missing title. The title expression resulted in undef".into()),
        other => {
            return Err(format!(
                "Illegal title type at index {}. Expected String, got {}",
                into.len(),
                crate::types::generalize(&crate::types::infer(other))
            ));
        }
    }
    Ok(())
}
