//! Who may do what: lists of rights of each object, groups and their members.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::context::{Answer, Context, fail};
use crate::message::Reply;

/// What can be allowed.
pub(crate) const PERMISSIONS: [&str; 5] = ["create", "read", "update", "delete", "grant"];

/// Containers of an organization, and the rights of users and clients in each, as letters of the
/// permissions. Administrators have all.
pub(crate) const CONTAINERS: &[(&str, &str, &str)] = &[
    ("clients", "rd", ""),
    ("containers", "r", ""),
    ("cookbooks", "crud", "r"),
    ("data", "crud", "r"),
    ("environments", "crud", "r"),
    ("groups", "r", ""),
    ("nodes", "crud", "cr"),
    ("roles", "crud", "r"),
    ("sandboxes", "c", ""),
    ("policies", "crud", "r"),
    ("policy_groups", "crud", "r"),
    ("cookbook_artifacts", "crud", "r"),
];

/// Who has one permission, by identifiers, which need no escapes.
#[derive(serde::Deserialize)]
struct Allowed<'a> {
    #[serde(borrow, default)]
    actors: Vec<&'a str>,
    #[serde(borrow, default)]
    groups: Vec<&'a str>,
}

/// Rights that name actors and groups by identifiers.
pub(crate) type Rights = Map<String, Value>;

/// Adds an identifier to a list of one permission.
pub(crate) fn grant(rights: &mut Rights, permission: &str, list: &str, id: &str) {
    let entry = rights.entry(permission).or_insert_with(|| json!({"actors": [], "groups": []}));
    if let Some(ids) = entry.get_mut(list).and_then(Value::as_array_mut)
        && !ids.iter().any(|known| known == id)
    {
        ids.push(id.into());
    }
}

pub(crate) fn ids<'a>(rights: &'a Rights, permission: &str, list: &str) -> Vec<&'a str> {
    let found = rights.get(permission).and_then(|entry| entry.get(list));
    found.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect()
}

impl Context<'_, '_> {
    /// Rights of an object, by its collection and name.
    pub(crate) fn rights(&mut self, collection: &str, name: &str) -> Answer<Rights> {
        match self.own("acl", &key(collection, name))? {
            Some(Value::Object(rights)) => Ok(rights),
            _ => Ok(Rights::new()),
        }
    }

    pub(crate) fn put_rights(
        &mut self,
        collection: &str,
        name: &str,
        rights: Rights,
    ) -> Answer<()> {
        self.put_own("acl", &key(collection, name), &Value::Object(rights))
    }

    pub(crate) fn drop_rights(&mut self, collection: &str, name: &str) -> Answer<()> {
        self.remove_own("acl", &key(collection, name)).map(drop)
    }

    /// Gives a new object the rights of its container, and its maker all of them.
    pub(crate) fn new_rights(&mut self, collection: &str, name: &str) -> Answer<()> {
        let mut rights = self.rights("containers", collection)?;
        for permission in PERMISSIONS {
            let maker = self.actor.id.clone();
            if !self.actor.is_validator {
                grant(&mut rights, permission, "actors", &maker);
            }
        }
        self.put_rights(collection, name, rights)
    }

    /// Groups that an actor is in, also by way of other groups.
    pub(crate) fn groups_with(&mut self, id: &str) -> Answer<Arc<Vec<String>>> {
        let memberships = &self.server.memberships;
        self.known(memberships, id, |context| context.read_groups_with(id))
    }

    fn read_groups_with(&mut self, id: &str) -> Answer<Vec<String>> {
        let all = self.all_own("group")?;
        let has = |group: &Value, list: &str, id: &str| {
            let ids = group.get(list).and_then(Value::as_array);
            ids.is_some_and(|ids| ids.iter().any(|one| one == id))
        };
        let mut found: Vec<String> = Vec::new();
        for (_, group) in &all {
            if has(group, "users", id) || has(group, "clients", id) {
                found.push(crate::context::text(group, "authz_id").to_owned());
            }
        }
        let mut at = 0;
        while at < found.len() {
            let inner = found[at].clone();
            for (_, group) in &all {
                let outer = crate::context::text(group, "authz_id");
                if has(group, "groups", &inner) && !found.iter().any(|one| one == outer) {
                    found.push(outer.to_owned());
                }
            }
            at += 1;
        }
        Ok(found)
    }

    /// Whether the caller has a right on an object.
    pub(crate) fn may(&mut self, permission: &str, collection: &str, name: &str) -> Answer<bool> {
        if self.actor.is_superuser {
            return Ok(true);
        }
        let rights = self.own_text("acl", &key(collection, name))?.unwrap_or_default();
        let rights: BTreeMap<&str, Allowed<'_>> =
            serde_json::from_slice(&rights).unwrap_or_default();
        let Some(allowed) = rights.get(permission) else { return Ok(false) };
        let id = self.actor.id.clone();
        if allowed.actors.contains(&id.as_str()) {
            return Ok(true);
        }
        let groups = self.groups_with(&id)?;
        Ok(groups.iter().any(|group| allowed.groups.contains(&group.as_str())))
    }

    /// Ends the request where the caller lacks a right.
    pub(crate) fn need(&mut self, permission: &str, collection: &str, name: &str) -> Answer<()> {
        if self.may(permission, collection, name)? {
            return Ok(());
        }
        fail(403, format!("missing {permission} permission"))
    }

    /// The same for something that is about to be made in a container.
    pub(crate) fn need_create(&mut self, container: &str) -> Answer<()> {
        self.need("create", "containers", container)
    }

    /// Who is no administrator of anything.
    pub(crate) fn need_superuser(&mut self) -> Answer<()> {
        if self.actor.is_superuser {
            return Ok(());
        }
        Err(fx_fleet::Stopped::Caller(Reply::error(403, "missing create permission")))
    }
}

fn key(collection: &str, name: &str) -> String {
    format!("{collection}/{name}")
}
