//! What one block declares: the same resource twice, and orders that lead in a circle.
//!
//! Only titles and references that stand there as they are count, and only what is in one list
//! of statements: what a condition chooses may be declared elsewhere as well.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use fx_puppet_syntax::{AttributeOp, Expr, ExprKind, Form, RelationOp};
use fx_source::Span;

use super::{Linter, nearest};

/// A type and a title, both as they are compared.
type Name = (String, String);

#[derive(Default)]
struct Declared {
    at: BTreeMap<Name, Span>,
    /// First, then, and where that is said.
    orders: Vec<(Name, Name, Span)>,
    references: Vec<(Name, Span)>,
}

impl Linter {
    pub(super) fn declared(&mut self, statements: &[Expr]) {
        let mut all = Declared::default();
        let mut set = BTreeSet::new();
        for statement in statements {
            self.statement(statement, &mut all);
            if let ExprKind::Assign { left, .. } = &statement.kind
                && let ExprKind::Variable(name) = &left.kind
                && !set.insert(Rc::clone(name))
            {
                let message = format!("variable '${name}' is set twice");
                self.wrong("puppet-set-twice", left.span, message, None);
            }
        }
        self.circles(&all);
        for (name, span) in &all.references {
            let same = |known: &&Name| known.0 == name.0;
            if all.at.contains_key(name) {
                continue;
            }
            // Other files may declare it; a name that is almost the same is the one.
            let titles = all.at.keys().filter(same).map(|known| known.1.as_str());
            if let Some(near) = nearest(&name.1, titles) {
                let near = format!("{}['{near}']", crate::types::capitalized(&name.0));
                let message = format!("no {} '{}' is declared here", name.0, name.1);
                self.tell("puppet-unknown-reference", *span, message, Some(near));
            }
        }
    }

    fn statement(&mut self, statement: &Expr, all: &mut Declared) {
        match &statement.kind {
            ExprKind::Resource { form, ty, bodies } => {
                let (ExprKind::Name(kind) | ExprKind::Reference(kind)) = &ty.kind else { return };
                let kind = kind.trim_start_matches("::").to_lowercase();
                for body in bodies {
                    let own: Vec<Name> =
                        titles(&body.title).map(|title| named(&kind, title)).collect();
                    for name in &own {
                        let first = all.at.get(name).copied();
                        if let (Some(_), Form::Regular) = (first, *form) {
                            let message = format!("{} '{}' is declared twice", name.0, name.1);
                            self.wrong("puppet-declared-twice", body.title.span, message, None);
                        }
                        all.at.entry(name.clone()).or_insert(body.title.span);
                    }
                    for operation in &body.operations {
                        let AttributeOp::Set { name, value, span, .. } = operation else {
                            continue;
                        };
                        let before = matches!(&**name, "before" | "notify");
                        if !before && !matches!(&**name, "require" | "subscribe") {
                            continue;
                        }
                        for other in references(value) {
                            all.references.push((other.clone(), value.span));
                            for own in &own {
                                let (first, then) = if before {
                                    (own.clone(), other.clone())
                                } else {
                                    (other.clone(), own.clone())
                                };
                                all.orders.push((first, then, *span));
                            }
                        }
                    }
                }
            }
            ExprKind::Relationship { op, left, right, op_span } => {
                self.statement(left, all);
                self.statement(right, all);
                // In a chain the left side ends with what stands before the arrow.
                let last = match &left.kind {
                    ExprKind::Relationship { right, .. } => right,
                    _ => left,
                };
                for a in ends(last) {
                    for b in ends(right) {
                        let order = match op {
                            RelationOp::Before | RelationOp::Notify => (a.clone(), b.clone()),
                            RelationOp::After | RelationOp::Subscribe => (b.clone(), a.clone()),
                        };
                        all.orders.push((order.0, order.1, *op_span));
                    }
                }
                for side in [last, right] {
                    all.references.extend(references(side).map(|name| (name, side.span)));
                }
            }
            _ => {}
        }
    }

    fn circles(&mut self, all: &Declared) {
        let mut after: BTreeMap<&Name, Vec<(&Name, Span)>> = BTreeMap::new();
        for (first, then, span) in &all.orders {
            after.entry(first).or_default().push((then, *span));
        }
        for (first, then, span) in &all.orders {
            let mut todo = vec![then];
            let mut seen: Vec<&Name> = Vec::new();
            while let Some(name) = todo.pop() {
                if name == first {
                    let message = format!(
                        "{}['{}'] comes before itself: the order is a circle",
                        crate::types::capitalized(&first.0),
                        first.1
                    );
                    self.wrong("puppet-circle", *span, message, None);
                    return;
                }
                if seen.len() < 10_000 && !seen.contains(&name) {
                    seen.push(name);
                    todo.extend(after.get(name).into_iter().flatten().map(|(next, _)| *next));
                }
            }
        }
    }
}

/// Names of classes are compared without their case.
fn named(kind: &str, title: String) -> Name {
    let title = match kind {
        "class" => title.trim_start_matches("::").to_lowercase(),
        _ => title,
    };
    (kind.to_owned(), title)
}

fn titles(title: &Expr) -> Box<dyn Iterator<Item = String> + '_> {
    match &title.kind {
        ExprKind::String(text) | ExprKind::Name(text) => {
            Box::new(std::iter::once(text.to_string()))
        }
        ExprKind::Array(items) => Box::new(items.iter().flat_map(titles)),
        _ => Box::new(std::iter::empty()),
    }
}

/// `Type['title']` and lists of it.
fn references(value: &Expr) -> Box<dyn Iterator<Item = Name> + '_> {
    match &value.kind {
        ExprKind::Access { left, keys } => match &left.kind {
            ExprKind::Reference(kind) => {
                let kind = kind.trim_start_matches("::").to_lowercase();
                let names = keys.iter().flat_map(titles);
                Box::new(names.map(move |title| named(&kind, title)))
            }
            _ => Box::new(std::iter::empty()),
        },
        ExprKind::Array(items) => Box::new(items.iter().flat_map(references)),
        _ => Box::new(std::iter::empty()),
    }
}

/// What stands at an arrow: a reference, or a declaration.
fn ends(side: &Expr) -> Vec<Name> {
    match &side.kind {
        ExprKind::Resource { ty, bodies, .. } => {
            let (ExprKind::Name(kind) | ExprKind::Reference(kind)) = &ty.kind else {
                return Vec::new();
            };
            let kind = kind.trim_start_matches("::").to_lowercase();
            let all = bodies.iter().flat_map(|body| titles(&body.title));
            all.map(|title| named(&kind, title)).collect()
        }
        _ => references(side).collect(),
    }
}
