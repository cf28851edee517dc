//! Clients: what machines sign their requests as.

use serde_json::{Value, json};

use crate::context::{Answer, Context, fail, text};
use crate::ids::Kind;
use crate::keys::{DEFAULT, is_public_key};
use crate::message::Reply;
use crate::names;
use crate::rights::{PERMISSIONS, grant};
use crate::validation::{Body, invalid, missing};

/// The name in a body, under either of its keys.
fn name_in(body: &Body) -> Answer<Option<String>> {
    let field = |key: &str| match body.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(name)) if names::is_plain(name) => Ok(Some(name.clone())),
        Some(_) => invalid(key),
    };
    match (field("name")?, field("clientname")?) {
        (Some(name), Some(client)) if name != client => fail(400, "name and clientname must match"),
        (name, client) => Ok(name.or(client)),
    }
}

fn flag(body: &Body, key: &str) -> Answer<Option<bool>> {
    match body.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Bool(on)) => Ok(Some(*on)),
        Some(_) => invalid(key),
    }
}

fn public_key(body: &Body) -> Answer<Option<String>> {
    match body.get("public_key") {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(key)) if is_public_key(key) => Ok(Some(key.clone())),
        Some(_) => fail(400, "Public Key must be a valid key."),
    }
}

pub(crate) fn list(context: &mut Context<'_, '_>, _: &[String]) -> Answer {
    context.need("read", "containers", "clients")?;
    context.listed("client", "clients")
}

pub(crate) fn create(context: &mut Context<'_, '_>, _: &[String]) -> Answer {
    let body = context.body()?;
    let Some(name) = name_in(&body)? else { return missing("name") };
    let validator = flag(&body, "validator")?.unwrap_or(false);
    let admin = body.get("admin") == Some(&Value::Bool(true));
    if admin && validator {
        return fail(400, "Client can be either an admin or a validator, but not both.");
    }
    let given = public_key(&body)?;
    let wants_key = flag(&body, "create_key")?.unwrap_or(false);
    if context.version > 0 && wants_key && given.is_some() {
        return fail(400, "You must specify either create_key or public_key, but not both");
    }
    // This is what validators are for.
    if !context.actor.is_validator {
        context.need_create("clients")?;
    } else if validator {
        return fail(403, "missing create permission");
    }
    if context.has_own("client", &name)? {
        return fail(409, "Client already exists");
    }
    let makes_key = if context.version == 0 { given.is_none() } else { wants_key };
    let (private, public) = match given {
        Some(public) => (None, Some(public)),
        None if makes_key => {
            let (private, public) = context.new_key()?;
            (Some(private), Some(public))
        }
        None => (None, None),
    };
    context.add_client(&name, validator, public.as_deref())?;
    let uri = context.url_of("clients", &name);
    let mut answer = context.with_new_key(&uri, public.as_deref(), private);
    if context.version == 0 {
        answer.insert("public_key".into(), public.unwrap_or_default().into());
    }
    Ok(Reply::created(&uri, &Value::Object(answer)))
}

impl Context<'_, '_> {
    /// A new client, in the group of clients, with rights on itself.
    pub(crate) fn add_client(
        &mut self,
        name: &str,
        validator: bool,
        public_key: Option<&str>,
    ) -> Answer<()> {
        let id = self.new_id(Kind::Client, name)?;
        let client = json!({"name": name, "validator": validator, "authz_id": id});
        self.put_own("client", name, &client)?;
        if let Some(key) = public_key {
            let org = self.org.clone();
            self.put_default_key(&org, "client", name, key)?;
        }
        self.new_rights("clients", name)?;
        self.add_to_group("clients", "clients", &id)?;
        if validator {
            return Ok(());
        }
        let mut rights = self.rights("clients", name)?;
        for permission in PERMISSIONS {
            grant(&mut rights, permission, "actors", &id);
        }
        self.put_rights("clients", name, rights)
    }
}

fn found(context: &mut Context<'_, '_>, name: &str) -> Answer<Value> {
    match context.own("client", name)? {
        Some(client) => Ok(client),
        None => fail(404, format!("Cannot load client {name}")),
    }
}

/// A client as it is shown.
pub(crate) fn shown(context: &mut Context<'_, '_>, client: &Value) -> Answer<Value> {
    let name = text(client, "name").to_owned();
    let org = context.org.clone();
    let mut shown = json!({
        "name": name,
        "clientname": name,
        "validator": client["validator"],
        "orgname": org,
        "json_class": "Chef::ApiClient",
        "chef_type": "client",
    });
    if context.version == 0
        && let Some(key) = context.key_named(&org, "client", &name, DEFAULT)?
    {
        shown["public_key"] = key["public_key"].clone();
    }
    Ok(shown)
}

pub(crate) fn show(context: &mut Context<'_, '_>, parts: &[String]) -> Answer {
    let client = found(context, &parts[0])?;
    context.need("read", "clients", &parts[0])?;
    Ok(Reply::ok(&shown(context, &client)?))
}

pub(crate) fn update(context: &mut Context<'_, '_>, parts: &[String]) -> Answer {
    let body = context.body()?;
    let new = name_in(&body)?.unwrap_or_else(|| parts[0].clone());
    let validator = flag(&body, "validator")?;
    let admin = body.get("admin") == Some(&Value::Bool(true));
    if admin && validator == Some(true) {
        return fail(400, "Client can be either an admin or a validator, but not both.");
    }
    if context.version > 0
        && ["public_key", "private_key", "create_key"].iter().any(|key| body.contains_key(*key))
    {
        return fail(400, "Since Server API v1, all keys must be updated via the keys endpoint. ");
    }
    let given = public_key(&body)?;
    let regenerates = match body.get("private_key") {
        None => false,
        Some(Value::Bool(on)) => *on,
        Some(_) => return invalid("private_key"),
    };
    let mut client = found(context, &parts[0])?;
    context.need("update", "clients", &parts[0])?;
    if let Some(validator) = validator {
        client["validator"] = validator.into();
    }
    let org = context.org.clone();
    let is_renamed = new != parts[0];
    if is_renamed {
        if context.has_own("client", &new)? {
            return fail(409, "Client already exists");
        }
        let rights = context.rights("clients", &parts[0])?;
        context.drop_rights("clients", &parts[0])?;
        context.put_rights("clients", &new, rights)?;
        context.remove_own("client", &parts[0])?;
        context.rename_keys(&org, "client", &parts[0], &new)?;
        let id = text(&client, "authz_id").to_owned();
        context.rename_id(Kind::Client, &id, &new)?;
        client["name"] = new.as_str().into();
    }
    context.put_own("client", &new, &client)?;
    let mut private = None;
    if let Some(public) = given {
        context.put_default_key(&org, "client", &new, &public)?;
    } else if regenerates {
        let (secret, public) = context.new_key()?;
        context.put_default_key(&org, "client", &new, &public)?;
        private = Some(secret);
    }
    let mut answer = shown(context, &client)?;
    if let Some(private) = private {
        answer["private_key"] = private.into();
    } else if context.version == 0 {
        answer["private_key"] = false.into();
    }
    if is_renamed {
        let uri = context.url_of("clients", &new);
        return Ok(Reply::created(&uri, &answer));
    }
    Ok(Reply::ok(&answer))
}

pub(crate) fn delete(context: &mut Context<'_, '_>, parts: &[String]) -> Answer {
    let client = found(context, &parts[0])?;
    context.need("delete", "clients", &parts[0])?;
    let answer = shown(context, &client)?;
    let org = context.org.clone();
    context.remove_own("client", &parts[0])?;
    context.drop_keys(&org, "client", &parts[0])?;
    context.drop_rights("clients", &parts[0])?;
    let id = text(&client, "authz_id").to_owned();
    context.drop_id(Kind::Client, &id)?;
    Ok(Reply::ok(&answer))
}
