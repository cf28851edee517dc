//! Events, counted by what happened to whom.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::ast::{Column, Entity, Field, Filter, Op, Query};
use super::{QueryError, Unanswered, wrong};
use crate::Fleet;

/// Whose events are counted together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Summary {
    Node,
    Resource,
    Class,
}

/// How events are counted.
#[derive(Clone, Debug, PartialEq)]
pub struct Counting {
    pub by: Summary,
    /// A node counts once for each status.
    pub once_for_node: bool,
    /// Only those with counts such as these.
    pub only: Option<Filter>,
}

/// Counts of one subject.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Counted {
    pub successes: u64,
    pub failures: u64,
    pub noops: u64,
    pub skips: u64,
}

impl Summary {
    pub fn named(name: &str) -> Option<Summary> {
        match name {
            "certname" => Some(Summary::Node),
            "resource" => Some(Summary::Resource),
            "containing_class" => Some(Summary::Class),
            _ => None,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Summary::Node => "certname",
            Summary::Resource => "resource",
            Summary::Class => "containing_class",
        }
    }

    fn fields(self) -> &'static [&'static str] {
        match self {
            Summary::Node => &["certname"],
            Summary::Resource => &["resource_type", "resource_title"],
            Summary::Class => &["containing_class"],
        }
    }

    fn subject(self, key: &[Value]) -> Value {
        match (self, key) {
            (Summary::Resource, [kind, title]) => json!({"type": kind, "title": title}),
            (_, key) => json!({"title": key.first()}),
        }
    }
}

impl Counted {
    fn add(&mut self, status: &str) {
        match status {
            "success" => self.successes += 1,
            "failure" => self.failures += 1,
            "noop" => self.noops += 1,
            "skipped" => self.skips += 1,
            _ => {}
        }
    }

    fn fields(&self) -> [(&'static str, u64); 4] {
        [
            ("failures", self.failures),
            ("successes", self.successes),
            ("noops", self.noops),
            ("skips", self.skips),
        ]
    }

    /// Whether the counts are such as a filter wants.
    fn fits(&self, filter: &Filter) -> Result<bool, QueryError> {
        match filter {
            Filter::And(all) => {
                all.iter().try_fold(true, |so_far, one| Ok(so_far && self.fits(one)?))
            }
            Filter::Or(all) => {
                all.iter().try_fold(false, |so_far, one| Ok(so_far || self.fits(one)?))
            }
            Filter::Not(inner) => Ok(!self.fits(inner)?),
            Filter::Compare { op, field: Field::Named(name), value } => {
                let own = self.fields().into_iter().find(|(known, _)| known == name);
                let (Some((_, own)), Some(wanted)) = (own, value.as_u64()) else {
                    return wrong(format!("'{name}' is not a count of events"));
                };
                Ok(match op {
                    Op::Equal => own == wanted,
                    Op::Greater => own > wanted,
                    Op::Less => own < wanted,
                    Op::AtLeast => own >= wanted,
                    Op::AtMost => own <= wanted,
                    Op::Matches | Op::PathMatches => return wrong("counts are numbers"),
                })
            }
            _ => wrong("counts are compared with numbers"),
        }
    }
}

impl Fleet {
    /// Counts events by subject; the subjects in order.
    pub fn count_events(
        &self,
        filter: Option<Filter>,
        counting: &Counting,
    ) -> Result<Vec<Map<String, Value>>, Unanswered> {
        let by = counting.by;
        let mut query = Query::all(Entity::Events);
        query.filter = filter;
        let names = by.fields().iter().copied();
        let names = names.chain(["status", "certname"]);
        query.columns = names.map(|name| Column::Field(Field::Named(name.to_owned()))).collect();
        let mut counted: BTreeMap<String, (Vec<Value>, Counted)> = BTreeMap::new();
        let mut seen = std::collections::BTreeSet::new();
        for row in self.query(&query, false)?.rows {
            let key: Vec<Value> = by
                .fields()
                .iter()
                .map(|name| row.get(*name).cloned().unwrap_or_default())
                .collect();
            let status = row.get("status").and_then(Value::as_str).unwrap_or_default().to_owned();
            let text = Value::from(key.as_slice()).to_string();
            if counting.once_for_node && !seen.insert(Value::Object(row).to_string()) {
                continue;
            }
            counted.entry(text).or_insert_with(|| (key, Counted::default())).1.add(&status);
        }
        let mut rows = Vec::new();
        for (key, counts) in counted.into_values() {
            if counting.only.as_ref().map_or(Ok(true), |only| counts.fits(only))? {
                let mut row = Map::new();
                row.insert("subject_type".into(), by.name().into());
                row.insert("subject".into(), by.subject(&key));
                row.extend(counts.fields().map(|(name, count)| (name.to_owned(), count.into())));
                rows.push(row);
            }
        }
        Ok(rows)
    }
}
