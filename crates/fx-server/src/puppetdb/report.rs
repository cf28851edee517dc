//! The report of an agent as PuppetDB's command has it.

use fx_fleet::{parse_time, shown_time};
use serde_json::{Map, Value, json};

fn or_null(report: &Value, name: &str) -> Value {
    report.get(name).cloned().unwrap_or_default()
}

fn time(value: &Value) -> Value {
    let time = value.as_str().and_then(parse_time);
    time.map_or(Value::Null, |time| shown_time(time).into())
}

/// A value of an event as text.
fn text(value: &Value) -> Value {
    match value {
        Value::Null => "".into(),
        Value::String(text) => text.as_str().into(),
        Value::Array(items) if items.iter().all(Value::is_string) => {
            // As Ruby shows a list of texts.
            json!(format!(
                "[{}]",
                items.iter().map(Value::to_string).collect::<Vec<_>>().join(", ")
            ))
        }
        other => other.to_string().into(),
    }
}

pub(crate) fn report_payload(report: &Value, produced: u64, producer: &str) -> Value {
    let statuses = report["resource_statuses"].as_object();
    let resources: Vec<Value> =
        statuses.into_iter().flat_map(Map::values).filter_map(resource).collect();
    let started = report["time"].as_str().and_then(parse_time).unwrap_or_default();
    let metrics = metrics(report);
    let total = metrics.iter().find(|one| one["category"] == "time" && one["name"] == "total");
    let total = total.and_then(|one| one["value"].as_f64()).unwrap_or_default();
    let ended = started.saturating_add((total * 1000.0) as i64);
    let version = match &report["configuration_version"] {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let any = |wanted: bool| {
        resources
            .iter()
            .flat_map(|one| one["events"].as_array().into_iter().flatten())
            .any(|event| (event["status"] == "noop") == wanted)
    };
    let is_noop = report["noop"].as_bool().unwrap_or_else(|| any(true) && !any(false));
    json!({
        "certname": or_null(report, "host"),
        "environment": or_null(report, "environment"),
        "puppet_version": or_null(report, "puppet_version"),
        "report_format": or_null(report, "report_format"),
        "configuration_version": version,
        "start_time": shown_time(started),
        "end_time": shown_time(ended),
        "producer_timestamp": shown_time(i64::try_from(produced).unwrap_or(i64::MAX)),
        "producer": producer,
        "resources": resources,
        "metrics": metrics,
        "logs": logs(report),
        "transaction_uuid": or_null(report, "transaction_uuid"),
        "catalog_uuid": or_null(report, "catalog_uuid"),
        "code_id": or_null(report, "code_id"),
        "job_id": or_null(report, "job_id"),
        "cached_catalog_status": or_null(report, "cached_catalog_status"),
        "status": or_null(report, "status"),
        "noop": is_noop,
        "noop_pending": or_null(report, "noop_pending"),
        "corrective_change": or_null(report, "corrective_change"),
    })
}

/// Only what was changed, failed or skipped is kept.
fn resource(status: &Value) -> Option<Value> {
    let no_events = Vec::new();
    let events = status["events"].as_array().unwrap_or(&no_events);
    if events.is_empty() && status["skipped"] != true {
        return None;
    }
    let events: Vec<Value> = events
        .iter()
        .map(|event| {
            json!({
                "status": event["status"],
                "timestamp": time(&event["time"]),
                "name": event["name"],
                "property": event["property"],
                "new_value": text(&event["desired_value"]),
                "old_value": text(&event["previous_value"]),
                "corrective_change": event["corrective_change"],
                "message": event["message"],
            })
        })
        .collect();
    Some(json!({
        "skipped": status["skipped"],
        "timestamp": time(&status["time"]),
        "resource_type": status["resource_type"],
        "resource_title": status["title"].as_str().map_or_else(|| status["title"].to_string(), str::to_owned),
        "file": status["file"],
        "line": status["line"],
        "containment_path": status["containment_path"],
        "corrective_change": status["corrective_change"],
        "events": events,
    }))
}

fn metrics(report: &Value) -> Vec<Value> {
    let mut found = Vec::new();
    for metric in report["metrics"].as_object().into_iter().flat_map(Map::values) {
        for value in metric["values"].as_array().into_iter().flatten() {
            found.push(json!({"category": metric["name"], "name": value[0], "value": value[2]}));
        }
    }
    found
}

fn logs(report: &Value) -> Vec<Value> {
    let logs = report["logs"].as_array().into_iter().flatten();
    logs.map(|log| {
        json!({
            "file": log["file"], "line": log["line"], "level": log["level"],
            "message": log["message"], "source": log["source"], "tags": log["tags"],
            "time": time(&log["time"]),
        })
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unchanged_resources_are_left_out_and_times_are_utc() {
        let report = json!({
            "host": "n1", "environment": "production", "time": "2026-01-10T10:00:00.123456789+02:00",
            "configuration_version": 1_700_000_000, "status": "changed", "noop": null,
            "metrics": {"time": {"name": "time", "values": [["total", "Total", 1.5]]}},
            "logs": [], "resource_statuses": {
                "File[/a]": {"title": "/a", "resource_type": "File", "skipped": false, "events": [],
                    "time": "2026-01-10T10:00:00+02:00"},
                "File[/b]": {"title": "/b", "resource_type": "File", "skipped": false,
                    "time": "2026-01-10T10:00:01+02:00", "events": [{"status": "noop", "property": "mode",
                    "desired_value": 420, "previous_value": null, "time": "2026-01-10T10:00:01+02:00"}]},
            },
        });
        let made = report_payload(&report, 0, "server");
        assert_eq!(made["start_time"], "2026-01-10T08:00:00.123Z");
        assert_eq!(made["end_time"], "2026-01-10T08:00:01.623Z");
        assert_eq!(made["configuration_version"], "1700000000");
        assert_eq!(made["resources"].as_array().map(Vec::len), Some(1));
        let event = &made["resources"][0]["events"][0];
        assert_eq!((&event["new_value"], &event["old_value"]), (&json!("420"), &json!("")));
        assert_eq!(made["noop"], true, "by its events");
    }
}
