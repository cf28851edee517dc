//! Completion: defines, collectors, overrides and relationships until nothing is left.

use std::collections::VecDeque;
use std::rc::Rc;

use fx_puppet_syntax::{AttributeOp, BinaryOp, Expr, ExprKind, Form, QueryForm, RelationOp};
use fx_source::Span;
use rustc_hash::FxHashMap;

use super::definitions::Entry;
use super::{Attribute, Resource};
use crate::eval::{Evaluated, Evaluator, Flow, Frame, Scope, interpolated};
use crate::types::Type;
use crate::value::Value;

/// What waits for evaluation.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    pub(crate) class_frames: FxHashMap<Rc<str>, Rc<Frame>>,
    pub(crate) node_frame: Option<Rc<Frame>>,
    pub(crate) queue: VecDeque<(usize, Rc<Entry>)>,
    collectors: Vec<Rc<Collector>>,
    overrides: Vec<Override>,
    relations: Vec<(RelationOp, Value, Value, Span)>,
}

#[derive(Debug)]
struct Collector {
    kind: Rc<str>,
    form: QueryForm,
    query: Option<Expr>,
    operations: Vec<AttributeOp>,
    span: Span,
    scope: Rc<Scope>,
}

#[derive(Debug, Clone)]
struct Override {
    kind: String,
    title: Rc<str>,
    attributes: Vec<(Rc<str>, bool, Value, Span)>,
    span: Span,
}

/// References in a value: kind in lower case and title.
fn references(value: &Value, into: &mut Vec<(String, Rc<str>)>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| references(item, into)),
        Value::Type(ty) => match &**ty {
            Type::Resource { name: Some(name), title: Some(title) } => {
                into.push((name.to_string(), Rc::clone(title)))
            }
            Type::Class(Some(name)) => into.push(("class".into(), Rc::clone(name))),
            _ => {}
        },
        _ => {}
    }
}

impl Evaluator<'_> {
    pub(super) fn collect(
        &self,
        kind: &Rc<str>,
        form: QueryForm,
        query: Option<&Expr>,
        operations: &[AttributeOp],
        span: Span,
        scope: &Rc<Scope>,
    ) -> Evaluated {
        if !self.is_resource_type(kind) {
            return Err(Flow::raw(format!("Resource type {kind} doesn't exist")));
        }
        let collector = Collector {
            kind: Rc::clone(kind),
            form,
            query: query.cloned(),
            operations: operations.to_vec(),
            span,
            scope: Rc::clone(scope),
        };
        if form == QueryForm::Exported {
            self.warn("You cannot collect exported resources without storeconfigs being set; the collection will be ignored", Some(span));
            return Ok(Value::Undef);
        }
        let mut pending = self.pending.borrow_mut();
        pending.collectors.push(Rc::new(collector));
        // In a relationship a collector stands for what it will find.
        let number = pending.collectors.len() as i64 - 1;
        Ok(Value::Sensitive(Rc::new(Value::Int(number))))
    }

    pub(super) fn relate(
        &self,
        op: RelationOp,
        left: &Value,
        right: &Value,
        expr: &Expr,
    ) -> Evaluated<()> {
        let ExprKind::Relationship { op_span, .. } = &expr.kind else { return Ok(()) };
        self.pending.borrow_mut().relations.push((op, left.clone(), right.clone(), *op_span));
        Ok(())
    }

    pub(super) fn override_resources(
        &self,
        target: &Value,
        operations: &[AttributeOp],
        span: Span,
        scope: &Rc<Scope>,
    ) -> Evaluated<()> {
        let mut attributes = Vec::new();
        for operation in operations {
            match operation {
                AttributeOp::Set { name, append, value, span } => {
                    attributes.push((Rc::clone(name), *append, self.eval(value, scope)?, *span))
                }
                AttributeOp::Splat { value, span } => {
                    if let Value::Hash(hash) = self.eval(value, scope)? {
                        attributes.extend(hash.iter().map(|(name, value)| {
                            (interpolated(name).into(), false, value.clone(), *span)
                        }));
                    }
                }
            }
        }
        let mut found = Vec::new();
        references(target, &mut found);
        for (kind, title) in found {
            let one = Override { kind, title, attributes: attributes.clone(), span };
            let inherits = scope
                .frame
                .parent
                .as_ref()
                .is_some_and(|parent| parent.kind == crate::eval::FrameKind::Class);
            if self.catalog.borrow().find(&one.kind, &one.title).is_some() {
                self.apply_override(&one, inherits)?;
            } else {
                self.pending.borrow_mut().overrides.push(one);
            }
        }
        Ok(())
    }

    fn apply_override(&self, one: &Override, may_change: bool) -> Evaluated<()> {
        let mut catalog = self.catalog.borrow_mut();
        let Some(at) = catalog.find(&one.kind, &one.title) else { return Ok(()) };
        let resource = &mut catalog.resources[at];
        for (name, append, value, span) in &one.attributes {
            match resource.attributes.get_mut(name) {
                Some(old) if *append => {
                    let list = |value: &Value| match value {
                        Value::Array(items) => items.to_vec(),
                        other => vec![other.clone()],
                    };
                    let mut items = list(&old.value);
                    items.extend(list(value));
                    old.value = Value::array(items);
                }
                Some(old) if !may_change => {
                    let at = self.line_text(old.span);
                    return Err(Flow::raw(format!(
                        "Parameter '{name}' is already set on {} at {at}; cannot redefine",
                        resource.reference()
                    )));
                }
                _ => {
                    resource
                        .attributes
                        .insert(Rc::clone(name), Attribute { value: value.clone(), span: *span });
                }
            }
        }
        Ok(())
    }

    /// Rounds of defines and collectors until nothing changes; then what remains.
    pub(super) fn complete(&self) -> Evaluated<()> {
        const MOST_ROUNDS: usize = 1000;
        for _ in 0..MOST_ROUNDS {
            let mut moved = false;
            loop {
                let next = {
                    let mut pending = self.pending.borrow_mut();
                    let catalog = self.catalog.borrow();
                    let ready =
                        pending.queue.iter().position(|(at, _)| catalog.resources[*at].is_real());
                    ready.and_then(|ready| pending.queue.remove(ready))
                };
                let Some((at, entry)) = next else { break };
                self.evaluate_define(at, &entry)?;
                moved = true;
            }
            moved |= self.run_collectors()?;
            let waiting = std::mem::take(&mut self.pending.borrow_mut().overrides);
            for one in waiting {
                if self.catalog.borrow().find(&one.kind, &one.title).is_some() {
                    self.apply_override(&one, false)?;
                    moved = true;
                } else {
                    self.pending.borrow_mut().overrides.push(one);
                }
            }
            if !moved {
                break;
            }
        }
        if let Some(left) = self.pending.borrow().overrides.first() {
            let name = format!("{}[{}]", crate::types::capitalized(&left.kind), left.title);
            return Err(Flow::line(
                left.span,
                format!("Could not find resource(s) {name} for overriding"),
            ));
        }
        self.apply_defaults();
        self.apply_relations()?;
        self.check_attributes()
    }

    fn run_collectors(&self) -> Evaluated<bool> {
        let mut changed = false;
        let collectors = self.pending.borrow().collectors.clone();
        for collector in collectors {
            let count = self.catalog.borrow().resources.len();
            for at in 0..count {
                let resource = self.catalog.borrow().resources[at].clone();
                if !self.collected(&collector, &resource)? {
                    continue;
                }
                let newly = !resource.is_real();
                if newly {
                    self.catalog.borrow_mut().resources[at].realized = true;
                    changed = true;
                }
                for operation in &collector.operations {
                    if let AttributeOp::Set { name, value, span, .. } = operation {
                        let value = self.eval(value, &collector.scope)?;
                        let mut catalog = self.catalog.borrow_mut();
                        let attributes = &mut catalog.resources[at].attributes;
                        if attributes.get(name).is_none_or(|old| old.value != value) {
                            attributes.insert(Rc::clone(name), Attribute { value, span: *span });
                            changed = true;
                        }
                    }
                }
            }
        }
        Ok(changed)
    }

    fn collected(&self, collector: &Collector, resource: &Resource) -> Evaluated<bool> {
        if !resource.kind.eq_ignore_ascii_case(&collector.kind)
            || (collector.form == QueryForm::Exported && resource.form != Form::Exported)
        {
            return Ok(false);
        }
        let _ = collector.span;
        match &collector.query {
            Some(query) => self.query(query, resource, &collector.scope),
            None => Ok(true),
        }
    }

    fn query(&self, query: &Expr, resource: &Resource, scope: &Rc<Scope>) -> Evaluated<bool> {
        match &query.kind {
            ExprKind::Parenthesized(inner) => self.query(inner, resource, scope),
            ExprKind::Nop => Ok(true),
            ExprKind::Block(body) if body.is_empty() => Ok(true),
            ExprKind::Binary { op: BinaryOp::And, left, right, .. } => {
                Ok(self.query(left, resource, scope)? && self.query(right, resource, scope)?)
            }
            ExprKind::Binary { op: BinaryOp::Or, left, right, .. } => {
                Ok(self.query(left, resource, scope)? || self.query(right, resource, scope)?)
            }
            ExprKind::Binary {
                op: op @ (BinaryOp::Equal | BinaryOp::NotEqual),
                left,
                right,
                ..
            } => {
                let name = match &left.kind {
                    ExprKind::Name(name) | ExprKind::String(name) | ExprKind::Variable(name) => {
                        Rc::clone(name)
                    }
                    _ => interpolated(&self.eval(left, scope)?).into(),
                };
                let wanted = self.eval(right, scope)?;
                let holds = match &*name {
                    "tag" => self.resource_has_tag(resource, &interpolated(&wanted)),
                    "title" => wanted.equals(&Value::String(Rc::clone(&resource.title))),
                    name => match resource.attributes.get(name).map(|attribute| &attribute.value) {
                        Some(Value::Array(items)) => items.iter().any(|item| item.equals(&wanted)),
                        Some(value) => value.equals(&wanted),
                        None => {
                            name == "name"
                                && wanted.equals(&Value::String(Rc::clone(&resource.title)))
                        }
                    },
                };
                Ok(holds == (*op == BinaryOp::Equal))
            }
            _ => Err(Flow::at(query.span, "this kind of query is not supported")),
        }
    }

    pub(crate) fn resource_has_tag(&self, resource: &Resource, tag: &str) -> bool {
        let tag = tag.to_lowercase();
        let own = match resource.attributes.get("tag").map(|attribute| &attribute.value) {
            Some(Value::Array(items)) => {
                items.iter().any(|item| interpolated(item).to_lowercase() == tag)
            }
            Some(value) => interpolated(value).to_lowercase() == tag,
            None => false,
        };
        own || resource.title.to_lowercase() == tag
            || resource.tags.contains(&tag)
            || self.frame_has_tag(&resource.frame, &tag)
    }

    fn frame_has_tag(&self, frame: &Rc<Frame>, tag: &str) -> bool {
        let at = frame.resource.get();
        let catalog = self.catalog.borrow();
        let Some(resource) = catalog.resources.get(at) else { return false };
        resource.tags.iter().any(|known| known == tag)
            || resource.title.split("::").any(|part| part == tag)
            || frame
                .declared_in
                .borrow()
                .as_ref()
                .or(frame.parent.as_ref())
                .is_some_and(|outer| self.frame_has_tag(outer, tag))
    }

    pub(crate) fn tag(&self, scope: &Rc<Scope>, tag: &str) {
        let at = scope.frame.resource.get();
        if let Some(resource) = self.catalog.borrow_mut().resources.get_mut(at) {
            resource.tags.push(tag.to_lowercase());
        }
    }

    pub(crate) fn is_tagged(&self, scope: &Rc<Scope>, tag: &str) -> bool {
        self.frame_has_tag(&scope.frame, &tag.to_lowercase())
    }

    pub(crate) fn is_declared(&self, ty: &Type) -> bool {
        match ty {
            Type::Resource { name: Some(name), title: Some(title) } => {
                self.catalog.borrow().find(name, title).is_some()
            }
            Type::Class(Some(name)) => self.catalog.borrow().find("class", name).is_some(),
            _ => false,
        }
    }

    pub(crate) fn realize(&self, reference: &Value) -> Evaluated<()> {
        let mut found = Vec::new();
        references(reference, &mut found);
        for (kind, title) in found {
            let mut catalog = self.catalog.borrow_mut();
            match catalog.find(&kind, &title) {
                Some(at) => catalog.resources[at].realized = true,
                None => {
                    return Err(Flow::raw(format!(
                        "Failed to realize virtual resources {}[{title}]",
                        crate::types::capitalized(&kind)
                    )));
                }
            }
        }
        Ok(())
    }

    /// `contain`: the class ends before what surrounds it does.
    pub(crate) fn contain(&self, scope: &Rc<Scope>, name: &str) -> Evaluated<()> {
        let at = scope.frame.resource.get();
        self.catalog.borrow_mut().contained.push((at, name.into()));
        Ok(())
    }

    /// `require`: the class comes before what surrounds this code.
    pub(crate) fn require(&self, scope: &Rc<Scope>, name: &str) -> Evaluated<()> {
        let at = scope.frame.resource.get();
        let mut catalog = self.catalog.borrow_mut();
        if let Some(resource) = catalog.resources.get_mut(at) {
            let span = resource.span;
            push_reference(resource, "require", Value::ty(Type::Class(Some(name.into()))), span);
        }
        Ok(())
    }

    fn apply_defaults(&self) {
        let mut catalog = self.catalog.borrow_mut();
        for resource in &mut catalog.resources {
            let mut found = Vec::new();
            resource.frame.defaults_of(&resource.kind.to_lowercase(), &mut found);
            for (name, value) in found {
                let span = resource.span;
                resource.attributes.entry(name).or_insert(Attribute { value, span });
            }
        }
    }

    /// What a side of a relationship stands for.
    fn members(&self, value: &Value) -> Evaluated<Vec<(String, Rc<str>)>> {
        let mut found = Vec::new();
        match value {
            Value::Sensitive(inner) => {
                if let Value::Int(number) = **inner {
                    let collector = self.pending.borrow().collectors.get(number as usize).cloned();
                    if let Some(collector) = collector {
                        let resources = self.catalog.borrow().resources.clone();
                        for resource in &resources {
                            if self.collected(&collector, resource)? {
                                found.push((
                                    resource.kind.to_lowercase(),
                                    Rc::clone(&resource.title),
                                ));
                            }
                        }
                    }
                }
            }
            Value::Array(items) => {
                for item in items.iter() {
                    found.extend(self.members(item)?);
                }
            }
            value => references(value, &mut found),
        }
        Ok(found)
    }

    fn apply_relations(&self) -> Evaluated<()> {
        let relations = std::mem::take(&mut self.pending.borrow_mut().relations);
        for (op, left, right, span) in relations {
            let (source, target, attribute) = match op {
                RelationOp::Before => (left, right, "before"),
                RelationOp::Notify => (left, right, "notify"),
                RelationOp::After => (right, left, "before"),
                RelationOp::Subscribe => (right, left, "notify"),
            };
            let (sources, targets) = (self.members(&source)?, self.members(&target)?);
            for (kind, title) in &sources {
                for (target_kind, target_title) in &targets {
                    let mut catalog = self.catalog.borrow_mut();
                    let shown = |kind: &str, title: &str| {
                        if kind == "class" {
                            format!("Class[{}]", crate::types::capitalized(title))
                        } else {
                            format!("{}[{title}]", crate::types::capitalized(kind))
                        }
                    };
                    if catalog.find(target_kind, target_title).is_none() {
                        return Err(Flow::line(
                            span,
                            format!(
                                "Could not find resource '{}' for relationship from '{}'",
                                shown(target_kind, target_title),
                                shown(kind, title)
                            ),
                        ));
                    }
                    let Some(at) = catalog.find(kind, title) else {
                        return Err(Flow::line(
                            span,
                            format!(
                                "Could not find resource '{}' for relationship on '{}'",
                                shown(kind, title),
                                shown(target_kind, target_title)
                            ),
                        ));
                    };
                    let reference = if target_kind == "class" {
                        Type::Class(Some(Rc::clone(target_title)))
                    } else {
                        Type::Resource {
                            name: Some(target_kind.as_str().into()),
                            title: Some(Rc::clone(target_title)),
                        }
                    };
                    push_reference(
                        &mut catalog.resources[at],
                        attribute,
                        Value::ty(reference),
                        span,
                    );
                }
            }
        }
        Ok(())
    }

    /// Parameters that no type has.
    fn check_attributes(&self) -> Evaluated<()> {
        for resource in &self.catalog.borrow().resources {
            let Some(known) = super::parameters_of(&resource.kind.to_lowercase()) else { continue };
            for (name, attribute) in &resource.attributes {
                if !known.contains(&&**name) && !super::is_metaparameter(name) && resource.is_real()
                {
                    let message = format!(
                        "no parameter named '{name}' {} on {}",
                        self.line_text(attribute.span),
                        resource.reference()
                    );
                    return Err(Flow::line(resource.span, message));
                }
            }
        }
        Ok(())
    }
}

fn push_reference(resource: &mut Resource, attribute: &str, reference: Value, span: Span) {
    let old = resource.attributes.get(attribute).map(|old| old.value.clone());
    let mut items = match old {
        None | Some(Value::Undef) => Vec::new(),
        Some(Value::Array(items)) => items.to_vec(),
        Some(other) => vec![other],
    };
    if !items.contains(&reference) {
        items.push(reference);
    }
    let value = if items.len() == 1 { items.remove(0) } else { Value::array(items) };
    resource.attributes.insert(attribute.into(), Attribute { value, span });
}
