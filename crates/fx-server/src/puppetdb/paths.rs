//! What the path of a query means: which records, with which conditions, and in which form.

use fx_fleet::{Entity, Field, Filter, Op};
use serde_json::Value;

/// What a path leads to.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Target {
    /// The query says what it is about.
    Root,
    Records {
        entity: Entity,
        conditions: Vec<Filter>,
        parent: Option<(Entity, String)>,
    },
    /// One record, by its name.
    One {
        entity: Entity,
        name: String,
    },
    /// A part of a report.
    Part {
        hash: String,
        what: &'static str,
    },
    Counts,
    AggregateCounts,
}

pub(super) fn equal(name: &str, value: impl Into<Value>) -> Filter {
    Filter::Compare { op: Op::Equal, field: Field::Named(name.to_owned()), value: value.into() }
}

/// The field that names a record.
pub(super) fn key(entity: Entity) -> &'static str {
    match entity {
        Entity::Environments | Entity::Producers | Entity::FactNames => "name",
        Entity::Reports => "hash",
        _ => "certname",
    }
}

pub(super) fn target(parts: &[String]) -> Option<Target> {
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    let some =
        |entity, conditions: Vec<Filter>| Target::Records { entity, conditions, parent: None };
    Some(match parts.as_slice() {
        [] | [""] => Target::Root,
        ["event-counts"] => Target::Counts,
        ["aggregate-event-counts"] => Target::AggregateCounts,
        [name] => some(Entity::named(name)?, Vec::new()),
        ["facts", rest @ ..] => some(Entity::Facts, facts(rest)?),
        ["resources", rest @ ..] => some(Entity::Resources, resources(rest)?),
        ["reports", hash, "events"] => some(Entity::Events, vec![equal("report", *hash)]),
        ["reports", hash, what @ ("logs" | "metrics")] => {
            let what = if *what == "logs" { "logs" } else { "metrics" };
            Target::Part { hash: (*hash).to_owned(), what }
        }
        [
            name @ ("nodes" | "factsets" | "catalogs" | "environments" | "producers" | "reports"),
            key,
        ] => Target::One { entity: Entity::named(name)?, name: (*key).to_owned() },
        [
            outer @ ("nodes" | "factsets" | "catalogs" | "environments" | "producers"),
            name,
            inner,
            rest @ ..,
        ] => {
            let outer = Entity::named(outer)?;
            let entity = Entity::named(inner)?;
            let mut conditions = match entity {
                Entity::Facts => facts(rest)?,
                Entity::Resources => resources(rest)?,
                _ if rest.is_empty() => Vec::new(),
                _ => return None,
            };
            let field = match outer {
                Entity::Environments => "environment",
                Entity::Producers => "producer",
                _ => "certname",
            };
            conditions.push(equal(field, *name));
            Target::Records { entity, conditions, parent: Some((outer, (*name).to_owned())) }
        }
        _ => return None,
    })
}

fn facts(rest: &[&str]) -> Option<Vec<Filter>> {
    match rest {
        [] => Some(Vec::new()),
        [name] => Some(vec![equal("name", *name)]),
        [name, value] => Some(vec![equal("name", *name), equal("value", *value)]),
        _ => None,
    }
}

fn resources(rest: &[&str]) -> Option<Vec<Filter>> {
    match rest {
        [] => Some(Vec::new()),
        [kind] => Some(vec![equal("type", *kind)]),
        // A title may have slashes.
        [kind, title @ ..] => Some(vec![equal("type", *kind), equal("title", title.join("/"))]),
    }
}
