//! Users of an organization: members, and invitations to become one.

use serde_json::{Value, json};

use crate::context::{Answer, Context, GLOBAL, fail, fail_plain, text};
use crate::ids::Kind;
use crate::message::Reply;
use crate::users;
use crate::validation::{invalid, missing};

pub(crate) fn members(context: &mut Context<'_, '_>, _: &[String]) -> Answer {
    context.need("read", "groups", "users")?;
    let names = context.own_names("member")?;
    let rows = names.into_iter().map(|name| json!({"user": {"username": name}}));
    Ok(Reply::ok(&Value::Array(rows.collect())))
}

fn name_in(context: &Context<'_, '_>, field: &str) -> Answer<String> {
    match context.body()?.get(field) {
        None => missing(field),
        Some(Value::String(name)) => Ok(name.clone()),
        Some(_) => invalid(field),
    }
}

impl Context<'_, '_> {
    fn join(&mut self, name: &str) -> Answer<()> {
        self.put_own("member", name, &json!({}))?;
        let id = self.id_of(Kind::User, name)?.unwrap_or_default();
        self.add_to_group("users", "users", &id)
    }
}

pub(crate) fn add(context: &mut Context<'_, '_>, _: &[String]) -> Answer {
    let name = name_in(context, "username")?;
    if !context.actor.is_superuser {
        return fail(403, "missing create permission");
    }
    if context.get(GLOBAL, "user", &name)?.is_none() {
        return users::absent(&name);
    }
    if context.has_own("member", &name)? {
        return fail_plain(409, "The association already exists.");
    }
    context.join(&name)?;
    let uri = context.url_of("users", &name);
    Ok(Reply::created(&uri, &json!({"uri": uri})))
}

pub(crate) fn member(context: &mut Context<'_, '_>, parts: &[String]) -> Answer {
    if !context.has_own("member", &parts[0])? {
        return fail_plain(
            404,
            format!("Cannot find a user {} in organization {}", parts[0], context.org),
        );
    }
    let user = users::found(context, &parts[0])?;
    context.need("read", "groups", "users")?;
    Ok(Reply::ok(&users::shown(context, &user)?))
}

pub(crate) fn remove(context: &mut Context<'_, '_>, parts: &[String]) -> Answer {
    let name = &parts[0];
    if !context.has_own("member", name)? {
        return fail_plain(
            404,
            format!("Cannot find a user {name} in organization {}", context.org),
        );
    }
    let is_self = !context.actor.is_client && context.actor.name == *name;
    if !is_self {
        context.need("update", "groups", "users")?;
    }
    let user = users::found(context, name)?;
    let id = text(&user, "authz_id").to_owned();
    if let Some(admins) = context.own("group", "admins")?
        && admins["users"].as_array().is_some_and(|ids| ids.iter().any(|one| *one == id.as_str()))
    {
        return fail_plain(
            403,
            format!(
                "Please remove {name} from this organization's admins group before removing him or her from the organization."
            ),
        );
    }
    context.remove_own("member", name)?;
    for group in context.own_names("group")? {
        context.remove_from_group(&group, "users", &id)?;
    }
    Ok(Reply::ok(&users::shown(context, &user)?))
}

/// The identifier of an invitation: one for each user and organization.
fn identifier(org: &str, user: &str) -> String {
    fx_crypto::digest::Algorithm::Md5.hex(format!("{org}/{user}").as_bytes())
}

pub(crate) fn list(context: &mut Context<'_, '_>, _: &[String]) -> Answer {
    context.need("read", "groups", "users")?;
    let names = context.own_names("invite")?;
    let rows = names
        .into_iter()
        .map(|name| json!({"id": identifier(&context.org, &name), "username": name}));
    Ok(Reply::ok(&Value::Array(rows.collect())))
}

pub(crate) fn invite(context: &mut Context<'_, '_>, _: &[String]) -> Answer {
    let name = name_in(context, "user")?;
    context.need("update", "groups", "users")?;
    if context.get(GLOBAL, "user", &name)?.is_none() {
        return users::absent(&name);
    }
    if context.has_own("member", &name)? {
        return fail_plain(409, "The association already exists.");
    }
    if context.has_own("invite", &name)? {
        return fail_plain(409, "The invite already exists.");
    }
    let inviter = context.actor.name.clone();
    context.put_own("invite", &name, &json!({"by": inviter}))?;
    let id = identifier(&context.org, &name);
    let uri = context.url_of("association_requests", &id);
    let user = users::found(context, &name)?;
    let answer = json!({
        "uri": uri,
        "organization_user": {"username": inviter},
        "organization": {"name": context.org},
        "user": {
            "email": user["email"],
            "first_name": user["first_name"],
            "username": name,
        },
    });
    Ok(Reply::created(&uri, &answer))
}

fn invited(context: &mut Context<'_, '_>, id: &str) -> Answer<Option<String>> {
    let org = context.org.clone();
    let names = context.own_names("invite")?;
    Ok(names.into_iter().find(|name| identifier(&org, name) == id))
}

pub(crate) fn withdraw(context: &mut Context<'_, '_>, parts: &[String]) -> Answer {
    context.need("update", "groups", "users")?;
    let Some(name) = invited(context, &parts[0])? else {
        return fail_plain(404, format!("Cannot find association request: {}", parts[0]));
    };
    context.remove_own("invite", &name)?;
    Ok(Reply::ok(&json!({
        "id": parts[0],
        "orgname": context.org,
        "username": name,
    })))
}

/// Invitations are seen and answered by the user himself.
fn himself(context: &mut Context<'_, '_>, name: &str) -> Answer<()> {
    if !context.docs.has(GLOBAL, "user", name)? {
        return users::absent(name);
    }
    let is_self = !context.actor.is_client && context.actor.name == name;
    if is_self || context.actor.is_superuser {
        return Ok(());
    }
    fail(403, "missing read permission")
}

fn pending(context: &mut Context<'_, '_>, name: &str) -> Answer<Vec<String>> {
    let mut found = Vec::new();
    for org in context.docs.names(GLOBAL, "organization")? {
        if context.docs.has(&org, "invite", name)? {
            found.push(org);
        }
    }
    Ok(found)
}

pub(crate) fn of_user(context: &mut Context<'_, '_>, parts: &[String]) -> Answer {
    himself(context, &parts[0])?;
    let orgs = pending(context, &parts[0])?;
    let rows =
        orgs.into_iter().map(|org| json!({"id": identifier(&org, &parts[0]), "orgname": org}));
    Ok(Reply::ok(&Value::Array(rows.collect())))
}

pub(crate) fn count_of_user(context: &mut Context<'_, '_>, parts: &[String]) -> Answer {
    himself(context, &parts[0])?;
    Ok(Reply::ok(&json!({"value": pending(context, &parts[0])?.len()})))
}

pub(crate) fn respond(context: &mut Context<'_, '_>, parts: &[String]) -> Answer {
    let (name, id) = (&parts[0], &parts[1]);
    let response = match context.body()?.get("response") {
        Some(Value::String(word)) if matches!(word.as_str(), "accept" | "reject") => word.clone(),
        None => return missing("response"),
        Some(_) => {
            return fail(400, "Param response must be either 'accept' or 'reject'");
        }
    };
    himself(context, name)?;
    let orgs = pending(context, name)?;
    let Some(org) = orgs.into_iter().find(|org| identifier(org, name) == *id) else {
        return fail_plain(404, format!("Cannot find association request: {id}"));
    };
    context.org.clone_from(&org);
    let invite = context.own("invite", name)?.unwrap_or_default();
    context.remove_own("invite", name)?;
    if response == "accept" {
        // Who invited may have lost the right to do so since.
        let inviter = text(&invite, "by").to_owned();
        if context.docs.has(GLOBAL, "user", &inviter)? || context.has_own("client", &inviter)? {
            context.join(name)?;
        } else {
            return fail_plain(
                403,
                "This invitation is no longer valid. Please notify an administrator and request to be re-invited to the organization.",
            );
        }
    }
    Ok(Reply::ok(&json!({"organization": {"name": org}})))
}
