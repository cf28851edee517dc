//! Versions of the API: which one a request asks for, and the header of every reply.

use serde_json::{Value, json};

use crate::message::{Reply, Request};

pub(crate) const MIN: u8 = 0;
pub(crate) const MAX: u8 = 2;

/// The version that a request asks for.
pub(crate) fn asked(request: &Request) -> Result<u8, Reply> {
    let Some(text) = request.field("x-ops-server-api-version") else { return Ok(MIN) };
    match text.parse() {
        Ok(version) if version <= MAX => Ok(version),
        _ => {
            let body = json!({
                "error": "invalid-x-ops-server-api-version",
                "message": format!("Specified version {text} not supported"),
                "min_version": MIN,
                "max_version": MAX,
            });
            Err(with_header(Reply::json(406, &body), text, "-1"))
        }
    }
}

/// Puts the header of versions on a reply. Without it a client takes the server for an old one.
pub(crate) fn marked(reply: Reply, asked: u8) -> Reply {
    let asked = asked.to_string();
    with_header(reply, &asked, &asked)
}

fn with_header(reply: Reply, asked: &str, answered: &str) -> Reply {
    let asked = Value::from(asked);
    let value = format!(
        "{{\"min_version\":\"{MIN}\",\"max_version\":\"{MAX}\",\"request_version\":{asked},\"response_version\":\"{answered}\"}}"
    );
    reply.with("x-ops-server-api-version", value)
}
