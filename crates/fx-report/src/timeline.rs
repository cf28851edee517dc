//! The order of a run as one list of moments: steps with their reasons, and what a language
//! notes between them. Shown as text, JSON or a page that needs no network.

mod causes;
mod html;
mod text;
mod why;

use std::cell::RefCell;
use std::collections::HashSet;
use std::rc::Rc;

use fx_engine::{Cause, Event, Outcome, Sink, Step};
use fx_source::SourceMap;
use serde_json::{Value, json};

pub use html::page;
pub use text::text;
pub use why::why;

/// Version of the JSON form.
pub const TIMELINE_SCHEMA: u32 = 1;

/// One thing that happened, in its place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Moment {
    /// Number of the step; `None` for a note.
    pub step: Option<u32>,
    /// The step around it.
    pub parent: Option<u32>,
    /// How deep it lies.
    pub depth: u32,
    /// Phase or pass.
    pub phase: String,
    /// Resource, or what was noted.
    pub label: String,
    /// Name of a step's resource.
    pub item: String,
    /// Kind of a step's resource.
    pub kind: String,
    /// How a step ended; the code of a note.
    pub outcome: String,
    /// Why it was skipped or failed.
    pub reason: String,
    /// Why it was its turn.
    pub why: String,
    /// What led to it.
    pub causes: Vec<Cause>,
    /// What a note says, by name.
    pub fields: Vec<(String, String)>,
    /// Changed properties.
    pub changed: Vec<String>,
    /// File, line and column.
    pub origin: String,
    /// The line of source it comes from.
    pub source: String,
}

/// Collects the moments of a run.
pub struct Timeline {
    sources: Rc<SourceMap>,
    moments: RefCell<Vec<Moment>>,
    phase: RefCell<String>,
    /// Steps that are open, the innermost last.
    open: RefCell<Vec<u32>>,
}

impl Timeline {
    /// Nothing yet.
    pub fn new(sources: Rc<SourceMap>) -> Timeline {
        Timeline {
            sources,
            moments: RefCell::default(),
            phase: RefCell::default(),
            open: RefCell::default(),
        }
    }

    /// What happened, in order.
    pub fn moments(&self) -> Vec<Moment> {
        self.moments.borrow().clone()
    }

    fn opened(&self, step: &Step) {
        let (origin, source) = match step.origin.span {
            Some(span) => {
                let at = self.sources.location(span);
                let file = self.sources.file(span.file);
                (at.to_string(), fx_source::shown_line(at.line, &|line| file.line_text(line)))
            }
            None => (String::new(), String::new()),
        };
        *self.phase.borrow_mut() = step.phase.to_string();
        self.open.borrow_mut().push(step.id.number());
        self.moments.borrow_mut().push(Moment {
            step: Some(step.id.number()),
            parent: step.parent.map(fx_engine::StepId::number),
            depth: step.depth,
            phase: step.phase.to_string(),
            label: step.resource.to_string(),
            item: step.resource.name.to_string(),
            kind: step.resource.kind.to_string(),
            outcome: step.outcome.word().to_owned(),
            why: step.why.to_string(),
            causes: step.why.causes().to_vec(),
            origin,
            source,
            ..Moment::default()
        });
    }

    fn closed(&self, step: &Step) {
        self.open.borrow_mut().retain(|open| *open != step.id.number());
        let mut moments = self.moments.borrow_mut();
        let number = Some(step.id.number());
        let Some(moment) = moments.iter_mut().rev().find(|moment| moment.step == number) else {
            return;
        };
        step.outcome.word().clone_into(&mut moment.outcome);
        moment.changed = step.changed.iter().map(ToString::to_string).collect();
        moment.reason = match &step.outcome {
            Outcome::Skipped(reason) => reason.clone(),
            outcome => outcome.failure().map(ToString::to_string).unwrap_or_default(),
        };
    }
}

impl Sink for Timeline {
    fn event(&self, event: &Event<'_>) {
        match event {
            Event::StepOpened { step } => self.opened(step),
            Event::StepClosed { step } => self.closed(step),
            Event::ChangeMade { step, change } | Event::ChangeWithheld { step, change }
                if change.is_sensitive() =>
            {
                let number = Some(step.number());
                let mut moments = self.moments.borrow_mut();
                if let Some(moment) = moments.iter_mut().rev().find(|one| one.step == number) {
                    moment.source = fx_source::hidden_line(&moment.source);
                }
            }
            // What one console prints in words of its own is no moment of the order.
            Event::Note { code, .. }
                if matches!(code.rsplit('.').next(), Some("line" | "stderr")) => {}
            Event::Note { code, fields, origin } => {
                let fields: Vec<(String, String)> = fields
                    .iter()
                    .map(|(name, value)| (name.to_string(), value.to_string()))
                    .filter(|(_, value)| !value.is_empty())
                    .collect();
                let label: Vec<String> =
                    fields.iter().map(|(name, value)| format!("{name} {value}")).collect();
                self.moments.borrow_mut().push(Moment {
                    parent: self.open.borrow().last().copied(),
                    phase: self.phase.borrow().clone(),
                    label: label.join(", "),
                    fields,
                    outcome: (*code).to_owned(),
                    origin: origin
                        .span
                        .map(|span| self.sources.location(span).to_string())
                        .unwrap_or_default(),
                    ..Moment::default()
                });
            }
            _ => {}
        }
    }
}

impl Moment {
    /// What a note says under a name.
    fn field(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

/// Whether a moment is a note of a kind, whichever language made it: `cf.class`.
fn is_note(moment: &Moment, kind: &str) -> bool {
    moment.step.is_none() && moment.outcome.rsplit('.').next() == Some(kind)
}

/// For each moment whether it only passes over again what was dealt with before, as a later
/// pass does.
fn repeated(moments: &[Moment]) -> Vec<bool> {
    let mut dealt_with = HashSet::new();
    let mut seen = |moment: &Moment| {
        let item = (moment.label.clone(), moment.origin.clone());
        match moment.outcome.as_str() {
            "skipped" => dealt_with.contains(&item),
            _ => {
                dealt_with.insert(item);
                false
            }
        }
    };
    moments.iter().map(|moment| moment.step.is_some() && seen(moment)).collect()
}

/// The moments for machines.
pub fn timeline_json(target: &str, moments: &[Moment]) -> Value {
    let moments: Vec<Value> = moments
        .iter()
        .zip(causes::causes(moments))
        .map(|(moment, causes)| {
            json!({
                "step": moment.step, "causes": causes, "parent": moment.parent, "depth": moment.depth, "phase": moment.phase,
                "label": moment.label, "outcome": moment.outcome, "reason": moment.reason, "why": moment.why,
                "changed": moment.changed, "origin": moment.origin, "source": moment.source,
            })
        })
        .collect();
    json!({ "schema": TIMELINE_SCHEMA, "target": target, "moments": moments })
}

#[cfg(test)]
mod tests {
    use fx_engine::{Ledger, Request, ResourceId};
    use fx_host::MemoryHost;
    use fx_source::{Origin, Span};

    use super::*;

    fn moments() -> Vec<Moment> {
        let sources = Rc::new(SourceMap::new());
        let file = sources.add("site.x", b"one\n  two <b>\n".as_slice());
        let timeline = Rc::new(Timeline::new(Rc::clone(&sources)));
        let ledger = Ledger::new();
        ledger.watch(Rc::<Timeline>::clone(&timeline));
        let host = MemoryHost::new();
        ledger.note(
            "lang.class",
            &[("name".into(), "web".into()), ("bundle".into(), "".into())],
            &Origin::default(),
        );
        let mut request = Request::new(ResourceId::new("file", "/x"), "make");
        request.phase = "pass 1".into();
        request.why = "first".into();
        request.origin = Origin::at(Span::new(file, 6, 9));
        let step = ledger.open(&host, request);
        ledger.close(&host, step, Outcome::Repaired);
        let mut request = Request::new(ResourceId::new("exec", "reload"), "run");
        request.phase = "pass 1".into();
        let step = ledger.open(&host, request);
        ledger.close(&host, step, Outcome::Skipped("the class 'changed' is not defined".into()));
        timeline.moments()
    }

    #[test]
    fn the_order_is_told_with_reasons() {
        let expected = [
            "     lang.class   name web",
            "pass 1",
            "   1 repaired     file[/x] because first at site.x:2:3",
            "   2 skipped      exec[reload] the class 'changed' is not defined",
        ];
        assert_eq!(text(&moments()).lines().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn one_item_can_be_asked_for() {
        let answer = why(&moments(), "reload").unwrap();
        assert!(
            answer.contains("exec[reload]")
                && answer.contains("the class 'changed' is not defined"),
            "{answer}"
        );
        assert!(why(&moments(), "nothing").is_none());
    }

    #[test]
    fn the_page_holds_everything_and_no_text_can_leave_its_data() {
        let page = page("site</script>", &moments());
        assert!(page.contains("file[/x]") && page.contains("two"), "the data is inside");
        assert_eq!(
            page.matches("</script>").count(),
            2,
            "the data block and the program end once each"
        );
        assert!(!page.contains("http://") && !page.contains("https://"), "nothing is fetched");
    }

    #[test]
    fn machines_get_a_versioned_form() {
        let json = timeline_json("site.x", &moments());
        assert_eq!(
            (json["schema"].as_u64(), json["moments"].as_array().map(Vec::len)),
            (Some(1), Some(3))
        );
        assert_eq!(json["moments"][1]["source"], "two <b>");
    }
}
