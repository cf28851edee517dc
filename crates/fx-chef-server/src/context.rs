//! What an answer works with: the store within one transaction, who asks, and for which
//! organization.

use std::collections::BTreeMap;

use fx_fleet::{Documents, Stopped};
use serde_json::{Map, Value};

use crate::message::{Reply, Request};
use crate::server::Server;

/// A reply, or the reply that ends the transaction.
pub(crate) type Answer<T = Reply> = Result<T, Stopped<Reply>>;

/// Ends the transaction with an error in its usual form.
pub(crate) fn fail<T>(status: u16, text: impl Into<String>) -> Answer<T> {
    Err(Stopped::Caller(Reply::error(status, text)))
}

/// Ends the transaction with an error as a bare text.
pub(crate) fn fail_plain<T>(status: u16, text: impl Into<String>) -> Answer<T> {
    Err(Stopped::Caller(Reply::plain_error(status, text)))
}

/// Whose key signed the request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Actor {
    pub(crate) is_client: bool,
    pub(crate) name: String,
    /// Under which rights name him.
    pub(crate) id: String,
    pub(crate) is_validator: bool,
    pub(crate) is_superuser: bool,
    /// Name of the key.
    pub(crate) key: String,
}

/// The scope of what belongs to no organization.
pub(crate) const GLOBAL: &str = "";

pub(crate) struct Context<'a, 'b> {
    pub(crate) server: &'a Server,
    pub(crate) docs: &'a mut Documents<'b>,
    pub(crate) request: &'a Request,
    /// Version of the API that the request asks for.
    pub(crate) version: u8,
    /// The organization of the path; empty where it names none.
    pub(crate) org: String,
    pub(crate) actor: Actor,
    /// What is remembered holds under this mark of the store, once it was read.
    pub(crate) mark: Option<Vec<u8>>,
}

impl Context<'_, '_> {
    /// The start of URLs, with the organization.
    pub(crate) fn base(&self) -> String {
        let host = self.request.field("host").unwrap_or("localhost");
        let scheme = self.request.field("x-forwarded-proto").unwrap_or(self.server.scheme());
        match self.org.as_str() {
            GLOBAL => format!("{scheme}://{host}"),
            org => format!("{scheme}://{host}/organizations/{org}"),
        }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("{}/{path}", self.base())
    }

    /// A URL of something in a collection.
    pub(crate) fn url_of(&self, collection: &str, name: &str) -> String {
        self.url(&format!("{collection}/{}", encoded(name)))
    }

    pub(crate) fn get(&mut self, scope: &str, kind: &str, name: &str) -> Answer<Option<Value>> {
        let found = self.docs.get(scope, kind, name)?;
        Ok(found.map(|bytes| serde_json::from_slice(&bytes).unwrap_or(Value::Null)))
    }

    pub(crate) fn put(&mut self, scope: &str, kind: &str, name: &str, value: &Value) -> Answer<()> {
        Ok(self.docs.put(scope, kind, name, value.to_string().as_bytes())?)
    }

    /// Of the organization.
    pub(crate) fn own(&mut self, kind: &str, name: &str) -> Answer<Option<Value>> {
        let org = self.org.clone();
        self.get(&org, kind, name)
    }

    pub(crate) fn has_own(&mut self, kind: &str, name: &str) -> Answer<bool> {
        Ok(self.docs.has(&self.org, kind, name)?)
    }

    /// As it is kept.
    pub(crate) fn own_text(&mut self, kind: &str, name: &str) -> Answer<Option<Vec<u8>>> {
        Ok(self.docs.get(&self.org, kind, name)?)
    }

    pub(crate) fn put_own(&mut self, kind: &str, name: &str, value: &Value) -> Answer<()> {
        self.put_own_text(kind, name, value.to_string().as_bytes())
    }

    /// A document that is already text.
    pub(crate) fn put_own_text(&mut self, kind: &str, name: &str, text: &[u8]) -> Answer<()> {
        self.docs.put(&self.org, kind, name, text)?;
        if let Some(versions) = versions_of(kind) {
            let version = self.server.random_hex(16);
            self.docs.put(&self.org, versions, name, version.as_bytes())?;
        }
        Ok(())
    }

    pub(crate) fn remove_own(&mut self, kind: &str, name: &str) -> Answer<bool> {
        if let Some(versions) = versions_of(kind) {
            self.docs.remove(&self.org, versions, name)?;
        }
        Ok(self.docs.remove(&self.org, kind, name)?)
    }

    /// Names of documents of a kind that begin with a prefix, each with what tells its content
    /// from others. A document of an older store has an empty one until it is written.
    pub(crate) fn versions(
        &mut self,
        kind: &str,
        prefix: &str,
    ) -> Answer<BTreeMap<String, Vec<u8>>> {
        let names = self.docs.names(&self.org, kind)?;
        let names = names.into_iter().filter(|name| name.starts_with(prefix));
        let mut all: BTreeMap<String, Vec<u8>> = names.map(|name| (name, Vec::new())).collect();
        let Some(versions) = versions_of(kind) else { return Ok(all) };
        for (name, version) in self.docs.all(&self.org, versions)? {
            if let Some(known) = all.get_mut(&name) {
                *known = version;
            }
        }
        Ok(all)
    }

    pub(crate) fn own_names(&mut self, kind: &str) -> Answer<Vec<String>> {
        Ok(self.docs.names(&self.org, kind)?)
    }

    pub(crate) fn all_own(&mut self, kind: &str) -> Answer<Vec<(String, Value)>> {
        let all = self.docs.all(&self.org, kind)?;
        let read = |(name, bytes): (String, Vec<u8>)| {
            (name, serde_json::from_slice(&bytes).unwrap_or(Value::Null))
        };
        Ok(all.into_iter().map(read).collect())
    }

    /// Names and URLs of a collection.
    pub(crate) fn listed(&mut self, kind: &str, collection: &str) -> Answer {
        let names = self.own_names(kind)?;
        let rows = names.into_iter().map(|name| {
            let url = self.url_of(collection, &name);
            (name, Value::String(url))
        });
        Ok(Reply::ok(&Value::Object(rows.collect())))
    }

    /// The object that the body holds.
    pub(crate) fn body(&self) -> Answer<Map<String, Value>> {
        body_of(&self.request.body)
    }
}

/// Under which kind the versions of documents that are searched are kept.
fn versions_of(kind: &str) -> Option<&'static str> {
    match kind {
        "node" => Some("node version"),
        "role" => Some("role version"),
        "environment" => Some("environment version"),
        crate::data_bags::ITEM => Some("data_item version"),
        _ => None,
    }
}

pub(crate) fn body_of(bytes: &[u8]) -> Answer<Map<String, Value>> {
    match serde_json::from_slice(bytes) {
        Ok(Value::Object(body)) => Ok(body),
        Ok(_) => fail(400, "Incorrect JSON type for request body"),
        Err(_) => fail(400, "invalid JSON"),
    }
}

/// A name within a URL.
pub(crate) fn encoded(name: &str) -> String {
    fx_wire::puppet::percent_encoded(name).replace("%3A", ":")
}

/// The text of a value.
pub(crate) fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}
