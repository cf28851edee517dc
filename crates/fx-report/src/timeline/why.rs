//! One item of the timeline: why it had its turn then, or why not.

use std::fmt::Write;

use fx_engine::Cause;

use super::Moment;

/// Everything about the items whose name contains a text; `None` if there is none.
pub fn why(moments: &[Moment], item: &str) -> Option<String> {
    let wanted = item.to_lowercase();
    let is_wanted =
        |moment: &Moment| moment.step.is_some() && moment.label.to_lowercase().contains(&wanted);
    // An item that was done is shown once, not again for each later pass.
    let repeated = super::repeated(moments);
    let found: Vec<usize> =
        (0..moments.len()).filter(|at| is_wanted(&moments[*at]) && !repeated[*at]).collect();
    if found.is_empty() {
        return None;
    }
    let mut out = String::new();
    for at in found {
        let moment = &moments[at];
        let _ = writeln!(out, "{} {}: {}", moment.phase, moment.label, moment.outcome);
        let inside = moment.parent.and_then(|parent| step(moments, parent));
        let rows = [
            ("its turn", moment.why.clone()),
            ("order", order(moments, at).unwrap_or_default()),
            ("class", classes(moments, at).join("; ")),
            ("because", moment.reason.clone()),
            ("inside", inside.map(|inside| inside.label.clone()).unwrap_or_default()),
            ("written", moment.origin.clone()),
            ("as", moment.source.clone()),
            ("changed", moment.changed.join(", ")),
        ];
        for (name, value) in rows {
            if !value.is_empty() {
                let _ = writeln!(out, "  {name:<9} {value}");
            }
        }
    }
    Some(out)
}

fn step(moments: &[Moment], number: u32) -> Option<&Moment> {
    moments.iter().find(|moment| moment.step == Some(number))
}

/// The place of the item's kind, where the language has said in which order it takes kinds.
fn order(moments: &[Moment], at: usize) -> Option<String> {
    let note = moments[..at].iter().rev().find(|note| super::is_note(note, "order"))?;
    let kinds: Vec<&str> = note.field("kinds")?.split(", ").collect();
    let kind = moments[at].kind.as_str();
    let place = kinds.iter().position(|other| *other == kind)?;
    let before = match place {
        0 => "first".to_owned(),
        _ => format!("after {}", kinds[place - 1]),
    };
    Some(format!("{kind} is {} of {} in the normal order, {before}", place + 1, kinds.len()))
}

/// Who defined the classes of the guard that let the item have its turn.
fn classes(moments: &[Moment], at: usize) -> Vec<String> {
    let conditions = moments[at].causes.iter().filter_map(|cause| match cause {
        Cause::Condition(name) => Some(&**name),
        Cause::Item(_) => None,
    });
    conditions
        .filter_map(|name| {
            let note = moments[..at]
                .iter()
                .rev()
                .find(|note| super::is_note(note, "class") && note.field("name") == Some(name))?;
            let by = match note.parent.and_then(|parent| step(moments, parent)) {
                Some(step) => step.label.clone(),
                None => format!("bundle {}", note.field("bundle").unwrap_or("of the language")),
            };
            let place =
                if note.origin.is_empty() { String::new() } else { format!(" at {}", note.origin) };
            Some(format!("'{name}' was defined by {by}{place}"))
        })
        .collect()
}
