//! Which crate may depend on which: layers.toml against what cargo sees.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};
use serde_json::Value;

/// One line for each edge that is not allowed, each member that is not listed, and each
/// listed crate that is gone.
pub(crate) fn check(root: &Path) -> Result<Vec<String>> {
    let text = std::fs::read_to_string(root.join("layers.toml"))?;
    let file: toml::Table = text.parse()?;
    let edges = file
        .get("edges")
        .and_then(|edges| edges.as_table())
        .context("layers.toml has no [edges]")?;
    let allowed: BTreeMap<&str, Vec<&str>> = edges
        .iter()
        .map(|(name, list)| {
            (
                name.as_str(),
                list.as_array().into_iter().flatten().filter_map(toml::Value::as_str).collect(),
            )
        })
        .collect();
    let output = Command::new(std::env::var("CARGO").unwrap_or_else(|_| "cargo".into()))
        .args(["metadata", "--format-version=1", "--no-deps", "--offline"])
        .current_dir(root)
        .output()?;
    let metadata: Value = serde_json::from_slice(&output.stdout).context("cargo metadata")?;
    let mut problems = judge(&allowed, &metadata);
    problems.extend(unused(&metadata, |dir, name| mentions(&root.join(dir), name))?);
    Ok(problems)
}

/// Edges between our crates that are declared and that no source uses.
fn unused(metadata: &Value, uses: impl Fn(&Path, &str) -> Result<bool>) -> Result<Vec<String>> {
    let packages: Vec<&Value> = metadata["packages"].as_array().into_iter().flatten().collect();
    let names: Vec<&str> = packages.iter().filter_map(|package| package["name"].as_str()).collect();
    let mut problems = Vec::new();
    for package in &packages {
        let manifest = Path::new(package["manifest_path"].as_str().unwrap_or_default());
        let dir = manifest.parent().unwrap_or(manifest);
        for dependency in package["dependencies"].as_array().into_iter().flatten() {
            let to = dependency["name"].as_str().unwrap_or_default();
            // Build scripts and tests stand beside the source.
            let place = match dependency["kind"].as_str() {
                Some("build") => dir.join("build.rs"),
                Some("dev") => dir.to_owned(),
                _ => dir.join("src"),
            };
            if names.contains(&to) && !uses(&place, &to.replace('-', "_"))? {
                let name = package["name"].as_str().unwrap_or_default();
                problems.push(format!("{name}: declares '{to}', which nothing in it uses"));
            }
        }
    }
    Ok(problems)
}

/// Whether a Rust file below a place has a name in it.
fn mentions(place: &Path, name: &str) -> Result<bool> {
    if place.is_file() {
        return Ok(std::fs::read_to_string(place)?.contains(name));
    }
    for entry in std::fs::read_dir(place)? {
        let path = entry?.path();
        let is_rust = path.extension().is_some_and(|extension| extension == "rs");
        if (path.is_dir() || is_rust) && mentions(&path, name)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn judge(allowed: &BTreeMap<&str, Vec<&str>>, metadata: &Value) -> Vec<String> {
    let packages: Vec<&Value> = metadata["packages"].as_array().into_iter().flatten().collect();
    let names: Vec<&str> = packages.iter().filter_map(|package| package["name"].as_str()).collect();
    let mut problems = Vec::new();
    for package in &packages {
        let name = package["name"].as_str().unwrap_or_default();
        let Some(list) = allowed.get(name) else {
            problems.push(format!("layers.toml: '{name}' is not listed"));
            continue;
        };
        for dependency in package["dependencies"].as_array().into_iter().flatten() {
            let to = dependency["name"].as_str().unwrap_or_default();
            // Tests may use what they like: it does not ship.
            let ships = dependency["kind"].as_str() != Some("dev");
            if ships && names.contains(&to) && !list.contains(&to) && !list.contains(&"*") {
                problems.push(format!("layers.toml: '{name}' may not depend on '{to}'"));
            }
        }
    }
    let gone = allowed.keys().filter(|name| !names.contains(name));
    problems.extend(gone.map(|name| format!("layers.toml: '{name}' is listed but does not exist")));
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edge_that_nothing_uses_is_found() {
        let metadata = serde_json::json!({"packages": [
            {"name": "fx-a", "manifest_path": "/w/a/Cargo.toml", "dependencies": [
                {"name": "fx-b", "kind": null}, {"name": "serde", "kind": null}, {"name": "fx-b", "kind": "build"},
            ]},
            {"name": "fx-b", "manifest_path": "/w/b/Cargo.toml", "dependencies": []},
        ]});
        let in_build =
            |place: &Path, name: &str| Ok(place == Path::new("/w/a/build.rs") && name == "fx_b");
        let expected = ["fx-a: declares 'fx-b', which nothing in it uses"];
        assert_eq!(unused(&metadata, in_build).unwrap(), expected);
    }

    #[test]
    fn an_edge_that_is_not_listed_is_found() {
        let allowed = BTreeMap::from([("a", vec![]), ("b", vec!["a"]), ("gone", vec![])]);
        let metadata = serde_json::json!({"packages": [
            {"name": "a", "dependencies": [{"name": "b", "kind": null}, {"name": "serde", "kind": null}]},
            {"name": "b", "dependencies": [{"name": "a", "kind": null}, {"name": "c", "kind": "dev"}]},
            {"name": "c", "dependencies": []},
        ]});
        assert_eq!(
            judge(&allowed, &metadata),
            [
                "layers.toml: 'a' may not depend on 'b'",
                "layers.toml: 'c' is not listed",
                "layers.toml: 'gone' is listed but does not exist"
            ]
        );
    }
}
