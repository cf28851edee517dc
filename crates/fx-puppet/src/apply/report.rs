//! The report of a run in the form of `last_run_report.yaml`, written as JSON, which every
//! reader of YAML takes.

use serde_json::{Map, json};

use super::transaction::Status;
use crate::compile::Resource;
use crate::eval::Evaluator;

/// The whole report.
pub(super) fn report(
    evaluator: &Evaluator,
    all: &[(&Resource, &Status)],
    noop: bool,
    status: &str,
    completed: bool,
) -> String {
    let pending = all.iter().any(|(_, status)| status.noop > 0);
    let mut statuses = Map::new();
    for (resource, status) in all {
        let at = evaluator.sources.location(resource.span);
        let events: Vec<serde_json::Value> = status
            .events
            .iter()
            .map(|event| {
                json!({
                    "audited": false,
                    "property": event.property,
                    "previous_value": event.from,
                    "desired_value": event.to,
                    "message": event.message,
                    "status": event.status,
                    "corrective_change": false,
                })
            })
            .collect();
        let entry = json!({
            "title": &*resource.title,
            "file": at.file.to_string(),
            "line": at.line,
            "resource": resource.reference(),
            "resource_type": &*resource.kind,
            "tags": resource.tags.iter().map(ToString::to_string).collect::<Vec<String>>(),
            "evaluation_time": status.took,
            "failed": status.failed,
            "changed": status.changed,
            "out_of_sync": status.out_of_sync > 0,
            "skipped": status.skipped,
            "failed_to_restart": status.failed_to_restart,
            "out_of_sync_count": status.out_of_sync,
            "change_count": status.changes,
            "corrective_change": status.corrective,
            "events": events,
        });
        statuses.insert(resource.reference(), entry);
    }
    let whole = json!({
        "host": evaluator.settings.node,
        "environment": evaluator.settings.environment,
        "status": status,
        "noop": noop,
        "noop_pending": pending,
        "corrective_change": all.iter().any(|(_, status)| status.corrective),
        "transaction_completed": completed,
        "puppet_version": crate::VERSION,
        "report_format": 12,
        "configuration_version": evaluator.run.host.now().secs,
        "resource_statuses": statuses,
    });
    format!("{whole:#}\n")
}
