//! Policies in their revisions, and the groups of machines that they are assigned to.

use serde_json::{Map, Value, json};

use crate::context::{Answer, Context, fail, text};
use crate::message::Reply;
use crate::validation::{Body, invalid, missing};
use crate::{names, run_list};

fn key(first: &str, second: &str) -> String {
    format!("{first}/{second}")
}

/// Second parts of the kept names that begin with this one.
fn seconds(context: &mut Context<'_, '_>, kind: &str, first: &str) -> Answer<Vec<String>> {
    let prefix = key(first, "");
    let all = context.own_names(kind)?;
    Ok(all.iter().filter_map(|name| name.strip_prefix(&prefix)).map(str::to_owned).collect())
}

/// A lock in the form in which it is kept.
fn checked(body: Body, name: &str) -> Answer<(String, Value)> {
    let revision = match body.get("revision_id") {
        None => return missing("revision_id"),
        Some(Value::String(id)) if names::is_policy(id) => id.clone(),
        Some(_) => return invalid("revision_id"),
    };
    match body.get("name") {
        None => return missing("name"),
        Some(Value::String(given)) if names::is_policy(given) => {
            if given != name {
                return fail(400, format!("Field 'name' invalid : {given} does not match {name}"));
            }
        }
        Some(_) => return invalid("name"),
    }
    let is_list = |list: &Value| {
        list.as_array().is_some_and(|items| {
            items.iter().all(|item| {
                let inner = item.as_str().and_then(|text| text.strip_prefix("recipe["));
                inner.and_then(|inner| inner.strip_suffix(']')).is_some_and(|inner| {
                    inner.contains("::") && !inner.contains('@') && run_list::is_recipe(inner)
                })
            })
        })
    };
    match body.get("run_list") {
        None => return missing("run_list"),
        Some(list) if is_list(list) => {}
        Some(_) => return fail(400, "Field 'run_list' is not a valid run list"),
    }
    if let Some(lists) = body.get("named_run_lists") {
        let all = lists.as_object();
        if !all.is_some_and(|all| all.values().all(is_list)) {
            return fail(400, "Field 'named_run_lists' is not a valid run list");
        }
    }
    match body.get("cookbook_locks") {
        None => return missing("cookbook_locks"),
        Some(Value::Object(locks)) => {
            for lock in locks.values() {
                if !lock.is_object() {
                    return fail(400, "Field 'cookbook_locks' invalid");
                }
                match lock.get("identifier") {
                    None => return missing("identifier"),
                    Some(Value::String(id)) if names::is_policy(id) => {}
                    Some(_) => return invalid("identifier"),
                }
                match lock.get("dotted_decimal_identifier") {
                    None => {}
                    Some(Value::String(id))
                        if id.split('.').count() == 3
                            && crate::solver::Version::parse(id).is_some() => {}
                    Some(_) => {
                        return fail(
                            400,
                            "Field 'dotted_decimal_identifier' is not a valid version",
                        );
                    }
                }
                match lock.get("version") {
                    None => {}
                    Some(Value::String(_)) => {}
                    Some(_) => return invalid("version"),
                }
            }
        }
        Some(_) => return fail(400, "Field 'cookbook_locks' is not a hash"),
    }
    Ok((revision, Value::Object(body)))
}

pub(crate) fn list(context: &mut Context<'_, '_>, _: &[String]) -> Answer {
    context.need("read", "containers", "policies")?;
    let mut rows = Map::new();
    for name in context.own_names("policy")? {
        let revisions = revisions_of(context, &name)?;
        let uri = context.url_of("policies", &name);
        rows.insert(name, json!({"uri": uri, "revisions": revisions}));
    }
    Ok(Reply::ok(&Value::Object(rows)))
}

fn revisions_of(context: &mut Context<'_, '_>, name: &str) -> Answer<Value> {
    let all = seconds(context, "revision", name)?;
    Ok(Value::Object(all.into_iter().map(|id| (id, json!({}))).collect()))
}

fn policy(context: &mut Context<'_, '_>, name: &str) -> Answer<()> {
    if context.has_own("policy", name)? {
        return Ok(());
    }
    fail(404, format!("Cannot load policy {name}"))
}

pub(crate) fn revisions(context: &mut Context<'_, '_>, parts: &[String]) -> Answer {
    policy(context, &parts[0])?;
    context.need("read", "policies", &parts[0])?;
    let revisions = revisions_of(context, &parts[0])?;
    Ok(Reply::ok(&json!({"revisions": revisions})))
}

pub(crate) fn delete(context: &mut Context<'_, '_>, parts: &[String]) -> Answer {
    let name = &parts[0];
    policy(context, name)?;
    context.need("delete", "policies", name)?;
    let revisions = revisions_of(context, name)?;
    for id in seconds(context, "revision", name)? {
        context.remove_own("revision", &key(name, &id))?;
    }
    for group in context.own_names("policy_group")? {
        context.remove_own("assignment", &key(&group, name))?;
    }
    context.remove_own("policy", name)?;
    context.drop_rights("policies", name)?;
    Ok(Reply::ok(&json!({"revisions": revisions})))
}

impl Context<'_, '_> {
    /// Keeps a revision, and makes its policy where there is none.
    fn keep_revision(&mut self, name: &str, id: &str, lock: &Value) -> Answer<()> {
        if !self.has_own("policy", name)? {
            self.put_own("policy", name, &json!({}))?;
            self.new_rights("policies", name)?;
        }
        if !self.has_own("revision", &key(name, id))? {
            self.put_own("revision", &key(name, id), lock)?;
        }
        Ok(())
    }

    /// The right to make or to change something that may not be there yet.
    fn need_to_put(&mut self, kind: &str, collection: &str, name: &str) -> Answer<()> {
        if self.has_own(kind, name)? {
            self.need("update", collection, name)
        } else {
            self.need_create(collection)
        }
    }
}

pub(crate) fn create_revision(context: &mut Context<'_, '_>, parts: &[String]) -> Answer {
    if !names::is_policy(&parts[0]) {
        return invalid("name");
    }
    let (id, lock) = checked(context.body()?, &parts[0])?;
    context.need_to_put("policy", "policies", &parts[0])?;
    if context.has_own("revision", &key(&parts[0], &id))? {
        return fail(409, "Policy revision already exists");
    }
    context.keep_revision(&parts[0], &id, &lock)?;
    let path = format!("policies/{}/revisions", crate::context::encoded(&parts[0]));
    let uri = context.url_of(&path, &id);
    Ok(Reply::created(&uri, &lock))
}

fn lock(context: &mut Context<'_, '_>, parts: &[String]) -> Answer<Value> {
    match context.own("revision", &key(&parts[0], &parts[1]))? {
        Some(lock) => Ok(lock),
        None => fail(404, format!("Cannot load policy {} at revision {}", parts[0], parts[1])),
    }
}

pub(crate) fn revision(context: &mut Context<'_, '_>, parts: &[String]) -> Answer {
    let mut lock = lock(context, parts)?;
    context.need("read", "policies", &parts[0])?;
    let mut groups = Vec::new();
    let mut all = context.all_own("policy_group")?;
    all.sort_by_key(|(_, group)| group["made"].as_u64());
    for (group, _) in all {
        let assigned = context.own("assignment", &key(&group, &parts[0]))?;
        if assigned.is_some_and(|one| text(&one, "revision_id") == parts[1]) {
            groups.push(group);
        }
    }
    lock["policy_group_list"] = json!(groups);
    Ok(Reply::ok(&lock))
}

pub(crate) fn delete_revision(context: &mut Context<'_, '_>, parts: &[String]) -> Answer {
    let lock = lock(context, parts)?;
    context.need("delete", "policies", &parts[0])?;
    context.remove_own("revision", &key(&parts[0], &parts[1]))?;
    for group in context.own_names("policy_group")? {
        let name = key(&group, &parts[0]);
        let assigned = context.own("assignment", &name)?;
        if assigned.is_some_and(|one| text(&one, "revision_id") == parts[1]) {
            context.remove_own("assignment", &name)?;
        }
    }
    Ok(Reply::ok(&lock))
}

fn group_shown(context: &mut Context<'_, '_>, name: &str) -> Answer<Map<String, Value>> {
    let mut policies = Map::new();
    for policy in seconds(context, "assignment", name)? {
        if let Some(one) = context.own("assignment", &key(name, &policy))? {
            policies.insert(policy, json!({"revision_id": one["revision_id"]}));
        }
    }
    let mut shown = Map::new();
    shown.insert("uri".into(), context.url_of("policy_groups", name).into());
    if !policies.is_empty() {
        shown.insert("policies".into(), Value::Object(policies));
    }
    Ok(shown)
}

pub(crate) fn groups(context: &mut Context<'_, '_>, _: &[String]) -> Answer {
    context.need("read", "containers", "policy_groups")?;
    let mut rows = Map::new();
    for name in context.own_names("policy_group")? {
        let shown = group_shown(context, &name)?;
        rows.insert(name, Value::Object(shown));
    }
    Ok(Reply::ok(&Value::Object(rows)))
}

fn group_found(context: &mut Context<'_, '_>, name: &str) -> Answer<()> {
    if context.has_own("policy_group", name)? {
        return Ok(());
    }
    fail(404, format!("Cannot load policy group {name}"))
}

pub(crate) fn group(context: &mut Context<'_, '_>, parts: &[String]) -> Answer {
    group_found(context, &parts[0])?;
    context.need("read", "policy_groups", &parts[0])?;
    let mut shown = group_shown(context, &parts[0])?;
    shown.entry("policies").or_insert_with(|| json!({}));
    Ok(Reply::ok(&Value::Object(shown)))
}

pub(crate) fn delete_group(context: &mut Context<'_, '_>, parts: &[String]) -> Answer {
    group_found(context, &parts[0])?;
    context.need("delete", "policy_groups", &parts[0])?;
    let mut shown = group_shown(context, &parts[0])?;
    shown.entry("policies").or_insert_with(|| json!({}));
    for policy in seconds(context, "assignment", &parts[0])? {
        context.remove_own("assignment", &key(&parts[0], &policy))?;
    }
    context.remove_own("policy_group", &parts[0])?;
    context.drop_rights("policy_groups", &parts[0])?;
    Ok(Reply::ok(&Value::Object(shown)))
}

fn assigned_lock(context: &mut Context<'_, '_>, parts: &[String]) -> Answer<Value> {
    let (group, policy) = (&parts[0], &parts[1]);
    let Some(assigned) = context.own("assignment", &key(group, policy))? else {
        return fail(404, format!("Cannot load policy {policy} in group {group}"));
    };
    let revision = text(&assigned, "revision_id").to_owned();
    lock(context, &[policy.clone(), revision])
}

pub(crate) fn assigned(context: &mut Context<'_, '_>, parts: &[String]) -> Answer {
    let lock = assigned_lock(context, parts)?;
    context.need("read", "policies", &parts[1])?;
    context.need("read", "policy_groups", &parts[0])?;
    Ok(Reply::ok(&lock))
}

pub(crate) fn assign(context: &mut Context<'_, '_>, parts: &[String]) -> Answer {
    let (group, policy) = (&parts[0], &parts[1]);
    if !names::is_policy(group) || !names::is_policy(policy) {
        return invalid("name");
    }
    let (id, lock) = checked(context.body()?, policy)?;
    context.need_to_put("policy", "policies", policy)?;
    context.need_to_put("policy_group", "policy_groups", group)?;
    context.keep_revision(policy, &id, &lock)?;
    if !context.has_own("policy_group", group)? {
        let all = context.all_own("policy_group")?;
        let last = all.iter().filter_map(|(_, group)| group["made"].as_u64()).max();
        context.put_own("policy_group", group, &json!({"made": last.unwrap_or(0) + 1}))?;
        context.new_rights("policy_groups", group)?;
    }
    let is_new = !context.has_own("assignment", &key(group, policy))?;
    context.put_own("assignment", &key(group, policy), &json!({"revision_id": id}))?;
    if is_new {
        let path = format!("policy_groups/{}/policies", crate::context::encoded(group));
        let uri = context.url_of(&path, policy);
        return Ok(Reply::created(&uri, &lock));
    }
    Ok(Reply::ok(&lock))
}

pub(crate) fn withdraw(context: &mut Context<'_, '_>, parts: &[String]) -> Answer {
    let lock = assigned_lock(context, parts)?;
    context.need("update", "policy_groups", &parts[0])?;
    context.remove_own("assignment", &key(&parts[0], &parts[1]))?;
    Ok(Reply::ok(&lock))
}
