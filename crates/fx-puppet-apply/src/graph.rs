//! Graphs of a catalog in the dot language: what contains what, what comes before what as
//! written, and the same with containers as two points.

use fx_puppet::Catalog;

use super::order::{Cause, Plan, Point};

/// The three graphs by the names of their files.
pub(super) fn graphs(catalog: &Catalog, plan: &Plan) -> [(&'static str, String); 3] {
    let names: Vec<String> = catalog
        .resources
        .iter()
        .filter(|resource| resource.is_real())
        .map(fx_puppet::Resource::reference)
        .collect();
    let inside = catalog
        .edges
        .iter()
        .map(|(outer, inner)| (&catalog.resources[*outer], &catalog.resources[*inner]))
        .filter(|(outer, inner)| outer.is_real() && inner.is_real())
        .map(|(outer, inner)| (outer.reference(), inner.reference()))
        .collect::<Vec<_>>();
    let of = |number: usize| {
        let (Point::Begin(at) | Point::Act(at) | Point::End(at)) = plan.points[number];
        catalog.resources[at].reference()
    };
    let expanded = |number: usize| match plan.points[number] {
        Point::Act(at) => catalog.resources[at].reference(),
        Point::Begin(at) => whit("Admissible", &catalog.resources[at].reference()),
        Point::End(at) => whit("Completed", &catalog.resources[at].reference()),
    };
    let (mut written, mut all) = (Vec::new(), Vec::new());
    for (to, edges) in plan.before.iter().enumerate() {
        for edge in edges {
            if edge.cause != Cause::Containment {
                written.push((of(edge.from), of(to)));
            }
            all.push((expanded(edge.from), expanded(to)));
        }
    }
    let points: Vec<String> = (0..plan.points.len()).map(expanded).collect();
    [
        ("resources", dot("Resources", &names, &inside)),
        ("relationships", dot("Relationships", &names, &written)),
        ("expanded_relationships", dot("Expanded_relationships", &points, &all)),
    ]
}

fn whit(word: &str, reference: &str) -> String {
    let mut name = reference.to_owned();
    if let Some(first) = name.get_mut(..1) {
        first.make_ascii_lowercase();
    }
    format!("Whit[{word}_{name}]")
}

fn dot(name: &str, nodes: &[String], edges: &[(String, String)]) -> String {
    let quoted = |text: &str| format!("\"{}\"", text.replace('"', "\\\""));
    let mut out = format!("digraph {name} {{\n    label = \"{name}\"\n");
    for node in nodes {
        let node = quoted(node);
        out.push_str(&format!(
            "    {node} [\n        fontsize = 8,\n        label = {node}\n    ]\n\n"
        ));
    }
    for (from, to) in edges {
        let (from, to) = (quoted(from), quoted(to));
        out.push_str(&format!("    {from} -> {to} [\n        fontsize = 8\n    ]\n\n"));
    }
    out.push_str("}\n");
    out
}
