//! The timeline as lines for people.

use std::fmt::Write;

use super::Moment;

/// All moments in order, under their phases.
pub fn text(moments: &[Moment]) -> String {
    let mut out = String::new();
    let mut phase = "";
    for moment in moments {
        if moment.step.is_some() && moment.phase != phase {
            phase = &moment.phase;
            let _ = writeln!(out, "{phase}");
        }
        let number = moment.step.map(|step| step.to_string()).unwrap_or_default();
        let indent = "  ".repeat(moment.depth as usize);
        let _ = write!(out, "{number:>4} {:<12} {indent}{}", moment.outcome, moment.label);
        if !moment.changed.is_empty() {
            let _ = write!(out, " {{{}}}", moment.changed.join(", "));
        }
        if !moment.why.is_empty() {
            let _ = write!(out, " because {}", moment.why);
        }
        if !moment.reason.is_empty() {
            let _ = write!(out, " {}", moment.reason);
        }
        if !moment.origin.is_empty() {
            let _ = write!(out, " at {}", moment.origin);
        }
        out.push('\n');
    }
    out
}

/// Everything about the items whose name contains a text; `None` if there is none.
pub fn why(moments: &[Moment], item: &str) -> Option<String> {
    let wanted = item.to_lowercase();
    let found: Vec<&Moment> = moments
        .iter()
        .filter(|moment| moment.step.is_some() && moment.label.to_lowercase().contains(&wanted))
        .collect();
    if found.is_empty() {
        return None;
    }
    let mut out = String::new();
    for moment in found {
        let _ = writeln!(out, "{} {}: {}", moment.phase, moment.label, moment.outcome);
        let parent = moment
            .parent
            .and_then(|parent| moments.iter().find(|other| other.step == Some(parent)));
        let parent = parent.map(|parent| parent.label.clone()).unwrap_or_default();
        let rows = [
            ("its turn", &moment.why),
            ("because", &moment.reason),
            ("inside", &parent),
            ("written", &moment.origin),
            ("as", &moment.source),
        ];
        for (name, value) in rows {
            if !value.is_empty() {
                let _ = writeln!(out, "  {name:<9} {value}");
            }
        }
        if !moment.changed.is_empty() {
            let _ = writeln!(out, "  changed   {}", moment.changed.join(", "));
        }
    }
    Some(out)
}
