//! Search over nodes, roles, environments, clients and data bags.

mod index;
mod query;
mod terms;
mod words;

use std::sync::PoisonError;

use serde_json::{Map, Value, json};

use crate::context::{Answer, Context, encoded, fail, text};
use crate::message::Reply;
use crate::{clients, data_bags};
pub(crate) use index::Indexes;
use query::Query;
use words::Words;

/// Indexes that every organization has, with the kind and the collection of each.
const BUILT_IN: [(&str, &str, &str); 4] = [
    ("client", "client", "clients"),
    ("environment", "environment", "environments"),
    ("node", "node", "nodes"),
    ("role", "role", "roles"),
];

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

/// What is searched, and where its documents are.
struct Searched {
    kind: &'static str,
    collection: String,
    /// Names of the documents begin with it in the store.
    prefix: String,
    words: fn(&Value) -> Words,
}

fn searched(context: &mut Context<'_, '_>, index: &str) -> Answer<Searched> {
    if let Some((_, kind, collection)) = BUILT_IN.iter().find(|(name, ..)| *name == index) {
        let words = |node: &Value| words::of(&words::merged(node));
        let words: fn(&Value) -> Words = if *kind == "node" { words } else { words::of };
        let (collection, prefix) = ((*collection).to_owned(), String::new());
        return Ok(Searched { kind, collection, prefix, words });
    }
    if !context.has_own("data_bag", index)? {
        return fail(404, format!("I don't know how to search for {index} data objects."));
    }
    let collection = format!("data/{}", encoded(index));
    let prefix = data_bags::key(index, "");
    Ok(Searched { kind: data_bags::ITEM, collection, prefix, words: words::of })
}

/// How many were found, and a page of their names.
struct Page {
    total: usize,
    start: usize,
    names: Vec<String>,
    searched: Searched,
}

fn page(context: &mut Context<'_, '_>, index: &str) -> Answer<Page> {
    let text = context.request.query.get("q").unwrap_or("*:*").to_owned();
    let (start, rows) = (number(context, "start", 0)?, number(context, "rows", 1000)?);
    let Some(query) = Query::parse(&text) else {
        return fail(400, format!("invalid search query: '{text}'"));
    };
    let searched = searched(context, index)?;
    let kept = context.server.indexes.of(&context.org, index);
    let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
    match searched.kind {
        // A client is found by what is shown of it, which is not what is kept.
        "client" => {
            let version = context.version;
            let shown = shown_clients(context)?;
            kept.replace(shown.iter().map(|(name, row)| (name.clone(), words::of(row))), version);
        }
        data_bags::ITEM => {
            let bag = index.to_owned();
            let words = move |item: &Value| words::of_item(item, &bag);
            kept.refresh(context, searched.kind, &searched.prefix, &words)?;
        }
        kind => kept.refresh(context, kind, &searched.prefix, &searched.words)?,
    }
    let found = kept.find(&query);
    let names = found.iter().skip(start).take(rows).map(|name| (*name).to_owned()).collect();
    Ok(Page { total: found.len(), start, names, searched })
}

fn shown_clients(context: &mut Context<'_, '_>) -> Answer<Vec<(String, Value)>> {
    let mut shown = Vec::new();
    for (name, client) in context.all_own("client")? {
        let row = clients::shown(context, &client)?;
        shown.push((name, row));
    }
    Ok(shown)
}

/// The answer with these rows, each as text.
fn answered(page: &Page, rows: &[Vec<u8>]) -> Reply {
    let mut body = format!("{{\"total\":{},\"start\":{},\"rows\":[", page.total, page.start);
    let length: usize = rows.iter().map(|row| row.len() + 1).sum();
    let mut bytes = Vec::with_capacity(body.len() + length + 2);
    bytes.append(&mut std::mem::take(&mut body).into_bytes());
    for (at, row) in rows.iter().enumerate() {
        if at > 0 {
            bytes.push(b',');
        }
        bytes.extend_from_slice(row);
    }
    bytes.extend_from_slice(b"]}");
    Reply::bytes("application/json", bytes)
}

pub(crate) fn search(context: &mut Context<'_, '_>, parts: &[String]) -> Answer {
    let page = page(context, &parts[0])?;
    let mut rows = Vec::with_capacity(page.names.len());
    for name in &page.names {
        let row = match page.searched.kind {
            // What is kept is what is shown.
            "node" | "role" | "environment" => context.own_text(page.searched.kind, name)?,
            "client" => match context.own("client", name)? {
                Some(client) => Some(clients::shown(context, &client)?.to_string().into_bytes()),
                None => None,
            },
            kind => {
                let item = context.own(kind, name)?;
                item.map(|item| data_bags::wrapped(&parts[0], &item).to_string().into_bytes())
            }
        };
        rows.extend(row);
    }
    Ok(answered(&page, &rows))
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
    let page = page(context, &parts[0])?;
    let mut rows = Vec::with_capacity(page.names.len());
    for name in &page.names {
        let Some(document) = context.own(page.searched.kind, name)? else { continue };
        let whole = match page.searched.kind {
            "node" => words::merged(&document),
            "client" => clients::shown(context, &document)?,
            _ => document,
        };
        let data: Map<String, Value> =
            paths.iter().map(|(name, path)| (name.clone(), at_path(&whole, path))).collect();
        let bare = name.strip_prefix(&page.searched.prefix).unwrap_or(name);
        let url = context.url_of(&page.searched.collection, bare);
        rows.push(json!({"url": url, "data": data}).to_string().into_bytes());
    }
    Ok(answered(&page, &rows))
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
