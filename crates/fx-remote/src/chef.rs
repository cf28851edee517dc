//! A Chef server: signed requests, the version of its API, redirects, and asking again.
//!
//! What an answer means for a run is the caller's affair; so are time, random bytes and waiting.

use std::cell::{Cell, OnceCell};
use std::time::Duration;

use fx_wire::chef::{Protocol, Signable, SigningKey, sign};
use fx_wire::x509::Key;

use crate::http::{Answer, Client, Content, NetError};

/// As whom requests are signed.
#[derive(Clone)]
pub struct Signer {
    pub name: String,
    pub key: Key,
    pub protocol: Protocol,
}

impl std::fmt::Debug for Signer {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The key is nobody's business.
        out.debug_struct("Signer").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Signer {
    fn headers(
        &self,
        key: &SigningKey,
        ask: &Ask<'_>,
        url: &str,
        version: &str,
        world: &dyn World,
    ) -> Result<Vec<(String, String)>, AskError> {
        let body = ask.content.map_or(&[][..], |content| content.bytes);
        let content_hash = self.protocol.content_hash(body);
        let timestamp = world.timestamp();
        let signable = Signable {
            method: ask.method,
            path: path_of(url),
            content_hash: &content_hash,
            timestamp: &timestamp,
            name: &self.name,
            api_version: version,
        };
        sign(&signable, self.protocol, key).ok_or(AskError::Key)
    }
}

/// What the machine gives to a request.
pub trait World {
    /// Now, as a signature has it: `2026-01-02T03:04:05Z`.
    fn timestamp(&self) -> String;
    fn random(&self, buffer: &mut [u8]);
    /// Waits before the request is sent again; false where the run is to end.
    fn wait(&self, again: &Again<'_>) -> bool;
}

/// A request that is sent once more after a pause.
#[derive(Clone, Debug)]
pub struct Again<'a> {
    pub url: &'a str,
    pub why: Trouble,
    /// The first time is 1.
    pub attempt: u32,
    pub most: u32,
    pub pause: Duration,
}

/// What came instead of an answer that counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trouble {
    Status(u16),
    Net(NetError),
}

/// How often and after how long a request is sent again.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    pub retries: u32,
    pub delay: Duration,
}

impl Default for Patience {
    fn default() -> Patience {
        Patience { retries: 5, delay: Duration::from_secs(5) }
    }
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AskError {
    #[error("{url}: {error}")]
    Net { url: String, error: NetError },
    #[error("'{0}' is no address of a server")]
    Address(String),
    #[error("the key cannot sign: it is not of RSA, or too small")]
    Key,
    #[error("too many redirects from {0}")]
    Redirects(String),
    #[error("the run was stopped")]
    Stopped,
}

/// One request.
#[derive(Clone, Copy, Debug)]
pub struct Ask<'a> {
    pub method: &'a str,
    /// Below the base, or a whole address.
    pub path: &'a str,
    pub accept: &'a str,
    /// Versions of the API that it can be made in, the best one first.
    pub versions: &'a [u8],
    pub headers: &'a [(&'a str, &'a str)],
    pub content: Option<Content<'a>>,
}

/// What is known of the versions that a server speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Versions {
    Unknown,
    /// It does not say, so it is older than versions.
    None,
    Range(u8, u8),
}

/// A Chef server and who speaks to it.
pub struct Server {
    client: Client,
    /// `https://chef/organizations/acme`
    base: String,
    signer: Option<Signer>,
    /// The signer's, read when the first request is signed; `None` where it cannot sign.
    key: OnceCell<Option<SigningKey>>,
    patience: Patience,
    versions: Cell<Versions>,
}

impl std::fmt::Debug for Server {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Server").field("base", &self.base).finish_non_exhaustive()
    }
}

const MOST_REDIRECTS: u32 = 10;

impl Server {
    /// A server at a base address; without a signer nothing is signed.
    pub fn new(
        client: Client,
        base: &str,
        signer: Option<Signer>,
        patience: Patience,
    ) -> Result<Server, AskError> {
        let base = base.trim_end_matches('/').to_owned();
        origin(&base).ok_or_else(|| AskError::Address(base.clone()))?;
        let versions = Cell::new(Versions::Unknown);
        Ok(Server { client, base, signer, key: OnceCell::new(), patience, versions })
    }

    /// The whole address of a path.
    pub fn address(&self, path: &str) -> String {
        if path.starts_with("http://") || path.starts_with("https://") {
            return path.to_owned();
        }
        match path.trim_start_matches('/') {
            "" => self.base.clone(),
            rest => format!("{}/{rest}", self.base),
        }
    }

    /// Sends a request until there is an answer that counts, or patience ends.
    pub fn ask(&self, ask: &Ask<'_>, world: &dyn World) -> Result<Answer, AskError> {
        let mut url = self.address(ask.path);
        for _ in 0..=MOST_REDIRECTS {
            let answer = self.negotiate(ask, &url, world)?;
            let follows = matches!(ask.method, "GET" | "HEAD");
            let to = answer
                .header("location")
                .filter(|_| follows && (300..400).contains(&answer.status) && answer.status != 304);
            match to {
                Some(to) => url = joined(&url, to).ok_or(AskError::Address(to.to_owned()))?,
                None => return Ok(answer),
            }
        }
        Err(AskError::Redirects(url))
    }

    /// The answer in the best version that both sides know.
    fn negotiate(&self, ask: &Ask<'_>, url: &str, world: &dyn World) -> Result<Answer, AskError> {
        let mut left = ask.versions.len();
        loop {
            let version = self.version(ask.versions);
            let answer = self.persist(ask, url, version, world)?;
            left = left.saturating_sub(1);
            if answer.status != 406 || left == 0 || self.version(ask.versions) == version {
                return Ok(answer);
            }
        }
    }

    fn version(&self, possible: &[u8]) -> u8 {
        let best = possible.first().copied().unwrap_or(0);
        match self.versions.get() {
            Versions::Unknown => best,
            Versions::None => 0,
            Versions::Range(min, max) => {
                possible.iter().copied().find(|one| (min..=max).contains(one)).unwrap_or(best)
            }
        }
    }

    /// Sends until the server answers with something else than a failure of its own.
    fn persist(
        &self,
        ask: &Ask<'_>,
        url: &str,
        version: u8,
        world: &dyn World,
    ) -> Result<Answer, AskError> {
        let most = self.patience.retries;
        let mut attempt = 0;
        loop {
            attempt += 1;
            let (why, pause) = match self.once(ask, url, version, world)? {
                Ok(answer) => {
                    self.learn(&answer);
                    if answer.status < 500 || attempt > most {
                        return Ok(answer);
                    }
                    (Trouble::Status(answer.status), server_pause(attempt, world))
                }
                Err(error) => {
                    let hopeless = matches!(error, NetError::Certificate(_) | NetError::Other(_));
                    if hopeless || attempt > most {
                        return Err(AskError::Net { url: url.to_owned(), error });
                    }
                    (Trouble::Net(error), self.patience.delay)
                }
            };
            if !world.wait(&Again { url, why, attempt, most, pause }) {
                return Err(AskError::Stopped);
            }
        }
    }

    /// The first answer says which versions there are; one that does not is from before them.
    fn learn(&self, answer: &Answer) {
        if self.versions.get() != Versions::Unknown {
            return;
        }
        let said = answer.header("x-ops-server-api-version").and_then(|text| {
            let said: serde_json::Value = serde_json::from_str(text).ok()?;
            let number = |name: &str| match &said[name] {
                serde_json::Value::String(text) => text.parse().ok(),
                other => other.as_u64().and_then(|number| u8::try_from(number).ok()),
            };
            Some(Versions::Range(number("min_version")?, number("max_version")?))
        });
        self.versions.set(said.unwrap_or(Versions::None));
    }

    fn once(
        &self,
        ask: &Ask<'_>,
        url: &str,
        version: u8,
        world: &dyn World,
    ) -> Result<Result<Answer, NetError>, AskError> {
        let version = version.to_string();
        let mut headers = Vec::new();
        // A signature is good for a quarter of an hour wherever it is shown, so only the server
        // itself gets one.
        if let Some(signer) = self.signer.as_ref().filter(|_| origin(url) == origin(&self.base)) {
            let key = self.key.get_or_init(|| SigningKey::new(&signer.key));
            let key = key.as_ref().ok_or(AskError::Key)?;
            headers = signer.headers(key, ask, url, &version, world)?;
        }
        let mut all: Vec<(&str, &str)> =
            headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        all.push(("X-Ops-Server-API-Version", &version));
        all.extend_from_slice(ask.headers);
        let sent = self.client.send(ask.method, url, ask.accept, &all, ask.content);
        Ok(sent.map_err(|(error, _)| error))
    }
}

/// Between 1 + 2^n and 1 + 2^(n+1) seconds.
fn server_pause(attempt: u32, world: &dyn World) -> Duration {
    let most = 1_u64 << attempt.min(16);
    let mut bytes = [0; 8];
    world.random(&mut bytes);
    Duration::from_secs(1 + most + u64::from_le_bytes(bytes) % most)
}

/// Scheme, host and port of an address.
fn origin(url: &str) -> Option<(&str, String, u16)> {
    let (scheme, rest) = url.split_once("://")?;
    let default = match scheme {
        "http" => 80,
        "https" => 443,
        _ => return None,
    };
    let authority = rest.split(['/', '?', '#']).next().filter(|authority| !authority.is_empty())?;
    let authority = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => (host, port.parse().ok()?),
        _ => (authority, default),
    };
    Some((scheme, host.to_lowercase(), port))
}

/// The path of an address, without its query.
fn path_of(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let path = rest.find('/').map_or("/", |at| &rest[at..]);
    path.split(['?', '#']).next().unwrap_or("/")
}

/// Where a redirect leads.
fn joined(url: &str, to: &str) -> Option<String> {
    if origin(to).is_some() {
        return Some(to.to_owned());
    }
    let (scheme, rest) = url.split_once("://")?;
    let authority = rest.split('/').next()?;
    if to.starts_with("//") {
        return Some(format!("{scheme}:{to}"));
    }
    if to.contains("://") {
        return None;
    }
    if to.starts_with('/') {
        return Some(format!("{scheme}://{authority}{to}"));
    }
    let path = path_of(url);
    let dir = path.rfind('/').map_or("/", |at| &path[..=at]);
    Some(format!("{scheme}://{authority}{dir}{to}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_taken_apart() {
        for (url, parts, path) in [
            ("https://Chef/organizations/a?q=1", Some(("https", "chef", 443)), "/organizations/a"),
            ("http://u:p@h:8889", Some(("http", "h", 8889)), "/"),
            ("http://[::1]:80/x", Some(("http", "[::1]", 80)), "/x"),
            ("http://[::1]/x", Some(("http", "[::1]", 80)), "/x"),
            ("chefzero://localhost:1", None, "/"),
            ("https:///x", None, "/x"),
        ] {
            let found = origin(url);
            let found = found.as_ref().map(|(scheme, host, port)| (*scheme, host.as_str(), *port));
            assert_eq!(found, parts, "{url}");
            assert_eq!(path_of(url), path, "{url}");
        }
    }

    #[test]
    fn redirects_are_joined() {
        for (url, to, joint) in [
            ("https://a/b/c?d", "https://x/y", Some("https://x/y")),
            ("https://a/b/c?d", "/y", Some("https://a/y")),
            ("https://a/b/c?d", "y", Some("https://a/b/y")),
            ("https://a", "y", Some("https://a/y")),
            ("https://a/b", "//x/y", Some("https://x/y")),
            ("https://a/b", "file:///etc/shadow", None),
        ] {
            assert_eq!(joined(url, to).as_deref(), joint, "{url} {to}");
        }
    }
}
