//! A catalog of ours as PuppetDB's command has it: without secrets, with relationships as
//! edges, and with what is exported.

use std::collections::{BTreeMap, BTreeSet};

use fx_fleet::shown_time;
use serde_json::{Map, Value, json};

use crate::code::CatalogMade;
use crate::puppet::flatten;

/// Parameter, name of the relationship, and whether it leads away from its resource.
const RELATIONS: &[(&str, &str, bool)] = &[
    ("before", "before", true),
    ("require", "required-by", false),
    ("notify", "notifies", true),
    ("subscribe", "subscription-of", false),
];

/// Parameters whose lists have no order.
const UNORDERED: &[&str] =
    &["alias", "audit", "before", "check", "notify", "require", "subscribe", "tag"];

/// What is known of the request for a catalog.
pub(crate) struct Circumstances<'a> {
    pub(crate) transaction_uuid: Option<&'a str>,
    pub(crate) produced: u64,
    pub(crate) producer: &'a str,
}

pub(crate) fn catalog_payload(
    made: &CatalogMade,
    circumstances: &Circumstances<'_>,
) -> Result<Value, String> {
    let mut catalog: Value = serde_json::from_str(&made.text).map_err(|error| error.to_string())?;
    let (resources, real) = cleaned(&mut catalog, &made.exported);
    let mut edges = BTreeSet::new();
    for edge in catalog["edges"].as_array().into_iter().flatten() {
        let ends =
            (edge["source"].as_str().and_then(parts), edge["target"].as_str().and_then(parts));
        if let (Some(source), Some(target)) = ends {
            edges.insert(("contains".to_owned(), source, target));
        }
    }
    relate(&resources, real, &mut edges)?;
    let edges: Vec<Value> = edges
        .into_iter()
        .map(|(relationship, source, target)| {
            let end = |(kind, title): (String, String)| json!({"type": kind, "title": title});
            json!({"relationship": relationship, "source": end(source), "target": end(target)})
        })
        .collect();
    let version = match &catalog["version"] {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let mut payload = json!({
        "certname": catalog["name"],
        "version": version,
        "environment": made.environment,
        "transaction_uuid": circumstances.transaction_uuid,
        "catalog_uuid": catalog["catalog_uuid"],
        "code_id": catalog["code_id"],
        "job_id": null,
        "producer_timestamp": shown_time(i64::try_from(circumstances.produced).unwrap_or(i64::MAX)),
        "producer": circumstances.producer,
    });
    // Moved: these are most of it.
    payload["resources"] = resources.into();
    payload["edges"] = edges.into();
    Ok(payload)
}

/// Resources of a catalog as they are kept, what is exported only at the end; how many are the
/// node's own.
fn cleaned(catalog: &mut Value, exported: &[Value]) -> (Vec<Value>, usize) {
    let mut resources = match catalog["resources"].take() {
        Value::Array(resources) => resources,
        _ => Vec::new(),
    };
    let real = resources.len();
    resources.extend(exported.iter().cloned());
    resources.iter_mut().for_each(clean);
    (resources, real)
}

/// Resources of a catalog in the form in which the store keeps them: comparable with what a query
/// for them answers.
pub fn kept_resources(made: &CatalogMade) -> Result<Vec<Value>, String> {
    let mut catalog: Value = serde_json::from_str(&made.text).map_err(|error| error.to_string())?;
    Ok(cleaned(&mut catalog, &made.exported).0)
}

/// Without secrets, and with values of JSON only.
fn clean(resource: &mut Value) {
    let Some(fields) = resource.as_object_mut() else { return };
    let secret = fields.remove("sensitive_parameters");
    let mut parameters = match fields.remove("parameters") {
        Some(Value::Object(parameters)) => parameters,
        _ => Map::new(),
    };
    for name in secret.iter().filter_map(Value::as_array).flatten().filter_map(Value::as_str) {
        parameters.remove(name);
    }
    for value in parameters.values_mut() {
        flatten(value);
    }
    for name in UNORDERED {
        if let Some(Value::Array(items)) = parameters.get_mut(*name) {
            items.sort_by_key(|item| item.as_str().map_or_else(|| item.to_string(), str::to_owned));
        }
    }
    fields.insert("parameters".into(), parameters.into());
    if let Some(Value::Array(tags)) = fields.get_mut("tags") {
        tags.sort_by(|one, other| match (one, other) {
            (Value::String(one), Value::String(other)) => one.cmp(other),
            _ => one.to_string().cmp(&other.to_string()),
        });
    }
}

/// `File[/x]` as its type and title.
fn parts(reference: &str) -> Option<(String, String)> {
    let (kind, title) = reference.split_once('[')?;
    Some((kind.to_owned(), title.strip_suffix(']')?.to_owned()))
}

type Reference = (String, String);

fn reference(resource: &Value) -> Reference {
    let text = |name: &str| resource[name].as_str().unwrap_or_default().to_owned();
    (text("type"), text("title"))
}

/// Turns parameters that relate resources into edges. The first so many resources are the
/// node's own; those after them are exported only, and nothing can depend on them.
fn relate(
    resources: &[Value],
    real: usize,
    edges: &mut BTreeSet<(String, Reference, Reference)>,
) -> Result<(), String> {
    let mut known: BTreeMap<Reference, (usize, Reference)> = BTreeMap::new();
    for (at, one) in resources.iter().enumerate() {
        let own = reference(one);
        let aliases = match &one["parameters"]["alias"] {
            Value::String(alias) => vec![alias.as_str()],
            Value::Array(aliases) => aliases.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        };
        for alias in aliases {
            known.entry((own.0.clone(), alias.to_owned())).or_insert((at, own.clone()));
        }
        known.insert(own.clone(), (at, own));
    }
    for one in resources.iter().take(real) {
        let own = reference(one);
        for (parameter, relationship, leads_away) in RELATIONS {
            let others = match &one["parameters"][*parameter] {
                Value::String(other) => vec![other.as_str()],
                Value::Array(others) => others.iter().filter_map(Value::as_str).collect(),
                _ => Vec::new(),
            };
            for other in others {
                let Some(mut wanted) = parts(other) else { continue };
                if wanted.0 == "File" && wanted.1.len() > 1 {
                    wanted.1 = wanted.1.trim_end_matches('/').to_owned();
                }
                // Those that lead nowhere are refused when the catalog is made.
                let Some((at, other_own)) = known.get(&wanted) else { continue };
                if *at >= real {
                    return Err(format!(
                        "Invalid relationship: {}[{}] {{ {parameter} => {other} }}, because {other} is exported but not collected",
                        own.0, own.1
                    ));
                }
                let (source, target) = if *leads_away {
                    (own.clone(), other_own.clone())
                } else {
                    (other_own.clone(), own.clone())
                };
                edges.insert(((*relationship).to_owned(), source, target));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(resources: &Value, exported: Vec<Value>) -> CatalogMade {
        let text = json!({"name": "n1", "version": 17, "catalog_uuid": "u", "code_id": null,
            "resources": resources, "edges": [{"source": "Stage[main]", "target": "Class[Main]"}]});
        CatalogMade { environment: "production".into(), text: text.to_string(), exported }
    }

    fn payload(made: &CatalogMade) -> Result<Value, String> {
        let circumstances =
            Circumstances { transaction_uuid: Some("t"), produced: 0, producer: "server" };
        catalog_payload(made, &circumstances)
    }

    #[test]
    fn secrets_go_and_relationships_become_edges() {
        let resources = json!([
            {"type": "File", "title": "/a", "parameters": {"content": "x", "password": "secret",
                "before": ["Service[web]"], "later": {"__ptype": "Deferred", "name": "f", "arguments": []}},
                "sensitive_parameters": ["password"]},
            {"type": "Service", "title": "apache", "parameters": {"alias": "web", "require": "File[/a/]"}},
        ]);
        let made = payload(&made(&resources, Vec::new())).expect("a payload");
        let parameters = &made["resources"][0]["parameters"];
        assert_eq!(parameters.get("password"), None);
        assert_eq!(parameters["later"], "Deferred({'name' => 'f', 'arguments' => []})");
        let edges: Vec<String> = made["edges"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|edge| {
                format!(
                    "{} {} {}",
                    edge["source"]["title"], edge["relationship"], edge["target"]["title"]
                )
            })
            .collect();
        assert_eq!(
            edges,
            [
                "\"/a\" \"before\" \"apache\"",
                "\"main\" \"contains\" \"Main\"",
                "\"/a\" \"required-by\" \"apache\"",
            ]
        );
        assert_eq!(made["version"], "17");
    }

    #[test]
    fn what_is_exported_only_is_kept_and_nothing_depends_on_it() {
        let exported = json!({"type": "Host", "title": "h", "exported": true});
        let plain = json!([{"type": "File", "title": "/a"}]);
        let kept = payload(&made(&plain, vec![exported.clone()])).expect("a payload");
        assert_eq!(kept["resources"][1]["title"], "h");
        let wrong = json!([{"type": "File", "title": "/a", "parameters": {"require": "Host[h]"}}]);
        let refused = payload(&made(&wrong, vec![exported]));
        assert!(
            refused
                .is_err_and(|why| why.ends_with("because Host[h] is exported but not collected"))
        );
    }
}
