//! Collectors: which resources a query means, making them real, and changing them.

use std::rc::Rc;

use fx_puppet_syntax::{AttributeOp, BinaryOp, Expr, ExprKind, Form, QueryForm};
use fx_source::Span;
use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;

use super::catalog::{Attribute, Attributes, Resource, kind_name};
use super::relations::references;
use crate::eval::{Evaluated, Evaluator, Flow, Frame, Scope, interpolated};
use crate::exports::{ExportFilter, ExportedResource};
use crate::types::Type;
use crate::value::Value;

/// A query that is asked again whenever there are new resources.
#[derive(Debug)]
pub(super) struct Collector {
    what: What,
    /// Resources found so far, in order.
    pub(super) found: IndexSet<usize, FxBuildHasher>,
    /// Resources of the type looked at so far: matches never go away.
    span: Span,
}

#[derive(Debug, Clone)]
enum What {
    Query {
        kind: Rc<str>,
        query: Option<Rc<Query>>,
        overrides: Option<Rc<Attributes>>,
        source: Rc<str>,
    },
    /// What nodes export: those of this node as they come, those of others once.
    Exported {
        kind: Rc<str>,
        query: Option<Rc<Query>>,
        overrides: Option<Rc<Attributes>>,
        scope: Rc<Scope>,
        is_asked: bool,
    },
    /// `realize`: what is still to be found.
    These(Vec<(String, Rc<str>)>),
}

#[derive(Debug)]
enum Query {
    And(Box<Query>, Box<Query>),
    Or(Box<Query>, Box<Query>),
    Tag(Vec<String>),
    Equal(Rc<str>, Value, bool),
}

/// What a collector looks for.
struct Wish<'a> {
    kind: &'a str,
    query: Option<&'a Query>,
    exported_only: bool,
}

impl Evaluator {
    pub(super) fn collect(
        &self,
        kind: &Rc<str>,
        form: QueryForm,
        query: Option<&Expr>,
        operations: &[AttributeOp],
        span: Span,
        scope: &Rc<Scope>,
    ) -> Evaluated {
        if !self.is_resource_type(kind)? {
            return Err(Flow::raw(format!("Resource type {kind} doesn't exist")));
        }
        let overrides = if operations.is_empty() {
            None
        } else {
            Some(Rc::new(self.operations(operations, scope, span)?))
        };
        let query = match query {
            Some(query) => self.read_query(query, scope)?.map(Rc::new),
            None => None,
        };
        if form == QueryForm::Exported && self.settings.exports.is_none() {
            self.warn("You cannot collect exported resources without storeconfigs being set; the collection will be ignored", Some(span));
            return Ok(Value::array(Vec::new()));
        }
        let source = Rc::clone(&scope.frame.source);
        let kind = Rc::clone(kind);
        let what = match form {
            QueryForm::Exported => {
                let scope = Scope::new(Rc::clone(&scope.frame));
                What::Exported { kind, query, overrides, scope, is_asked: false }
            }
            QueryForm::Virtual => What::Query { kind, query, overrides, source },
        };
        let mut pending = self.pending.borrow_mut();
        pending.collectors.push(Collector { what, found: IndexSet::default(), span });
        // In a relationship a collector stands for what it will find.
        Ok(super::relations::collector_value(pending.collectors.len() - 1))
    }

    fn read_query(&self, query: &Expr, scope: &Rc<Scope>) -> Evaluated<Option<Query>> {
        Ok(Some(match &query.kind {
            ExprKind::Parenthesized(inner) => return self.read_query(inner, scope),
            ExprKind::Nop => return Ok(None),
            ExprKind::Block(body) if body.is_empty() => return Ok(None),
            ExprKind::Binary { op: op @ (BinaryOp::And | BinaryOp::Or), left, right, .. } => {
                let left = self.read_query(left, scope)?;
                let right = self.read_query(right, scope)?;
                let (Some(left), Some(right)) = (left, right) else { return Ok(None) };
                match op {
                    BinaryOp::And => Query::And(left.into(), right.into()),
                    _ => Query::Or(left.into(), right.into()),
                }
            }
            ExprKind::Binary {
                op: op @ (BinaryOp::Equal | BinaryOp::NotEqual),
                left,
                right,
                ..
            } => {
                let name: Rc<str> = match &left.kind {
                    ExprKind::Name(name) | ExprKind::String(name) => Rc::clone(name),
                    _ => interpolated(&self.eval(left, scope)?).into(),
                };
                let wanted = self.eval(right, scope)?;
                let is_equal = *op == BinaryOp::Equal;
                if &*name == "tag" && is_equal {
                    let tags = match &wanted {
                        Value::Array(items) => items.to_vec(),
                        other => vec![other.clone()],
                    };
                    let tags = tags.iter().map(|tag| interpolated(tag).to_lowercase()).collect();
                    Query::Tag(tags)
                } else {
                    Query::Equal(name, wanted, is_equal)
                }
            }
            _ => return Err(Flow::at(query.span, "this kind of query is not supported")),
        }))
    }

    /// Asks all collectors once; whether anything new was found.
    pub(super) fn run_collectors(&self) -> Evaluated<bool> {
        let mut changed = false;
        let count = self.pending.borrow().collectors.len();
        for number in 0..count {
            let what = self.pending.borrow().collectors[number].what.clone();
            match what {
                What::Query { kind, query, overrides, source } => {
                    let wish = Wish { kind: &kind, query: query.as_deref(), exported_only: false };
                    changed |= self.ask(number, &wish, overrides.as_ref(), &source)?;
                }
                What::Exported { kind, query, overrides, scope, is_asked } => {
                    let wish = Wish { kind: &kind, query: query.as_deref(), exported_only: true };
                    let source = Rc::clone(&scope.frame.source);
                    changed |= self.ask(number, &wish, overrides.as_ref(), &source)?;
                    if !is_asked {
                        changed |= self.import(number, &wish, overrides.as_ref(), &scope)?;
                        let mut pending = self.pending.borrow_mut();
                        if let What::Exported { is_asked, .. } =
                            &mut pending.collectors[number].what
                        {
                            *is_asked = true;
                        }
                    }
                }
                What::These(wanted) => {
                    let mut left = Vec::new();
                    for (kind, title) in wanted {
                        let found = self.catalog.borrow().find(&kind, &title);
                        match found {
                            Some(at) => {
                                self.phase(|| {
                                    format!("realize {}", super::relations::shown(&kind, &title))
                                });
                                self.catalog.borrow_mut().resources[at].realized = true;
                                changed |=
                                    self.pending.borrow_mut().collectors[number].found.insert(at);
                            }
                            None => left.push((kind, title)),
                        }
                    }
                    self.pending.borrow_mut().collectors[number].what = What::These(left);
                }
            }
        }
        Ok(changed)
    }

    fn ask(
        &self,
        number: usize,
        wish: &Wish<'_>,
        overrides: Option<&Rc<Attributes>>,
        source: &Rc<str>,
    ) -> Evaluated<bool> {
        let mut new = Vec::new();
        {
            let pending = self.pending.borrow();
            let catalog = self.catalog.borrow();
            let known = &pending.collectors[number].found;
            for at in catalog.of_kind(wish.kind) {
                if !known.contains(at)
                    && (!wish.exported_only || catalog.resources[*at].form == Form::Exported)
                    && wish.query.is_none_or(|query| {
                        answers(query, &catalog.resources[*at], &catalog.resources)
                    })
                {
                    new.push(*at);
                }
            }
        }
        self.collected(number, new, overrides, source)
    }

    /// Makes what a collector found real.
    fn collected(
        &self,
        number: usize,
        new: Vec<usize>,
        overrides: Option<&Rc<Attributes>>,
        source: &Rc<str>,
    ) -> Evaluated<bool> {
        if new.is_empty() {
            return Ok(false);
        }
        if overrides.is_some() {
            self.pending.borrow_mut().overriding.insert(Rc::clone(source));
        }
        for at in &new {
            self.phase(|| format!("collect {}", self.catalog.borrow().resources[*at].reference()));
            self.catalog.borrow_mut().resources[*at].realized = true;
            if let Some(overrides) = overrides {
                let span = self.pending.borrow().collectors[number].span;
                self.apply_override(*at, overrides, source, span)?;
            }
        }
        self.pending.borrow_mut().collectors[number].found.extend(new);
        Ok(true)
    }

    /// Adds what other nodes export.
    fn import(
        &self,
        number: usize,
        wish: &Wish<'_>,
        overrides: Option<&Rc<Attributes>>,
        scope: &Rc<Scope>,
    ) -> Evaluated<bool> {
        let Some(exports) = &self.settings.exports else { return Ok(false) };
        let filter = wish.query.map(export_filter);
        let kind = kind_name(wish.kind);
        let found = exports.collect(&kind, &self.settings.node, filter.as_ref());
        let mut new = Vec::new();
        for one in found.map_err(Flow::bare)? {
            let known = self.catalog.borrow().find(wish.kind, &one.title);
            match known {
                Some(at) if self.pending.borrow().imported.get(&at) == Some(&one.node) => {}
                Some(_) => {
                    return Err(Flow::raw(format!(
                        "A duplicate resource was found while collecting exported resources, with the type and title {}[{}]",
                        one.kind, one.title
                    )));
                }
                None => {
                    let at = self.import_one(wish.kind, &one, scope)?;
                    self.pending.borrow_mut().imported.insert(at, one.node);
                    new.push(at);
                }
            }
        }
        self.collected(number, new, overrides, &scope.frame.source)
    }

    fn import_one(&self, low: &str, one: &ExportedResource, scope: &Rc<Scope>) -> Evaluated<usize> {
        // No manifest of this node has it.
        let nowhere = Span::new(self.builtin, 0, 0);
        let mut resource = Resource::new(low, &one.title, nowhere, Rc::clone(&scope.frame));
        if self.native_kind(low)?.is_none() {
            resource.definition = self.define_named(low)?;
        }
        for (name, value) in &one.parameters {
            let given = Attribute::new(super::from_json(value), nowhere, &scope.frame.source);
            resource.attributes.insert(name.as_str().into(), given);
        }
        self.complete_resource(&mut resource)?;
        self.phase(|| format!("collect {} of {}", resource.reference(), one.node));
        self.add_resource(resource, scope)
    }

    pub(crate) fn resource_has_tag(&self, resource: &Resource, tag: &str) -> bool {
        let tag = tag.to_lowercase();
        has_tag(resource, &tag, &self.catalog.borrow().resources)
    }

    pub(crate) fn tag(&self, scope: &Rc<Scope>, tag: &str) -> Evaluated<()> {
        let at = scope.frame.resource.get();
        match self.catalog.borrow_mut().resources.get_mut(at) {
            Some(resource) => super::declare::tag_with(&mut resource.tags, &Value::from(tag)),
            None => Ok(()),
        }
    }

    pub(crate) fn is_tagged(&self, scope: &Rc<Scope>, tag: &str) -> bool {
        let tag = tag.to_lowercase();
        let catalog = self.catalog.borrow();
        catalog.tags.contains(tag.as_str())
            || catalog
                .resources
                .get(scope.frame.resource.get())
                .is_some_and(|resource| has_tag(resource, &tag, &catalog.resources))
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

    /// `realize`: what the references mean becomes real as soon as it is there.
    pub(crate) fn realize(&self, values: &[Value], span: Span) {
        let mut found = Vec::new();
        for value in values {
            references(value, &mut found);
        }
        self.pending.borrow_mut().collectors.push(Collector {
            what: What::These(found),
            found: IndexSet::default(),
            span,
        });
    }

    /// References given to `realize` that nothing answers.
    pub(super) fn unrealized(&self) -> Vec<String> {
        let pending = self.pending.borrow();
        pending
            .collectors
            .iter()
            .filter_map(|collector| match &collector.what {
                What::These(left) => Some(left),
                What::Query { .. } | What::Exported { .. } => None,
            })
            .flatten()
            .map(|(kind, title)| super::relations::shown(kind, title))
            .collect()
    }
}

fn has_tag(resource: &Resource, tag: &str, all: &[Resource]) -> bool {
    let mut at = resource;
    // What is declared inside something has its tags as soon as these are given.
    for _ in 0..1000 {
        if at.tags.contains(tag) {
            return true;
        }
        let frame: &Rc<Frame> = &at.frame;
        match all.get(frame.resource.get()) {
            Some(outer) if !std::ptr::eq(outer, at) => at = outer,
            _ => return false,
        }
    }
    false
}

/// A query as the store of the server has it.
fn export_filter(query: &Query) -> ExportFilter {
    let two = |left: &Query, right: &Query| {
        (Box::new(export_filter(left)), Box::new(export_filter(right)))
    };
    match query {
        Query::And(left, right) => {
            let (left, right) = two(left, right);
            ExportFilter::And(left, right)
        }
        Query::Or(left, right) => {
            let (left, right) = two(left, right);
            ExportFilter::Or(left, right)
        }
        Query::Tag(tags) => {
            let mut tags = tags.iter().map(|tag| ExportFilter::Tag(tag.clone()));
            let first = tags.next().unwrap_or_else(|| ExportFilter::Tag(String::new()));
            tags.fold(first, |all, tag| ExportFilter::Or(all.into(), tag.into()))
        }
        Query::Equal(name, value, is_equal) => {
            let value = super::to_json(value);
            let filter = match &**name {
                "title" => ExportFilter::Title(value),
                "tag" => ExportFilter::Tag(value.as_str().unwrap_or_default().to_lowercase()),
                name => ExportFilter::Parameter(name.to_owned(), value),
            };
            if *is_equal { filter } else { ExportFilter::Not(filter.into()) }
        }
    }
}

/// Whether a resource is what a query asks for.
fn answers(query: &Query, resource: &Resource, all: &[Resource]) -> bool {
    match query {
        Query::And(left, right) => answers(left, resource, all) && answers(right, resource, all),
        Query::Or(left, right) => answers(left, resource, all) || answers(right, resource, all),
        Query::Tag(tags) => tags.iter().any(|tag| has_tag(resource, tag, all)),
        Query::Equal(name, wanted, is_equal) => {
            let own = if &**name == "title" {
                Some(Value::String(resource.shown_title()))
            } else {
                resource.attributes.get(name).map(|attribute| attribute.value.clone())
            };
            let own = own.unwrap_or(Value::Undef);
            let holds = match &own {
                Value::Array(items) if *is_equal => items.iter().any(|item| item.equals(wanted)),
                own => own.equals(wanted),
            };
            holds == *is_equal
        }
    }
}
