//! Nodes: the last facts and the last catalog of each, and whether they are still there.

use serde_json::Value;

use crate::Fleet;
use crate::engine::{Result, Row, Sql};

/// Facts of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FactsRecord {
    pub node: String,
    pub environment: String,
    /// When they were found out, in milliseconds since 1970.
    pub produced: u64,
    /// When they came.
    pub received: u64,
    /// The server that received them.
    pub producer: Option<String>,
    /// Names the content.
    pub hash: String,
    /// An object in JSON.
    pub body: Vec<u8>,
}

/// The catalog of a node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CatalogRecord {
    pub node: String,
    pub environment: String,
    pub version: String,
    pub transaction_uuid: Option<String>,
    pub catalog_uuid: Option<String>,
    pub code_id: Option<String>,
    pub job_id: Option<String>,
    pub produced: u64,
    pub received: u64,
    pub producer: Option<String>,
    /// Names resources and edges: the same hash has the same ones.
    pub hash: String,
    pub resources: Vec<ResourceRecord>,
    pub edges: Vec<EdgeRecord>,
}

/// A resource of a catalog.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceRecord {
    pub kind: String,
    pub title: String,
    pub is_exported: bool,
    pub file: Option<String>,
    pub line: Option<u64>,
    /// A list in JSON.
    pub tags: String,
    /// An object in JSON.
    pub parameters: String,
    pub hash: String,
}

/// An edge between two resources.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EdgeRecord {
    pub relationship: String,
    /// Type and title.
    pub source: (String, String),
    pub target: (String, String),
}

/// Makes a node known; one that was deactivated before this moment is active again.
pub(crate) fn see(sql: &mut dyn Sql, node: &str, at: u64) -> Result<()> {
    let insert = "INSERT INTO node (name) VALUES ($1) ON CONFLICT DO NOTHING";
    sql.run(insert, &[node.into()])?;
    let wake = "UPDATE node SET deactivated = NULL, expired = NULL WHERE name = $1
        AND (deactivated < $2 OR (deactivated IS NULL AND expired < $2))";
    sql.run(wake, &[node.into(), at.into()]).map(drop)
}

/// Whether a table has something newer of a node.
fn is_outdated(sql: &mut dyn Sql, table: &str, node: &str, produced: u64) -> Result<bool> {
    let select = format!("SELECT produced FROM {table} WHERE node = $1");
    let row = sql.row(&select, &[node.into()])?;
    Ok(row.map(|mut row| row.number()).transpose()?.is_some_and(|known| known > produced))
}

/// A value somewhere in the facts of a node.
struct Leaf {
    path: String,
    name: String,
    depth: u64,
    kind: &'static str,
    value: String,
    text: Option<String>,
    number: Option<f64>,
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "float",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        // Those below are what a path leads to.
        Value::Array(_) | Value::Object(_) => "branch",
    }
}

/// Deeper facts are kept as a part of what they are in.
const DEEPEST: usize = 32;
/// So are those with longer paths: an index takes no more.
const LONGEST: usize = 2000;

fn leaves(name: &str, path: &mut Vec<Value>, value: &Value, into: &mut Vec<Leaf>) {
    let path_text = Value::from(path.as_slice()).to_string();
    if path_text.len() > LONGEST {
        return;
    }
    into.push(Leaf {
        path: path_text,
        name: name.to_owned(),
        depth: path.len() as u64,
        kind: kind_of(value),
        value: value.to_string(),
        text: match value {
            Value::String(text) => Some(text.clone()),
            Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
            _ => None,
        },
        number: value.as_f64(),
    });
    if path.len() >= DEEPEST {
        return;
    }
    let mut below = |step: Value, inner: &Value| {
        path.push(step);
        leaves(name, path, inner, into);
        path.pop();
    };
    match value {
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(at, inner)| below(at.into(), inner))
        }
        Value::Object(items) => {
            items.iter().for_each(|(key, inner)| below(key.as_str().into(), inner))
        }
        _ => {}
    }
}

/// Writes the facts that differ from those that are there.
fn save_values(
    sql: &mut dyn Sql,
    node: &str,
    values: &serde_json::Map<String, Value>,
) -> Result<()> {
    let known =
        sql.rows("SELECT name, value FROM fact WHERE node = $1 AND depth = 1", &[node.into()])?;
    let known = known.into_iter().map(|mut row| Ok((row.text()?, row.text()?)));
    let known: std::collections::BTreeMap<String, String> = known.collect::<Result<_>>()?;
    let delete = "DELETE FROM fact WHERE node = $1 AND name = $2";
    for name in known.keys().filter(|name| !values.contains_key(*name)) {
        sql.run(delete, &[node.into(), name.into()])?;
    }
    for (name, value) in values {
        let text = value.to_string();
        match known.get(name) {
            Some(old) if *old == text => continue,
            Some(_) => drop(sql.run(delete, &[node.into(), name.into()])?),
            None => {}
        }
        let mut all = Vec::new();
        leaves(name, &mut vec![name.as_str().into()], value, &mut all);
        for leaf in all {
            sql.run(
                "INSERT INTO fact (node, path, name, depth, kind, value, text, number)
                 VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
                &[
                    node.into(),
                    (&leaf.path).into(),
                    (&leaf.name).into(),
                    leaf.depth.into(),
                    leaf.kind.into(),
                    (&leaf.value).into(),
                    leaf.text.as_ref().into(),
                    leaf.number.into(),
                ],
            )?;
        }
    }
    Ok(())
}

fn save_resource(sql: &mut dyn Sql, node: &str, one: &ResourceRecord) -> Result<()> {
    let json = sql.dialect().json();
    let insert = format!(
        "INSERT INTO resource (node, kind, title, is_exported, file, line, tags, parameters, hash)
         VALUES ($1, $2, $3, $4, $5, $6, $7, CAST($8 AS {json}), $9)"
    );
    sql.run(
        &insert,
        &[
            node.into(),
            (&one.kind).into(),
            (&one.title).into(),
            one.is_exported.into(),
            one.file.as_ref().into(),
            one.line.into(),
            (&one.tags).into(),
            (&one.parameters).into(),
            (&one.hash).into(),
        ],
    )
    .map(drop)
}

fn save_edge(sql: &mut dyn Sql, node: &str, one: &EdgeRecord) -> Result<()> {
    sql.run(
        "INSERT INTO edge
         (node, relationship, source_type, source_title, target_type, target_title)
         VALUES ($1, $2, $3, $4, $5, $6)",
        &[
            node.into(),
            (&one.relationship).into(),
            (&one.source.0).into(),
            (&one.source.1).into(),
            (&one.target.0).into(),
            (&one.target.1).into(),
        ],
    )
    .map(drop)
}

/// The head of a catalog; whether its resources and edges are those that are there.
fn save_head(sql: &mut dyn Sql, record: &CatalogRecord) -> Result<bool> {
    let known = sql.row("SELECT hash FROM catalog WHERE node = $1", &[(&record.node).into()])?;
    let known = known.map(|mut row| row.text_opt()).transpose()?.flatten();
    sql.run(
        "INSERT INTO catalog (node, environment, received, version, transaction_uuid,
         catalog_uuid, code_id, job_id, produced, producer, hash)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
         ON CONFLICT (node) DO UPDATE SET environment = excluded.environment,
         received = excluded.received, version = excluded.version,
         transaction_uuid = excluded.transaction_uuid, catalog_uuid = excluded.catalog_uuid,
         code_id = excluded.code_id, job_id = excluded.job_id, produced = excluded.produced,
         producer = excluded.producer, hash = excluded.hash",
        &[
            (&record.node).into(),
            (&record.environment).into(),
            record.received.into(),
            (&record.version).into(),
            record.transaction_uuid.as_ref().into(),
            record.catalog_uuid.as_ref().into(),
            record.code_id.as_ref().into(),
            record.job_id.as_ref().into(),
            record.produced.into(),
            record.producer.as_ref().into(),
            (&record.hash).into(),
        ],
    )?;
    Ok(known.as_ref() == Some(&record.hash))
}

fn facts(mut row: Row) -> Result<FactsRecord> {
    Ok(FactsRecord {
        node: row.text()?,
        environment: row.text()?,
        produced: row.number()?,
        received: row.number()?,
        producer: row.text_opt()?,
        hash: row.text_opt()?.unwrap_or_default(),
        body: row.bytes()?,
    })
}

impl Fleet {
    /// Replaces the facts of a node, unless there are newer ones.
    pub fn save_facts(&self, record: &FactsRecord) -> Result<()> {
        self.write(|sql| {
            see(sql, &record.node, record.produced)?;
            let known = "SELECT produced, hash FROM facts WHERE node = $1";
            let known = sql.row(known, &[(&record.node).into()])?;
            let known = known.map(|mut row| Ok((row.number()?, row.text_opt()?)));
            let known = known.transpose()?;
            if known.as_ref().is_some_and(|(produced, _)| *produced > record.produced) {
                return Ok(());
            }
            if known.is_some_and(|(_, hash)| hash.as_ref() == Some(&record.hash)) {
                let update = "UPDATE facts SET environment = $2, produced = $3, received = $4,
                    producer = $5 WHERE node = $1";
                let cells = [
                    (&record.node).into(),
                    (&record.environment).into(),
                    record.produced.into(),
                    record.received.into(),
                    record.producer.as_ref().into(),
                ];
                return sql.run(update, &cells).map(drop);
            }
            let Ok(Value::Object(values)) = serde_json::from_slice(&record.body) else {
                return Err(crate::Error::Caller("facts are no object".into()));
            };
            sql.run(
                "INSERT INTO facts (node, environment, produced, received, producer, hash, body)
                 VALUES ($1, $2, $3, $4, $5, $6, $7)
                 ON CONFLICT (node) DO UPDATE SET environment = excluded.environment,
                 produced = excluded.produced, received = excluded.received,
                 producer = excluded.producer, hash = excluded.hash, body = excluded.body",
                &[
                    (&record.node).into(),
                    (&record.environment).into(),
                    record.produced.into(),
                    record.received.into(),
                    record.producer.as_ref().into(),
                    (&record.hash).into(),
                    record.body.as_slice().into(),
                ],
            )?;
            save_values(sql, &record.node, &values)
        })
    }

    pub fn facts(&self, node: &str) -> Result<Option<FactsRecord>> {
        let select = "SELECT node, environment, produced, received, producer, hash, body
            FROM facts WHERE node = $1";
        self.read(|sql| sql.row(select, &[node.into()])?.map(facts).transpose())
    }

    /// Replaces the catalog of a node, unless there is a newer one. What did not change is not
    /// written again.
    pub fn save_catalog(&self, record: &CatalogRecord) -> Result<()> {
        self.write(|sql| {
            let node = record.node.as_str();
            see(sql, node, record.produced)?;
            if is_outdated(sql, "catalog", node, record.produced)? || save_head(sql, record)? {
                return Ok(());
            }
            sql.run("DELETE FROM resource WHERE node = $1", &[node.into()])?;
            sql.run("DELETE FROM edge WHERE node = $1", &[node.into()])?;
            for one in &record.resources {
                save_resource(sql, node, one)?;
            }
            for one in &record.edges {
                save_edge(sql, node, one)?;
            }
            Ok(())
        })
    }

    /// Replaces the head of a node's catalog, unless there is a newer one, where resources and
    /// edges are those of this hash. Whether it was so.
    pub fn renew_catalog(&self, record: &CatalogRecord) -> Result<bool> {
        let select = "SELECT hash FROM catalog WHERE node = $1";
        self.write(|sql| {
            let node = record.node.as_str();
            let known = sql.row(select, &[node.into()])?.map(|mut row| row.text_opt());
            if known.transpose()?.flatten().as_ref() != Some(&record.hash) {
                return Ok(false);
            }
            see(sql, node, record.produced)?;
            if !is_outdated(sql, "catalog", node, record.produced)? {
                save_head(sql, record)?;
            }
            Ok(true)
        })
    }

    /// Names of all nodes that left something, sorted.
    pub fn nodes(&self) -> Result<Vec<String>> {
        let select = "SELECT name FROM node ORDER BY name";
        self.read(|sql| sql.rows(select, &[])?.into_iter().map(|mut row| row.text()).collect())
    }

    /// A node is gone: queries leave it out until something newer comes from it.
    pub fn deactivate(&self, node: &str, at: u64) -> Result<()> {
        self.write(|sql| {
            let insert = "INSERT INTO node (name) VALUES ($1) ON CONFLICT DO NOTHING";
            sql.run(insert, &[node.into()])?;
            for table in ["facts", "catalog"] {
                if is_outdated(sql, table, node, at)? {
                    return Ok(());
                }
            }
            let update = "UPDATE node SET deactivated = $2 WHERE name = $1";
            sql.run(update, &[node.into(), at.into()]).map(drop)
        })
    }

    /// Nodes from which nothing came since a time expire; how many they were.
    pub fn expire(&self, before: u64, at: u64) -> Result<u64> {
        let update = "UPDATE node SET expired = $2 WHERE deactivated IS NULL AND expired IS NULL
            AND NOT EXISTS (SELECT 1 FROM facts f WHERE f.node = node.name AND f.produced >= $1)
            AND NOT EXISTS (SELECT 1 FROM catalog c WHERE c.node = node.name AND c.produced >= $1)
            AND NOT EXISTS (SELECT 1 FROM report r WHERE r.node = node.name AND r.produced >= $1)";
        self.write(|sql| sql.run(update, &[before.into(), at.into()]))
    }
}
