//! A request and a reply, as the answers see them.

use fx_wire::puppet::Pairs;
use serde_json::{Value, json};

/// A request whose body was read.
#[derive(Clone, Debug)]
pub struct Request {
    pub method: String,
    /// As it was sent, without the query.
    pub path: String,
    pub query: Pairs,
    /// Names in lower case.
    pub fields: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Request {
    /// The value of a header.
    pub(crate) fn field(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// The answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    pub status: u16,
    pub content_type: &'static str,
    pub fields: Vec<(&'static str, String)>,
    pub body: Vec<u8>,
}

const JSON: &str = "application/json";

impl Reply {
    pub(crate) fn json(status: u16, value: &Value) -> Reply {
        Reply::text(status, value.to_string().into_bytes())
    }

    /// A document that is already text.
    pub(crate) fn text(status: u16, body: Vec<u8>) -> Reply {
        Reply { status, content_type: JSON, fields: Vec::new(), body }
    }

    pub(crate) fn ok(value: &Value) -> Reply {
        Reply::json(200, value)
    }

    /// Something was made at a URL.
    pub(crate) fn created(uri: &str, value: &Value) -> Reply {
        Reply::json(201, value).with("location", uri)
    }

    /// An error in its usual form.
    pub(crate) fn error(status: u16, text: impl Into<String>) -> Reply {
        Reply::json(status, &json!({"error": [text.into()]}))
    }

    /// An error of the endpoints that write it as a bare text.
    pub(crate) fn plain_error(status: u16, text: impl Into<String>) -> Reply {
        Reply::json(status, &json!({"error": text.into()}))
    }

    pub(crate) fn empty(status: u16) -> Reply {
        Reply { status, content_type: JSON, fields: Vec::new(), body: Vec::new() }
    }

    pub(crate) fn bytes(content_type: &'static str, body: Vec<u8>) -> Reply {
        Reply { status: 200, content_type, fields: Vec::new(), body }
    }

    pub(crate) fn with(mut self, name: &'static str, value: impl Into<String>) -> Reply {
        self.fields.push((name, value.into()));
        self
    }
}
