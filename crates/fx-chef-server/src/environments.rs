//! Environments, and what of the cookbooks each allows.

use serde_json::{Map, Value, json};

use crate::context::{Answer, Context, fail};
use crate::cookbooks::{self, Wanted};
use crate::message::Reply;
use crate::names;
use crate::objects::Kind;
use crate::solver::Constraint;
use crate::validation::{Body, fixed, hash_or_empty, known_keys, named, text_or};

const KEYS: &[&str] = &[
    "name",
    "description",
    "cookbook_versions",
    "json_class",
    "chef_type",
    "default_attributes",
    "override_attributes",
];

/// The environment that is always there.
pub(crate) const DEFAULT: &str = "_default";

pub(crate) fn default_document() -> Value {
    json!({
        "name": DEFAULT,
        "description": "The default Chef environment",
        "cookbook_versions": {},
        "json_class": "Chef::Environment",
        "chef_type": "environment",
        "default_attributes": {},
        "override_attributes": {},
    })
}

fn checked(mut body: Body) -> Answer<Body> {
    known_keys(&body, KEYS)?;
    named(&body, "name", names::is_plain)?;
    text_or(&mut body, "description", "")?;
    fixed(&mut body, "json_class", "Chef::Environment")?;
    fixed(&mut body, "chef_type", "environment")?;
    hash_or_empty(&mut body, "default_attributes")?;
    hash_or_empty(&mut body, "override_attributes")?;
    hash_or_empty(&mut body, "cookbook_versions")?;
    for (cookbook, constraint) in body["cookbook_versions"].as_object().into_iter().flatten() {
        if !names::is_plain(cookbook) {
            return fail(400, "Invalid key in 'cookbook_versions'");
        }
        if constraint.as_str().and_then(Constraint::parse).is_none() {
            return fail(400, format!("Invalid value '{}'", plain(constraint)));
        }
    }
    Ok(body)
}

const ENVIRONMENT: Kind = Kind {
    stored_as: "environment",
    collection: "environments",
    title: "Environment",
    missing: |name| format!("Cannot load environment {name}"),
    large: &[],
    checked,
};

pub(crate) fn list(context: &mut Context<'_, '_>, _: &[String]) -> Answer {
    ENVIRONMENT.list(context)
}

pub(crate) fn create(context: &mut Context<'_, '_>, _: &[String]) -> Answer {
    ENVIRONMENT.create(context)
}

pub(crate) fn show(context: &mut Context<'_, '_>, parts: &[String]) -> Answer {
    ENVIRONMENT.show(context, &parts[0])
}

pub(crate) fn found(context: &mut Context<'_, '_>, name: &str) -> Answer<Value> {
    ENVIRONMENT.found(context, name)
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn not_default(name: &str) -> Answer<()> {
    if name == DEFAULT {
        return fail(405, "The '_default' environment cannot be modified.");
    }
    Ok(())
}

pub(crate) fn update(context: &mut Context<'_, '_>, parts: &[String]) -> Answer {
    let name = &parts[0];
    not_default(name)?;
    let mut body = context.body()?;
    body.entry("name").or_insert_with(|| name.as_str().into());
    let body = checked(body)?;
    found(context, name)?;
    context.need("update", "environments", name)?;
    let new = body["name"].as_str().unwrap_or_default().to_owned();
    let body = Value::Object(body);
    if new == *name {
        context.put_own("environment", name, &body)?;
        return Ok(Reply::ok(&body));
    }
    if context.has_own("environment", &new)? {
        return ENVIRONMENT.taken();
    }
    let rights = context.rights("environments", name)?;
    context.remove_own("environment", name)?;
    context.drop_rights("environments", name)?;
    context.put_own("environment", &new, &body)?;
    context.put_rights("environments", &new, rights)?;
    let uri = context.url_of("environments", &new);
    Ok(Reply::created(&uri, &body))
}

pub(crate) fn delete(context: &mut Context<'_, '_>, parts: &[String]) -> Answer {
    not_default(&parts[0])?;
    ENVIRONMENT.delete(context, &parts[0])
}

/// Nodes of an environment.
pub(crate) fn nodes(context: &mut Context<'_, '_>, parts: &[String]) -> Answer {
    found(context, &parts[0])?;
    context.need("read", "environments", &parts[0])?;
    let mut rows = Map::new();
    for (name, node) in context.all_own("node")? {
        if node["chef_environment"] == parts[0].as_str() {
            rows.insert(name.clone(), context.url_of("nodes", &name).into());
        }
    }
    Ok(Reply::ok(&Value::Object(rows)))
}

/// The run list of a role in this environment.
pub(crate) fn role(context: &mut Context<'_, '_>, parts: &[String]) -> Answer {
    found(context, &parts[0])?;
    crate::roles::in_environment(context, &[parts[1].clone(), parts[0].clone()])
}

/// What an environment demands of the version of each cookbook.
pub(crate) fn constraints(environment: &Value) -> Vec<(String, Constraint)> {
    let all = environment["cookbook_versions"].as_object();
    all.into_iter()
        .flatten()
        .filter_map(|(name, text)| Some((name.clone(), Constraint::parse(text.as_str()?)?)))
        .collect()
}

/// `GET environments/E/cookbooks`
pub(crate) fn cookbooks(context: &mut Context<'_, '_>, parts: &[String]) -> Answer {
    let environment = found(context, &parts[0])?;
    context.need("read", "environments", &parts[0])?;
    let wanted = Wanted::asked(context, Wanted::Newest(1))?;
    let all = cookbooks::versions_of_all(context)?;
    let limits = constraints(&environment);
    Ok(Reply::ok(&cookbooks::listing(context, &all, &limits, wanted)))
}

/// `GET environments/E/cookbooks/C`
pub(crate) fn cookbook(context: &mut Context<'_, '_>, parts: &[String]) -> Answer {
    let environment = found(context, &parts[0])?;
    context.need("read", "environments", &parts[0])?;
    let wanted = Wanted::asked(context, Wanted::All)?;
    let mut all = cookbooks::versions_of_all(context)?;
    all.retain(|(name, _)| *name == parts[1]);
    if all.is_empty() {
        return fail(404, format!("Cannot find a cookbook named {}", parts[1]));
    }
    let limits = constraints(&environment);
    Ok(Reply::ok(&cookbooks::listing(context, &all, &limits, wanted)))
}

/// Recipes of the newest cookbooks that an environment allows.
pub(crate) fn recipes(context: &mut Context<'_, '_>, parts: &[String]) -> Answer {
    let environment = found(context, &parts[0])?;
    context.need("read", "environments", &parts[0])?;
    let limits = constraints(&environment);
    cookbooks::recipe_names(context, &limits)
}
