//! Users: people, who belong to no organization or to several.

use serde_json::{Map, Value, json};

use crate::context::{Answer, Context, GLOBAL, fail, fail_plain, text};
use crate::ids::Kind;
use crate::keys::{DEFAULT, is_public_key};
use crate::message::Reply;
use crate::names;
use crate::rights::{PERMISSIONS, Rights, grant};
use crate::server::SUPERUSER;
use crate::validation::{Body, invalid, missing};

/// Fields of a user that are kept and shown.
const SHOWN: [&str; 8] = [
    "username",
    "email",
    "display_name",
    "first_name",
    "last_name",
    "middle_name",
    "external_authentication_uid",
    "recovery_authentication_enabled",
];

impl Context<'_, '_> {
    /// Makes the user who may do everything, or gives him this key.
    pub(crate) fn ensure_superuser(&mut self, public_key: &str) -> Answer<()> {
        if !self.docs.has(GLOBAL, "user", SUPERUSER)? {
            let id = self.new_id(Kind::User, SUPERUSER)?;
            let user = json!({
                "username": SUPERUSER,
                "display_name": "Chef Server Superuser",
                "first_name": "Chef",
                "last_name": "Server",
                "email": "root@localhost.localdomain",
                "authz_id": id,
            });
            self.put(GLOBAL, "user", SUPERUSER, &user)?;
        }
        if !self.docs.has(GLOBAL, "group", "server-admins")? {
            let id = self.server.random_hex(16);
            let name = "server-admins";
            let group =
                json!({"name": name, "authz_id": id, "users": [], "clients": [], "groups": []});
            self.put(GLOBAL, "group", name, &group)?;
            self.put(GLOBAL, "id", &id, &json!({"kind": "group", "name": name, "org": ""}))?;
        }
        self.put_default_key(GLOBAL, "user", SUPERUSER, public_key)
    }
}

impl Context<'_, '_> {
    /// An administrator of the organization at hand; the private key of a user that is new.
    pub(crate) fn ensure_admin(&mut self, name: &str) -> Answer<Option<String>> {
        if !names::is_user(name) {
            return invalid("username");
        }
        let mut private = None;
        if !self.docs.has(GLOBAL, "user", name)? {
            let id = self.new_id(Kind::User, name)?;
            let user = json!({
                "username": name,
                "display_name": name,
                "email": format!("{name}@localhost.localdomain"),
                "authz_id": id,
            });
            self.put(GLOBAL, "user", name, &user)?;
            let (secret, public) = self.new_key()?;
            self.put_default_key(GLOBAL, "user", name, &public)?;
            private = Some(secret);
        }
        let id = self.id_of(Kind::User, name)?.unwrap_or_default();
        self.put_own("member", name, &json!({}))?;
        for group in ["admins", "users"] {
            self.add_to_group(group, "users", &id)?;
        }
        Ok(private)
    }
}

fn is_email(text: &str) -> bool {
    let (name, host) = text.rsplit_once('@').unwrap_or(("", ""));
    !name.is_empty() && !host.is_empty() && !text.contains(char::is_whitespace)
}

/// The kept fields of a body, over those of a user that is there.
fn merged(
    context: &Context<'_, '_>,
    body: &Body,
    old: Option<&Value>,
) -> Answer<Map<String, Value>> {
    let mut user: Map<String, Value> = old.and_then(Value::as_object).cloned().unwrap_or_default();
    for field in SHOWN {
        match body.get(field) {
            None => {}
            Some(Value::Null) if field != "username" => {
                user.remove(field);
            }
            Some(Value::Bool(on)) if field == "recovery_authentication_enabled" => {
                user.insert(field.to_owned(), (*on).into());
            }
            Some(Value::String(value)) => {
                let rule: fn(&str) -> bool = match field {
                    "username" => names::is_user,
                    "email" => is_email,
                    "external_authentication_uid" => |_| true,
                    _ => names::is_of_a_person,
                };
                if !rule(value) {
                    return invalid(field);
                }
                user.insert(field.to_owned(), value.as_str().into());
            }
            Some(_) => return invalid(field),
        }
    }
    let is_external = user.contains_key("external_authentication_uid");
    for field in ["username", "display_name", "email"] {
        let is_needed = !is_external || field != "email";
        if is_needed && !user.contains_key(field) {
            return missing(field);
        }
    }
    match body.get("password") {
        None | Some(Value::Null) => {}
        Some(Value::String(password)) if password.chars().count() >= 6 => {
            let salt = context.server.random_hex(8);
            user.insert("password".into(), hashed(password, &salt)?.into());
        }
        Some(Value::String(_)) => {
            return fail(400, "Password must have at least 6 characters");
        }
        Some(_) => return invalid("password"),
    }
    Ok(user)
}

/// A password as it is kept: hashed with a salt.
fn hashed(password: &str, salt: &str) -> Answer<String> {
    match fx_crypto::password::crypt(password.as_bytes(), format!("$6${salt}").as_bytes()) {
        Ok(text) => Ok(text),
        Err(_) => fail(500, "internal service error"),
    }
}

pub(crate) fn has_password(user: &Value, password: &str) -> bool {
    let kept = text(user, "password");
    let again = fx_crypto::password::crypt(password.as_bytes(), kept.as_bytes());
    !kept.is_empty() && again.is_ok_and(|again| again == kept)
}

pub(crate) fn list(context: &mut Context<'_, '_>, _: &[String]) -> Answer {
    context.need_superuser_to("read")?;
    let query = &context.request.query;
    let verbose = query.get("verbose").is_some_and(|word| word == "true");
    let filters: Vec<(&str, String)> = ["email", "external_authentication_uid"]
        .into_iter()
        .filter_map(|field| query.get(field).map(|value| (field, value.to_owned())))
        .collect();
    let mut rows = Map::new();
    for (name, bytes) in context.docs.all(GLOBAL, "user")? {
        let user: Value = serde_json::from_slice(&bytes).unwrap_or_default();
        if !filters.iter().all(|(field, value)| text(&user, field).eq_ignore_ascii_case(value)) {
            continue;
        }
        let shown = if verbose {
            json!({
                "display_name": user["display_name"],
                "first_name": user["first_name"],
                "last_name": user["last_name"],
                "email": user["email"],
            })
        } else {
            context.url_of("users", &name).into()
        };
        rows.insert(name, shown);
    }
    Ok(Reply::ok(&Value::Object(rows)))
}

impl Context<'_, '_> {
    fn need_superuser_to(&mut self, permission: &str) -> Answer<()> {
        if self.actor.is_superuser {
            return Ok(());
        }
        fail(403, format!("missing {permission} permission"))
    }

    /// The user himself, the superuser, or an administrator of one of his organizations.
    fn need_on_user(&mut self, permission: &str, name: &str) -> Answer<()> {
        let is_self = !self.actor.is_client && self.actor.name == name;
        if is_self || self.actor.is_superuser {
            return Ok(());
        }
        if permission == "read" && self.administers(name)? {
            return Ok(());
        }
        fail(403, format!("missing {permission} permission"))
    }

    /// Whether the caller is an administrator of an organization that a user belongs to.
    fn administers(&mut self, name: &str) -> Answer<bool> {
        let id = self.actor.id.clone();
        for org in self.docs.names(GLOBAL, "organization")? {
            if !self.docs.has(&org, "member", name)? {
                continue;
            }
            let admins = self.get(&org, "group", "admins")?.unwrap_or_default();
            let users = admins["users"].as_array();
            if users.is_some_and(|users| users.iter().any(|one| *one == id.as_str())) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

fn taken(context: &mut Context<'_, '_>, user: &Map<String, Value>, but: &str) -> Answer<bool> {
    let email = user.get("email").and_then(Value::as_str).unwrap_or_default();
    let name = user.get("username").and_then(Value::as_str).unwrap_or_default();
    for (other, bytes) in context.docs.all(GLOBAL, "user")? {
        if other == but {
            continue;
        }
        let known: Value = serde_json::from_slice(&bytes).unwrap_or_default();
        let is_same = text(&known, "email").eq_ignore_ascii_case(email) && !email.is_empty();
        if other == name || is_same {
            return Ok(true);
        }
    }
    Ok(false)
}

pub(crate) fn create(context: &mut Context<'_, '_>, _: &[String]) -> Answer {
    let mut body = context.body()?;
    if !body.contains_key("username")
        && let Some(name) = body.get("name").cloned()
    {
        body.insert("username".into(), name);
    }
    let mut user = merged(context, &body, None)?;
    if !user.contains_key("password") && !user.contains_key("external_authentication_uid") {
        return missing("password");
    }
    let given = given_key(&body)?;
    let wants_key = body.get("create_key") == Some(&Value::Bool(true));
    if wants_key && given.is_some() {
        return fail(400, "You must specify either create_key or public_key, but not both");
    }
    context.need_superuser_to("create")?;
    if taken(context, &user, "")? {
        return fail(409, "Username or email address already in use.");
    }
    let name = user["username"].as_str().unwrap_or_default().to_owned();
    let id = context.new_id(Kind::User, &name)?;
    user.insert("authz_id".into(), id.as_str().into());
    context.put(GLOBAL, "user", &name, &Value::Object(user))?;
    let mut rights = Rights::new();
    let superuser = context.id_of(Kind::User, SUPERUSER)?.unwrap_or_default();
    for permission in PERMISSIONS {
        grant(&mut rights, permission, "actors", &superuser);
        grant(&mut rights, permission, "actors", &id);
    }
    context.put_rights("users", &name, rights)?;
    let makes_key = if context.version == 0 { given.is_none() } else { wants_key };
    let (private, public) = match given {
        Some(public) => (None, Some(public)),
        None if makes_key => {
            let (private, public) = context.new_key()?;
            (Some(private), Some(public))
        }
        None => (None, None),
    };
    if let Some(public) = &public {
        context.put_default_key(GLOBAL, "user", &name, public)?;
    }
    let uri = context.url_of("users", &name);
    let answer = context.with_new_key(&uri, public.as_deref(), private);
    Ok(Reply::created(&uri, &Value::Object(answer)))
}

fn given_key(body: &Body) -> Answer<Option<String>> {
    match body.get("public_key") {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(key)) if is_public_key(key) => Ok(Some(key.clone())),
        Some(_) => fail(400, "Public Key must be a valid key."),
    }
}

pub(crate) fn found(context: &mut Context<'_, '_>, name: &str) -> Answer<Value> {
    match context.get(GLOBAL, "user", name)? {
        Some(user) => Ok(user),
        None => fail(404, format!("Cannot load user {name}")),
    }
}

/// A user as he is shown.
pub(crate) fn shown(context: &mut Context<'_, '_>, user: &Value) -> Answer<Value> {
    let mut shown = Map::new();
    for field in SHOWN.into_iter().filter(|field| *field != "recovery_authentication_enabled") {
        if let Some(value) = user.get(field) {
            shown.insert(field.to_owned(), value.clone());
        }
    }
    let name = text(user, "username").to_owned();
    if context.version == 0
        && let Some(key) = context.key_named(GLOBAL, "user", &name, DEFAULT)?
    {
        shown.insert("public_key".into(), key["public_key"].clone());
    }
    Ok(Value::Object(shown))
}

pub(crate) fn show(context: &mut Context<'_, '_>, parts: &[String]) -> Answer {
    let user = found(context, &parts[0])?;
    context.need_on_user("read", &parts[0])?;
    Ok(Reply::ok(&shown(context, &user)?))
}

pub(crate) fn update(context: &mut Context<'_, '_>, parts: &[String]) -> Answer {
    let mut body = context.body()?;
    body.entry("username").or_insert_with(|| parts[0].as_str().into());
    if context.version > 0
        && ["public_key", "private_key", "create_key"].iter().any(|key| body.contains_key(*key))
    {
        return fail(400, "Since Server API v1, all keys must be updated via the keys endpoint. ");
    }
    let regenerates = body.get("private_key") == Some(&Value::Bool(true));
    // A new pair makes a key that is given useless.
    let given = if regenerates { None } else { given_key(&body)? };
    let old = context.get(GLOBAL, "user", &parts[0])?;
    let user = merged(context, &body, old.as_ref())?;
    let old = found(context, &parts[0])?;
    context.need_on_user("update", &parts[0])?;
    let new = user["username"].as_str().unwrap_or_default().to_owned();
    if taken(context, &user, &parts[0])? {
        return fail(409, "Username or email address already in use.");
    }
    let is_renamed = new != parts[0];
    if is_renamed {
        rename(context, &parts[0], &new, text(&old, "authz_id"))?;
    }
    context.put(GLOBAL, "user", &new, &Value::Object(user))?;
    let uri = context.url_of("users", &new);
    let mut answer = json!({"uri": uri});
    if let Some(public) = given {
        context.put_default_key(GLOBAL, "user", &new, &public)?;
    } else if regenerates {
        let (private, public) = context.new_key()?;
        context.put_default_key(GLOBAL, "user", &new, &public)?;
        answer["private_key"] = private.into();
    }
    if is_renamed {
        return Ok(Reply::created(&uri, &answer));
    }
    Ok(Reply::ok(&answer))
}

/// The user has another name from now on, in his organizations too.
fn rename(context: &mut Context<'_, '_>, old: &str, new: &str, id: &str) -> Answer<()> {
    context.docs.remove(GLOBAL, "user", old)?;
    context.rename_keys(GLOBAL, "user", old, new)?;
    context.rename_id(Kind::User, id, new)?;
    let rights = context.rights("users", old)?;
    context.drop_rights("users", old)?;
    context.put_rights("users", new, rights)?;
    for org in context.docs.names(GLOBAL, "organization")? {
        if context.docs.remove(&org, "member", old)? {
            context.put(&org, "member", new, &json!({}))?;
        }
    }
    Ok(())
}

pub(crate) fn delete(context: &mut Context<'_, '_>, parts: &[String]) -> Answer {
    let name = &parts[0];
    let user = found(context, name)?;
    context.need_on_user("delete", name)?;
    for org in context.docs.names(GLOBAL, "organization")? {
        context.docs.remove(&org, "member", name)?;
        context.docs.remove(&org, "invite", name)?;
    }
    let answer = shown(context, &user)?;
    context.docs.remove(GLOBAL, "user", name)?;
    context.drop_keys(GLOBAL, "user", name)?;
    context.drop_rights("users", name)?;
    context.drop_id(Kind::User, text(&user, "authz_id"))?;
    Ok(Reply::ok(&answer))
}

/// Organizations that a user belongs to.
pub(crate) fn organizations(context: &mut Context<'_, '_>, parts: &[String]) -> Answer {
    found(context, &parts[0])?;
    context.need_on_user("read", &parts[0])?;
    let mut rows = Vec::new();
    for org in context.docs.names(GLOBAL, "organization")? {
        if context.docs.has(&org, "member", &parts[0])? {
            let organization = context.get(GLOBAL, "organization", &org)?.unwrap_or_default();
            rows.push(json!({"organization": organization}));
        }
    }
    Ok(Reply::ok(&Value::Array(rows)))
}

/// For endpoints that write their errors as bare text.
pub(crate) fn absent<T>(name: &str) -> Answer<T> {
    fail_plain(404, format!("Could not find user {name}"))
}
