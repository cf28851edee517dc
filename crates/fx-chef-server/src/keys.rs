//! Keys of clients and users.

use fx_crypto::Random;
use fx_wire::x509::{Key, PublicKey};
use serde_json::{Map, Value, json};

use crate::context::{Answer, Context, GLOBAL, encoded, fail, fail_plain, text};
use crate::message::Reply;
use crate::names;
use crate::validation::{Body, invalid, missing};

/// The key that a client or user was made with.
pub(crate) const DEFAULT: &str = "default";
const FOREVER: &str = "infinity";
const BITS: usize = 2048;

/// Seconds of a date of expiration; `None` where there is no end, and where it is no date.
fn expires(date: &str) -> Option<u64> {
    let time: jiff::Timestamp = date.parse().ok()?;
    u64::try_from(time.as_second()).ok()
}

fn is_date(date: &str) -> bool {
    date == FOREVER || (date.len() == 20 && date.ends_with('Z') && expires(date).is_some())
}

/// When a key ends to count; `None` for one that does not.
pub(crate) fn expiration(key: &Value) -> Option<u64> {
    Some(text(key, "expiration_date")).filter(|date| *date != FOREVER).and_then(expires)
}

/// A public key that can verify.
pub(crate) fn is_public_key(text: &str) -> bool {
    PublicKey::from_pem(text).is_ok_and(|key| key.rsa_der().is_some())
}

impl Context<'_, '_> {
    /// Keys by name. `kind` is `user` or `client`.
    pub(crate) fn keys(
        &mut self,
        scope: &str,
        kind: &str,
        owner: &str,
    ) -> Answer<Vec<(String, Value)>> {
        let prefix = format!("{owner}/");
        let all = self.docs.beginning(scope, &format!("{kind}_key"), &prefix)?;
        Ok(all
            .into_iter()
            .filter_map(|(name, bytes)| {
                let name = name.strip_prefix(&prefix)?.to_owned();
                Some((name, serde_json::from_slice(&bytes).ok()?))
            })
            .collect())
    }

    pub(crate) fn key_named(
        &mut self,
        scope: &str,
        kind: &str,
        owner: &str,
        name: &str,
    ) -> Answer<Option<Value>> {
        self.get(scope, &format!("{kind}_key"), &format!("{owner}/{name}"))
    }

    pub(crate) fn put_key(
        &mut self,
        scope: &str,
        kind: &str,
        owner: &str,
        name: &str,
        public_key: &str,
        expiration_date: &str,
    ) -> Answer<()> {
        let key =
            json!({"name": name, "public_key": public_key, "expiration_date": expiration_date});
        self.put(scope, &format!("{kind}_key"), &format!("{owner}/{name}"), &key)
    }

    pub(crate) fn put_default_key(
        &mut self,
        scope: &str,
        kind: &str,
        owner: &str,
        public_key: &str,
    ) -> Answer<()> {
        self.put_key(scope, kind, owner, DEFAULT, public_key, FOREVER)
    }

    pub(crate) fn drop_keys(&mut self, scope: &str, kind: &str, owner: &str) -> Answer<()> {
        for (name, _) in self.keys(scope, kind, owner)? {
            self.docs.remove(scope, &format!("{kind}_key"), &format!("{owner}/{name}"))?;
        }
        Ok(())
    }

    pub(crate) fn rename_keys(
        &mut self,
        scope: &str,
        kind: &str,
        owner: &str,
        new: &str,
    ) -> Answer<()> {
        let keys = self.keys(scope, kind, owner)?;
        self.drop_keys(scope, kind, owner)?;
        for (name, key) in keys {
            self.put(scope, &format!("{kind}_key"), &format!("{new}/{name}"), &key)?;
        }
        Ok(())
    }

    /// The answer for a new client or user: where it is, and its first key, in the form of the
    /// version asked for.
    pub(crate) fn with_new_key(
        &self,
        uri: &str,
        public: Option<&str>,
        private: Option<String>,
    ) -> Map<String, Value> {
        let mut answer = Map::new();
        answer.insert("uri".into(), uri.into());
        if self.version == 0 {
            answer.extend(private.map(|private| ("private_key".to_owned(), private.into())));
        } else if let Some(public) = public {
            let mut key = json!({
                "name": DEFAULT,
                "public_key": public,
                "expiration_date": FOREVER,
                "uri": format!("{uri}/keys/{DEFAULT}"),
            });
            if let Some(private) = private {
                key["private_key"] = private.into();
            }
            answer.insert("chef_key".into(), key);
        }
        answer
    }

    /// A new pair: private and public key as text.
    pub(crate) fn new_key(&mut self) -> Answer<(String, String)> {
        let random = std::sync::Arc::clone(&self.server.parts.random);
        let mut fill = |buffer: &mut [u8]| random(buffer);
        let made = Key::rsa(BITS, Random(&mut fill))
            .and_then(|key| Ok((key.to_pem()?, key.public().to_pem()?)));
        match made {
            Ok(pair) => Ok(pair),
            Err(_) => fail(500, "key generation failed"),
        }
    }
}

/// Whose keys: scope, kind and name, and the path of the collection.
struct Owner {
    scope: String,
    kind: &'static str,
    name: String,
    path: String,
}

fn client(context: &mut Context<'_, '_>, name: &str) -> Answer<Owner> {
    if !context.has_own("client", name)? {
        return fail(404, format!("Cannot load client {name}"));
    }
    let path = format!("clients/{}/keys", encoded(name));
    Ok(Owner { scope: context.org.clone(), kind: "client", name: name.to_owned(), path })
}

fn user(context: &mut Context<'_, '_>, name: &str) -> Answer<Owner> {
    if !context.docs.has(GLOBAL, "user", name)? {
        return fail(404, format!("Cannot load user {name}"));
    }
    let path = format!("users/{}/keys", encoded(name));
    Ok(Owner { scope: GLOBAL.to_owned(), kind: "user", name: name.to_owned(), path })
}

/// Whether the caller may see or change the keys of an owner.
fn need(context: &mut Context<'_, '_>, owner: &Owner, permission: &str) -> Answer<()> {
    let is_self =
        context.actor.name == owner.name && context.actor.is_client == (owner.kind == "client");
    if owner.kind == "user" {
        if is_self || context.actor.is_superuser {
            return Ok(());
        }
        return fail(403, format!("missing {permission} permission"));
    }
    if permission == "read" && context.may_read_keys()? {
        return Ok(());
    }
    context.need(permission, "clients", &owner.name)
}

fn list(context: &mut Context<'_, '_>, owner: &Owner) -> Answer {
    let now = context.server.now();
    let keys = context.keys(&owner.scope, owner.kind, &owner.name)?;
    let rows = keys.into_iter().map(|(name, key)| {
        let uri = context.url_of(&owner.path, &name);
        json!({"name": name, "uri": uri, "expired": expiration(&key).is_some_and(|end| end <= now)})
    });
    Ok(Reply::ok(&Value::Array(rows.collect())))
}

fn found(context: &mut Context<'_, '_>, owner: &Owner, name: &str) -> Answer<Value> {
    match context.key_named(&owner.scope, owner.kind, &owner.name, name)? {
        Some(key) => Ok(key),
        None => {
            fail_plain(404, format!("There is no key named {name} associated with {}.", owner.name))
        }
    }
}

/// What a body says of a key.
struct Said {
    name: Option<String>,
    expiration_date: Option<String>,
    public_key: Option<String>,
    create_key: bool,
}

fn said(body: &Body) -> Answer<Said> {
    let name = match body.get("name") {
        None => None,
        Some(Value::String(name)) if names::is_wide(name) => Some(name.clone()),
        Some(_) => return invalid("name"),
    };
    let expiration_date = match body.get("expiration_date") {
        None => None,
        Some(Value::String(date)) if is_date(date) => Some(date.clone()),
        Some(_) => return invalid("expiration_date"),
    };
    let public_key = match body.get("public_key") {
        None => None,
        Some(Value::String(key)) if is_public_key(key) => Some(key.clone()),
        Some(_) => return invalid("public_key"),
    };
    let create_key = match body.get("create_key") {
        None | Some(Value::Bool(false)) => false,
        Some(Value::Bool(true)) => true,
        Some(_) => return invalid("create_key"),
    };
    if create_key && public_key.is_some() {
        return fail(400, "You must specify either create_key or public_key, but not both");
    }
    Ok(Said { name, expiration_date, public_key, create_key })
}

fn create(context: &mut Context<'_, '_>, owner: &Owner) -> Answer {
    let said = said(&context.body()?)?;
    let Some(name) = said.name else { return missing("name") };
    let Some(date) = said.expiration_date else { return missing("expiration_date") };
    if context.key_named(&owner.scope, owner.kind, &owner.name, &name)?.is_some() {
        return fail_plain(409, format!("A key named {name} already exists for {}.", owner.name));
    }
    let (private, public) = match (said.public_key, said.create_key) {
        (Some(public), _) => (None, public),
        (None, true) => {
            let (private, public) = context.new_key()?;
            (Some(private), public)
        }
        (None, false) => {
            return fail(
                400,
                "You must either provide a valid value for 'public_key', or specify 'create_key': true",
            );
        }
    };
    context.put_key(&owner.scope, owner.kind, &owner.name, &name, &public, &date)?;
    let uri = context.url_of(&owner.path, &name);
    let mut body = Map::new();
    body.insert("uri".into(), uri.as_str().into());
    if let Some(private) = private {
        body.insert("private_key".into(), private.into());
    }
    Ok(Reply::created(&uri, &Value::Object(body)))
}

/// The key that signed the request stays as it is.
fn not_in_use(context: &Context<'_, '_>, owner: &Owner, name: &str) -> Answer<()> {
    let actor = &context.actor;
    let is_used = actor.key == name
        && actor.name == owner.name
        && actor.is_client == (owner.kind == "client");
    if is_used {
        return fail_plain(
            403,
            format!(
                "The key '{name}' was used to authenticate this request and cannot be modified or deleted."
            ),
        );
    }
    Ok(())
}

fn update(context: &mut Context<'_, '_>, owner: &Owner, name: &str) -> Answer {
    let body = context.body()?;
    let said = said(&body)?;
    if body.is_empty() {
        return fail(
            400,
            "No updatable fields specified: name, expiration_date, public_key, create_key",
        );
    }
    let key = found(context, owner, name)?;
    not_in_use(context, owner, name)?;
    let new = said.name.unwrap_or_else(|| name.to_owned());
    let date = said.expiration_date.unwrap_or_else(|| text(&key, "expiration_date").to_owned());
    let mut answer = Map::new();
    let public = match (said.public_key, said.create_key) {
        (Some(public), _) => public,
        (None, true) => {
            let (private, public) = context.new_key()?;
            answer.insert("private_key".into(), private.into());
            public
        }
        (None, false) => text(&key, "public_key").to_owned(),
    };
    let is_renamed = new != name;
    if is_renamed {
        if context.key_named(&owner.scope, owner.kind, &owner.name, &new)?.is_some() {
            return fail_plain(
                409,
                format!("A key named {new} already exists for {}.", owner.name),
            );
        }
        let old = format!("{}/{name}", owner.name);
        context.docs.remove(&owner.scope, &format!("{}_key", owner.kind), &old)?;
    }
    context.put_key(&owner.scope, owner.kind, &owner.name, &new, &public, &date)?;
    answer.insert("name".into(), new.as_str().into());
    answer.insert("public_key".into(), public.into());
    answer.insert("expiration_date".into(), date.into());
    let answer = Value::Object(answer);
    if is_renamed {
        let uri = context.url_of(&owner.path, &new);
        return Ok(Reply::created(&uri, &answer));
    }
    Ok(Reply::ok(&answer))
}

fn delete(context: &mut Context<'_, '_>, owner: &Owner, name: &str) -> Answer {
    let key = found(context, owner, name)?;
    not_in_use(context, owner, name)?;
    let kept = format!("{}/{name}", owner.name);
    context.docs.remove(&owner.scope, &format!("{}_key", owner.kind), &kept)?;
    Ok(Reply::ok(&key))
}

pub(crate) fn list_of_client(context: &mut Context<'_, '_>, parts: &[String]) -> Answer {
    let owner = client(context, &parts[0])?;
    need(context, &owner, "read")?;
    list(context, &owner)
}

pub(crate) fn create_of_client(context: &mut Context<'_, '_>, parts: &[String]) -> Answer {
    let owner = client(context, &parts[0])?;
    need(context, &owner, "update")?;
    create(context, &owner)
}

pub(crate) fn show_of_client(context: &mut Context<'_, '_>, parts: &[String]) -> Answer {
    let owner = client(context, &parts[0])?;
    need(context, &owner, "read")?;
    Ok(Reply::ok(&found(context, &owner, &parts[1])?))
}

pub(crate) fn update_of_client(context: &mut Context<'_, '_>, parts: &[String]) -> Answer {
    let owner = client(context, &parts[0])?;
    need(context, &owner, "update")?;
    update(context, &owner, &parts[1])
}

pub(crate) fn delete_of_client(context: &mut Context<'_, '_>, parts: &[String]) -> Answer {
    let owner = client(context, &parts[0])?;
    need(context, &owner, "update")?;
    delete(context, &owner, &parts[1])
}

pub(crate) fn list_of_user(context: &mut Context<'_, '_>, parts: &[String]) -> Answer {
    let owner = user(context, &parts[0])?;
    need(context, &owner, "read")?;
    list(context, &owner)
}

pub(crate) fn create_of_user(context: &mut Context<'_, '_>, parts: &[String]) -> Answer {
    let owner = user(context, &parts[0])?;
    need(context, &owner, "update")?;
    create(context, &owner)
}

pub(crate) fn show_of_user(context: &mut Context<'_, '_>, parts: &[String]) -> Answer {
    let owner = user(context, &parts[0])?;
    need(context, &owner, "read")?;
    Ok(Reply::ok(&found(context, &owner, &parts[1])?))
}

pub(crate) fn update_of_user(context: &mut Context<'_, '_>, parts: &[String]) -> Answer {
    let owner = user(context, &parts[0])?;
    need(context, &owner, "update")?;
    update(context, &owner, &parts[1])
}

pub(crate) fn delete_of_user(context: &mut Context<'_, '_>, parts: &[String]) -> Answer {
    let owner = user(context, &parts[0])?;
    need(context, &owner, "update")?;
    delete(context, &owner, &parts[1])
}

/// A user as the organization sees him.
fn member(context: &mut Context<'_, '_>, name: &str) -> Answer<Owner> {
    if !context.has_own("member", name)? {
        return fail(404, format!("Cannot load user {name}"));
    }
    let owner = user(context, name)?;
    context.need("read", "groups", "public_key_read_access").or_else(|error| {
        let readers = context.may_read_keys()?;
        if readers { Ok(()) } else { Err(error) }
    })?;
    Ok(owner)
}

impl Context<'_, '_> {
    /// Members of the group that may read public keys, and their owner.
    fn may_read_keys(&mut self) -> Answer<bool> {
        let id = self.actor.id.clone();
        let Some(group) = self.own("group", "public_key_read_access")? else { return Ok(false) };
        let group = text(&group, "authz_id").to_owned();
        Ok(self.groups_with(&id)?.contains(&group))
    }
}

pub(crate) fn list_of_member(context: &mut Context<'_, '_>, parts: &[String]) -> Answer {
    let owner = member(context, &parts[0])?;
    list(context, &owner)
}

pub(crate) fn show_of_member(context: &mut Context<'_, '_>, parts: &[String]) -> Answer {
    let owner = member(context, &parts[0])?;
    Ok(Reply::ok(&found(context, &owner, &parts[1])?))
}
