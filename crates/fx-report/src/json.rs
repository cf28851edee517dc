//! The run as JSON lines, one object an event, for machines. The schema has a version.

use std::os::unix::ffi::OsStrExt;
use std::rc::Rc;

use fx_engine::{Change, Detail, Event, Level, Mode, Outcome, Purpose, Sink, Step};
use fx_source::SourceMap;
use serde_json::{Value, json};

use crate::Screen;

/// Version of the form below. Fields may be added; a changed meaning raises it.
pub const SCHEMA: u32 = 1;

/// Writes every event as one line of JSON.
pub struct JsonLines {
    screen: Rc<Screen>,
    sources: Rc<SourceMap>,
}

impl JsonLines {
    /// JSON lines on this screen.
    pub fn new(screen: Rc<Screen>, sources: Rc<SourceMap>) -> JsonLines {
        JsonLines { screen, sources }
    }

    fn step(&self, step: &Step) -> Value {
        json!({
            "step": step.id.number(),
            "parent": step.parent.map(fx_engine::StepId::number),
            "phase": &*step.phase,
            "resource": step.resource.to_string(),
            "action": step.action,
            "why": &*step.why,
            "mode": match step.mode {
                Mode::Apply => "apply",
                Mode::Rehearse => "rehearse",
            },
            "purpose": match step.purpose {
                Purpose::Act => "act",
                Purpose::Tell => "tell",
                Purpose::Probe => "probe",
            },
            "origin": step.origin.span.map(|span| self.sources.location(span).to_string()),
        })
    }
}

fn level(level: Level) -> &'static str {
    match level {
        Level::Error => "error",
        Level::Warning => "warning",
        Level::Notice => "notice",
        Level::Info => "info",
        Level::Verbose => "verbose",
        Level::Debug => "debug",
    }
}

fn change(kind: &str, step: fx_engine::StepId, change: &Change) -> Value {
    let name = fx_value::Value::from(change.target.name.as_bytes());
    let sentence = match &change.detail {
        Some(Detail::Text(sentence)) => Some(sentence),
        _ => None,
    };
    json!({
        "event": kind, "step": step.number(),
        "target": { "kind": change.target.kind.word(), "name": name.to_json() },
        "property": change.property,
        "from": change.from.to_json(), "to": change.to.to_json(), "text": sentence,
        "sensitive": change.is_sensitive(),
    })
}

fn merged(mut object: Value, more: Value) -> Value {
    if let (Value::Object(into), Value::Object(from)) = (&mut object, more) {
        into.extend(from);
    }
    object
}

impl Sink for JsonLines {
    fn event(&self, event: &Event<'_>) {
        let object = match event {
            Event::RunStarted { target } => {
                json!({ "event": "run_started", "schema": SCHEMA, "target": target })
            }
            Event::RunFinished { elapsed } => {
                json!({ "event": "run_finished", "seconds": elapsed.as_secs_f64() })
            }
            Event::SourceLoaded { name } => json!({ "event": "source_loaded", "name": name }),
            Event::StepOpened { step } => {
                merged(json!({ "event": "step_opened" }), self.step(step))
            }
            Event::StepClosed { step } => {
                let skipped = match &step.outcome {
                    Outcome::Skipped(reason) => Some(reason.clone()),
                    outcome => outcome.failure().map(ToString::to_string),
                };
                let end = json!({
                    "outcome": step.outcome.word(), "reason": skipped, "changed": step.changed,
                    "seconds": step.elapsed.as_secs_f64(),
                    "unknown_after": step.after.map(fx_engine::StepId::number),
                    "certainty": step.certainty().word(),
                    "unknown_because": step.not_seen.as_deref(),
                });
                merged(merged(json!({ "event": "step_closed" }), self.step(step)), end)
            }
            Event::ChangeMade { step, change: made } => change("change_made", *step, made),
            Event::ChangeWithheld { step, change: withheld } => {
                change("change_withheld", *step, withheld)
            }
            Event::ChangeFailed { step, change: failed, failure } => merged(
                change("change_failed", *step, failed),
                json!({ "reason": failure.to_string() }),
            ),
            Event::Evaluated { author, record, step } => json!({
                "event": "evaluated", "author": author, "step": step.map(fx_engine::StepId::number),
                "operation": record.operation.verb(), "subject": record.subject.to_string_lossy(),
                "done": record.done,
            }),
            Event::Message { level: importance, text, origin, step } => json!({
                "event": "message", "level": level(*importance), "text": text,
                "step": step.map(fx_engine::StepId::number),
                "origin": origin.span.map(|span| self.sources.location(span).to_string()),
            }),
            Event::Note { code, fields, origin } => {
                let fields: serde_json::Map<String, Value> =
                    fields.iter().map(|(key, value)| (key.to_string(), value.to_json())).collect();
                json!({
                    "event": "note", "code": code, "fields": fields,
                    "origin": origin.span.map(|span| self.sources.location(span).to_string()),
                })
            }
        };
        self.screen.print(&(object.to_string() + "\n"));
    }
}
