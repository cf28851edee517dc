//! Organizations: each has nodes, cookbooks and people of its own.

use serde_json::{Map, Value, json};

use crate::context::{Answer, Context, GLOBAL, fail, fail_plain};
use crate::environments;
use crate::ids::Kind;
use crate::message::Reply;
use crate::names;
use crate::rights::{CONTAINERS, PERMISSIONS, Rights, grant};
use crate::server::SUPERUSER;
use crate::validation::named;

pub(crate) fn list(context: &mut Context<'_, '_>, _: &[String]) -> Answer {
    context.need_superuser()?;
    let names = context.docs.names(GLOBAL, "organization")?;
    let rows: Map<String, Value> = names
        .into_iter()
        .map(|name| {
            let url = context.url_of("organizations", &name);
            (name, url.into())
        })
        .collect();
    Ok(Reply::ok(&Value::Object(rows)))
}

pub(crate) fn create(context: &mut Context<'_, '_>, _: &[String]) -> Answer {
    let body = context.body()?;
    let name = named(&body, "name", names::is_organization)?.to_owned();
    let full_name = named(&body, "full_name", names::is_full_name)?.to_owned();
    context.need_superuser()?;
    if context.docs.has(GLOBAL, "organization", &name)? {
        return fail_plain(409, "Organization already exists");
    }
    let uri = context.url_of("organizations", &name);
    let private = context.make_organization(&name, &full_name)?;
    let validator = format!("{name}-validator");
    Ok(Reply::created(&uri, &json!({"uri": uri, "clientname": validator, "private_key": private})))
}

impl Context<'_, '_> {
    /// A new organization; the private key of its validator.
    fn make_organization(&mut self, name: &str, full_name: &str) -> Answer<String> {
        let guid = self.server.random_hex(16);
        let document = json!({"name": name, "full_name": full_name, "guid": guid});
        self.put(GLOBAL, "organization", name, &document)?;
        name.clone_into(&mut self.org);
        let (private, public) = self.new_key()?;
        lay_out(self, &public)?;
        Ok(private)
    }

    /// The same, unless it is there.
    pub(crate) fn ensure_organization(&mut self, name: &str) -> Answer<Option<String>> {
        if !names::is_organization(name) {
            return crate::validation::invalid("name");
        }
        if self.docs.has(GLOBAL, "organization", name)? {
            return Ok(None);
        }
        self.make_organization(name, name).map(Some)
    }
}

/// Groups, containers, rights, the environment and the validator of a new organization.
fn lay_out(context: &mut Context<'_, '_>, validator_key: &str) -> Answer<()> {
    let superuser = context.id_of(Kind::User, SUPERUSER)?.unwrap_or_default();
    let mut ids = Vec::new();
    for name in crate::groups::BUILT_IN {
        ids.push((name, context.add_group(name)?));
    }
    let id = |wanted: &str| {
        let found = ids.iter().find(|(name, _)| *name == wanted);
        found.map(|(_, id)| id.clone()).unwrap_or_default()
    };
    context.add_to_group("admins", "users", &superuser)?;
    context.add_to_group("users", "users", &superuser)?;
    let base = |users: &str, clients: &str| {
        let mut rights = Rights::new();
        for permission in PERMISSIONS {
            grant(&mut rights, permission, "actors", &superuser);
            grant(&mut rights, permission, "groups", &id("admins"));
            for (letters, group) in [(users, "users"), (clients, "clients")] {
                let letter = &permission[..1];
                if letters.contains(letter) && permission != "grant" {
                    grant(&mut rights, permission, "groups", &id(group));
                }
            }
        }
        rights
    };
    for (name, users, clients) in CONTAINERS {
        context.put_own("container", name, &json!({}))?;
        context.put_rights("containers", name, base(users, clients))?;
    }
    context.put_rights("organization", "", base("r", ""))?;
    for name in ["admins", "users", "public_key_read_access"] {
        context.put_rights("groups", name, base("r", ""))?;
    }
    context.put_rights("groups", "clients", base("", ""))?;
    let mut billing = Rights::new();
    for permission in PERMISSIONS {
        grant(&mut billing, permission, "actors", &superuser);
        if matches!(permission, "read" | "update") {
            grant(&mut billing, permission, "groups", &id("billing-admins"));
        }
    }
    context.put_rights("groups", "billing-admins", billing)?;
    context.put_own("environment", environments::DEFAULT, &environments::default_document())?;
    context.put_rights("environments", environments::DEFAULT, base("crud", "r"))?;
    for group in ["users", "clients"] {
        context.add_to_group("public_key_read_access", "groups", &id(group))?;
    }
    let validator = format!("{}-validator", context.org);
    context.add_client(&validator, true, Some(validator_key))
}

fn found(context: &mut Context<'_, '_>, name: &str) -> Answer<Value> {
    match context.get(GLOBAL, "organization", name)? {
        Some(organization) => Ok(organization),
        None => fail(404, format!("organization '{name}' does not exist.")),
    }
}

/// The caller's right on an organization that the path names as an object.
fn need(context: &mut Context<'_, '_>, name: &str, permission: &str) -> Answer<()> {
    name.clone_into(&mut context.org);
    context.need(permission, "organization", "")
}

pub(crate) fn show(context: &mut Context<'_, '_>, parts: &[String]) -> Answer {
    let organization = found(context, &parts[0])?;
    need(context, &parts[0], "read")?;
    Ok(Reply::ok(&organization))
}

pub(crate) fn update(context: &mut Context<'_, '_>, parts: &[String]) -> Answer {
    let mut body = context.body()?;
    body.entry("name").or_insert_with(|| parts[0].as_str().into());
    let name = named(&body, "name", names::is_organization)?.to_owned();
    let full_name = named(&body, "full_name", names::is_full_name)?.to_owned();
    if name != parts[0] {
        return crate::validation::invalid("name");
    }
    let mut organization = found(context, &parts[0])?;
    let uri = context.url_of("organizations", &name);
    need(context, &parts[0], "update")?;
    organization["full_name"] = full_name.as_str().into();
    context.put(GLOBAL, "organization", &name, &organization)?;
    body.insert("uri".into(), uri.into());
    body.insert("guid".into(), organization["guid"].clone());
    Ok(Reply::ok(&Value::Object(body)))
}

pub(crate) fn delete(context: &mut Context<'_, '_>, parts: &[String]) -> Answer {
    let organization = found(context, &parts[0])?;
    need(context, &parts[0], "delete")?;
    for (_, group) in context.all_own("group")? {
        context.drop_id(Kind::Group, crate::context::text(&group, "authz_id"))?;
    }
    context.docs.remove_scope(&parts[0])?;
    context.docs.remove(GLOBAL, "organization", &parts[0])?;
    Ok(Reply::ok(&organization))
}
