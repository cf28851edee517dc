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
    Ok(judge(&allowed, &metadata))
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
