//! Nodes.

use serde_json::{Value, json};

use crate::context::{Answer, Context, fail};
use crate::message::Reply;
use crate::names;
use crate::objects::Kind;
use crate::run_list;
use crate::validation::{Body, fixed, hash_or_empty, invalid, known_keys, named};

const KEYS: &[&str] = &[
    "name",
    "chef_environment",
    "json_class",
    "chef_type",
    "automatic",
    "normal",
    "default",
    "override",
    "run_list",
    "policy_name",
    "policy_group",
    "overrides",
    "attributes",
    "defaults",
];

/// A node in the form in which it is kept.
fn checked(mut body: Body) -> Answer<Body> {
    known_keys(&body, KEYS)?;
    named(&body, "name", names::is_wide)?;
    fixed(&mut body, "json_class", "Chef::Node")?;
    fixed(&mut body, "chef_type", "node")?;
    for field in ["automatic", "normal", "default", "override"] {
        hash_or_empty(&mut body, field)?;
    }
    match body.get("chef_environment") {
        None => {
            body.insert("chef_environment".into(), "_default".into());
        }
        Some(Value::String(name)) if names::is_plain(name) => {}
        Some(_) => return invalid("chef_environment"),
    }
    match body.get("run_list") {
        None => {
            body.insert("run_list".into(), json!([]));
        }
        Some(list) => match run_list::normal(list) {
            Some(list) => {
                body.insert("run_list".into(), list);
            }
            None => return fail(400, "Field 'run_list' is not a valid run list"),
        },
    }
    for field in ["policy_name", "policy_group"] {
        match body.get(field) {
            None => {}
            Some(Value::String(name)) if names::is_policy(name) => {}
            Some(_) => return invalid(field),
        }
    }
    Ok(body)
}

const NODE: Kind = Kind {
    stored_as: "node",
    collection: "nodes",
    title: "Node",
    missing: |name| format!("node '{name}' not found"),
    large: &["automatic", "normal", "default", "override"],
    checked,
};

pub(crate) fn list(context: &mut Context<'_, '_>, _: &[String]) -> Answer {
    NODE.list(context)
}

pub(crate) fn create(context: &mut Context<'_, '_>, _: &[String]) -> Answer {
    NODE.create(context)
}

pub(crate) fn show(context: &mut Context<'_, '_>, parts: &[String]) -> Answer {
    NODE.show(context, &parts[0])
}

pub(crate) fn update(context: &mut Context<'_, '_>, parts: &[String]) -> Answer {
    NODE.update(context, &parts[0], "node name mismatch.")
}

pub(crate) fn delete(context: &mut Context<'_, '_>, parts: &[String]) -> Answer {
    NODE.delete(context, &parts[0])
}

/// Identifiers of a node, made from its name: nothing of ours uses them.
pub(crate) fn identifiers(context: &mut Context<'_, '_>, parts: &[String]) -> Answer {
    let [kind, name] = [&parts[0], &parts[1]];
    if kind != "nodes" {
        return fail(404, format!("Unsupported object type: '{kind}'."));
    }
    if !context.has_own("node", name)? {
        return fail(404, format!("No such '{kind}': '{name}'."));
    }
    context.need("read", "nodes", name)?;
    let id = |what: &str| {
        let text = format!("{what}/{}/{name}", context.org);
        fx_crypto::digest::Algorithm::Md5.hex(text.as_bytes())
    };
    let org = fx_crypto::digest::Algorithm::Md5.hex(context.org.as_bytes());
    Ok(Reply::ok(&json!({"id": id("node"), "authz_id": id("authz"), "org_id": org})))
}
