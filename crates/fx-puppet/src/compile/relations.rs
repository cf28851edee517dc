//! Relationships and overrides: what arrows and `Type[x] { }` do to declared resources.

use std::rc::Rc;

use fx_engine::Level;
use fx_puppet_syntax::{AttributeOp, RelationOp};
use fx_source::{Origin, Span};

use super::catalog::{Attribute, Attributes, kind_name};
use crate::eval::{Evaluated, Evaluator, Flow, Scope};
use crate::types::Type;
use crate::value::Value;

/// An arrow that waits until all collectors are done.
#[derive(Debug)]
pub(super) struct Relation {
    op: RelationOp,
    left: Value,
    right: Value,
    span: Span,
}

/// Attributes for a resource that is not declared yet.
#[derive(Debug, Clone)]
pub(super) struct Override {
    pub(super) kind: String,
    pub(super) title: Rc<str>,
    pub(super) attributes: Rc<Attributes>,
    pub(super) source: Rc<str>,
    pub(super) span: Span,
}

/// The value of a collector in an expression: what it will have found.
pub(super) fn collector_value(number: usize) -> Value {
    Value::ty(Type::Reference(format!("\u{0}collector {number}").into()))
}

fn collector_number(value: &Value) -> Option<usize> {
    match value {
        Value::Type(ty) => match &**ty {
            Type::Reference(name) => name.strip_prefix("\u{0}collector ")?.parse().ok(),
            _ => None,
        },
        _ => None,
    }
}

/// References in a value: kind in lower case and title.
pub(super) fn references(value: &Value, into: &mut Vec<(String, Rc<str>)>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| references(item, into)),
        Value::Type(ty) => match &**ty {
            Type::Resource { name: Some(name), title: Some(title) } => {
                into.push((name.to_string(), Rc::clone(title)))
            }
            Type::Class(Some(name)) => into.push(("class".into(), Rc::clone(name))),
            _ => {}
        },
        Value::String(text) => {
            if let Some((kind, rest)) = text.split_once('[')
                && let Some(title) = rest.strip_suffix(']')
            {
                let kind = kind.to_lowercase();
                let title: Rc<str> =
                    if kind == "class" { title.to_lowercase().into() } else { title.into() };
                into.push((kind, title));
            }
        }
        _ => {}
    }
}

/// `File[/x]`, `Class[A::B]`
pub(super) fn shown(kind: &str, title: &str) -> String {
    if kind == "class" {
        format!("Class[{}]", kind_name(title))
    } else {
        format!("{}[{title}]", kind_name(kind))
    }
}

/// Whether a side of a relationship can have one.
pub(super) fn check_operand(value: &Value, span: Span) -> Evaluated<()> {
    match value {
        Value::Array(items) => items.iter().try_for_each(|item| check_operand(item, span)),
        Value::String(text) if !text.contains('[') => {
            Err(Flow::raw(format!("The expression <{text}> is not a valid type specification.")))
        }
        Value::String(_) => Ok(()),
        Value::Type(ty) => match ty.resolved() {
            Type::Resource { .. } | Type::Class(_) | Type::Reference(_) | Type::CatalogEntry => {
                Ok(())
            }
            ty => Err(Flow::at(
                span,
                format!(
                    "Illegal relationship operand, can not form a relationship with something of type {ty}. A Catalog type is required."
                ),
            )),
        },
        other => Err(Flow::at(
            span,
            format!(
                "Illegal relationship operand, can not form a relationship with {}. A Catalog type is required.",
                crate::eval::with_article(other)
            ),
        )),
    }
}

impl Evaluator {
    pub(super) fn relate(&self, op: RelationOp, left: &Value, right: &Value, span: Span) {
        let mut pending = self.pending.borrow_mut();
        // A collector that finds nothing lets what is left of it through.
        if let (RelationOp::Before | RelationOp::Notify, Some(number)) =
            (op, collector_number(right))
        {
            pending.instead.insert(number, left.clone());
        }
        pending.relations.push(Relation { op, left: left.clone(), right: right.clone(), span });
    }

    /// What a side of a relationship stands for.
    fn members(&self, value: &Value, is_left: bool) -> Vec<(String, Rc<str>)> {
        let mut found = Vec::new();
        match (collector_number(value), value) {
            (Some(number), _) => {
                let pending = self.pending.borrow();
                let catalog = self.catalog.borrow();
                let members = &pending.collectors[number].found;
                if members.is_empty() && is_left {
                    let instead = pending.instead.get(&number).cloned();
                    drop(catalog);
                    drop(pending);
                    return instead.map(|value| self.members(&value, true)).unwrap_or_default();
                }
                for at in members {
                    let resource = &catalog.resources[*at];
                    found.push((resource.low.to_string(), Rc::clone(&resource.title)));
                }
            }
            (None, Value::Array(items)) => {
                for item in items.iter() {
                    found.extend(self.members(item, is_left));
                }
            }
            (None, value) => references(value, &mut found),
        }
        found
    }

    pub(super) fn apply_relations(&self) -> Evaluated<()> {
        let relations = std::mem::take(&mut self.pending.borrow_mut().relations);
        for Relation { op, left, right, span } in relations {
            let (source, target, attribute) = match op {
                RelationOp::Before => (left, right, "before"),
                RelationOp::Notify => (left, right, "notify"),
                RelationOp::After => (right, left, "before"),
                RelationOp::Subscribe => (right, left, "notify"),
            };
            let (sources, targets) = (self.members(&source, true), self.members(&target, false));
            for (kind, title) in &sources {
                for (target_kind, target_title) in &targets {
                    let mut catalog = self.catalog.borrow_mut();
                    let Some(at) = catalog.find(kind, title) else {
                        return Err(Flow::bare(format!(
                            "Could not find resource '{}' for relationship on '{}'",
                            shown(kind, title),
                            shown(target_kind, target_title)
                        )));
                    };
                    if catalog.find(target_kind, target_title).is_none() {
                        return Err(Flow::bare(format!(
                            "Could not find resource '{}' for relationship from '{}'",
                            shown(target_kind, target_title),
                            shown(kind, title)
                        )));
                    }
                    if self.settings.debugs {
                        let (from, to) = (shown(kind, title), shown(target_kind, target_title));
                        let text =
                            format!("Adding relationship from {from} to {to} with '{attribute}'");
                        self.run.ledger.message(Level::Debug, &text, &Origin::default());
                    }
                    let reference = reference_value(target_kind, target_title);
                    let before = shared_list(&catalog.resources[at].attributes, attribute);
                    push_reference(
                        &mut catalog.resources[at].attributes,
                        attribute,
                        reference,
                        span,
                    );
                    // A list that several resources were given is one list: all see it grow.
                    if let Some(before) = before {
                        let grown = catalog.resources[at].attributes[attribute].value.clone();
                        for resource in &mut catalog.resources {
                            if let Some(other) = resource.attributes.get_mut(attribute)
                                && matches!(&other.value, Value::Array(list) if Rc::ptr_eq(list, &before))
                            {
                                other.value = grown.clone();
                            }
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// `contain`: the class ends before what surrounds it does.
    pub(crate) fn contain(&self, scope: &Rc<Scope>, class: usize) {
        self.catalog.borrow_mut().contain(scope.frame.resource.get(), class);
    }

    /// `require`: the class comes before what surrounds this code.
    pub(crate) fn require(&self, scope: &Rc<Scope>, name: &Rc<str>) {
        let at = scope.frame.resource.get();
        let mut catalog = self.catalog.borrow_mut();
        if let Some(resource) = catalog.resources.get_mut(at) {
            let span = resource.span;
            let reference = Value::ty(Type::Class(Some(Rc::clone(name))));
            push_reference(&mut resource.attributes, "require", reference, span);
        }
    }

    pub(super) fn override_resources(
        &self,
        target: &Value,
        operations: &[AttributeOp],
        span: Span,
        scope: &Rc<Scope>,
    ) -> Evaluated<()> {
        let attributes = Rc::new(self.operations(operations, scope, span)?);
        let source = Rc::clone(&scope.frame.source);
        let mut found = Vec::new();
        references(target, &mut found);
        for (kind, title) in found {
            let known = self.catalog.borrow().find(&kind, &title);
            if let Some(at) = known {
                self.apply_override(at, &attributes, &source, span)?;
            } else {
                self.pending.borrow_mut().overrides.push(Override {
                    kind,
                    title,
                    attributes: Rc::clone(&attributes),
                    source: Rc::clone(&source),
                    span,
                });
            }
        }
        Ok(())
    }

    /// Whether code of one class may change what another set.
    fn is_child(&self, source: &str, of: &str) -> bool {
        if self.pending.borrow().overriding.contains(source) {
            return true;
        }
        let definitions = self.definitions.borrow();
        let mut at = source;
        for _ in 0..1000 {
            let Some(entry) =
                definitions.classes.get(at.strip_prefix("class ").unwrap_or_default())
            else {
                return false;
            };
            let Some(parent) = &entry.parent_source else { return false };
            if **parent == *of {
                return true;
            }
            at = parent;
        }
        false
    }

    /// Gives a declared resource further parameters, or changes them where that is allowed.
    pub(super) fn apply_override(
        &self,
        at: usize,
        attributes: &Attributes,
        source: &Rc<str>,
        span: Span,
    ) -> Evaluated<()> {
        let (owner, evaluated, reference, declared) = {
            let catalog = self.catalog.borrow();
            let resource = &catalog.resources[at];
            let evaluated = resource.evaluated && resource.definition.is_some();
            (Rc::clone(&resource.frame.source), evaluated, resource.reference(), resource.span)
        };
        self.phase(|| format!("override {reference}"));
        if owner != *source && !self.is_child(source, &owner) {
            return Err(Flow::line(span, "Only subclasses can override parameters"));
        }
        if evaluated {
            self.warn(
                &format!(
                    "Attempt to override an already evaluated resource, defined at {}, with new values {}",
                    self.line_text(declared),
                    self.line_text(span)
                ),
                None,
            );
        }
        for (name, new) in attributes {
            let current = self.catalog.borrow().resources[at].attributes.get(name).cloned();
            let mut value = new.value.clone();
            if let Some(current) = current {
                let frame = Rc::clone(&self.catalog.borrow().resources[at].frame);
                let low = Rc::clone(&self.catalog.borrow().resources[at].low);
                let is_default = |value: &Value| frame.is_default(&low, name, value);
                if is_default(&new.value) {
                    continue;
                }
                let allowed = self.is_child(source, &current.source)
                    || (*source == current.source && is_default(&current.value));
                if !allowed {
                    let by = if current.source.is_empty() {
                        String::new()
                    } else {
                        format!(" by {}", current.source)
                    };
                    return Err(Flow::line(
                        new.span,
                        format!(
                            "Parameter '{name}' is already set on {reference}{by} at {}; cannot redefine",
                            self.line_text(current.span)
                        ),
                    ));
                }
                if new.add {
                    let mut items = Vec::new();
                    flat(&current.value, &mut items);
                    flat(&new.value, &mut items);
                    value = Value::array(items);
                }
            }
            let mut catalog = self.catalog.borrow_mut();
            let resource = &mut catalog.resources[at];
            if &**name == "tag" {
                super::declare::tag_with(&mut resource.tags, &value)?;
            }
            let attribute = Attribute::new(value, new.span, source);
            resource.attributes.insert(Rc::clone(name), attribute);
        }
        Ok(())
    }
}

fn flat(value: &Value, into: &mut Vec<Value>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| flat(item, into)),
        other => into.push(other.clone()),
    }
}

pub(super) fn reference_value(kind: &str, title: &Rc<str>) -> Value {
    Value::ty(if kind == "class" {
        Type::Class(Some(Rc::clone(title)))
    } else {
        Type::Resource { name: Some(kind.into()), title: Some(Rc::clone(title)) }
    })
}

/// The list of an attribute, if somebody else holds it as well.
fn shared_list(attributes: &Attributes, name: &str) -> Option<Rc<Vec<Value>>> {
    match &attributes.get(name)?.value {
        Value::Array(list) if Rc::strong_count(list) > 1 => Some(Rc::clone(list)),
        _ => None,
    }
}

fn push_reference(attributes: &mut Attributes, name: &str, reference: Value, span: Span) {
    match attributes.get_mut(name) {
        Some(old) => {
            let mut items = match &mut old.value {
                Value::Array(items) => std::mem::take(Rc::make_mut(items)),
                Value::Undef => Vec::new(),
                other => vec![other.clone()],
            };
            items.push(reference);
            old.value = Value::array(items);
        }
        None => {
            let attribute = Attribute::new(Value::array(vec![reference]), span, &"".into());
            attributes.insert(name.into(), attribute);
        }
    }
}
