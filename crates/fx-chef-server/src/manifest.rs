//! What a cookbook holds: kept as one list of files, shown as that or by segment.

use serde_json::{Map, Value, json};

use crate::context::{Answer, Context, text};
use crate::files;
use crate::solver::{Constraint, Version};
use crate::validation::{self, Body};

/// Segments of versions 0 and 1 of the API.
pub(crate) const SEGMENTS: [&str; 9] = [
    "attributes",
    "definitions",
    "files",
    "libraries",
    "providers",
    "recipes",
    "resources",
    "root_files",
    "templates",
];

/// What a cookbook and an artifact have beside their segments.
const FIELDS: [&str; 7] =
    ["name", "version", "json_class", "chef_type", "frozen?", "metadata", "all_files"];

/// Refuses keys that neither has; `own` is the one that tells them apart.
pub(crate) fn known_keys(body: &Body, own: &str) -> Answer<()> {
    validation::known_keys(body, &[&FIELDS[..], &SEGMENTS[..], &[own]].concat())
}

/// All cookbooks: name, version and what is kept.
pub(crate) fn all(context: &mut Context<'_, '_>) -> Answer<Vec<(String, Version, Value)>> {
    let all = context.all_own("cookbook")?;
    Ok(all
        .into_iter()
        .filter_map(|(key, record)| {
            let (name, version) = key.split_once('/')?;
            Some((name.to_owned(), Version::parse(version)?, record))
        })
        .collect())
}

pub(crate) fn dependencies(record: &Value) -> Vec<(String, Constraint)> {
    let all = record["metadata"]["dependencies"].as_object();
    all.into_iter()
        .flatten()
        .map(|(name, text)| {
            let constraint = text.as_str().and_then(Constraint::parse);
            (name.clone(), constraint.unwrap_or_else(Constraint::any))
        })
        .collect()
}

/// The files of a body, whichever form it has, as one list.
pub(crate) fn files_of(body: &Map<String, Value>) -> Vec<Value> {
    if let Some(Value::Array(all)) = body.get("all_files") {
        return all.clone();
    }
    let mut all = Vec::new();
    for segment in SEGMENTS {
        for file in body.get(segment).and_then(Value::as_array).into_iter().flatten() {
            let mut file = file.clone();
            let name = text(&file, "name").to_owned();
            // In the one list a name begins with its segment.
            if !name.starts_with(&format!("{segment}/")) {
                file["name"] = format!("{segment}/{name}").into();
            }
            all.push(file);
        }
    }
    all
}

/// The files of a manifest, whichever form it has.
pub fn files_in(manifest: &Value) -> Vec<Value> {
    manifest.as_object().map(files_of).unwrap_or_default()
}

/// A file with the place that it can be had from.
fn with_url(context: &Context<'_, '_>, file: &Value) -> Value {
    let mut shown = file.clone();
    shown["url"] = files::url(context, "GET", text(file, "checksum")).into();
    shown
}

/// Puts the files of what is kept into the form of the version asked for.
pub(crate) fn put_files(context: &Context<'_, '_>, record: &Value, shown: &mut Map<String, Value>) {
    let files = record["all_files"].as_array();
    let files: Vec<Value> =
        files.into_iter().flatten().map(|file| with_url(context, file)).collect();
    if context.version >= 2 {
        shown.insert("all_files".into(), Value::Array(files));
        return;
    }
    for segment in SEGMENTS {
        let prefix = format!("{segment}/");
        let of_it: Vec<Value> = files
            .iter()
            .filter_map(|file| {
                let name = text(file, "name").strip_prefix(&prefix)?.to_owned();
                let mut file = file.clone();
                file["name"] = name.into();
                Some(file)
            })
            .collect();
        shown.insert(segment.to_owned(), Value::Array(of_it));
    }
}

/// A cookbook as it is shown.
pub(crate) fn shown(context: &Context<'_, '_>, record: &Value) -> Value {
    let mut shown = record.as_object().cloned().unwrap_or_default();
    shown.remove("all_files");
    put_files(context, record, &mut shown);
    Value::Object(shown)
}

/// A cookbook as a client needs it to run.
pub(crate) fn minimal(context: &Context<'_, '_>, record: &Value) -> Value {
    let mut minimal = shown(context, record);
    if let Some(metadata) = minimal["metadata"].as_object_mut() {
        metadata.remove("attributes");
        metadata.remove("long_description");
        metadata.entry("dependencies").or_insert_with(|| json!({}));
    }
    minimal
}

/// Names of the recipes of a cookbook, as a run list has them.
pub(crate) fn recipes(name: &str, record: &Value) -> Vec<String> {
    let files = record["all_files"].as_array();
    let mut found: Vec<String> = files
        .into_iter()
        .flatten()
        .filter_map(|file| {
            let recipe = text(file, "name").strip_prefix("recipes/")?.strip_suffix(".rb")?;
            Some(if recipe == "default" { name.to_owned() } else { format!("{name}::{recipe}") })
        })
        .collect();
    found.sort_unstable();
    found
}
