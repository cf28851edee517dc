//! Groups and rights of an import. A node that comes without rights of its own belongs to the
//! client of its name, as if that client had made it.

use std::path::Path;

use fx_wire::puppet::percent_encoded;
use serde_json::{Value as J, json};

use super::Import;

/// Kinds of objects by the folder of their rights, with the collection of the interface.
const FOLDERS: &[(&str, &str)] = &[
    ("clients", "clients"),
    ("containers", "containers"),
    ("cookbook_artifacts", "cookbook_artifacts"),
    ("cookbooks", "cookbooks"),
    ("data_bags", "data"),
    ("environments", "environments"),
    ("groups", "groups"),
    ("nodes", "nodes"),
    ("policies", "policies"),
    ("policy_groups", "policy_groups"),
    ("roles", "roles"),
];

const PERMISSIONS: [&str; 5] = ["create", "read", "update", "delete", "grant"];

/// Whether a group of the whole server only says who belongs to an organization, which is kept as
/// that.
fn says_membership(group: &str) -> bool {
    group.strip_prefix("::").is_some_and(|name| {
        ["_global_admins", "_read_access_group"].iter().any(|end| name.ends_with(end))
    })
}

impl Import<'_> {
    pub(super) fn groups(&mut self, dir: &Path) -> Result<(), String> {
        let groups = self.reader.documents(&dir.join("groups"), None)?;
        // A group may hold another that comes later.
        for (name, _) in &groups {
            let path = self.own("groups");
            if let Err(why) = self.ask("POST", &path, &json!({"groupname": name}), "0")
                && why.status != 409
            {
                self.done.refused.push(format!("group '{name}': {}", why.text));
            }
        }
        for (name, group) in groups {
            let list = |key: &str| group.get(key).cloned().unwrap_or_else(|| json!([]));
            let mut users = list("users");
            // The superuser is in every group of administrators and in no file of users.
            if let Some(users) = users.as_array_mut() {
                users.retain(|user| user != "pivotal");
            }
            let actors =
                json!({"users": users, "clients": list("clients"), "groups": list("groups")});
            let path = self.own(&format!("groups/{}", percent_encoded(&name)));
            let made = self.ask("PUT", &path, &json!({"groupname": name, "actors": actors}), "0");
            self.note("group", &name, made);
        }
        Ok(())
    }

    /// Those that every organization has are there already.
    pub(super) fn containers(&mut self, dir: &Path) -> Result<(), String> {
        for (name, _) in self.reader.documents(&dir.join("containers"), None)? {
            let made = self.ask("POST", &self.own("containers"), &json!({"id": name}), "0");
            let made = made.or_else(|why| if why.status == 409 { Ok(J::Null) } else { Err(why) });
            self.note("container", &name, made);
        }
        Ok(())
    }

    /// Who may see and change the users of a whole server.
    pub(super) fn user_rights(&mut self, source: &Path) -> Result<(), String> {
        for (name, mut rights) in self.reader.documents(&source.join("user_acls"), None)? {
            for permission in PERMISSIONS {
                if let Some(groups) = rights[permission]["groups"].as_array_mut() {
                    groups.retain(|group| !group.as_str().is_some_and(says_membership));
                }
            }
            let at = format!("/users/{}", percent_encoded(&name));
            self.put_rights("user rights", &format!("users/{name}"), &at, &rights);
        }
        Ok(())
    }

    pub(super) fn rights(&mut self, dir: &Path) -> Result<(), String> {
        let acls = dir.join("acls");
        let whole = acls.join("organization.json");
        if self.exists(&whole) {
            let rights = self.reader.json(&whole)?;
            self.put_rights("rights", "organization", &self.own("organizations"), &rights);
        }
        for (folder, collection) in FOLDERS {
            for (name, rights) in self.reader.documents(&acls.join(folder), None)? {
                let at = self.own(&format!("{collection}/{}", percent_encoded(&name)));
                self.put_rights("rights", &format!("{folder}/{name}"), &at, &rights);
            }
        }
        for (name, _) in self.reader.documents(&dir.join("nodes"), None)? {
            if !self.exists(&acls.join("nodes").join(format!("{name}.json"))) {
                self.give_to_client(&name);
            }
        }
        Ok(())
    }

    fn put_rights(&mut self, kind: &str, label: &str, at: &str, rights: &J) {
        for permission in PERMISSIONS {
            let Some(given) = rights.get(permission) else { continue };
            let path = format!("{at}/_acl/{permission}");
            if let Err(why) = self.ask("PUT", &path, &json!({permission: given}), "0") {
                self.done.refused.push(format!("rights of '{label}': {}", why.text));
                return;
            }
        }
        self.counted(kind);
    }

    fn give_to_client(&mut self, name: &str) {
        let name = percent_encoded(name);
        let client = self.own(&format!("clients/{name}"));
        let rights = self.own(&format!("nodes/{name}/_acl"));
        let Ok(client) = self.ask("GET", &client, &J::Null, "0") else { return };
        let Ok(mut rights) = self.ask("GET", &rights, &J::Null, "0") else { return };
        for permission in PERMISSIONS {
            let Some(actors) = rights[permission]["actors"].as_array_mut() else { continue };
            if !actors.contains(&client["name"]) {
                actors.push(client["name"].clone());
            }
        }
        let at = self.own(&format!("nodes/{name}"));
        self.put_rights("rights", &format!("nodes/{name}"), &at, &rights);
    }
}
