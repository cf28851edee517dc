//! Cookbook artifacts: cookbooks of policies, by an identifier of their content.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::context::{Answer, Context, encoded, fail, fail_plain, text};
use crate::message::Reply;
use crate::validation::{fixed, invalid, missing};
use crate::{cookbooks, files, manifest, names};

fn key(name: &str, identifier: &str) -> String {
    format!("{name}/{identifier}")
}

fn by_name(context: &mut Context<'_, '_>) -> Answer<BTreeMap<String, Vec<String>>> {
    let mut all: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for kept in context.own_names("artifact")? {
        if let Some((name, identifier)) = kept.split_once('/') {
            all.entry(name.to_owned()).or_default().push(identifier.to_owned());
        }
    }
    Ok(all)
}

fn listing(context: &Context<'_, '_>, all: &BTreeMap<String, Vec<String>>) -> Value {
    let mut rows = Map::new();
    for (name, identifiers) in all {
        let url = context.url_of("cookbook_artifacts", name);
        let versions: Vec<Value> = identifiers
            .iter()
            .map(|one| json!({"identifier": one, "url": format!("{url}/{}", encoded(one))}))
            .collect();
        rows.insert(name.clone(), json!({"url": url, "versions": versions}));
    }
    Value::Object(rows)
}

pub(crate) fn list(context: &mut Context<'_, '_>, _: &[String]) -> Answer {
    context.need("read", "containers", "cookbook_artifacts")?;
    let all = by_name(context)?;
    Ok(Reply::ok(&listing(context, &all)))
}

pub(crate) fn identifiers(context: &mut Context<'_, '_>, parts: &[String]) -> Answer {
    let mut all = by_name(context)?;
    all.retain(|name, _| *name == parts[0]);
    if all.is_empty() {
        return fail(404, "not_found");
    }
    context.need("read", "cookbook_artifacts", &parts[0])?;
    Ok(Reply::ok(&listing(context, &all)))
}

fn found(context: &mut Context<'_, '_>, parts: &[String]) -> Answer<Value> {
    match context.own("artifact", &key(&parts[0], &parts[1]))? {
        Some(artifact) => Ok(artifact),
        None => fail(404, "not_found"),
    }
}

pub(crate) fn show(context: &mut Context<'_, '_>, parts: &[String]) -> Answer {
    let artifact = found(context, parts)?;
    context.need("read", "cookbook_artifacts", &parts[0])?;
    Ok(Reply::ok(&manifest::shown(context, &artifact)))
}

pub(crate) fn create(context: &mut Context<'_, '_>, parts: &[String]) -> Answer {
    let mut body = context.body()?;
    manifest::known_keys(&body, "identifier")?;
    if !names::is_plain(&parts[0]) {
        return invalid("name");
    }
    if !names::is_policy(&parts[1]) {
        return invalid("identifier");
    }
    for (field, wanted) in [("name", &parts[0]), ("identifier", &parts[1])] {
        match body.get(field) {
            None => return missing(field),
            Some(given) if given == wanted.as_str() => {}
            Some(_) => return invalid(field),
        }
    }
    fixed(&mut body, "chef_type", "cookbook_version")?;
    match body.get("version") {
        None => return missing("version"),
        Some(Value::String(_)) => {}
        Some(_) => return invalid("version"),
    }
    body.remove("json_class");
    cookbooks::check_metadata(&body, |_| true)?;
    let all_files = cookbooks::checked_files(context, &body)?;
    for field in manifest::SEGMENTS {
        body.remove(field);
    }
    body.insert("all_files".into(), Value::Array(all_files.clone()));
    body.entry("frozen?").or_insert_with(|| false.into());
    let is_known = by_name(context)?.contains_key(&parts[0]);
    if is_known {
        context.need("update", "cookbook_artifacts", &parts[0])?;
    } else {
        context.need_create("cookbook_artifacts")?;
    }
    if context.has_own("artifact", &key(&parts[0], &parts[1]))? {
        return fail_plain(409, "Cookbook artifact already exists");
    }
    for file in &all_files {
        if !files::is_there(context, text(file, "checksum"))? {
            return fail(400, "Manifest has a checksum that hasn't been uploaded.");
        }
    }
    let record = Value::Object(body);
    context.put_own("artifact", &key(&parts[0], &parts[1]), &record)?;
    if !is_known {
        context.new_rights("cookbook_artifacts", &parts[0])?;
    }
    let url = context.url_of("cookbook_artifacts", &parts[0]);
    let uri = format!("{url}/{}", encoded(&parts[1]));
    Ok(Reply::created(&uri, &manifest::shown(context, &record)))
}

pub(crate) fn delete(context: &mut Context<'_, '_>, parts: &[String]) -> Answer {
    let artifact = found(context, parts)?;
    context.need("delete", "cookbook_artifacts", &parts[0])?;
    context.remove_own("artifact", &key(&parts[0], &parts[1]))?;
    files::sweep(context, &artifact)?;
    if !by_name(context)?.contains_key(&parts[0]) {
        context.drop_rights("cookbook_artifacts", &parts[0])?;
    }
    Ok(Reply::ok(&manifest::shown(context, &artifact)))
}
