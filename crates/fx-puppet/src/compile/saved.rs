//! A catalog read from its wire form, to be applied without compiling anything.

use std::rc::Rc;

use fx_source::Span;
use indexmap::IndexMap;
use rustc_hash::FxHashMap;
use serde_json::Value as Json;

use super::{Attribute, Catalog, Resource, built_in, from_json};
use crate::eval::Evaluator;
use crate::value::Value;

/// Most lines of all files together whose places are known.
const MOST_LINES: usize = 1 << 22;
/// Deepest nesting of values.
const MAX_DEPTH: u32 = 100;

/// Fills the catalog with what a text says; what is wrong with it otherwise.
pub(crate) fn load(evaluator: &Evaluator, text: &[u8]) -> Result<(), String> {
    let refused = |why: String| {
        format!("Could not run: Could not deserialize catalog from rich_data_json: {why}")
    };
    let json: Json = serde_json::from_slice(text)
        .map_err(|error| refused(format!("Could not intern from rich_data_json: {error}")))?;
    let rows = json.get("resources").and_then(Json::as_array);
    let rows = rows.ok_or_else(|| refused("it has no resources".into()))?;
    let mut catalog = evaluator.catalog.borrow_mut();
    // The compiler's own start is not wanted: the catalog brings everything.
    *catalog = Catalog::default();
    let places = places(evaluator, rows);
    for row in rows {
        let resource = resource(evaluator, row, &places).map_err(refused)?;
        if catalog.find(&resource.low, &resource.title).is_some() {
            let name = resource.reference();
            return Err(refused(format!(
                "Duplicate declaration: {name} is already declared; cannot redeclare"
            )));
        }
        catalog.add(resource);
    }
    for edge in json.get("edges").and_then(Json::as_array).into_iter().flatten() {
        let end = |name: &str| {
            let (kind, rest) = edge.get(name)?.as_str()?.split_once('[')?;
            catalog.find(&kind.to_lowercase(), rest.strip_suffix(']')?)
        };
        if let (Some(outer), Some(inner)) = (end("source"), end("target")) {
            catalog.contain(outer, inner);
        }
    }
    for class in json.get("classes").and_then(Json::as_array).into_iter().flatten() {
        catalog.add_class(&Rc::from(class.as_str().unwrap_or_default()));
    }
    Ok(())
}

/// Files that the catalog names, each as long as the last line named of it.
fn places(evaluator: &Evaluator, rows: &[Json]) -> FxHashMap<String, fx_source::FileId> {
    let mut longest: IndexMap<&str, usize> = IndexMap::new();
    for row in rows {
        let file = row.get("file").and_then(Json::as_str).unwrap_or_default();
        let known = longest.entry(file).or_default();
        *known = (*known).max(line_of(row) as usize);
    }
    let mut left = MOST_LINES;
    let add = |(name, lines): (&str, usize)| {
        let told = lines.min(left);
        left -= told;
        (name.to_owned(), evaluator.sources.add(name, vec![b'\n'; told]))
    };
    longest.into_iter().map(add).collect()
}

fn line_of(row: &Json) -> u32 {
    let line = row.get("line").and_then(Json::as_u64).unwrap_or(1);
    u32::try_from(line.clamp(1, 1 << 20)).unwrap_or(1)
}

fn resource(
    evaluator: &Evaluator,
    row: &Json,
    places: &FxHashMap<String, fx_source::FileId>,
) -> Result<Resource, String> {
    let word = |name: &str| row.get(name).and_then(Json::as_str);
    let kind = word("type").ok_or("a resource has no type")?.to_lowercase();
    let title = word("title").ok_or("a resource has no title")?;
    let title = if kind == "class" { title.to_lowercase() } else { title.to_owned() };
    let start = line_of(row) - 1;
    let span = places
        .get(word("file").unwrap_or_default())
        .map_or_else(|| Span::new(evaluator.builtin, 0, 0), |file| Span::new(*file, start, start));
    let frame = Rc::clone(&evaluator.top);
    let mut resource = Resource::new(&kind, &title, span, Rc::clone(&frame));
    // What is no type of its own was a definition, whose body is in the catalog.
    let is_known = built_in(&kind).is_some() || evaluator.has_ruby_type(&kind);
    resource.evaluated = !is_known && kind != "class" && kind != "stage";
    resource.tags.clear();
    for tag in row.get("tags").and_then(Json::as_array).into_iter().flatten() {
        resource.tags.insert(Rc::from(tag.as_str().unwrap_or_default()));
    }
    let secret = row.get("sensitive_parameters").and_then(Json::as_array);
    for name in secret.into_iter().flatten() {
        resource.sensitive.push(Rc::from(name.as_str().unwrap_or_default()));
    }
    for (name, value) in row.get("parameters").and_then(Json::as_object).into_iter().flatten() {
        let value = rich(value, 0)?;
        if let Value::Sensitive(_) = value {
            resource.sensitive.push(Rc::from(name.as_str()));
        }
        resource
            .attributes
            .insert(Rc::from(name.as_str()), Attribute::new(value, span, &frame.source));
    }
    Ok(resource)
}

/// A value with the marks of rich data taken for what they mean.
fn rich(json: &Json, depth: u32) -> Result<Value, String> {
    if depth > MAX_DEPTH {
        return Err("values are nested too deep".into());
    }
    let inner = |json: &Json| rich(json, depth + 1);
    let Json::Object(map) = json else {
        return Ok(match json {
            Json::Array(items) => {
                Value::array(items.iter().map(inner).collect::<Result<Vec<_>, _>>()?)
            }
            plain => from_json(plain),
        });
    };
    let Some(kind) = map.get("__ptype").and_then(Json::as_str) else {
        let mut pairs = Vec::with_capacity(map.len());
        for (key, value) in map {
            pairs.push((Value::from(key.as_str()), inner(value)?));
        }
        return Ok(Value::hash(pairs));
    };
    let value = map.get("__pvalue").unwrap_or(&Json::Null);
    let text = value.as_str().unwrap_or_default();
    Ok(match kind {
        "Sensitive" => Value::Sensitive(Rc::new(inner(value)?)),
        "Default" => Value::Default,
        "Binary" => {
            let bytes =
                fx_formats::base64::decode_relaxed(text).ok_or("a binary value is broken")?;
            Value::Binary(bytes.into())
        }
        "Hash" => {
            let mut pairs = Vec::new();
            for pair in value.as_array().map(Vec::as_slice).unwrap_or_default().chunks(2) {
                if let [key, value] = pair {
                    pairs.push((inner(key)?, inner(value)?));
                }
            }
            Value::hash(pairs)
        }
        "Deferred" => {
            let args = map.get("arguments").and_then(Json::as_array);
            let args = args.map(Vec::as_slice).unwrap_or_default();
            let args = args.iter().map(inner).collect::<Result<Vec<_>, _>>()?;
            let name = map.get("name").and_then(Json::as_str).unwrap_or_default();
            Value::Deferred(name.into(), args.into())
        }
        // Others are compared by their text.
        _ => Value::from(text),
    })
}
