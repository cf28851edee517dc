//! Who comes when: relationships and containment turned into one order.

use std::collections::{BTreeMap, BTreeSet};

use crate::compile::Catalog;
use crate::types::Type;
use crate::value::Value;

/// A resource that must come first, and whether it notifies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Before {
    pub(super) resource: usize,
    pub(super) notifies: bool,
}

/// The order, and what each resource waits for.
#[derive(Debug, Default)]
pub(super) struct Plan {
    pub(super) order: Vec<usize>,
    pub(super) before: BTreeMap<usize, BTreeSet<Before>>,
}

fn references(value: &Value, into: &mut Vec<(String, String)>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| references(item, into)),
        Value::Type(ty) => match &**ty {
            Type::Resource { name: Some(name), title: Some(title) } => {
                into.push((name.to_string(), title.to_string()))
            }
            Type::Class(Some(name)) => into.push(("class".into(), name.to_string())),
            _ => {}
        },
        _ => {}
    }
}

/// The resource that a resource is inside of.
pub(super) fn container(catalog: &Catalog, at: usize) -> Option<usize> {
    let resource = &catalog.resources[at];
    if matches!(&*resource.low, "class" | "stage") {
        return None;
    }
    Some(resource.frame.resource.get())
}

/// What acts: neither classes and stages nor defines.
pub(super) fn is_leaf(catalog: &Catalog, at: usize) -> bool {
    let resource = &catalog.resources[at];
    resource.is_real()
        && !matches!(&*resource.kind, "Class" | "Stage")
        && resource.definition.is_none()
        && contained_is_real(catalog, at)
}

fn contained_is_real(catalog: &Catalog, at: usize) -> bool {
    container(catalog, at).is_none_or(|outer| outer == at || catalog.resources[outer].is_real())
}

/// Everything that acts inside a resource, itself included.
fn leaves(catalog: &Catalog, at: usize, depth: u32) -> Vec<usize> {
    if is_leaf(catalog, at) {
        return vec![at];
    }
    if depth > 50 {
        return Vec::new();
    }
    let mut found: Vec<usize> = (0..catalog.resources.len())
        .filter(|inner| *inner != at && container(catalog, *inner) == Some(at))
        .flat_map(|inner| leaves(catalog, inner, depth + 1))
        .collect();
    for (outer, inner) in &catalog.edges {
        if *outer == at && &*catalog.resources[*inner].low == "class" {
            found.extend(leaves(catalog, *inner, depth + 1));
        }
    }
    found
}

/// Puts the resources that act in order; a message where that cannot be.
pub(super) fn plan(
    catalog: &Catalog,
    missing: impl Fn(&str, usize, &str) -> String,
) -> Result<Plan, String> {
    let mut plan = Plan::default();
    let all: Vec<usize> = (0..catalog.resources.len()).filter(|at| is_leaf(catalog, *at)).collect();
    for at in &all {
        plan.before.insert(*at, BTreeSet::new());
    }
    for (at, resource) in catalog.resources.iter().enumerate() {
        for attribute in ["before", "notify", "require", "subscribe"] {
            let Some(given) = resource.attributes.get(attribute) else { continue };
            let mut found = Vec::new();
            references(&given.value, &mut found);
            for (kind, title) in found {
                let Some(other) = find(catalog, &kind, &title) else {
                    let shown = format!(
                        "{}[{}]",
                        crate::types::capitalized(&kind),
                        if kind == "class" { crate::types::capitalized(&title) } else { title }
                    );
                    return Err(missing(&shown, at, attribute));
                };
                let (first, second) = if matches!(attribute, "before" | "notify") {
                    (at, other)
                } else {
                    (other, at)
                };
                let notifies = matches!(attribute, "notify" | "subscribe");
                let sources = leaves(catalog, first, 0);
                for target in leaves(catalog, second, 0) {
                    for source in &sources {
                        if *source != target
                            && let Some(before) = plan.before.get_mut(&target)
                        {
                            before.insert(Before { resource: *source, notifies });
                        }
                    }
                }
            }
        }
    }
    autorequire(catalog, &all, &mut plan);
    let mut waiting: BTreeSet<usize> = all.iter().copied().collect();
    let mut done = BTreeSet::new();
    while !waiting.is_empty() {
        let ready = waiting.iter().copied().find(|at| {
            plan.before
                .get(at)
                .is_none_or(|before| before.iter().all(|before| done.contains(&before.resource)))
        });
        let Some(at) = ready else { return Err(cycle(catalog, &waiting, &plan)) };
        waiting.remove(&at);
        done.insert(at);
        plan.order.push(at);
    }
    Ok(plan)
}

/// A resource by title, by alias or by the path it manages.
fn find(catalog: &Catalog, kind: &str, title: &str) -> Option<usize> {
    catalog.find(kind, title).or_else(|| {
        catalog.resources.iter().position(|resource| {
            resource.kind.eq_ignore_ascii_case(kind)
                && ["alias", "path", "name"].iter().any(|name| {
                    resource.attributes.get(*name).and_then(|given| given.value.as_str())
                        == Some(title)
                })
        })
    })
}

/// A file comes after the directory it lies in.
fn autorequire(catalog: &Catalog, all: &[usize], plan: &mut Plan) {
    let path = |at: usize| {
        let resource = &catalog.resources[at];
        (&*resource.kind == "File").then(|| {
            resource
                .attributes
                .get("path")
                .and_then(|given| given.value.as_str())
                .unwrap_or(&resource.title)
                .trim_end_matches('/')
                .to_owned()
        })
    };
    let paths: BTreeMap<String, usize> =
        all.iter().filter_map(|at| Some((path(*at)?, *at))).collect();
    for at in all {
        let resource = &catalog.resources[*at];
        let mut parents: Vec<String> = Vec::new();
        if let Some(own) = path(*at) {
            let mut rest = own.as_str();
            while let Some((parent, _)) = rest.rsplit_once('/') {
                if paths.contains_key(parent) {
                    parents.push(parent.to_owned());
                    break;
                }
                rest = parent;
            }
        } else if &*resource.kind == "Exec" {
            parents.extend(
                resource
                    .attributes
                    .get("cwd")
                    .and_then(|given| given.value.as_str())
                    .map(str::to_owned),
            );
        }
        for parent in parents {
            if let Some(first) = paths.get(&parent)
                && first != at
                && !plan
                    .before
                    .get(first)
                    .is_some_and(|before| before.iter().any(|before| before.resource == *at))
                && let Some(before) = plan.before.get_mut(at)
            {
                before.insert(Before { resource: *first, notifies: false });
            }
        }
    }
}

fn cycle(catalog: &Catalog, waiting: &BTreeSet<usize>, plan: &Plan) -> String {
    let start = waiting.iter().next().copied().unwrap_or(0);
    let mut path = vec![start];
    let mut at = start;
    // Going back along what is waited for must come round.
    loop {
        let next = plan.before.get(&at).and_then(|before| {
            before.iter().map(|before| before.resource).find(|other| waiting.contains(other))
        });
        let Some(next) = next else { break };
        if let Some(seen) = path.iter().position(|other| *other == next) {
            path.drain(..seen);
            break;
        }
        path.push(next);
        at = next;
    }
    path.reverse();
    let first = path.iter().enumerate().min_by_key(|(_, at)| **at).map_or(0, |(place, _)| place);
    path.rotate_left(first);
    path.extend(path.first().copied());
    let names: Vec<String> = path.iter().map(|at| catalog.resources[*at].reference()).collect();
    format!(
        "Found 1 dependency cycle:\n({})\\nTry the '--graph' option and opening the resulting '.dot' file in OmniGraffle or GraphViz",
        names.join(" => ")
    )
}
