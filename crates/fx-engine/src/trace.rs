//! The one-line-per-step text form of a ledger that tests, `explain` and case files read.
//!
//! A line holds: sequence, depth as indentation, phase, resource, action, outcome, changed
//! properties, why now, origin. Times are left out: a trace is the same on every machine.

use std::cell::RefCell;
use std::fmt::Write;

use fx_source::SourceMap;

use crate::{Event, Ledger, Outcome, Purpose, Sink, Step};

/// One step as one line, without its end.
pub fn trace_line(step: &Step, map: &SourceMap) -> String {
    let mut line = format!("{:>3} {}", step.id.number(), "  ".repeat(step.depth as usize));
    if !step.phase.is_empty() {
        let _ = write!(line, "[{}] ", step.phase);
    }
    let _ = write!(line, "{} {} {}", step.resource, step.action, step.outcome.word());
    if let Outcome::Skipped(reason) = &step.outcome {
        let _ = write!(line, " ({reason})");
    }
    if let Some(failure) = step.outcome.failure() {
        let _ = write!(line, " ({failure})");
    }
    if step.purpose == Purpose::Probe {
        line.push_str(" probe");
    }
    if !step.changed.is_empty() {
        let _ = write!(line, " {{{}}}", step.changed.join(","));
    }
    if !step.why.is_empty() {
        let _ = write!(line, " <- {}", step.why);
    }
    if step.origin.span.is_some() {
        let _ = write!(line, " @ {}", step.origin.short(map));
    }
    line
}

impl Ledger {
    /// The whole trace, one line a step in the order of opening.
    pub fn trace(&self, map: &SourceMap) -> String {
        self.steps().iter().map(|step| trace_line(step, map) + "\n").collect()
    }
}

/// A sink that writes down notes of a language between the steps, in true order.
#[derive(Default)]
pub struct Trace {
    lines: RefCell<Vec<String>>,
}

impl Trace {
    /// The lines so far.
    pub fn lines(&self) -> Vec<String> {
        self.lines.borrow().clone()
    }
}

impl Sink for Trace {
    fn event(&self, event: &Event<'_>) {
        if let Event::Note { code, fields, .. } = event {
            let fields: Vec<String> =
                fields.iter().map(|(key, value)| format!("{key}={value}")).collect();
            self.lines.borrow_mut().push(format!("{code} {}", fields.join(" ")));
        } else if let Event::StepOpened { step } = event {
            self.lines.borrow_mut().push(format!(
                "step {} {} {}",
                step.id.number(),
                step.resource,
                step.action
            ));
        }
    }
}
