//! Rights of objects, shown with names and changed by who may grant.

use serde_json::{Map, Value, json};

use crate::context::{Answer, Context, GLOBAL, fail};
use crate::ids::Kind;
use crate::message::Reply;
use crate::rights::{PERMISSIONS, Rights, ids};
use crate::validation::{invalid, missing};

/// The kind under which a collection of the path is kept.
fn kind(collection: &str) -> Option<&'static str> {
    Some(match collection {
        "nodes" => "node",
        "roles" => "role",
        "environments" => "environment",
        "data" => "data_bag",
        "clients" => "client",
        "groups" => "group",
        "containers" => "container",
        "policies" => "policy",
        "policy_groups" => "policy_group",
        "cookbooks" | "cookbook_artifacts" => "",
        _ => return None,
    })
}

/// Ends the request where the object is not there.
fn exists(context: &mut Context<'_, '_>, collection: &str, name: &str) -> Answer<()> {
    let there = match kind(collection) {
        None => return fail(404, format!("Object not found: {collection}/{name}")),
        Some("") => !context.rights(collection, name)?.is_empty(),
        Some(kind) => context.has_own(kind, name)?,
    };
    if there { Ok(()) } else { fail(404, format!("Cannot load {collection} {name}")) }
}

/// Names of one permission.
fn named(context: &mut Context<'_, '_>, rights: &Rights, permission: &str) -> Answer<Value> {
    let granular = context.request.query.get("detail") == Some("granular");
    let (mut users, mut clients, mut groups) = (Vec::new(), Vec::new(), Vec::new());
    for id in ids(rights, permission, "actors") {
        match context.named(id)? {
            Some((Kind::User, name)) => users.push(Value::String(name)),
            Some((Kind::Client, name)) => clients.push(Value::String(name)),
            _ => {}
        }
    }
    for id in ids(rights, permission, "groups") {
        if let Some((Kind::Group, name)) = context.named(id)? {
            groups.push(Value::String(name));
        }
    }
    if granular {
        return Ok(json!({"actors": [], "users": users, "clients": clients, "groups": groups}));
    }
    let actors: Vec<Value> = users.into_iter().chain(clients).collect();
    Ok(json!({"actors": actors, "groups": groups}))
}

fn all(context: &mut Context<'_, '_>, rights: &Rights) -> Answer {
    let mut shown = Map::new();
    for permission in PERMISSIONS {
        shown.insert(permission.to_owned(), named(context, rights, permission)?);
    }
    Ok(Reply::ok(&Value::Object(shown)))
}

/// To see rights one needs one of them.
fn need_any(context: &mut Context<'_, '_>, collection: &str, name: &str) -> Answer<()> {
    context.need("grant", collection, name)
}

pub(crate) fn show(context: &mut Context<'_, '_>, parts: &[String]) -> Answer {
    exists(context, &parts[0], &parts[1])?;
    need_any(context, &parts[0], &parts[1])?;
    let rights = context.rights(&parts[0], &parts[1])?;
    all(context, &rights)
}

fn texts<'a>(entry: &'a Value, list: &str) -> Answer<Option<Vec<&'a str>>> {
    let Some(given) = entry.get(list) else { return Ok(None) };
    let texts: Option<Vec<&str>> =
        given.as_array().and_then(|all| all.iter().map(Value::as_str).collect());
    match texts {
        Some(texts) => Ok(Some(texts)),
        None => invalid(list),
    }
}

/// Identifiers of a body that grants one permission.
fn entry(context: &mut Context<'_, '_>, permission: &str) -> Answer<Value> {
    let body = context.body()?;
    let Some(entry) = body.get(permission) else { return missing(permission) };
    let Some(groups) = texts(entry, "groups")? else { return missing("groups") };
    let Some(plain) = texts(entry, "actors")? else { return missing("actors") };
    let (users, clients) = (texts(entry, "users")?, texts(entry, "clients")?);
    let mut actors: Vec<Value> = Vec::new();
    let mut add = |id: String| {
        if !actors.iter().any(|known| known == id.as_str()) {
            actors.push(id.into());
        }
    };
    for name in plain {
        let both = (context.id_of(Kind::User, name)?, context.id_of(Kind::Client, name)?);
        match both {
            (Some(_), Some(_)) => {
                return fail(
                    422,
                    format!(
                        "The actor(s) [\"{name}\"] are both a user and a client in the organization"
                    ),
                );
            }
            (Some(id), None) | (None, Some(id)) => add(id),
            (None, None) => {
                return fail(
                    400,
                    format!(
                        "The actor(s) {name} do not exist in this organization as clients or users."
                    ),
                );
            }
        }
    }
    for (names, kind) in [(users, Kind::User), (clients, Kind::Client)] {
        for name in names.unwrap_or_default() {
            match context.id_of(kind, name)? {
                Some(id) => add(id),
                None => return fail(400, format!("{name} does not exist")),
            }
        }
    }
    let mut group_ids: Vec<Value> = Vec::new();
    for name in groups {
        match context.group_id(name)? {
            Some(id) => group_ids.push(id.into()),
            None => {
                return fail(
                    400,
                    format!("The group(s) {name} do not exist in this organization."),
                );
            }
        }
    }
    Ok(json!({"actors": actors, "groups": group_ids}))
}

fn change(context: &mut Context<'_, '_>, collection: &str, name: &str, permission: &str) -> Answer {
    if !PERMISSIONS.contains(&permission) {
        return fail(404, format!("Invalid permission {permission}"));
    }
    let entry = entry(context, permission)?;
    context.need("grant", collection, name)?;
    if permission == "grant" && !context.actor.is_superuser {
        let admins = context.id_of(Kind::Group, "admins")?.unwrap_or_default();
        let kept = entry["groups"]
            .as_array()
            .is_some_and(|ids| ids.iter().any(|id| *id == admins.as_str()));
        if !kept {
            return fail(403, "Admin group cannot be removed from the Grant ACE");
        }
    }
    let mut rights = context.rights(collection, name)?;
    rights.insert(permission.to_owned(), entry);
    context.put_rights(collection, name, rights)?;
    Ok(Reply::ok(&json!({})))
}

pub(crate) fn update_part(context: &mut Context<'_, '_>, parts: &[String]) -> Answer {
    exists(context, &parts[0], &parts[1])?;
    change(context, &parts[0], &parts[1], &parts[2])
}

/// Rights on the organization itself are asked for under either of two names.
fn of_organization(parts: &[String]) -> Answer<()> {
    if matches!(parts[0].as_str(), "organization" | "organizations") {
        return Ok(());
    }
    fail(404, format!("Object not found: {}", parts[0]))
}

pub(crate) fn show_organization(context: &mut Context<'_, '_>, parts: &[String]) -> Answer {
    of_organization(parts)?;
    need_any(context, "organization", "")?;
    let rights = context.rights("organization", "")?;
    all(context, &rights)
}

pub(crate) fn update_organization_part(context: &mut Context<'_, '_>, parts: &[String]) -> Answer {
    of_organization(parts)?;
    change(context, "organization", "", &parts[1])
}

fn user(context: &mut Context<'_, '_>, name: &str) -> Answer<()> {
    if !context.docs.has(GLOBAL, "user", name)? {
        return fail(404, format!("Cannot load user {name}"));
    }
    need_any(context, "users", name)
}

pub(crate) fn show_user(context: &mut Context<'_, '_>, parts: &[String]) -> Answer {
    user(context, &parts[0])?;
    let rights = context.rights("users", &parts[0])?;
    all(context, &rights)
}

pub(crate) fn update_user_part(context: &mut Context<'_, '_>, parts: &[String]) -> Answer {
    user(context, &parts[0])?;
    change(context, "users", &parts[0], &parts[1])
}
