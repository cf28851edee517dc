//! From the payload of a command to what is kept.

use std::fmt::Write;

use fx_crypto::digest::Algorithm;
use fx_fleet::{
    CatalogRecord, EdgeRecord, EventRecord, FactsRecord, ReportRecord, ResourceRecord, parse_time,
};
use serde_json::{Map, Value, json};

/// A payload that cannot be kept, and why.
pub(crate) type Made<T> = Result<T, String>;

fn text(payload: &Value, name: &str) -> Made<String> {
    match payload.get(name).and_then(Value::as_str) {
        Some(text) => Ok(text.to_owned()),
        None => Err(format!("'{name}' is missing or no text")),
    }
}

fn text_opt(payload: &Value, name: &str) -> Option<String> {
    match payload.get(name) {
        Some(Value::String(text)) => Some(text.clone()),
        Some(Value::Number(number)) => Some(number.to_string()),
        _ => None,
    }
}

fn time(payload: &Value, name: &str) -> Made<u64> {
    let time = payload.get(name).and_then(Value::as_str).and_then(parse_time);
    time.and_then(|time| u64::try_from(time).ok()).ok_or_else(|| format!("'{name}' is no time"))
}

fn list<'a>(payload: &'a Value, name: &str) -> Made<&'a Vec<Value>> {
    // Nested lists of queries have their items under `data`.
    let found = payload.get(name).map(|found| found.get("data").unwrap_or(found));
    found.and_then(Value::as_array).ok_or_else(|| format!("'{name}' is missing or no list"))
}

/// The same value has the same text, whatever the order of its keys.
fn canonical(value: &Value, into: &mut String) {
    match value {
        Value::Object(fields) => {
            let mut names: Vec<&String> = fields.keys().collect();
            names.sort_unstable();
            into.push('{');
            for (at, name) in names.into_iter().enumerate() {
                if at > 0 {
                    into.push(',');
                }
                // A name is written as a text of JSON is.
                let _ = write!(into, "{}:", Quoted(name));
                canonical(&fields[name], into);
            }
            into.push('}');
        }
        Value::Array(items) => canonical_list(items, into),
        // Writing into memory does not fail.
        other => drop(write!(into, "{other}")),
    }
}

fn canonical_list<'a>(items: impl IntoIterator<Item = &'a Value>, into: &mut String) {
    into.push('[');
    for (at, item) in items.into_iter().enumerate() {
        if at > 0 {
            into.push(',');
        }
        canonical(item, into);
    }
    into.push(']');
}

struct Quoted<'a>(&'a str);

impl std::fmt::Display for Quoted<'_> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(&serde_json::to_string(self.0).map_err(|_| std::fmt::Error)?)
    }
}

fn hash(value: &Value) -> String {
    let mut text = String::new();
    canonical(value, &mut text);
    Algorithm::Sha1.hex(text.as_bytes())
}

/// The hash of a list, without the list.
fn hash_of<'a>(items: impl IntoIterator<Item = &'a Value>) -> String {
    let mut text = String::new();
    canonical_list(items, &mut text);
    Algorithm::Sha1.hex(text.as_bytes())
}

pub(crate) fn facts_record(payload: &Value, received: u64) -> Made<FactsRecord> {
    let Some(Value::Object(values)) = payload.get("values") else {
        return Err("'values' is missing or no hash".into());
    };
    let body = serde_json::to_string(values).map_err(|error| error.to_string())?;
    Ok(FactsRecord {
        node: text(payload, "certname")?,
        environment: text(payload, "environment")?,
        produced: time(payload, "producer_timestamp")?,
        received,
        producer: text_opt(payload, "producer"),
        hash: hash(payload.get("values").unwrap_or(&Value::Null)),
        body: body.into_bytes(),
    })
}

pub(crate) fn catalog_record(payload: &Value, received: u64) -> Made<CatalogRecord> {
    let resources = list(payload, "resources")?;
    let edges = list(payload, "edges")?;
    Ok(CatalogRecord {
        node: text(payload, "certname")?,
        environment: text(payload, "environment")?,
        version: text_opt(payload, "version").unwrap_or_default(),
        transaction_uuid: text_opt(payload, "transaction_uuid"),
        catalog_uuid: text_opt(payload, "catalog_uuid"),
        code_id: text_opt(payload, "code_id"),
        job_id: text_opt(payload, "job_id"),
        produced: time(payload, "producer_timestamp")?,
        received,
        producer: text_opt(payload, "producer"),
        hash: {
            let mut text = String::from("[");
            canonical_list(resources, &mut text);
            text.push(',');
            canonical_list(edges, &mut text);
            text.push(']');
            Algorithm::Sha1.hex(text.as_bytes())
        },
        resources: resources.iter().map(resource).collect::<Made<_>>()?,
        edges: edges.iter().map(edge).collect::<Made<_>>()?,
    })
}

fn resource(one: &Value) -> Made<ResourceRecord> {
    let nothing = json!({});
    let parameters = one.get("parameters").unwrap_or(&nothing);
    let identity = ["type", "title", "exported", "file", "line"].map(|name| &one[name]);
    Ok(ResourceRecord {
        kind: text(one, "type")?,
        title: text(one, "title")?,
        is_exported: one["exported"] == true,
        file: text_opt(one, "file"),
        line: one["line"].as_u64(),
        tags: one.get("tags").map_or_else(|| "[]".to_owned(), Value::to_string),
        parameters: parameters.to_string(),
        hash: hash_of(identity.into_iter().chain([parameters])),
    })
}

fn edge(one: &Value) -> Made<EdgeRecord> {
    let end = |name: &str| Ok((text(&one[name], "type")?, text(&one[name], "title")?));
    let (source, target) = (end("source"), end("target"));
    let wrong = |_: String| "an edge has no type or no title".to_owned();
    Ok(EdgeRecord {
        relationship: text(one, "relationship")?,
        source: source.map_err(wrong)?,
        target: target.map_err(wrong)?,
    })
}

pub(crate) fn report_record(payload: &Value, received: u64) -> Made<ReportRecord> {
    let mut events = Vec::new();
    for one in list(payload, "resources")? {
        add_events(one, &mut events)?;
    }
    let body = json!({"logs": list(payload, "logs")?, "metrics": list(payload, "metrics")?});
    Ok(ReportRecord {
        hash: hash(payload),
        node: text(payload, "certname")?,
        environment: text(payload, "environment")?,
        status: text_opt(payload, "status").unwrap_or_else(|| "failed".into()),
        is_noop: payload["noop"] == true,
        is_noop_pending: payload["noop_pending"].as_bool(),
        is_corrective: payload["corrective_change"].as_bool(),
        received,
        produced: time(payload, "producer_timestamp")?,
        started: time(payload, "start_time")?,
        ended: time(payload, "end_time")?,
        producer: text_opt(payload, "producer"),
        puppet_version: text_opt(payload, "puppet_version"),
        report_format: payload["report_format"].as_u64(),
        configuration_version: text_opt(payload, "configuration_version"),
        transaction_uuid: text_opt(payload, "transaction_uuid"),
        catalog_uuid: text_opt(payload, "catalog_uuid"),
        code_id: text_opt(payload, "code_id"),
        job_id: text_opt(payload, "job_id"),
        cached_catalog_status: text_opt(payload, "cached_catalog_status"),
        body: body.to_string().into_bytes(),
        events,
    })
}

/// The events of a resource; one that was skipped has an event that says so.
fn add_events(one: &Value, into: &mut Vec<EventRecord>) -> Made<()> {
    let path = one.get("containment_path").filter(|path| path.is_array());
    let class = path.and_then(Value::as_array).and_then(|path| {
        path.iter().rev().filter_map(Value::as_str).find(|step| !step.contains('['))
    });
    let base = EventRecord {
        status: "skipped".into(),
        at: time(one, "timestamp")?,
        resource_type: text(one, "resource_type")?,
        resource_title: text(one, "resource_title")?,
        file: text_opt(one, "file"),
        line: one["line"].as_u64(),
        containment_path: path.map(Value::to_string),
        containing_class: class.map(str::to_owned),
        ..EventRecord::default()
    };
    let no_events = Vec::new();
    let events = one["events"].as_array().unwrap_or(&no_events);
    if events.is_empty() && one["skipped"] == true {
        into.push(base.clone());
    }
    for event in events {
        let value = |name: &str| match event.get(name) {
            None | Some(Value::Null) => None,
            Some(value) => Some(value.to_string()),
        };
        into.push(EventRecord {
            status: text(event, "status")?,
            at: time(event, "timestamp")?,
            property: text_opt(event, "property"),
            name: text_opt(event, "name"),
            new_value: value("new_value"),
            old_value: value("old_value"),
            message: text_opt(event, "message"),
            is_corrective: event["corrective_change"].as_bool(),
            ..base.clone()
        });
    }
    Ok(())
}

/// Facts of a node as a command has them.
pub(crate) fn facts_payload(
    node: &str,
    environment: &str,
    values: Map<String, Value>,
    produced: u64,
    producer: &str,
) -> Value {
    let mut payload = json!({
        "certname": node,
        "environment": environment,
        "producer_timestamp": fx_fleet::shown_time(i64::try_from(produced).unwrap_or(i64::MAX)),
        "producer": producer,
    });
    payload["values"] = Value::Object(values);
    payload
}
