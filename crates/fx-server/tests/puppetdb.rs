//! What a real PuppetDB answered to a list of queries, and what this server answers to them.
//! `conformance/puppetdb/record.py` writes the expectations.

#![allow(clippy::unwrap_used, reason = "a test fails by it")]
#![allow(clippy::disallowed_methods, reason = "reads the list of queries")]

#[path = "support/bench.rs"]
mod support;

#[path = "../../fx-fleet/tests/support/cluster.rs"]
mod cluster;

use fx_wire::puppet::percent_encoded;
use serde_json::{Value, json};
use support::{Bench, NOW, admin, bench, bench_on};

fn read(name: &str) -> String {
    let dir = concat!(env!("CARGO_MANIFEST_DIR"), "/../../conformance/puppetdb/");
    std::fs::read_to_string(format!("{dir}{name}")).unwrap()
}

fn feed(bench: &Bench) {
    let commands: Vec<Value> = serde_json::from_str(&read("commands.json")).unwrap();
    for one in commands {
        let name = one["command"].as_str().unwrap().replace(' ', "_");
        let node = one["certname"].as_str().unwrap();
        let target =
            format!("/pdb/cmd/v1?command={name}&version={}&certname={node}", one["version"]);
        let reply = bench.send(admin(), "POST", &target, one["payload"].to_string().as_bytes());
        assert_eq!(reply.status, 200, "{name} of {node}: {}", String::from_utf8_lossy(&reply.body));
    }
}

/// The path and the parameters of a line of the list.
fn target(line: &str) -> String {
    let mut parts = line.split('\t');
    let path = parts.next().unwrap_or_default().trim_start_matches('/');
    let (query, more) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    let mut pairs = Vec::new();
    if !query.trim().is_empty() {
        pairs.push(format!("query={}", percent_encoded(query)));
    }
    for pair in more.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap();
        pairs.push(format!("{name}={}", percent_encoded(value)));
    }
    let slash = if path.is_empty() { "" } else { "/" };
    format!("/pdb/query/v4{slash}{path}?{}", pairs.join("&"))
}

/// Without what differs from store to store: digests and times of arrival. Numbers are what
/// they are worth, and lists without an order are sorted.
fn comparable(value: &Value, is_ordered: bool) -> Value {
    const OWN: &[&str] = &[
        "hash",
        "report",
        "latest_report_hash",
        "receive_time",
        "report_receive_time",
        "facts_timestamp",
        "catalog_timestamp",
        "corrective_change",
        "latest_report_corrective_change",
        "href",
    ];
    match value {
        Value::Object(fields) => {
            let is_factset = fields.contains_key("facts");
            let is_resource = fields.contains_key("parameters");
            let mut names: Vec<&String> = fields.keys().collect();
            names.sort_unstable();
            let fields = names.into_iter().map(|name| {
                let is_own = OWN.contains(&name.as_str())
                    || (is_factset && name == "timestamp")
                    || (is_resource && name == "resource");
                let value = if is_own { json!("-") } else { comparable(&fields[name], false) };
                (name.clone(), value)
            });
            Value::Object(fields.collect())
        }
        Value::Array(items) => {
            let mut items: Vec<Value> = items.iter().map(|item| comparable(item, false)).collect();
            if !is_ordered {
                items.sort_by_key(ToString::to_string);
            }
            items.into()
        }
        Value::Number(number) => json!(number.as_f64()),
        // Inside of reports the original writes times as its database does.
        Value::String(text) if text.ends_with("+00:00") => {
            fx_fleet::parse_time(text).map(fx_fleet::shown_time).into()
        }
        other => other.clone(),
    }
}

/// The part of a message before lists, which the original has in the order of its hashes.
fn head(text: &str) -> &str {
    let text = text.split("\n\nExpected").next().unwrap_or_default();
    let text = text.split("Supported columns").next().unwrap_or_default();
    let text = text.split("Acceptable fields").next().unwrap_or_default();
    let text = text.split("Known queryable").next().unwrap_or_default();
    let text = text.split("expression:").next().unwrap_or_default();
    if text.starts_with("Json parse error") { "Json parse error" } else { text }
}

#[test]
fn queries_are_answered_as_the_original_does() {
    check_queries(&bench(Vec::new()));
    if let Some(cluster) = cluster::cluster() {
        let fleet = fx_fleet::Fleet::postgres(&cluster.database()).unwrap();
        check_queries(&bench_on(fleet, tempfile::tempdir().unwrap(), NOW, Vec::new()));
    }
}

fn check_queries(bench: &Bench) {
    feed(bench);
    let expected: Vec<Value> = serde_json::from_str(&read("expected.json")).unwrap();
    let mut wrong = Vec::new();
    for row in &expected {
        let line = row["request"].as_str().unwrap();
        let reply = bench.send(admin(), "GET", &target(line), b"");
        let body = String::from_utf8_lossy(&reply.body);
        let is_ordered = line.contains("order_by") || line.contains("order by");
        let same_body = match (row.get("json"), row["text"].as_str()) {
            (Some(wanted), _) => serde_json::from_str::<Value>(&body)
                .is_ok_and(|got| comparable(&got, is_ordered) == comparable(wanted, is_ordered)),
            (None, text) => head(&body) == head(text.unwrap_or_default()),
        };
        let total = reply.fields.iter().find(|(name, _)| *name == "x-records");
        let total = total.and_then(|(_, total)| total.parse::<u64>().ok());
        let wanted = row.get("json").unwrap_or(&row["text"]);
        if u64::from(reply.status) != row["status"] || !same_body || total != row["total"].as_u64()
        {
            wrong.push(format!(
                "{line}\n  got    {} {total:?} {body}\n  wanted {} {wanted}",
                reply.status, row["status"]
            ));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), expected.len(), wrong.join("\n"));
    assert!(expected.len() > 200, "the list is whole");
}

#[test]
fn commands_that_cannot_be_kept_are_refused_and_change_nothing() {
    let bench = bench(Vec::new());
    let facts = json!({"certname": "n1", "environment": "production", "values": {"a": 1},
        "producer_timestamp": "2026-01-10T10:00:00.000Z", "producer": "p"});
    let good = "/pdb/cmd/v1?command=replace_facts&version=5&certname=n1";
    for (target, body, wanted) in [
        (good, "not json".to_owned(), 400),
        (good, json!({"certname": "n1"}).to_string(), 400),
        ("/pdb/cmd/v1?command=bogus&version=1&certname=n1", facts.to_string(), 400),
        ("/pdb/cmd/v1?command=replace_facts&version=3&certname=n1", facts.to_string(), 400),
        ("/pdb/cmd/v1?command=replace_facts&certname=n1", facts.to_string(), 400),
    ] {
        let reply = bench.send(admin(), "POST", target, body.as_bytes());
        assert_eq!(reply.status, wanted, "{target} {body}");
        assert_eq!(bench.fleet.nodes().unwrap(), Vec::<String>::new());
    }
    // The original's terminus sends a checksum of something else.
    let checked = format!("{good}&checksum=da39a3ee5e6b4b0d3255bfef95601890afd80709");
    assert_eq!(bench.send(admin(), "POST", &checked, facts.to_string().as_bytes()).status, 200);
    let old = json!({"command": "replace facts", "version": 5, "payload": facts});
    assert_eq!(bench.send(admin(), "POST", "/pdb/cmd/v1", old.to_string().as_bytes()).status, 200);
    assert_eq!(bench.fleet.nodes().unwrap(), ["n1"]);
}

#[test]
fn what_is_older_does_not_replace_what_is_newer() {
    let bench = bench(Vec::new());
    let send = |time: &str, value: u64| {
        let facts = json!({"certname": "n1", "environment": "production", "values": {"a": value},
            "producer_timestamp": time, "producer": "p"});
        let target = "/pdb/cmd/v1?command=replace_facts&version=5&certname=n1";
        assert_eq!(bench.send(admin(), "POST", target, facts.to_string().as_bytes()).status, 200);
    };
    let state = || {
        let reply = bench.send(admin(), "GET", "/pdb/query/v4/nodes/n1/facts/a", b"");
        let rows: Value = serde_json::from_slice(&reply.body).unwrap();
        rows[0]["value"].clone()
    };
    let deactivate = |time: &str| {
        let body = json!({"certname": "n1", "producer_timestamp": time});
        let target = "/pdb/cmd/v1?command=deactivate_node&version=3&certname=n1";
        bench.send(admin(), "POST", target, body.to_string().as_bytes());
    };
    send("2026-01-10T10:00:00.000Z", 1);
    send("2026-01-09T10:00:00.000Z", 2);
    assert_eq!(state(), 1);
    deactivate("2026-01-10T09:00:00.000Z");
    assert_eq!(state(), 1, "it is older than what came since");
    deactivate("2026-01-10T11:00:00.000Z");
    assert_eq!(state(), Value::Null);
    send("2026-01-10T12:00:00.000Z", 3);
    assert_eq!(state(), 3, "active again");
}
