//! Cookbooks in their versions.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::context::{Answer, Context, encoded, fail, text};
use crate::message::Reply;
use crate::names;
use crate::solver::{Constraint, Version};
use crate::validation::{Body, fixed, invalid, missing};
use crate::{files, manifest};

/// `x.y` or `x.y.z`
pub(crate) fn is_version(text: &str) -> bool {
    (2..=3).contains(&text.split('.').count()) && Version::parse(text).is_some()
}

/// How many versions of each are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    All,
    Newest(usize),
}

impl Wanted {
    /// What the query says.
    pub(crate) fn asked(context: &Context<'_, '_>, default: Wanted) -> Answer<Wanted> {
        match context.request.query.get("num_versions") {
            None => Ok(default),
            Some("all") => Ok(Wanted::All),
            Some(text) => match text.parse() {
                Ok(count) => Ok(Wanted::Newest(count)),
                Err(_) => {
                    fail(400, "You have requested an invalid number of versions (x >= 0 || 'all')")
                }
            },
        }
    }
}

/// Versions of each cookbook, newest first.
pub(crate) fn versions_of_all(
    context: &mut Context<'_, '_>,
) -> Answer<Vec<(String, Vec<Version>)>> {
    let mut all: BTreeMap<String, Vec<Version>> = BTreeMap::new();
    for key in context.own_names("cookbook")? {
        if let Some((name, version)) = key.split_once('/')
            && let Some(version) = Version::parse(version)
        {
            all.entry(name.to_owned()).or_default().push(version);
        }
    }
    Ok(all
        .into_iter()
        .map(|(name, mut versions)| {
            versions.sort_unstable_by(|a, b| b.cmp(a));
            (name, versions)
        })
        .collect())
}

fn url(context: &Context<'_, '_>, name: &str, version: Option<Version>) -> String {
    let base = context.url_of("cookbooks", name);
    match version {
        Some(version) => format!("{base}/{version}"),
        None => base,
    }
}

/// Cookbooks with their versions, as far as they are allowed and wanted.
pub(crate) fn listing(
    context: &Context<'_, '_>,
    all: &[(String, Vec<Version>)],
    limits: &[(String, Constraint)],
    wanted: Wanted,
) -> Value {
    let mut rows = Map::new();
    for (name, versions) in all {
        let allowed = versions.iter().filter(|version| {
            limits.iter().filter(|(known, _)| known == name).all(|(_, one)| one.allows(**version))
        });
        let most = match wanted {
            Wanted::All => usize::MAX,
            Wanted::Newest(count) => count,
        };
        let shown: Vec<Value> = allowed
            .take(most)
            .map(|version| json!({"version": version.to_string(), "url": url(context, name, Some(*version))}))
            .collect();
        rows.insert(name.clone(), json!({"url": url(context, name, None), "versions": shown}));
    }
    Value::Object(rows)
}

pub(crate) fn list(context: &mut Context<'_, '_>, _: &[String]) -> Answer {
    let wanted = Wanted::asked(context, Wanted::Newest(1))?;
    context.need("read", "containers", "cookbooks")?;
    let all = versions_of_all(context)?;
    if context.version == 0 && context.request.query.get("num_versions").is_none() {
        return Ok(Reply::ok(&listing(context, &all, &[], Wanted::Newest(1))));
    }
    Ok(Reply::ok(&listing(context, &all, &[], wanted)))
}

pub(crate) fn latest(context: &mut Context<'_, '_>, _: &[String]) -> Answer {
    context.need("read", "containers", "cookbooks")?;
    let all = versions_of_all(context)?;
    let rows: Map<String, Value> = all
        .iter()
        .map(|(name, versions)| {
            (name.clone(), url(context, name, versions.first().copied()).into())
        })
        .collect();
    Ok(Reply::ok(&Value::Object(rows)))
}

/// Recipes of the newest versions that are allowed.
pub(crate) fn recipe_names(
    context: &mut Context<'_, '_>,
    limits: &[(String, Constraint)],
) -> Answer {
    let mut recipes = Vec::new();
    for (name, versions) in versions_of_all(context)? {
        let allowed = versions.into_iter().find(|version| {
            limits.iter().filter(|(known, _)| *known == name).all(|(_, one)| one.allows(*version))
        });
        let Some(version) = allowed else { continue };
        if let Some(record) = context.own("cookbook", &format!("{name}/{version}"))? {
            recipes.extend(manifest::recipes(&name, &record));
        }
    }
    recipes.sort_unstable();
    Ok(Reply::ok(&json!(recipes)))
}

pub(crate) fn recipes(context: &mut Context<'_, '_>, _: &[String]) -> Answer {
    context.need("read", "containers", "cookbooks")?;
    recipe_names(context, &[])
}

pub(crate) fn versions(context: &mut Context<'_, '_>, parts: &[String]) -> Answer {
    let mut all = versions_of_all(context)?;
    all.retain(|(name, _)| *name == parts[0]);
    if all.is_empty() {
        return fail(404, format!("Cannot find a cookbook named {}", parts[0]));
    }
    context.need("read", "cookbooks", &parts[0])?;
    let wanted = Wanted::asked(context, Wanted::All)?;
    Ok(Reply::ok(&listing(context, &all, &[], wanted)))
}

/// The version that the path names: one, or the newest.
fn version_of(context: &mut Context<'_, '_>, parts: &[String]) -> Answer<Option<Version>> {
    if matches!(parts[1].as_str(), "_latest" | "latest") {
        let all = versions_of_all(context)?;
        let found = all.into_iter().find(|(name, _)| *name == parts[0]);
        return Ok(found.and_then(|(_, versions)| versions.first().copied()));
    }
    match Version::parse(&parts[1]) {
        Some(version) => Ok(Some(version)),
        None => fail(400, format!("Invalid cookbook version '{}'.", parts[1])),
    }
}

fn found(context: &mut Context<'_, '_>, parts: &[String]) -> Answer<(String, Value)> {
    let version = version_of(context, parts)?;
    if let Some(version) = version {
        let key = format!("{}/{version}", parts[0]);
        if let Some(record) = context.own("cookbook", &key)? {
            return Ok((key, record));
        }
    }
    fail(404, format!("Cannot find a cookbook named {} with version {}", parts[0], parts[1]))
}

pub(crate) fn show(context: &mut Context<'_, '_>, parts: &[String]) -> Answer {
    let (_, record) = found(context, parts)?;
    context.need("read", "cookbooks", &parts[0])?;
    Ok(Reply::ok(&manifest::shown(context, &record)))
}

/// Files of a body, checked.
pub(crate) fn checked_files(context: &Context<'_, '_>, body: &Body) -> Answer<Vec<Value>> {
    let fields: Vec<&str> =
        if context.version >= 2 { vec!["all_files"] } else { manifest::SEGMENTS.to_vec() };
    for field in fields {
        let Some(given) = body.get(field) else { continue };
        let Some(given) = given.as_array() else {
            return fail(400, format!("Field '{field}' invalid"));
        };
        for file in given {
            let is_text = |key: &str| file.get(key).is_some_and(Value::is_string);
            let is_sum = files::is_checksum(text(file, "checksum"));
            if !["name", "path", "checksum", "specificity"].iter().all(|key| is_text(key))
                || !is_sum
            {
                return fail(400, format!("Invalid element in array value of '{field}'."));
            }
        }
    }
    let known = |file: &Value| {
        let kept = ["name", "path", "checksum", "specificity"]
            .iter()
            .map(|key| ((*key).to_owned(), file[*key].clone()));
        Value::Object(kept.collect())
    };
    Ok(manifest::files_of(body).iter().map(known).collect())
}

/// Metadata of a body, checked.
pub(crate) fn check_metadata(body: &Body, is_version: fn(&str) -> bool) -> Answer<()> {
    let Some(metadata) = body.get("metadata") else { return missing("metadata") };
    let Some(metadata) = metadata.as_object() else {
        return fail(400, "Field 'metadata' is not a hash");
    };
    match metadata.get("version") {
        None => return missing("metadata.version"),
        Some(Value::String(version)) if is_version(version) => {}
        Some(_) => return invalid("metadata.version"),
    }
    if let Some(name) = metadata.get("name")
        && !name.as_str().is_some_and(names::is_plain)
    {
        return invalid("metadata.name");
    }
    for field in ["platforms", "dependencies"] {
        match metadata.get(field) {
            None => {}
            Some(Value::Object(rows)) => {
                for (name, constraint) in rows {
                    if !names::is_plain(name) {
                        return fail(400, format!("Invalid key '{name}' for metadata.{field}"));
                    }
                    if constraint.as_str().and_then(Constraint::parse).is_none() {
                        return fail(
                            400,
                            format!("Invalid value '{}' for metadata.{field}", plain(constraint)),
                        );
                    }
                }
            }
            Some(_) => return fail(400, format!("Field 'metadata.{field}' is not a hash")),
        }
    }
    for field in ["description", "long_description", "maintainer", "maintainer_email", "license"] {
        if metadata.get(field).is_some_and(|value| !value.is_string()) {
            return invalid(&format!("metadata.{field}"));
        }
    }
    Ok(())
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// A cookbook in the form in which it is kept.
fn checked(context: &Context<'_, '_>, parts: &[String]) -> Answer<Map<String, Value>> {
    let mut body = context.body()?;
    let (name, version) = (&parts[0], &parts[1]);
    manifest::known_keys(&body, "cookbook_name")?;
    if !names::is_plain(name) {
        return fail(
            400,
            format!(
                "Invalid cookbook name '{name}' using regex: 'Malformed cookbook name. Must only contain A-Z, a-z, 0-9, _, . or -'."
            ),
        );
    }
    if !is_version(version) {
        return fail(400, format!("Invalid cookbook version '{version}'."));
    }
    for (field, wanted) in [
        ("name", format!("{name}-{version}")),
        ("cookbook_name", name.clone()),
        ("version", version.clone()),
    ] {
        match body.get(field) {
            None if field == "version" => {}
            None => return missing(field),
            Some(given) if *given == wanted.as_str() => {}
            Some(_) => return invalid(field),
        }
    }
    fixed(&mut body, "json_class", "Chef::CookbookVersion")?;
    fixed(&mut body, "chef_type", "cookbook_version")?;
    match body.get("frozen?") {
        None => {
            body.insert("frozen?".into(), false.into());
        }
        Some(Value::Bool(_)) => {}
        Some(_) => return invalid("frozen?"),
    }
    check_metadata(&body, is_version)?;
    if let Some(metadata) = body.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.entry("long_description").or_insert_with(|| "".into());
        metadata.entry("dependencies").or_insert_with(|| json!({}));
    }
    let all_files = checked_files(context, &body)?;
    for field in manifest::SEGMENTS {
        body.remove(field);
    }
    body.insert("version".into(), version.as_str().into());
    body.insert("all_files".into(), Value::Array(all_files));
    Ok(body)
}

pub(crate) fn update(context: &mut Context<'_, '_>, parts: &[String]) -> Answer {
    let mut body = checked(context, parts)?;
    let Some(version) = Version::parse(&parts[1]) else {
        return fail(400, format!("Invalid cookbook version '{}'.", parts[1]));
    };
    let key = format!("{}/{version}", parts[0]);
    let old = context.own("cookbook", &key)?;
    let is_known = versions_of_all(context)?.iter().any(|(name, _)| *name == parts[0]);
    if is_known {
        context.need("update", "cookbooks", &parts[0])?;
    } else {
        context.need_create("cookbooks")?;
    }
    let is_forced = context.request.query.get("force").is_some_and(|word| word != "false");
    if let Some(old) = &old
        && old["frozen?"] == true
    {
        if !is_forced {
            return fail(
                409,
                format!(
                    "The cookbook {} at version {} is frozen. Use the 'force' option to override.",
                    parts[0], parts[1]
                ),
            );
        }
        body.insert("frozen?".into(), true.into());
    }
    for file in body["all_files"].as_array().cloned().into_iter().flatten() {
        let checksum = text(&file, "checksum");
        if !files::is_there(context, checksum)? {
            let text = if old.is_some() {
                format!("Manifest has checksum {checksum} but it hasn't yet been uploaded")
            } else {
                "Manifest has a checksum that hasn't been uploaded.".to_owned()
            };
            return fail(400, text);
        }
    }
    let record = Value::Object(body);
    context.put_own("cookbook", &key, &record)?;
    if !is_known {
        context.new_rights("cookbooks", &parts[0])?;
    }
    let shown = as_sent(context, &record)?;
    match old {
        Some(old) => {
            files::sweep(context, &old)?;
            Ok(Reply::ok(&shown))
        }
        None => {
            let uri = format!("{}/{}", context.url_of("cookbooks", &parts[0]), encoded(&parts[1]));
            Ok(Reply::created(&uri, &shown))
        }
    }
}

/// The answer to an upload: the document as it came, with what was filled in.
fn as_sent(context: &Context<'_, '_>, record: &Value) -> Answer<Value> {
    let mut shown = record.as_object().cloned().unwrap_or_default();
    let body = context.body()?;
    shown.retain(|key, _| {
        body.contains_key(key) || matches!(key.as_str(), "json_class" | "chef_type" | "frozen?")
    });
    shown.extend(body);
    shown.insert("frozen?".into(), record["frozen?"].clone());
    Ok(Value::Object(shown))
}

pub(crate) fn delete(context: &mut Context<'_, '_>, parts: &[String]) -> Answer {
    let (key, record) = found(context, parts)?;
    context.need("delete", "cookbooks", &parts[0])?;
    context.remove_own("cookbook", &key)?;
    files::sweep(context, &record)?;
    if !versions_of_all(context)?.iter().any(|(name, _)| *name == parts[0]) {
        context.drop_rights("cookbooks", &parts[0])?;
    }
    Ok(Reply::ok(&manifest::shown(context, &record)))
}
