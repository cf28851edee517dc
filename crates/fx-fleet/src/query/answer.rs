//! From the rows of the store to the answer of a query.

use serde_json::{Map, Value, json};

use super::Unanswered;
use super::ast::{Entity, Query};
use super::entities::{Kind, Nested};
use super::translate::{Shown, Statement, statement};
use crate::engine::{Cell, Error, Result, Row, Sql};
use crate::{Fleet, times};

/// The answer to a query.
#[derive(Clone, Debug, PartialEq)]
pub struct Page {
    /// Objects.
    pub rows: Vec<Map<String, Value>>,
    /// How many there would be without a limit, where that was wanted.
    pub total: Option<u64>,
}

impl Fleet {
    /// Answers a query.
    pub fn query(&self, query: &Query, with_total: bool) -> std::result::Result<Page, Unanswered> {
        let dialect = self.dialect();
        let one = statement(query, dialect, true)?;
        let count = with_total.then(|| statement(query, dialect, false)).transpose()?;
        Ok(self.read(|sql| {
            let rows = rows(sql, &one)?;
            let total = match &count {
                Some(all) => {
                    let text = format!("SELECT COUNT(*) FROM ({}) counted", all.text);
                    sql.row(&text, &all.cells)?.map(|mut row| row.number()).transpose()?
                }
                None => None,
            };
            Ok(Page { rows, total })
        })?)
    }

    /// Whether a node, an environment … of that name is known, gone or not.
    pub fn knows(&self, entity: Entity, name: &str) -> Result<bool> {
        let select = match entity {
            Entity::Environments => {
                "SELECT 1 FROM facts WHERE environment = $1 UNION ALL
                 SELECT 1 FROM catalog WHERE environment = $1 UNION ALL
                 SELECT 1 FROM report WHERE environment = $1"
            }
            Entity::Producers => {
                "SELECT 1 FROM facts WHERE producer = $1 UNION ALL
                 SELECT 1 FROM catalog WHERE producer = $1 UNION ALL
                 SELECT 1 FROM report WHERE producer = $1"
            }
            Entity::Catalogs => "SELECT 1 FROM catalog WHERE node = $1",
            Entity::Factsets => "SELECT 1 FROM facts WHERE node = $1",
            Entity::Reports => "SELECT 1 FROM report WHERE hash = $1",
            _ => "SELECT 1 FROM node WHERE name = $1",
        };
        self.read(|sql| Ok(sql.row(select, &[name.into()])?.is_some()))
    }
}

fn rows(sql: &mut dyn Sql, one: &Statement) -> Result<Vec<Map<String, Value>>> {
    let found = sql.rows(&one.text, &one.cells)?;
    let mut answer = Vec::with_capacity(found.len());
    for row in found {
        answer.push(object(sql, row, &one.shown)?);
    }
    Ok(answer)
}

fn object(sql: &mut dyn Sql, mut row: Row, shown: &[Shown]) -> Result<Map<String, Value>> {
    let mut object = Map::new();
    for Shown { name, kind } in shown {
        let cell = row.next()?;
        let value = match kind {
            Kind::Nested(kind) => nested(sql, *kind, &cell)?,
            kind => value(*kind, cell)?,
        };
        object.insert(name.clone(), value);
    }
    Ok(object)
}

fn json_of(text: &str) -> Result<Value> {
    serde_json::from_str(text).map_err(|error| Error::Broken(error.to_string()))
}

fn value(kind: Kind, cell: Cell<'_>) -> Result<Value> {
    Ok(match (kind, cell) {
        (_, Cell::Null) => Value::Null,
        (Kind::Time, Cell::Int(time)) => times::shown(time).into(),
        (Kind::Flag, Cell::Int(on)) => (on != 0).into(),
        (
            Kind::Json | Kind::Fact | Kind::Path | Kind::Parameters | Kind::Tags,
            Cell::Text(text),
        ) => json_of(&text)?,
        (_, Cell::Int(number)) => number.into(),
        // A sum of whole numbers is one.
        (_, Cell::Real(number)) if number.fract() == 0.0 && number.abs() < 1e15 => {
            (number as i64).into()
        }
        (_, Cell::Real(number)) => number.into(),
        (_, Cell::Text(text)) => text.into(),
        (_, Cell::Bytes(_)) => return Err(Error::Broken("bytes are no field".into())),
    })
}

/// Records of another kind with the address that has them alone.
fn nested(sql: &mut dyn Sql, kind: Nested, key: &Cell<'_>) -> Result<Value> {
    let Cell::Text(name) = key else { return Ok(Value::Null) };
    let list = |data: Vec<Value>, href: String| json!({"data": data, "href": href});
    let node = [name.as_ref().into()];
    Ok(match kind {
        Nested::Resources => {
            let select = "SELECT kind, title, is_exported, file, line, tags, parameters, hash
                FROM resource WHERE node = $1 ORDER BY kind, title";
            let fields = [
                ("type", Kind::Text),
                ("title", Kind::Text),
                ("exported", Kind::Flag),
                ("file", Kind::Text),
                ("line", Kind::Number),
                ("tags", Kind::Json),
                ("parameters", Kind::Parameters),
                ("resource", Kind::Text),
            ];
            list(
                some(sql, select, &node, &fields)?,
                format!("/pdb/query/v4/catalogs/{name}/resources"),
            )
        }
        Nested::Edges => {
            let select = "SELECT relationship, source_type, source_title, target_type, target_title
                FROM edge WHERE node = $1";
            let names =
                ["relationship", "source_type", "source_title", "target_type", "target_title"];
            let fields = names.map(|name| (name, Kind::Text));
            list(some(sql, select, &node, &fields)?, format!("/pdb/query/v4/catalogs/{name}/edges"))
        }
        Nested::Facts => {
            let select = "SELECT name, value FROM fact WHERE node = $1 AND depth = 1 ORDER BY name";
            let fields = [("name", Kind::Text), ("value", Kind::Fact)];
            list(some(sql, select, &node, &fields)?, format!("/pdb/query/v4/factsets/{name}/facts"))
        }
        Nested::FactObject | Nested::Trusted => {
            let row = sql.row("SELECT body FROM facts WHERE node = $1", &node)?;
            let body = row.map(|mut row| row.bytes()).transpose()?.unwrap_or_default();
            let facts: Value = serde_json::from_slice(&body).unwrap_or_default();
            if kind == Nested::Trusted { facts["trusted"].clone() } else { facts }
        }
        Nested::Events => {
            let select = "SELECT status, at, resource_type, resource_title, property, name,
                new_value, old_value, message, file, line, containment_path, containing_class,
                is_corrective FROM event WHERE report = $1 ORDER BY at, resource_type, resource_title";
            let fields = [
                ("status", Kind::Text),
                ("timestamp", Kind::Time),
                ("resource_type", Kind::Text),
                ("resource_title", Kind::Text),
                ("property", Kind::Text),
                ("name", Kind::Text),
                ("new_value", Kind::Json),
                ("old_value", Kind::Json),
                ("message", Kind::Text),
                ("file", Kind::Text),
                ("line", Kind::Number),
                ("containment_path", Kind::Json),
                ("containing_class", Kind::Text),
                ("corrective_change", Kind::Flag),
            ];
            let events = some(sql, select, &node, &fields)?;
            let href = format!("/pdb/query/v4/reports/{name}/events");
            // The original has no list where there is no event.
            let data = if events.is_empty() { Value::Null } else { events.into() };
            json!({"data": data, "href": href})
        }
        Nested::Logs | Nested::Metrics => {
            let row = sql.row("SELECT body FROM report WHERE hash = $1", &node)?;
            let body = row.map(|mut row| row.bytes()).transpose()?.unwrap_or_default();
            let body: Value = serde_json::from_slice(&body).unwrap_or_default();
            let what = if kind == Nested::Logs { "logs" } else { "metrics" };
            let data = body[what].as_array().cloned().unwrap_or_default();
            list(data, format!("/pdb/query/v4/reports/{name}/{what}"))
        }
    })
}

fn some(
    sql: &mut dyn Sql,
    select: &str,
    cells: &[Cell<'_>],
    fields: &[(&str, Kind)],
) -> Result<Vec<Value>> {
    let shown: Vec<Shown> =
        fields.iter().map(|(name, kind)| Shown { name: (*name).to_owned(), kind: *kind }).collect();
    let rows = sql.rows(select, cells)?;
    rows.into_iter().map(|row| Ok(Value::Object(object(sql, row, &shown)?))).collect()
}
