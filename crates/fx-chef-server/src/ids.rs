//! Identifiers: names in rights and groups are kept under them, so that a new client does not
//! inherit what an old one of its name was allowed.

use serde_json::json;

use crate::context::{Answer, Context, GLOBAL, text};

/// What an identifier stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    User,
    Client,
    Group,
}

impl Kind {
    fn word(self) -> &'static str {
        match self {
            Kind::User => "user",
            Kind::Client => "client",
            Kind::Group => "group",
        }
    }
}

impl Context<'_, '_> {
    /// A new identifier of something.
    pub(crate) fn new_id(&mut self, kind: Kind, name: &str) -> Answer<String> {
        let id = self.server.random_hex(16);
        self.rename_id(kind, &id, name)?;
        Ok(id)
    }

    /// The identifier gets another name.
    pub(crate) fn rename_id(&mut self, kind: Kind, id: &str, name: &str) -> Answer<()> {
        let scope = self.scope_of(kind);
        // Groups can be named from other organizations.
        let org = if kind == Kind::Group { self.org.clone() } else { String::new() };
        self.put(&scope, "id", id, &json!({"kind": kind.word(), "name": name, "org": org}))
    }

    pub(crate) fn drop_id(&mut self, kind: Kind, id: &str) -> Answer<()> {
        let scope = self.scope_of(kind);
        self.docs.remove(&scope, "id", id)?;
        Ok(())
    }

    fn scope_of(&self, kind: Kind) -> String {
        if kind == Kind::Client { self.org.clone() } else { GLOBAL.to_owned() }
    }

    /// What an identifier stands for, if it still does.
    pub(crate) fn named(&mut self, id: &str) -> Answer<Option<(Kind, String)>> {
        let org = self.org.clone();
        let found = match self.get(&org, "id", id)? {
            None => self.get(GLOBAL, "id", id)?,
            found => found,
        };
        Ok(found.and_then(|found| {
            let kind = match text(&found, "kind") {
                "user" => Kind::User,
                "client" => Kind::Client,
                "group" => Kind::Group,
                _ => return None,
            };
            let name = text(&found, "name").to_owned();
            let shown = match (kind, text(&found, "org")) {
                (Kind::Group, group_org) if group_org != org => format!("{group_org}::{name}"),
                _ => name,
            };
            Some((kind, shown))
        }))
    }

    /// The identifier of a group of the organization, of another one (`other::group`), or of the
    /// server (`::group`).
    pub(crate) fn group_id(&mut self, name: &str) -> Answer<Option<String>> {
        let Some((scope, name)) = name.split_once("::") else {
            return self.id_of(Kind::Group, name);
        };
        let found = self.get(scope, "group", name)?;
        Ok(found.map(|found| text(&found, "authz_id").to_owned()))
    }

    /// The identifier of a user, client or group.
    pub(crate) fn id_of(&mut self, kind: Kind, name: &str) -> Answer<Option<String>> {
        let found = match kind {
            Kind::User => self.get(GLOBAL, "user", name)?,
            Kind::Client => self.own("client", name)?,
            Kind::Group => self.own("group", name)?,
        };
        Ok(found.map(|found| text(&found, "authz_id").to_owned()))
    }
}
