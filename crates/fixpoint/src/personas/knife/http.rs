//! Requests of knife, and what is said of those that fail.

use fx_host::OsHost;
use fx_remote::chef::{Ask, AskError, Server};
use fx_remote::{Content, NetError};
use fx_wire::puppet::percent_encoded;
use serde_json::Value as J;

use super::Knife;
use super::config::Workstation;

/// Why a call ends before its end.
#[derive(Debug)]
pub(super) enum Wrong {
    /// All was said already.
    Code(u8),
    /// The server said no.
    Status(u16, String),
    Unanswered(AskError),
    /// Something here.
    Here(String),
}

impl From<String> for Wrong {
    fn from(text: String) -> Wrong {
        Wrong::Here(text)
    }
}

/// Versions of the interface that calls are made in.
const USUAL: &[u8] = &[2];
pub(super) const CLIENTS: &[u8] = &[1];

pub(super) fn path(parts: &[&str]) -> String {
    let encoded: Vec<String> =
        parts.iter().map(|part| percent_encoded(part).replace("%3A", ":")).collect();
    encoded.join("/")
}

impl Knife {
    fn server(&self) -> Result<&Server, Wrong> {
        if let Some(server) = self.server.get() {
            return Ok(server);
        }
        let made = self.settings.connect()?;
        Ok(self.server.get_or_init(|| made))
    }

    /// A request; its answer is JSON.
    pub(super) fn ask(&self, method: &str, path: &str, body: Option<&J>) -> Result<J, Wrong> {
        self.ask_in(USUAL, method, path, body)
    }

    pub(super) fn ask_in(
        &self,
        versions: &[u8],
        method: &str,
        path: &str,
        body: Option<&J>,
    ) -> Result<J, Wrong> {
        let text = body.map(ToString::to_string);
        let content =
            text.as_ref().map(|text| Content { kind: "application/json", bytes: text.as_bytes() });
        let answer = self.send(versions, method, path, &[], content)?;
        Ok(serde_json::from_slice(&answer).unwrap_or(J::Null))
    }

    pub(super) fn send(
        &self,
        versions: &[u8],
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        content: Option<Content<'_>>,
    ) -> Result<Vec<u8>, Wrong> {
        let accept = "application/json";
        let ask = Ask { method, path, accept, versions, headers, content };
        let world = Workstation(OsHost::new());
        let answer = self.server()?.ask(&ask, &world).map_err(Wrong::Unanswered)?;
        if answer.status < 400 {
            return Ok(answer.body);
        }
        Err(Wrong::Status(answer.status, answer.text()))
    }

    pub(super) fn get(&self, parts: &[&str]) -> Result<J, Wrong> {
        self.ask("GET", &path(parts), None)
    }

    /// Replaces something, or makes it in its collection; whether it was new.
    pub(super) fn put(&self, collection: &[&str], name: &str, document: &J) -> Result<bool, Wrong> {
        let whole: Vec<&str> = collection.iter().copied().chain([name]).collect();
        match self.ask("PUT", &path(&whole), Some(document)) {
            Err(Wrong::Status(404, _)) => {
                self.ask("POST", &path(collection), Some(document))?;
                Ok(true)
            }
            other => other.map(|_| false),
        }
    }
}

/// What the server said, as its errors hold it.
pub(super) fn said(body: &str) -> String {
    let Ok(parsed) = serde_json::from_str::<J>(body) else { return body.to_owned() };
    match &parsed["error"] {
        J::Array(all) => {
            let texts = all.iter().map(|one| one.as_str().map_or(one.to_string(), str::to_owned));
            texts.collect::<Vec<_>>().join("; ")
        }
        J::String(one) => one.clone(),
        _ => body.to_owned(),
    }
}

/// Says what went wrong, in the original's words.
pub(super) fn explain(knife: &Knife, wrong: &Wrong) {
    let settings = &knife.settings;
    let lines: Vec<String> = match wrong {
        Wrong::Code(_) => return,
        Wrong::Here(text) => vec![format!("ERROR: {text}")],
        Wrong::Status(status, body) => {
            let (url, name) = (settings.url(), settings.name());
            let (text, gap) = match status {
                401 => {
                    let key = settings.key_file();
                    (format!("Failed to authenticate to {url} as {name} with key {key}"), "  ")
                }
                403 => (
                    format!(
                        "You authenticated successfully to {url} as {name} but you are not authorized for this action."
                    ),
                    "  ",
                ),
                400 => ("The data in your request was invalid".to_owned(), " "),
                404 => ("The object you are looking for could not be found".to_owned(), " "),
                500 => ("internal server error".to_owned(), " "),
                502 => ("bad gateway".to_owned(), " "),
                503 => ("Service temporarily unavailable".to_owned(), " "),
                409 => ("Conflict".to_owned(), " "),
                412 => ("Precondition Failed".to_owned(), " "),
                other => (format!("HTTP {other}"), " "),
            };
            vec![format!("ERROR: {text}"), format!("Response:{gap}{}", said(body))]
        }
        Wrong::Unanswered(AskError::Net { url, error }) => unanswered(url, error),
        Wrong::Unanswered(other) => vec![format!("ERROR: {other}")],
    };
    for line in &lines {
        Knife::tell(line);
    }
}

fn unanswered(url: &str, error: &NetError) -> Vec<String> {
    let network = |text: String| {
        vec![
            format!("ERROR: Network Error: {text}"),
            "Check your knife configuration and network settings".to_owned(),
        ]
    };
    match error {
        NetError::Refused => network(format!(
            "Connection refused - Connection refused connecting to {url}, giving up"
        )),
        NetError::Time => network(format!("Timeout connecting to {url}, giving up")),
        NetError::Certificate(_) | NetError::Tls(_) => [
            "ERROR: Could not establish a secure connection to the server.",
            "Use `knife ssl check` to troubleshoot your SSL configuration.",
            "If your server uses a self-signed certificate, you can use",
            "`knife ssl fetch` to make knife trust the server's certificates.",
            "",
        ]
        .into_iter()
        .map(str::to_owned)
        .chain([format!("Original Exception: OpenSSL::SSL::SSLError: {error}")])
        .collect(),
        other => network(format!("Error connecting to {url} - {other}")),
    }
}
