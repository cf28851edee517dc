//! Edges of the plan that types draw by themselves: what a resource needs is brought first.

use std::collections::BTreeMap;

use fx_puppet::{Catalog, Resource};

use super::attributes::{list, text};
use super::engine_resource::Made;
use super::order::Auto;

/// Edges that types draw by themselves: a file comes after its directory, a command after
/// the files it needs, and what types in Ruby want.
pub(super) fn edges(
    catalog: &Catalog,
    made: &BTreeMap<usize, Made>,
    brought: &[(usize, Resource)],
) -> Vec<Auto> {
    let mut found = Vec::new();
    let mut rubies = Vec::new();
    let mut add = |from: Option<usize>, to: usize| {
        if let Some(from) = from
            && from != to
        {
            found.push(Auto { from, to, notifies: false });
        }
    };
    for (at, thing) in made {
        let resource = &catalog.resources[*at];
        match &*resource.low {
            "file" => {
                for other in needs_of_file(catalog, resource) {
                    add(Some(other), *at);
                }
            }
            "exec" => {
                if let Some(dir) = text(resource, "cwd") {
                    add(catalog.find("file", &dir), *at);
                }
                if let Some(user) = text(resource, "user") {
                    add(catalog.find("user", &user), *at);
                }
                let command =
                    text(resource, "command").unwrap_or_else(|| resource.title.to_string());
                for word in command.split_whitespace().filter(|word| word.starts_with('/')).take(1)
                {
                    add(catalog.find("file", word), *at);
                }
            }
            "user" => {
                for name in list(resource, "groups").iter().chain(&list(resource, "gid")) {
                    add(catalog.find("group", &fx_puppet::text::interpolated(name)), *at);
                }
            }
            _ => {}
        }
        if let Made::Ruby(thing) = thing {
            for (how, kind, title) in thing.object.autos() {
                let Some(other) = catalog.find(&kind, &title) else { continue };
                let (from, to) = if matches!(how.as_str(), "require" | "subscribe") {
                    (other, *at)
                } else {
                    (*at, other)
                };
                let notifies = matches!(how.as_str(), "notify" | "subscribe");
                if from != to {
                    rubies.push(Auto { from, to, notifies });
                }
            }
        }
    }
    // Who brings files waits for what they need.
    for (at, child) in brought {
        let needs = needs_of_file(catalog, child).into_iter().filter(|from| from != at);
        rubies.extend(needs.map(|from| Auto { from, to: *at, notifies: false }));
    }
    found.extend(rubies);
    found
}

/// What a file needs to be there: the folder around it, its owner and its group.
fn needs_of_file(catalog: &Catalog, resource: &Resource) -> Vec<usize> {
    let path = super::files::path_of(resource);
    let mut above = path.ancestors().skip(1);
    let mut needs = Vec::new();
    needs.extend(above.find_map(|dir| catalog.find("file", &dir.to_string_lossy())));
    for (attribute, kind) in [("owner", "user"), ("group", "group")] {
        let name = text(resource, attribute);
        needs.extend(name.and_then(|name| catalog.find(kind, &name)));
    }
    needs
}
