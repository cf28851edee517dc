//! What a catalog from other code would be: compiled from the facts that the store has of a node,
//! and compared with the catalog that it has of it.

use std::collections::BTreeMap;

use fx_fleet::{Fleet, Query, shown_time};
use fx_server::{CatalogWish, Code, Refusal, kept_resources};
use fx_wire::puppet::{CertName, Environment};
use serde_json::{Map, Value, json};

use super::site::Site;

/// The catalog that a node would get.
pub(crate) struct Previewed {
    pub(crate) environment: String,
    /// When its facts were found out.
    pub(crate) facts_of: String,
    /// Whether the store has a catalog to compare with.
    pub(crate) had_catalog: bool,
    pub(crate) differences: Vec<Difference>,
}

/// A resource that is not as it was in the last catalog.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Difference {
    /// `File[/x]`; with `@@` before it where it is for other nodes.
    pub(crate) resource: String,
    pub(crate) was_there: bool,
    pub(crate) is_there: bool,
    /// Parameters that differ: before and after.
    pub(crate) parameters: BTreeMap<String, (Option<Value>, Option<Value>)>,
}

type Parameters = Map<String, Value>;

/// Resources by their reference.
fn by_reference(resources: Vec<Value>) -> BTreeMap<String, Parameters> {
    let named = resources.into_iter().map(|mut resource| {
        let mark = if resource["exported"] == true { "@@" } else { "" };
        let text = |name: &str| resource[name].as_str().unwrap_or_default().to_owned();
        let reference = format!("{mark}{}[{}]", text("type"), text("title"));
        let parameters = match resource["parameters"].take() {
            Value::Object(parameters) => parameters,
            _ => Map::new(),
        };
        (reference, parameters)
    });
    named.collect()
}

/// What differs, sorted by reference.
fn compare(
    old: &BTreeMap<String, Parameters>,
    new: &BTreeMap<String, Parameters>,
) -> Vec<Difference> {
    let none = Parameters::new();
    let mut names: Vec<&String> = old.keys().chain(new.keys()).collect();
    names.sort();
    names.dedup();
    let differences = names.into_iter().map(|name| {
        let (before, after) = (old.get(name), new.get(name));
        let (was_there, is_there) = (before.is_some(), after.is_some());
        let (before, after) = (before.unwrap_or(&none), after.unwrap_or(&none));
        let keys =
            before.keys().chain(after.keys()).filter(|key| before.get(*key) != after.get(*key));
        let parameters = keys
            .map(|key| (key.clone(), (before.get(key).cloned(), after.get(key).cloned())))
            .collect();
        Difference { resource: name.clone(), was_there, is_there, parameters }
    });
    differences.filter(|one| one.was_there != one.is_there || !one.parameters.is_empty()).collect()
}

fn kept(fleet: &Fleet, node: &str) -> Result<Vec<Value>, String> {
    let of_node = json!(["and", ["=", "certname", node], ["=", "node_state", "any"]]);
    let query = Query::read(&json!(["from", "resources", of_node]), None);
    let query = query.map_err(|error| error.to_string())?;
    let found = fleet.query(&query, false).map_err(|error| error.to_string())?;
    Ok(found.rows.into_iter().map(Value::Object).collect())
}

/// Compiles for a node and compares. Without an environment it is the one that its facts came from.
pub(crate) fn preview(
    site: &Site,
    fleet: &Fleet,
    node: &str,
    environment: Option<&Environment>,
) -> Result<Previewed, String> {
    let name = CertName::parse(node).map_err(|error| error.to_string())?;
    let record = fleet.facts(node).map_err(|error| error.to_string())?;
    let record = record.ok_or("the store has no facts of it; its agent has not been here")?;
    let mut facts: Map<String, Value> =
        serde_json::from_slice(&record.body).map_err(|error| error.to_string())?;
    // What its certificate said when it was here last.
    let trusted = facts.shift_remove("trusted").unwrap_or_default();
    let extensions = trusted["extensions"].as_object().into_iter().flatten();
    let extensions =
        extensions.filter_map(|(name, value)| Some((name.clone(), value.as_str()?.into())));
    let own = Environment::parse(&record.environment).ok_or("its environment has no sound name")?;
    let made = site.catalog(&CatalogWish {
        node: name,
        environment: environment.cloned().unwrap_or(own),
        facts,
        extensions: extensions.collect(),
        is_authenticated: true,
        transaction_uuid: None,
        static_catalog: false,
        checksum_types: Vec::new(),
        prefers_requested: environment.is_some(),
    });
    let made = made.map_err(|why| match why {
        Refusal::NoEnvironment => "there is no such environment".to_owned(),
        Refusal::NotFound(text) | Refusal::Failed(text) => text,
        Refusal::Busy => "too much is under way".to_owned(),
    })?;
    let old = by_reference(kept(fleet, node)?);
    let new = by_reference(kept_resources(&made)?);
    Ok(Previewed {
        environment: made.environment,
        facts_of: shown_time(i64::try_from(record.produced).unwrap_or(i64::MAX)),
        had_catalog: !old.is_empty(),
        differences: compare(&old, &new),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_new_gone_or_other_is_told_and_what_is_the_same_is_not() {
        let resources = |list: Value| match list {
            Value::Array(list) => by_reference(list),
            _ => BTreeMap::new(),
        };
        let old = resources(json!([
            {"type": "File", "title": "/same", "parameters": {"mode": "0644"}, "line": 1},
            {"type": "File", "title": "/x", "parameters": {"mode": "0644", "owner": "a"}},
            {"type": "Notify", "title": "gone", "parameters": {}},
        ]));
        let new = resources(json!([
            {"type": "File", "title": "/same", "parameters": {"mode": "0644"}, "line": 2},
            {"type": "File", "title": "/x", "parameters": {"mode": "0600", "group": "g"}},
            {"type": "Host", "title": "new", "exported": true},
        ]));
        let told: Vec<String> = compare(&old, &new)
            .into_iter()
            .map(|one| {
                let names: Vec<&str> = one.parameters.keys().map(String::as_str).collect();
                format!("{} {} {} {names:?}", one.resource, one.was_there, one.is_there)
            })
            .collect();
        assert_eq!(
            told,
            [
                "@@Host[new] false true []",
                r#"File[/x] true true ["group", "mode", "owner"]"#,
                "Notify[gone] true false []",
            ]
        );
    }
}
