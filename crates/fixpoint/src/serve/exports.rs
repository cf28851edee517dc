//! What nodes export, from the store of the fleet.

use fx_fleet::{Entity, Field, Filter, Fleet, Op, Query};
use fx_puppet::{ExportFilter, ExportedResource, Exports};
use serde_json::Value;

/// The store, for one compiler.
#[derive(Debug)]
pub(super) struct Store(pub(super) Fleet);

fn equal(field: Field, value: Value) -> Filter {
    Filter::Compare { op: Op::Equal, field, value }
}

fn named(name: &str, value: impl Into<Value>) -> Filter {
    equal(Field::Named(name.to_owned()), value.into())
}

fn filter(of: &ExportFilter) -> Filter {
    match of {
        ExportFilter::And(left, right) => Filter::And(vec![filter(left), filter(right)]),
        ExportFilter::Or(left, right) => Filter::Or(vec![filter(left), filter(right)]),
        ExportFilter::Not(inner) => Filter::Not(Box::new(filter(inner))),
        ExportFilter::Tag(tag) => named("tag", tag.as_str()),
        ExportFilter::Title(title) => named("title", title.clone()),
        ExportFilter::Parameter(name, value) => {
            equal(Field::Parameter(name.clone()), value.clone())
        }
    }
}

impl Exports for Store {
    fn collect(
        &self,
        kind: &str,
        not_of: &str,
        wanted: Option<&ExportFilter>,
    ) -> Result<Vec<ExportedResource>, String> {
        let mut query = Query::all(Entity::Resources)
            .and(named("type", kind))
            .and(named("exported", true))
            .and(Filter::Not(Box::new(named("certname", not_of))));
        if let Some(wanted) = wanted {
            query = query.and(filter(wanted));
        }
        let found = self.0.query(&query, false).map_err(|error| error.to_string())?;
        let text = |row: &serde_json::Map<String, Value>, name: &str| {
            row.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        let mut found: Vec<ExportedResource> = found
            .rows
            .into_iter()
            .map(|mut row| ExportedResource {
                node: text(&row, "certname"),
                kind: text(&row, "type"),
                title: text(&row, "title"),
                parameters: match row.remove("parameters") {
                    Some(Value::Object(parameters)) => parameters,
                    _ => serde_json::Map::new(),
                },
            })
            .collect();
        // A catalog does not change because rows were written in another order.
        found.sort_by(|a, b| (&a.node, &a.title).cmp(&(&b.node, &b.title)));
        Ok(found)
    }

    fn query(&self, query: &Value) -> Result<Value, String> {
        let query = match query {
            Value::String(text) => Query::parse(text, None),
            tree => Query::read(tree, None),
        };
        let query = query.map_err(|error| error.to_string())?;
        let found = self.0.query(&query, false).map_err(|error| error.to_string())?;
        Ok(Value::Array(found.rows.into_iter().map(Value::Object).collect()))
    }
}
