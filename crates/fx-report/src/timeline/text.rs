//! The timeline as lines for people.

use std::fmt::Write;

use super::Moment;

/// All moments in order, under their phases.
pub fn text(moments: &[Moment]) -> String {
    let mut out = String::new();
    let mut phase = "";
    for (moment, repeated) in moments.iter().zip(super::repeated(moments)) {
        if repeated {
            continue;
        }
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
    fx_source::visible(&out).into_owned()
}
