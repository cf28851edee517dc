//! Who comes when: relationships and containment as one graph, walked in manifest order.
//!
//! A container stands in the graph as two points, one before and one after all it contains,
//! so that the number of edges grows with what is written, not with what it expands to.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

use rustc_hash::{FxHashMap, FxHashSet};

use crate::compile::Catalog;
use crate::types::Type;
use crate::value::Value;

/// A point of the walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Point {
    /// All that must come before what a container holds has come.
    Begin(usize),
    /// A resource that acts.
    Act(usize),
    /// All that a container holds has come.
    End(usize),
}

/// The points in order, and the edges that come in at each.
#[derive(Debug, Default)]
pub(super) struct Plan {
    pub(super) order: Vec<Point>,
    /// By point: where from, and whether changes there are told here.
    pub(super) before: Vec<Vec<(usize, bool)>>,
    /// Points by their number.
    pub(super) points: Vec<Point>,
    /// Positions in `order` as numbers of points.
    pub(super) numbers: Vec<usize>,
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
        Value::String(text) => {
            if let Some((kind, rest)) = text.split_once('[')
                && let Some(title) = rest.strip_suffix(']')
            {
                into.push((kind.to_lowercase(), title.to_owned()));
            }
        }
        _ => {}
    }
}

/// Containers of all resources.
pub(super) fn containers(catalog: &Catalog) -> Vec<Option<usize>> {
    let mut found = vec![None; catalog.resources.len()];
    for (outer, inner) in &catalog.edges {
        if found[*inner].is_none() {
            found[*inner] = Some(*outer);
        }
    }
    found
}

/// Whether a resource acts by itself.
pub(super) fn acts(catalog: &Catalog, at: usize) -> bool {
    let resource = &catalog.resources[at];
    resource.is_real()
        && resource.definition.is_none()
        && !matches!(&*resource.low, "class" | "stage" | "node")
}

/// An edge from another resource that a type draws by itself.
pub(super) struct Auto {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) notifies: bool,
}

/// Puts all points in order; a message, and the resources it is about, where that cannot be.
pub(super) fn plan(catalog: &Catalog, extra: &[Auto]) -> Result<Plan, (String, Vec<usize>)> {
    let mut plan = Plan::default();
    let count = catalog.resources.len();
    // Two numbers for each resource; one that acts has the same twice.
    let (mut first, mut last) = (vec![usize::MAX; count], vec![usize::MAX; count]);
    for (at, resource) in catalog.resources.iter().enumerate() {
        if !resource.is_real() {
            continue;
        }
        first[at] = plan.points.len();
        if acts(catalog, at) {
            plan.points.push(Point::Act(at));
            last[at] = first[at];
        } else {
            plan.points.push(Point::Begin(at));
            last[at] = plan.points.len();
            plan.points.push(Point::End(at));
        }
    }
    plan.before = vec![Vec::new(); plan.points.len()];
    let mut seen: FxHashSet<(usize, usize)> = FxHashSet::default();
    for (outer, inner) in &catalog.edges {
        if first[*outer] == usize::MAX
            || first[*inner] == usize::MAX
            || first[*outer] == last[*outer]
        {
            continue;
        }
        plan.before[first[*inner]].push((first[*outer], true));
        plan.before[last[*outer]].push((last[*inner], true));
    }
    for at in 0..count {
        if first[at] != usize::MAX && first[at] != last[at] {
            plan.before[last[at]].push((first[at], false));
        }
    }
    for (at, resource) in catalog.resources.iter().enumerate() {
        if first[at] == usize::MAX {
            continue;
        }
        for attribute in ["before", "notify", "require", "subscribe"] {
            let Some(given) = resource.attributes.get(attribute) else { continue };
            let mut found = Vec::new();
            references(&given.value, &mut found);
            for (kind, title) in found {
                let Some(other) = catalog.find(&kind, &title) else { continue };
                if first[other] == usize::MAX {
                    continue;
                }
                let (from, to) = if matches!(attribute, "before" | "notify") {
                    (at, other)
                } else {
                    (other, at)
                };
                let notifies = matches!(attribute, "notify" | "subscribe");
                if seen.insert((from, to)) || notifies {
                    plan.before[first[to]].push((last[from], notifies));
                }
            }
        }
    }
    // What types draw by themselves must not close a circle with what was written.
    for auto in extra {
        if seen.contains(&(auto.from, auto.to))
            || seen.contains(&(auto.to, auto.from))
            || first[auto.from] == usize::MAX
            || first[auto.to] == usize::MAX
        {
            continue;
        }
        if leads_to(&plan, last[auto.to], first[auto.from]) {
            continue;
        }
        seen.insert((auto.from, auto.to));
        plan.before[first[auto.to]].push((last[auto.from], auto.notifies));
    }
    walk(catalog, plan)
}

/// Whether one point comes before another, looking back from the later a bounded way.
fn leads_to(plan: &Plan, from: usize, to: usize) -> bool {
    const MOST: usize = 2000;
    let mut seen = FxHashSet::default();
    let mut left = vec![to];
    while let Some(at) = left.pop() {
        if at == from {
            return true;
        }
        if seen.len() > MOST || !seen.insert(at) {
            continue;
        }
        left.extend(plan.before[at].iter().map(|(before, _)| *before));
    }
    false
}

fn walk(catalog: &Catalog, mut plan: Plan) -> Result<Plan, (String, Vec<usize>)> {
    let mut after: Vec<Vec<usize>> = vec![Vec::new(); plan.points.len()];
    let mut waits: Vec<usize> = vec![0; plan.points.len()];
    for (to, incoming) in plan.before.iter().enumerate() {
        for (from, _) in incoming {
            after[*from].push(to);
            waits[to] += 1;
        }
    }
    let mut ready: BinaryHeap<Reverse<usize>> =
        (0..plan.points.len()).filter(|at| waits[*at] == 0).map(Reverse).collect();
    while let Some(Reverse(at)) = ready.pop() {
        plan.numbers.push(at);
        plan.order.push(plan.points[at]);
        for next in &after[at] {
            waits[*next] -= 1;
            if waits[*next] == 0 {
                ready.push(Reverse(*next));
            }
        }
    }
    if plan.order.len() == plan.points.len() {
        return Ok(plan);
    }
    let left: BTreeSet<usize> = (0..plan.points.len()).filter(|at| waits[*at] > 0).collect();
    Err(cycle(catalog, &plan, &left))
}

/// One circle among the points that wait for each other.
fn cycle(catalog: &Catalog, plan: &Plan, left: &BTreeSet<usize>) -> (String, Vec<usize>) {
    let start = left.iter().next().copied().unwrap_or(0);
    let mut path = vec![start];
    let mut places: FxHashMap<usize, usize> = FxHashMap::from_iter([(start, 0)]);
    let mut at = start;
    while let Some(next) =
        plan.before[at].iter().map(|(from, _)| *from).find(|from| left.contains(from))
    {
        if let Some(seen) = places.get(&next) {
            path.drain(..*seen);
            break;
        }
        places.insert(next, path.len());
        path.push(next);
        at = next;
    }
    path.reverse();
    let mut resources: Vec<usize> = Vec::new();
    for point in &path {
        let (Point::Begin(at) | Point::Act(at) | Point::End(at)) = plan.points[*point];
        if resources.last() != Some(&at) {
            resources.push(at);
        }
    }
    if resources.len() > 1 && resources.first() == resources.last() {
        resources.pop();
    }
    let lowest =
        resources.iter().enumerate().min_by_key(|(_, at)| **at).map_or(0, |(place, _)| place);
    resources.rotate_left(lowest);
    let mut names: Vec<String> =
        resources.iter().map(|at| catalog.resources[*at].reference()).collect();
    names.extend(names.first().cloned());
    let text = format!(
        "Found 1 dependency cycle:\n({})\\nTry the '--graph' option and opening the resulting '.dot' file in OmniGraffle or GraphViz",
        names.join(" => ")
    );
    (text, resources)
}
