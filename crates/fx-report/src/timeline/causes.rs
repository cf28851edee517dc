//! What led to what: the earlier moments that a step's reason points to.
//!
//! A reason names other items, or conditions such as the classes of a guard. They are looked up
//! among what came before; containment is not a cause.

use std::collections::HashMap;

use fx_engine::Cause;

use super::Moment;

/// For each moment the places in the list of those that caused it, in order.
pub(super) fn causes(moments: &[Moment]) -> Vec<Vec<usize>> {
    let mut items: HashMap<&str, usize> = HashMap::new();
    let mut conditions: HashMap<&str, usize> = HashMap::new();
    let mut all = Vec::with_capacity(moments.len());
    for (at, moment) in moments.iter().enumerate() {
        let mut found: Vec<usize> = Vec::new();
        if moment.step.is_some() {
            found.extend(moment.causes.iter().filter_map(|cause| match cause {
                Cause::Item(name) => items.get(&**name),
                Cause::Condition(name) => conditions.get(&**name),
            }));
            found.sort_unstable();
            found.dedup();
            items.insert(&moment.item, at);
        } else if super::is_note(moment, "class")
            && let Some(name) = moment.field("name")
        {
            // The step that set the class is what one wants to see.
            let by = moment
                .parent
                .and_then(|step| moments[..at].iter().rposition(|other| other.step == Some(step)));
            conditions.insert(name, by.unwrap_or(at));
        }
        all.push(found);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(number: u32, item: &str, causes: &[Cause]) -> Moment {
        Moment {
            step: Some(number),
            item: item.into(),
            causes: causes.to_vec(),
            ..Moment::default()
        }
    }

    #[test]
    fn reasons_lead_to_earlier_items_and_to_who_set_a_class() {
        let class = Moment {
            parent: Some(1),
            fields: vec![("name".into(), "made".into()), ("bundle".into(), "main".into())],
            outcome: "cf.class".into(),
            ..Moment::default()
        };
        let item = |name: &str| Cause::Item(name.into());
        let condition = |name: &str| Cause::Condition(name.into());
        let moments = [
            step(1, "/srv", &[]),
            class,
            step(2, "/srv/a", &[item("/srv")]),
            step(3, "/b", &[condition("made"), condition("other")]),
            step(4, "x", &[item("/srv/a"), item("Gone")]),
        ];
        assert_eq!(causes(&moments), [vec![], vec![], vec![0], vec![0], vec![2]]);
    }
}
