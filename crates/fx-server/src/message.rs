//! A request and a reply, as the answers see them.

use fx_wire::puppet::{Format, Pairs, Segments, accepted};
use hyper::body::Bytes;
use serde_json::{Value, json};

use crate::body::Content;
use crate::caller::Caller;
use crate::listing::Listing;

/// A request before its body was read.
#[derive(Clone, Debug)]
pub struct Head {
    /// `GET`, `PUT` …
    pub method: String,
    pub path: Segments,
    pub query: Pairs,
    pub caller: Caller,
    /// Fields of the header, names in lower case.
    pub fields: Vec<(String, String)>,
}

impl Head {
    /// A field of the header.
    pub fn field(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// A whole request.
#[derive(Clone, Debug)]
pub struct Request {
    pub head: Head,
    pub body: Vec<u8>,
}

impl Request {
    /// The form of the answer that the client takes; the reply that says why there is none.
    pub(crate) fn format(&self, offered: &[Format]) -> Result<Format, Reply> {
        let Some(accept) = self.head.field("accept") else {
            return Err(Reply::issue(Issue::MissingHeader, "Missing required Accept header"));
        };
        accepted(accept, offered).ok_or_else(|| {
            let text = format!("No supported formats are acceptable (Accept: {accept})");
            Reply::issue(Issue::UnsupportedFormat, &text)
        })
    }

    /// The body as JSON; the reply that says what is wrong with it.
    pub(crate) fn json(&self) -> Result<Value, Reply> {
        if let Some(kind) = self.head.field("content-type")
            && !matches!(Format::of_body(kind), Some(Format::Json | Format::Pson))
        {
            let text = format!(
                "Client sent a mime-type ({kind}) that doesn't correspond to a format we support"
            );
            return Err(Reply::issue(Issue::UnsupportedMedia, &text));
        }
        serde_json::from_slice(&self.body).map_err(|error| {
            let text = format!("The request body is invalid: Could not intern from json: {error}");
            Reply::issue(Issue::BadRequest, &text)
        })
    }
}

/// What is wrong, by the kinds that the original has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Issue {
    BadRequest,
    MissingHeader,
    NotFound,
    NoEnvironment,
    UnsupportedFormat,
    UnsupportedMedia,
    Failed,
}

impl Issue {
    fn row(self) -> (u16, &'static str, &'static str) {
        match self {
            Issue::BadRequest => (400, "Bad Request", "RUNTIME_ERROR"),
            Issue::MissingHeader => (400, "Bad Request", "MISSING_HEADER_FIELD"),
            Issue::NotFound => (404, "Not Found", "RESOURCE_NOT_FOUND"),
            Issue::NoEnvironment => (404, "Not Found", "ENVIRONMENT_NOT_FOUND"),
            Issue::UnsupportedFormat => (406, "Not Acceptable", "UNSUPPORTED_FORMAT"),
            Issue::UnsupportedMedia => (415, "Unsupported Media Type", "UNSUPPORTED_MEDIA_TYPE"),
            Issue::Failed => (500, "Server Error", "RUNTIME_ERROR"),
        }
    }
}

/// An answer.
#[derive(Debug)]
pub struct Reply {
    pub status: u16,
    pub content_type: Option<&'static str>,
    pub fields: Vec<(&'static str, String)>,
    pub body: Bytes,
    /// The body packed, where it is at hand. Few answers have it, and all are as large as this.
    pub(crate) packed: Option<Box<Bytes>>,
    /// What is sent instead of the body.
    pub content: Option<Content>,
}

impl Reply {
    pub(crate) fn new(status: u16, content_type: Option<&'static str>, body: Vec<u8>) -> Reply {
        let body = Bytes::from(body);
        Reply { status, content_type, fields: Vec::new(), body, packed: None, content: None }
    }

    pub(crate) fn text(status: u16, text: impl Into<String>) -> Reply {
        Reply::new(status, Some("text/plain"), text.into().into_bytes())
    }

    pub(crate) fn json(status: u16, value: &Value) -> Reply {
        Reply::new(status, Some(Format::Json.content_type()), value.to_string().into_bytes())
    }

    /// Data in a form that was agreed on.
    pub(crate) fn data(format: Format, body: Vec<u8>) -> Reply {
        Reply::new(200, Some(format.content_type()), body)
    }

    /// A list of files that others get as well.
    pub(crate) fn listing(format: Format, list: Listing) -> Reply {
        let reply = Reply::data(format, Vec::new());
        Reply { body: list.plain, packed: list.packed.map(Box::new), ..reply }
    }

    /// A file, as it is read.
    pub(crate) fn file(content: Content) -> Reply {
        let reply = Reply::new(200, Some(Format::Binary.content_type()), Vec::new());
        Reply { content: Some(content), ..reply }
    }

    pub(crate) fn empty(status: u16) -> Reply {
        Reply::new(status, None, Vec::new())
    }

    /// An error as the original's indirected endpoints write it.
    pub(crate) fn issue(issue: Issue, text: &str) -> Reply {
        let (status, prefix, kind) = issue.row();
        Reply::json(status, &json!({"message": format!("{prefix}: {text}"), "issue_kind": kind}))
    }

    pub(crate) fn forbidden(head: &Head) -> Reply {
        let text = format!(
            "Forbidden request: {} (method :{}). Please see the server logs for details.",
            head.path,
            head.method.to_lowercase()
        );
        Reply::new(403, None, text.into_bytes())
    }

    pub(crate) fn with(mut self, name: &'static str, value: impl Into<String>) -> Reply {
        self.fields.push((name, value.into()));
        self
    }
}
