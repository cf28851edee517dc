//! Groups of users, clients and other groups.

use serde_json::{Value, json};

use crate::context::{Answer, Context, fail, text};
use crate::ids::Kind;
use crate::message::Reply;
use crate::names;
use crate::validation::{Body, invalid, missing};

/// Groups that stay.
pub(crate) const BUILT_IN: [&str; 5] =
    ["admins", "billing-admins", "clients", "users", "public_key_read_access"];

const LISTS: [(&str, Kind); 3] =
    [("users", Kind::User), ("clients", Kind::Client), ("groups", Kind::Group)];

impl Context<'_, '_> {
    pub(crate) fn add_group(&mut self, name: &str) -> Answer<String> {
        let id = self.new_id(Kind::Group, name)?;
        let group = json!({"name": name, "authz_id": id, "users": [], "clients": [], "groups": []});
        self.put_own("group", name, &group)?;
        Ok(id)
    }

    pub(crate) fn add_to_group(&mut self, group: &str, list: &str, id: &str) -> Answer<()> {
        self.change_group(group, list, |ids| {
            if !ids.iter().any(|known| known == id) {
                ids.push(id.into());
            }
        })
    }

    pub(crate) fn remove_from_group(&mut self, group: &str, list: &str, id: &str) -> Answer<()> {
        self.change_group(group, list, |ids| ids.retain(|known| known != id))
    }

    fn change_group(
        &mut self,
        name: &str,
        list: &str,
        change: impl FnOnce(&mut Vec<Value>),
    ) -> Answer<()> {
        let Some(mut group) = self.own("group", name)? else { return Ok(()) };
        if let Some(ids) = group.get_mut(list).and_then(Value::as_array_mut) {
            change(ids);
        }
        self.put_own("group", name, &group)
    }
}

pub(crate) fn list(context: &mut Context<'_, '_>, _: &[String]) -> Answer {
    context.need("read", "containers", "groups")?;
    context.listed("group", "groups")
}

fn name_in(body: &Body) -> Answer<Option<String>> {
    for key in ["id", "groupname", "name"] {
        match body.get(key) {
            None => {}
            Some(Value::String(name)) if names::is_plain(name) => return Ok(Some(name.clone())),
            Some(_) => return invalid(key),
        }
    }
    Ok(None)
}

pub(crate) fn create(context: &mut Context<'_, '_>, _: &[String]) -> Answer {
    let body = context.body()?;
    let Some(name) = name_in(&body)? else { return missing("groupname") };
    context.need_create("groups")?;
    if context.has_own("group", &name)? {
        return fail(409, "Group already exists");
    }
    context.add_group(&name)?;
    context.new_rights("groups", &name)?;
    let uri = context.url_of("groups", &name);
    Ok(Reply::created(&uri, &json!({"uri": uri})))
}

fn found(context: &mut Context<'_, '_>, name: &str) -> Answer<Value> {
    match context.own("group", name)? {
        Some(group) => Ok(group),
        None => fail(404, format!("Cannot load group {name}")),
    }
}

/// A group with names.
fn shown(context: &mut Context<'_, '_>, group: &Value) -> Answer<Value> {
    let mut lists: Vec<Vec<Value>> = Vec::new();
    for (list, kind) in LISTS {
        let mut names = Vec::new();
        for id in group[list].as_array().into_iter().flatten().filter_map(Value::as_str) {
            if let Some((found, name)) = context.named(id)?
                && found == kind
            {
                names.push(Value::String(name));
            }
        }
        lists.push(names);
    }
    let [users, clients, groups] = [0, 1, 2].map(|at| std::mem::take(&mut lists[at]));
    let actors: Vec<Value> = users.iter().chain(&clients).cloned().collect();
    let name = text(group, "name");
    Ok(json!({
        "actors": actors,
        "users": users,
        "clients": clients,
        "groups": groups,
        "orgname": context.org,
        "name": name,
        "groupname": name,
    }))
}

pub(crate) fn show(context: &mut Context<'_, '_>, parts: &[String]) -> Answer {
    let group = found(context, &parts[0])?;
    context.need("read", "groups", &parts[0])?;
    Ok(Reply::ok(&shown(context, &group)?))
}

pub(crate) fn update(context: &mut Context<'_, '_>, parts: &[String]) -> Answer {
    let body = context.body()?;
    let new = name_in(&body)?.unwrap_or_else(|| parts[0].clone());
    let mut group = found(context, &parts[0])?;
    context.need("update", "groups", &parts[0])?;
    if let Some(actors) = body.get("actors") {
        let Value::Object(actors) = actors else { return invalid("actors") };
        for (list, kind) in LISTS {
            let Some(given) = actors.get(list) else { continue };
            let Some(given) = given.as_array() else { return invalid(list) };
            let mut ids: Vec<Value> = Vec::new();
            for name in given {
                let Some(name) = name.as_str() else { return invalid(list) };
                let id = match kind {
                    Kind::Group => context.group_id(name)?,
                    _ => context.id_of(kind, name)?,
                };
                match id {
                    Some(id) if ids.iter().any(|known| known == id.as_str()) => {}
                    Some(id) => ids.push(id.into()),
                    None => return fail(400, format!("Invalid {list} in request body: {name}")),
                }
            }
            group[list] = Value::Array(ids);
        }
    }
    let is_renamed = new != parts[0];
    if is_renamed {
        if context.has_own("group", &new)? {
            return fail(409, "Group already exists");
        }
        let rights = context.rights("groups", &parts[0])?;
        context.drop_rights("groups", &parts[0])?;
        context.put_rights("groups", &new, rights)?;
        context.remove_own("group", &parts[0])?;
        let id = text(&group, "authz_id").to_owned();
        context.rename_id(Kind::Group, &id, &new)?;
        group["name"] = new.as_str().into();
    }
    context.put_own("group", &new, &group)?;
    let answer = shown(context, &group)?;
    if is_renamed {
        let uri = context.url_of("groups", &new);
        return Ok(Reply::created(&uri, &answer));
    }
    Ok(Reply::ok(&answer))
}

pub(crate) fn delete(context: &mut Context<'_, '_>, parts: &[String]) -> Answer {
    let group = found(context, &parts[0])?;
    context.need("delete", "groups", &parts[0])?;
    if BUILT_IN.contains(&parts[0].as_str()) {
        return fail(403, format!("Cannot delete the built-in group {}", parts[0]));
    }
    let answer = shown(context, &group)?;
    context.remove_own("group", &parts[0])?;
    context.drop_rights("groups", &parts[0])?;
    let id = text(&group, "authz_id").to_owned();
    context.drop_id(Kind::Group, &id)?;
    Ok(Reply::ok(&answer))
}
