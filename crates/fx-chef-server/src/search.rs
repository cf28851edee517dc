//! Search over nodes, roles, environments, clients and data bags.

mod query;
mod words;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Map, Value, json};

use crate::context::{Answer, Context, encoded, fail, text};
use crate::message::Reply;
use crate::{clients, data_bags};
use query::Query;
use words::Words;

/// Indexes that every organization has, with the kind and the collection of each.
const BUILT_IN: [(&str, &str, &str); 4] = [
    ("client", "client", "clients"),
    ("environment", "environment", "environments"),
    ("node", "node", "nodes"),
    ("role", "role", "roles"),
];

/// Something that can be found.
struct Entry {
    url: String,
    /// As a search shows it.
    row: Value,
    /// What paths of a partial search lead into.
    merged: Value,
    words: Words,
}

/// Entries of an organization by index.
type OfOrganization = HashMap<String, Arc<Vec<Entry>>>;

/// Entries by organization, for as long as nothing of it changes.
#[derive(Default)]
pub(crate) struct Indexes(Mutex<HashMap<String, OfOrganization>>);

impl Indexes {
    pub(crate) fn forget(&self, org: &str) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if org.is_empty() { all.clear() } else { drop(all.remove(org)) }
    }

    fn get(&self, org: &str, index: &str) -> Option<Arc<Vec<Entry>>> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.get(org).and_then(|of_org| of_org.get(index)).cloned()
    }

    fn put(&self, org: &str, index: &str, entries: &Arc<Vec<Entry>>) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let of_org = all.entry(org.to_owned()).or_default();
        of_org.insert(index.to_owned(), Arc::clone(entries));
    }
}

pub(crate) fn indexes(context: &mut Context<'_, '_>, _: &[String]) -> Answer {
    let mut rows = Map::new();
    for (name, ..) in BUILT_IN {
        rows.insert(name.to_owned(), context.url_of("search", name).into());
    }
    for bag in context.own_names("data_bag")? {
        let url = context.url_of("search", &bag);
        rows.insert(bag, url.into());
    }
    Ok(Reply::ok(&Value::Object(rows)))
}

/// A number of the query.
fn number(context: &Context<'_, '_>, name: &str, default: usize) -> Answer<usize> {
    match context.request.query.get(name) {
        None => Ok(default),
        Some(text) => match text.parse() {
            Ok(number) => Ok(number),
            Err(_) => fail(400, format!("invalid '{name}' value: '{text}'")),
        },
    }
}

/// What was found: how many, from where on, and those.
struct Found {
    total: usize,
    start: usize,
    entries: Arc<Vec<Entry>>,
    places: Vec<usize>,
}

fn found(context: &mut Context<'_, '_>, index: &str) -> Answer<Found> {
    let text = context.request.query.get("q").unwrap_or("*:*").to_owned();
    let (start, rows) = (number(context, "start", 0)?, number(context, "rows", 1000)?);
    let Some(query) = Query::parse(&text) else {
        return fail(400, format!("invalid search query: '{text}'"));
    };
    let entries = entries(context, index)?;
    let fitting: Vec<usize> =
        (0..entries.len()).filter(|at| query.fits(&entries[*at].words)).collect();
    let places = fitting.iter().copied().skip(start).take(rows).collect();
    Ok(Found { total: fitting.len(), start, entries, places })
}

fn entries(context: &mut Context<'_, '_>, index: &str) -> Answer<Arc<Vec<Entry>>> {
    // What is shown of a client depends on the version; its index is not kept.
    let is_kept = index != "client";
    let org = context.org.clone();
    let key = format!("{index} {}", context.base());
    if is_kept && let Some(entries) = context.server.indexes.get(&org, &key) {
        return Ok(entries);
    }
    let mut made = Vec::new();
    if let Some((_, kind, collection)) = BUILT_IN.iter().find(|(name, ..)| *name == index) {
        for (name, document) in context.all_own(kind)? {
            let url = context.url_of(collection, &name);
            made.push(entry(context, kind, url, document)?);
        }
    } else {
        if !context.has_own("data_bag", index)? {
            return fail(404, format!("I don't know how to search for {index} data objects."));
        }
        let collection = format!("data/{}", encoded(index));
        for (id, item) in data_bags::all_items(context, index)? {
            let url = context.url_of(&collection, &id);
            let item = Value::Object(item);
            let words = words::of_item(&item, index);
            let row = data_bags::wrapped(index, &item);
            made.push(Entry { url, row, merged: item, words });
        }
    }
    let made = Arc::new(made);
    if is_kept {
        context.server.indexes.put(&org, &key, &made);
    }
    Ok(made)
}

fn entry(context: &mut Context<'_, '_>, kind: &str, url: String, document: Value) -> Answer<Entry> {
    Ok(match kind {
        "node" => {
            let merged = words::merged(&document);
            Entry { url, words: words::of(&merged), merged, row: document }
        }
        "client" => {
            let row = clients::shown(context, &document)?;
            Entry { url, words: words::of(&row), merged: row.clone(), row }
        }
        _ => Entry { url, words: words::of(&document), merged: document.clone(), row: document },
    })
}

pub(crate) fn search(context: &mut Context<'_, '_>, parts: &[String]) -> Answer {
    let found = found(context, &parts[0])?;
    let rows: Vec<&Value> = found.places.iter().map(|at| &found.entries[*at].row).collect();
    Ok(Reply::ok(&json!({"total": found.total, "start": found.start, "rows": rows})))
}

/// Only some values of what is found.
pub(crate) fn partial(context: &mut Context<'_, '_>, parts: &[String]) -> Answer {
    let body = context.body()?;
    let mut paths: Vec<(String, Vec<String>)> = Vec::new();
    for (name, path) in &body {
        let path: Option<Vec<String>> = path
            .as_array()
            .and_then(|path| path.iter().map(|one| one.as_str().map(str::to_owned)).collect());
        match path {
            Some(path) => paths.push((name.clone(), path)),
            None => return fail(400, "invalid partial search request body"),
        }
    }
    let found = found(context, &parts[0])?;
    let rows: Vec<Value> = found
        .places
        .iter()
        .map(|at| {
            let entry = &found.entries[*at];
            let data: Map<String, Value> = paths
                .iter()
                .map(|(name, path)| (name.clone(), at_path(&entry.merged, path)))
                .collect();
            json!({"url": entry.url, "data": data})
        })
        .collect();
    Ok(Reply::ok(&json!({"total": found.total, "start": found.start, "rows": rows})))
}

fn at_path(value: &Value, path: &[String]) -> Value {
    if path.is_empty() {
        return Value::Null;
    }
    let mut at = value;
    for key in path {
        match at.get(key) {
            Some(inner) => at = inner,
            None => return Value::Null,
        }
    }
    at.clone()
}

/// Names of roles or recipes in a run list.
fn in_run_list(list: &Value, kind: &str) -> Vec<Value> {
    list.as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .filter_map(|item| item.strip_prefix(kind)?.strip_prefix('[')?.strip_suffix(']'))
        .map(|name| Value::String(name.to_owned()))
        .collect()
}

/// The name of a document.
fn name_of(document: &Value) -> &str {
    text(document, "name")
}
