//! Roles.

use serde_json::{Map, Value, json};

use crate::context::{Answer, Context, fail};
use crate::message::Reply;
use crate::names;
use crate::objects::Kind;
use crate::run_list;
use crate::validation::{Body, fixed, hash_or_empty, known_keys, named, text_or};

const KEYS: &[&str] = &[
    "name",
    "description",
    "json_class",
    "chef_type",
    "default_attributes",
    "override_attributes",
    "run_list",
    "env_run_lists",
];

fn checked(mut body: Body) -> Answer<Body> {
    known_keys(&body, KEYS)?;
    named(&body, "name", names::is_wide)?;
    text_or(&mut body, "description", "")?;
    fixed(&mut body, "json_class", "Chef::Role")?;
    fixed(&mut body, "chef_type", "role")?;
    hash_or_empty(&mut body, "default_attributes")?;
    hash_or_empty(&mut body, "override_attributes")?;
    match body.get("run_list").map(run_list::normal) {
        None => {
            body.insert("run_list".into(), json!([]));
        }
        Some(Some(list)) => {
            body.insert("run_list".into(), list);
        }
        Some(None) => return fail(400, "Field 'run_list' is not a valid run list"),
    }
    match body.get("env_run_lists") {
        None => {
            body.insert("env_run_lists".into(), json!({}));
        }
        Some(Value::Object(lists)) => {
            let lists: Option<Map<String, Value>> = lists
                .iter()
                .map(|(name, list)| {
                    names::is_plain(name).then_some(())?;
                    Some((name.clone(), run_list::normal(list)?))
                })
                .collect();
            let Some(lists) = lists else {
                return fail(400, "Field 'env_run_lists' contains invalid run lists");
            };
            body.insert("env_run_lists".into(), Value::Object(lists));
        }
        Some(_) => return fail(400, "Field 'env_run_lists' is not a hash"),
    }
    Ok(body)
}

const ROLE: Kind = Kind {
    stored_as: "role",
    collection: "roles",
    title: "Role",
    missing: |name| format!("Cannot load role {name}"),
    large: &[],
    checked,
};

pub(crate) fn list(context: &mut Context<'_, '_>, _: &[String]) -> Answer {
    ROLE.list(context)
}

pub(crate) fn create(context: &mut Context<'_, '_>, _: &[String]) -> Answer {
    ROLE.create(context)
}

pub(crate) fn show(context: &mut Context<'_, '_>, parts: &[String]) -> Answer {
    ROLE.show(context, &parts[0])
}

pub(crate) fn update(context: &mut Context<'_, '_>, parts: &[String]) -> Answer {
    ROLE.update(context, &parts[0], "Role name mismatch.")
}

pub(crate) fn delete(context: &mut Context<'_, '_>, parts: &[String]) -> Answer {
    ROLE.delete(context, &parts[0])
}

/// Environments for which a role has a run list.
pub(crate) fn environments(context: &mut Context<'_, '_>, parts: &[String]) -> Answer {
    let role = ROLE.found(context, &parts[0])?;
    context.need("read", "roles", &parts[0])?;
    let lists = role["env_run_lists"].as_object();
    let mut names = vec![json!("_default")];
    names.extend(lists.into_iter().flatten().map(|(name, _)| json!(name)));
    Ok(Reply::ok(&Value::Array(names)))
}

/// The run list of a role in an environment.
pub(crate) fn in_environment(context: &mut Context<'_, '_>, parts: &[String]) -> Answer {
    let role = ROLE.found(context, &parts[0])?;
    context.need("read", "roles", &parts[0])?;
    if parts[1] == "_default" {
        return Ok(Reply::ok(&json!({"run_list": role["run_list"]})));
    }
    crate::environments::found(context, &parts[1])?;
    let list = role["env_run_lists"].get(&parts[1]).cloned().unwrap_or(Value::Null);
    Ok(Reply::ok(&json!({"run_list": list})))
}
