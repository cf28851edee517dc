//! What led to what: the earlier moments that a step's reason speaks of.
//!
//! A reason names a resource in brackets (`require File[/x]`, `notification from
//! template[/y]`) or a class of a guard. The names are looked up among what came before;
//! containment is not a cause.

use std::collections::HashMap;

use super::Moment;

/// For each moment the places in the list of those that caused it, in order.
pub(super) fn causes(moments: &[Moment]) -> Vec<Vec<usize>> {
    let mut items: HashMap<&str, usize> = HashMap::new();
    let mut classes: HashMap<&str, usize> = HashMap::new();
    let mut all = Vec::with_capacity(moments.len());
    for (at, moment) in moments.iter().enumerate() {
        let mut found: Vec<usize> = Vec::new();
        if moment.step.is_some() {
            found.extend(bracketed(&moment.why).filter_map(|name| items.get(name)));
            found.extend(guard(&moment.why).filter_map(|name| classes.get(name)));
            found.sort_unstable();
            found.dedup();
            if let Some(name) = bracketed(&moment.label).next() {
                items.insert(name, at);
            }
        } else if super::is_note(moment, "class")
            && let Some(name) =
                moment.label.strip_prefix("name ").and_then(|rest| rest.split(", ").next())
        {
            // The step that set the class is what one wants to see.
            let by = moment
                .parent
                .and_then(|step| moments[..at].iter().rposition(|other| other.step == Some(step)));
            classes.insert(name, by.unwrap_or(at));
        }
        all.push(found);
    }
    all
}

/// What stands in brackets.
fn bracketed(text: &str) -> impl Iterator<Item = &str> {
    text.split('[').skip(1).filter_map(|rest| rest.split(']').next())
}

/// Classes of the guard a reason ends with: `bundle main a.b::`.
fn guard(why: &str) -> impl Iterator<Item = &str> {
    let guard = why.split(' ').find_map(|word| word.strip_suffix("::")).unwrap_or_default();
    guard
        .split(|c: char| !c.is_alphanumeric() && c != '_' && c != ':')
        .filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(number: u32, label: &str, why: &str) -> Moment {
        Moment { step: Some(number), label: label.into(), why: why.into(), ..Moment::default() }
    }

    #[test]
    fn reasons_lead_to_earlier_items_and_to_who_set_a_class() {
        let class = Moment {
            parent: Some(1),
            label: "name made, bundle main".into(),
            outcome: "cf.class".into(),
            ..Moment::default()
        };
        let moments = [
            step(1, "directory[/srv]", "manifest order"),
            class,
            step(2, "file[/srv/a]", "autorequire File[/srv]"),
            step(3, "files[/b]", "bundle main made.!other::"),
            step(4, "service[x]", "notify from File[/srv/a] and Class[Gone]"),
        ];
        assert_eq!(causes(&moments), [vec![], vec![], vec![0], vec![0], vec![2]]);
    }
}
