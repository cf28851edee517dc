//! Who comes when: relationships and containment as one graph, walked in manifest order.
//!
//! A container stands in the graph as two points, one before and one after all it contains,
//! so that the number of edges grows with what is written, not with what it expands to.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};
use std::rc::Rc;

use fx_engine::Why;
use fx_puppet::{Catalog, Resource, Type, Value};
use rustc_hash::{FxHashMap, FxHashSet};

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

/// What an edge comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cause {
    /// One is inside the other.
    Containment,
    /// `before` of the earlier.
    Before,
    /// `notify` of the earlier.
    Notify,
    /// `require` of the later.
    Require,
    /// `subscribe` of the later.
    Subscribe,
    /// The type of one of them wants it.
    Auto,
}

/// An edge as the later point sees it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    /// Number of the earlier point.
    pub(super) from: usize,
    /// Whether changes there notify this one.
    pub(super) notifies: bool,
    pub(super) cause: Cause,
}

/// The points in order, and the edges that come in at each.
#[derive(Debug, Default)]
pub(super) struct Plan {
    pub(super) order: Vec<Point>,
    /// By point, what comes in.
    pub(super) before: Vec<Vec<Edge>>,
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

/// What a resource names before or after itself: the parameter and the other one.
pub(super) fn relations(catalog: &Catalog, resource: &Resource) -> Vec<(&'static str, usize)> {
    let mut all = Vec::new();
    for parameter in ["require", "subscribe", "before", "notify"] {
        let Some(given) = resource.attributes.get(parameter) else { continue };
        let mut found = Vec::new();
        references(&given.value, &mut found);
        let known = found.iter().filter_map(|(kind, title)| catalog.find(kind, title));
        all.extend(known.map(|other| (parameter, other)));
    }
    all
}

/// `/Stage[main]/Main/File[/x]`
pub(super) fn path(catalog: &Catalog, containers: &[Option<usize>], at: usize) -> String {
    let mut parts = Vec::new();
    let mut next = Some(at);
    while let Some(at) = next {
        let resource = &catalog.resources[at];
        parts.push(match &*resource.low {
            "class" => fx_puppet::text::capitalized(&resource.title),
            _ => resource.reference(),
        });
        next = containers[at].filter(|outer| *outer != at && parts.len() < 100);
    }
    parts.reverse();
    format!("/{}", parts.join("/"))
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
    resource.is_real() && acts_alone(resource)
}

/// Whether a resource is one by itself, and no container.
pub(super) fn acts_alone(resource: &Resource) -> bool {
    !resource.is_container()
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
        let inside = |from| Edge { from, notifies: true, cause: Cause::Containment };
        plan.before[first[*inner]].push(inside(first[*outer]));
        plan.before[last[*outer]].push(inside(last[*inner]));
    }
    for at in 0..count {
        if first[at] != usize::MAX && first[at] != last[at] {
            let edge = Edge { from: first[at], notifies: false, cause: Cause::Containment };
            plan.before[last[at]].push(edge);
        }
    }
    for (at, resource) in catalog.resources.iter().enumerate() {
        if first[at] == usize::MAX {
            continue;
        }
        for (attribute, cause) in [
            ("before", Cause::Before),
            ("notify", Cause::Notify),
            ("require", Cause::Require),
            ("subscribe", Cause::Subscribe),
        ] {
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
                    plan.before[first[to]].push(Edge { from: last[from], notifies, cause });
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
        let edge = Edge { from: last[auto.from], notifies: auto.notifies, cause: Cause::Auto };
        plan.before[first[auto.to]].push(edge);
    }
    walk(catalog, plan)
}

/// A reference to a resource that its type calls otherwise, which the original does not find.
pub(super) fn lost(
    compiled: &fx_puppet::Compiled,
    catalog: &Catalog,
    retold: &[(usize, Rc<str>)],
) -> Option<String> {
    for resource in &catalog.resources {
        for attribute in ["before", "notify", "require", "subscribe"] {
            let Some(given) = resource.attributes.get(attribute) else { continue };
            let mut found = Vec::new();
            references(&given.value, &mut found);
            for (kind, title) in found {
                let at = catalog.find(&kind, &title);
                if !retold.iter().any(|(known, _)| Some(*known) == at) {
                    continue;
                }
                let is_later = matches!(attribute, "before" | "notify");
                let word = if is_later { "dependent" } else { "dependency" };
                let kind = fx_puppet::text::capitalized(&kind);
                let (name, place) = (resource.reference(), compiled.line_text(resource.span));
                return Some(format!("Could not find {word} {kind}[{title}] for {name} {place}"));
            }
        }
    }
    None
}

impl Plan {
    /// By point, the points that hear of its changes.
    pub(super) fn hearers(&self) -> Vec<Vec<usize>> {
        let mut hearers = vec![Vec::new(); self.points.len()];
        for (to, incoming) in self.before.iter().enumerate() {
            for edge in incoming.iter().filter(|edge| edge.notifies) {
                if !hearers[edge.from].contains(&to) {
                    hearers[edge.from].push(to);
                }
            }
        }
        hearers
    }

    /// Why a point comes where it does: what it waits for and by which kind of edge, or the
    /// order of the manifest where it waits for nothing.
    pub(super) fn reason(&self, catalog: &Catalog, number: usize) -> Why {
        const MOST_DEEP: usize = 100;
        let resource = |point: usize| {
            let (Point::Begin(at) | Point::Act(at) | Point::End(at)) = self.points[point];
            &catalog.resources[at]
        };
        let name = |point: usize| resource(point).reference();
        let (mut told, mut items): (Vec<String>, Vec<_>) = Default::default();
        let (mut at, mut inside) = (number, String::new());
        for _ in 0..MOST_DEEP {
            let mut outer = None;
            for edge in &self.before[at] {
                let verb = match edge.cause {
                    Cause::Containment => {
                        outer = Some(edge.from);
                        continue;
                    }
                    Cause::Before => "is before it",
                    Cause::Notify => "notifies it",
                    Cause::Require => "requires",
                    Cause::Subscribe => "subscribes to",
                    Cause::Auto if edge.notifies => "autosubscribes to",
                    Cause::Auto => "autorequires",
                };
                let other = name(edge.from);
                items.push(fx_engine::Cause::Item(Rc::clone(&resource(edge.from).title)));
                told.push(match edge.cause {
                    Cause::Before | Cause::Notify => format!("{inside}{other} {verb}"),
                    _ => format!("{inside}{verb} {other}"),
                });
            }
            let Some(container) = outer else { break };
            at = container;
            inside = format!("containment in {}: ", name(container));
        }
        let words = if told.is_empty() { "manifest order".to_owned() } else { told.join(", ") };
        Why::from(words).caused_by(items)
    }
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
        left.extend(plan.before[at].iter().map(|edge| edge.from));
    }
    false
}

fn walk(catalog: &Catalog, mut plan: Plan) -> Result<Plan, (String, Vec<usize>)> {
    let mut after: Vec<Vec<usize>> = vec![Vec::new(); plan.points.len()];
    let mut waits: Vec<usize> = vec![0; plan.points.len()];
    for (to, incoming) in plan.before.iter().enumerate() {
        for edge in incoming {
            after[edge.from].push(to);
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
        plan.before[at].iter().map(|edge| edge.from).find(|from| left.contains(from))
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
    // Containers come after what they contain.
    let rank = |at: usize| (!acts(catalog, at), at);
    let lowest =
        resources.iter().enumerate().min_by_key(|(_, at)| rank(**at)).map_or(0, |(place, _)| place);
    resources.rotate_left(lowest);
    let mut names: Vec<String> =
        resources.iter().map(|at| catalog.resources[*at].reference()).collect();
    names.extend(names.first().cloned());
    (format!("Found 1 dependency cycle:\n({})", names.join(" => ")), resources)
}
