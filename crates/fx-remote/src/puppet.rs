//! The requests of a Puppet agent, in the words of the server's interface. What an answer means
//! for the run is the agent's affair.

use std::io::Read;
use std::time::Duration;

use fx_wire::puppet::{catalog_form, percent_encoded};
use serde_json::Value;

use crate::http::{Answer, Client, Content, NetError, Opened, Stream};

const BINARY: &str = "application/octet-stream";
const JSON: &str = "application/json, text/pson";
const RICH: &str = "application/vnd.puppet.rich+json, application/json, text/pson";

/// What a list of files is to hold.
#[derive(Clone, Debug)]
pub struct ListQuery<'a> {
    /// All that is below, not only the directory itself.
    pub recurse: bool,
    pub levels: Option<u32>,
    pub ignore: &'a [&'a str],
    /// Most files; the server's own limit where not given.
    pub max_files: Option<i32>,
    /// `manage` or `follow`.
    pub links: &'a str,
    /// `use` or `ignore`.
    pub source_permissions: &'a str,
}

/// A content of a file bucket: its digest, and the path that it was found at.
#[derive(Clone, Copy, Debug)]
pub struct InBucket<'a> {
    pub digest: &'a str,
    pub sum: &'a str,
    pub path: &'a str,
}

impl InBucket<'_> {
    fn address(&self, environment: &str) -> String {
        let InBucket { digest, sum, path } = self;
        let path = encoded_path(path);
        format!("/puppet/v3/file_bucket_file/{digest}/{sum}/{path}?environment={environment}")
    }
}

/// A request that got no answer.
#[derive(Clone, Debug, thiserror::Error)]
#[error("Request to {url} failed after {:.3} seconds: {error}", after.as_secs_f64())]
pub struct Unanswered {
    pub url: String,
    pub error: NetError,
    pub after: Duration,
}

/// A Puppet server.
#[derive(Clone, Debug)]
pub struct Server {
    client: Client,
    /// `https://puppet:8140`
    base: String,
}

type Sent = Result<Answer, Unanswered>;

impl Server {
    pub fn new(client: Client, host: &str, port: u16) -> Server {
        let host = if host.contains(':') { format!("[{host}]") } else { host.to_owned() };
        Server { client, base: format!("https://{host}:{port}") }
    }

    /// The address of a part of its interface.
    pub fn address(&self, part: &str) -> String {
        format!("{}{part}", self.base)
    }

    fn send(
        &self,
        method: &str,
        path: &str,
        accept: &str,
        more: &[(&str, &str)],
        content: Option<Content<'_>>,
    ) -> Sent {
        let url = self.address(path);
        self.client.send(method, &url, accept, more, content).map_err(|(error, after)| Unanswered {
            url,
            error,
            after,
        })
    }

    fn get(&self, path: &str, accept: &str) -> Sent {
        self.send("GET", path, accept, &[], None)
    }

    /// The certificate of a node, or those of the authority by the name `ca`.
    pub fn certificate(&self, name: &str) -> Sent {
        self.get(&format!("/puppet-ca/v1/certificate/{}", percent_encoded(name)), "text/plain")
    }

    /// The lists of revoked certificates; 304 where they are as old as the given date.
    pub fn revocations(&self, since: Option<&str>) -> Sent {
        let path = "/puppet-ca/v1/certificate_revocation_list/ca";
        let since = since.map(|date| ("If-Modified-Since", date));
        self.send("GET", path, "text/plain", since.as_slice(), None)
    }

    /// Asks for a certificate.
    pub fn request_certificate(&self, name: &str, pem: &str) -> Sent {
        let path = format!("/puppet-ca/v1/certificate_request/{}", percent_encoded(name));
        let content = Content { kind: "text/plain", bytes: pem.as_bytes() };
        self.send("PUT", &path, "text/plain", &[], Some(content))
    }

    /// Whether the server takes requests at all.
    pub fn status(&self, service: &str) -> Sent {
        self.get(&format!("/status/v1/simple/{service}"), "*/*")
    }

    pub fn node(&self, name: &str, environment: &str, uuid: &str) -> Sent {
        let path = format!(
            "/puppet/v3/node/{}?environment={environment}&configured_environment={environment}&transaction_uuid={uuid}",
            percent_encoded(name)
        );
        self.get(&path, JSON)
    }

    /// What a file of a mount is.
    pub fn metadata(&self, path: &str, links: &str, environment: &str) -> Sent {
        let path = format!(
            "/puppet/v3/file_metadata/{}?links={links}&checksum_type=sha256&source_permissions=ignore&environment={environment}",
            encoded_path(path)
        );
        self.get(&path, JSON)
    }

    /// What is below a directory of a mount.
    pub fn metadatas(&self, path: &str, query: &ListQuery<'_>, environment: &str) -> Sent {
        let mut wanted = vec![format!("recurse={}", query.recurse)];
        wanted.extend(query.levels.map(|levels| format!("recurselimit={levels}")));
        wanted.extend(query.max_files.map(|most| format!("max_files={most}")));
        wanted.extend(query.ignore.iter().map(|name| format!("ignore={}", percent_encoded(name))));
        let wanted = wanted.join("&");
        let ListQuery { links, source_permissions, .. } = query;
        let path = format!(
            "/puppet/v3/file_metadatas/{}?{wanted}&links={links}&checksum_type=sha256&source_permissions={source_permissions}&environment={environment}",
            encoded_path(path)
        );
        self.get(&path, JSON)
    }

    fn open(&self, path: &str) -> Result<Opened, Unanswered> {
        let url = self.address(path);
        self.client.open(&url, BINARY).map_err(|(error, after)| Unanswered { url, error, after })
    }

    /// The content of a file of a mount.
    pub fn content(&self, path: &str, environment: &str) -> Result<Opened, Unanswered> {
        let path =
            format!("/puppet/v3/file_content/{}?environment={environment}", encoded_path(path));
        self.open(&path)
    }

    /// The content of a file as it was when the catalog was compiled.
    pub fn static_content(
        &self,
        path: &str,
        environment: &str,
        code: &str,
    ) -> Result<Opened, Unanswered> {
        let path = format!(
            "/puppet/v3/static_file_content/{}?environment={environment}&code_id={}",
            encoded_path(path),
            percent_encoded(code)
        );
        self.open(&path)
    }

    pub fn catalog(
        &self,
        name: &str,
        facts: &Value,
        environment: &str,
        configured: &str,
        uuid: &str,
    ) -> Sent {
        let path =
            format!("/puppet/v3/catalog/{}?environment={environment}", percent_encoded(name));
        let form = catalog_form(facts, environment, configured, uuid);
        let content = Content { kind: "application/x-www-form-urlencoded", bytes: form.as_bytes() };
        self.send("POST", &path, RICH, &[], Some(content))
    }

    /// The catalog of a node with the facts that the server has of it.
    pub fn catalog_with_known_facts(&self, name: &str, environment: &str) -> Sent {
        let path =
            format!("/puppet/v3/catalog/{}?environment={environment}", percent_encoded(name));
        self.get(&path, RICH)
    }

    /// Whether the file bucket has a content from a path.
    pub fn bucket_has(&self, at: &InBucket<'_>, environment: &str) -> Sent {
        self.send("HEAD", &at.address(environment), BINARY, &[], None)
    }

    /// Puts a content into the file bucket.
    pub fn bucket_keep(
        &self,
        at: &InBucket<'_>,
        size: u64,
        bytes: &mut dyn Read,
        environment: &str,
    ) -> Sent {
        let url = self.address(&at.address(environment));
        let content = Stream { kind: BINARY, size, bytes };
        let sent = self.client.send_stream("PUT", &url, BINARY, content);
        sent.map_err(|(error, after)| Unanswered { url, error, after })
    }

    pub fn report(&self, name: &str, report: &Value, environment: &str) -> Sent {
        let path = format!("/puppet/v3/report/{}?environment={environment}", percent_encoded(name));
        let text = report.to_string();
        let content = Content { kind: "application/json", bytes: text.as_bytes() };
        self.send("PUT", &path, JSON, &[], Some(content))
    }
}

/// A path with its parts encoded.
fn encoded_path(path: &str) -> String {
    path.split('/').map(percent_encoded).collect::<Vec<String>>().join("/")
}

/// What an answer that is no success says: the message of a JSON body, or the body.
pub fn complaint(answer: &Answer) -> String {
    let kind = answer.header("content-type").unwrap_or_default();
    let text = answer.text();
    let is_data = kind.starts_with("application/json") || kind.starts_with("text/pson");
    let data: Option<Value> = is_data.then(|| serde_json::from_str(&text).ok()).flatten();
    let message = data.as_ref().and_then(|data| data.get("message")).and_then(Value::as_str);
    format!("Error {} on SERVER: {}", answer.status, message.unwrap_or(text.trim_end()))
}
