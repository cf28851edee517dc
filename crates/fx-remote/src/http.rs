//! One request and its answer, over connections that are kept for the next one.

use std::io::Read;
use std::sync::Arc;
use std::time::{Duration, Instant};

use fx_formats::base64;
use rustls::CertificateError;
use ureq::unversioned::resolver::DefaultResolver;
use ureq::unversioned::transport::{ConnectProxyConnector, Connector, TcpConnector};

use crate::proxy::{Toward, Whole};
use crate::tls::{Identity, Secured, Trust, config};

/// A body that is larger than this is refused: it is held in memory.
const MOST_BYTES: u64 = 1 << 30;

/// Two records of TLS. A connection has two such buffers, which are cleared before their first use.
const BUFFER: usize = 32 << 10;

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NetError {
    #[error("connection refused")]
    Refused,
    #[error("{0}")]
    Connect(String),
    #[error("the name of the host is not known")]
    Name,
    #[error("the server's certificate is not trusted: {0}")]
    Certificate(CertificateProblem),
    #[error("{0}")]
    Tls(String),
    #[error("no answer in time")]
    Time,
    #[error("{0}")]
    Other(String),
}

/// What is wrong with the certificate of a server.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CertificateProblem {
    /// Names that it is made for.
    #[error("it is made for {}", .0.join(", "))]
    Host(Vec<String>),
    #[error("it is revoked")]
    Revoked,
    #[error("it is expired")]
    Expired,
    #[error("it is not valid yet")]
    NotYet,
    #[error("its authority is not known")]
    Authority,
    #[error("{0}")]
    Other(String),
}

/// How long is waited.
#[derive(Clone, Copy, Debug)]
pub struct Timeouts {
    pub connect: Duration,
    pub read: Duration,
}

impl Default for Timeouts {
    /// Those of Puppet's agent.
    fn default() -> Timeouts {
        Timeouts { connect: Duration::from_mins(2), read: Duration::from_mins(10) }
    }
}

/// Which way requests take.
#[derive(Clone, Default)]
pub struct Reach {
    /// Servers without TLS are spoken to as well, and redirects are left to the caller.
    pub plain: bool,
    /// `http://user:password@host:port` of a proxy.
    pub proxy: Option<String>,
}

impl std::fmt::Debug for Reach {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The address of a proxy may hold a password.
        let proxied = self.proxy.is_some();
        out.debug_struct("Reach").field("plain", &self.plain).field("proxied", &proxied).finish()
    }
}

/// What a request carries.
#[derive(Clone, Copy, Debug)]
pub struct Content<'a> {
    pub kind: &'a str,
    pub bytes: &'a [u8],
}

/// What a request carries that is not held in memory.
pub struct Stream<'a> {
    pub kind: &'a str,
    pub size: u64,
    pub bytes: &'a mut dyn Read,
}

/// Either of them, or nothing.
enum Body<'a> {
    None,
    Held(Content<'a>),
    Read(Stream<'a>),
}

/// What came back.
#[derive(Clone, Debug)]
pub struct Answer {
    pub status: u16,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Answer {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

/// The head of what came back, and the way to the rest.
pub struct Opened {
    pub status: u16,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    pub body: Box<dyn Read>,
}

impl std::fmt::Debug for Opened {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Opened").field("status", &self.status).finish_non_exhaustive()
    }
}

impl Opened {
    /// Reads the rest into memory, where it is not too large for that.
    fn whole(self) -> Result<Answer, ureq::Error> {
        let mut bytes = Vec::new();
        self.body.take(MOST_BYTES + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > MOST_BYTES {
            return Err(ureq::Error::BodyExceedsLimit(MOST_BYTES));
        }
        Ok(Answer { status: self.status, headers: self.headers, body: bytes })
    }

    /// The whole answer of a request that failed.
    pub fn into_answer(self) -> Result<Answer, NetError> {
        self.whole().map_err(reason)
    }

    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }
}

/// Speaks to servers as one identity.
#[derive(Clone, Debug)]
pub struct Client {
    agent: ureq::Agent,
    forward: Option<Forward>,
    headers: Vec<(String, String)>,
}

/// The way by a proxy for requests without TLS.
#[derive(Clone)]
struct Forward {
    agent: ureq::Agent,
    /// The value of the header that says who asks the proxy.
    credentials: Option<String>,
}

impl std::fmt::Debug for Forward {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Forward").finish_non_exhaustive()
    }
}

impl Forward {
    fn new(proxy: &ureq::Proxy, settings: ureq::config::Config) -> Forward {
        let connector = ().chain(TcpConnector::default()).chain(Whole);
        let credentials = (proxy.username().is_some() || proxy.password().is_some()).then(|| {
            let (user, word) = (proxy.username(), proxy.password());
            let both = format!("{}:{}", user.unwrap_or_default(), word.unwrap_or_default());
            format!("Basic {}", base64::encode(both.as_bytes()))
        });
        let toward = Toward(proxy.uri().clone());
        Forward { agent: ureq::Agent::with_parts(settings, connector, toward), credentials }
    }
}

impl Client {
    /// A client that sends these headers with each request.
    pub fn new(
        trust: &Trust,
        identity: Option<&Identity>,
        headers: Vec<(String, String)>,
        timeouts: Timeouts,
    ) -> Result<Client, NetError> {
        Client::reaching(trust, identity, headers, timeouts, &Reach::default())
    }

    /// The same, by a way of its own.
    pub fn reaching(
        trust: &Trust,
        identity: Option<&Identity>,
        headers: Vec<(String, String)>,
        timeouts: Timeouts,
        reach: &Reach,
    ) -> Result<Client, NetError> {
        let tls = config(trust, identity).map_err(NetError::Tls)?;
        let proxy = match &reach.proxy {
            Some(address) => Some(
                ureq::Proxy::new(address)
                    .map_err(|_| NetError::Other("the address of the proxy is not one".into()))?,
            ),
            None => None,
        };
        let plain = reach.plain;
        let forward = proxy.as_ref().filter(|_| plain);
        let forward = forward.map(|to| Forward::new(to, settings(plain, timeouts, None)));
        let connector =
            ().chain(ConnectProxyConnector::default())
                .chain(TcpConnector::default())
                .chain(Secured(Arc::new(tls)));
        let settings = settings(plain, timeouts, proxy);
        let agent = ureq::Agent::with_parts(settings, connector, DefaultResolver::default());
        Ok(Client { agent, forward, headers })
    }

    /// Sends a request; how long it took until it failed otherwise.
    pub fn send(
        &self,
        method: &str,
        url: &str,
        accept: &str,
        more: &[(&str, &str)],
        content: Option<Content<'_>>,
    ) -> Result<Answer, (NetError, Duration)> {
        self.sent(method, url, accept, more, content.map_or(Body::None, Body::Held))
    }

    /// The same with content that is read while it is sent.
    pub fn send_stream(
        &self,
        method: &str,
        url: &str,
        accept: &str,
        content: Stream<'_>,
    ) -> Result<Answer, (NetError, Duration)> {
        self.sent(method, url, accept, &[], Body::Read(content))
    }

    fn sent(
        &self,
        method: &str,
        url: &str,
        accept: &str,
        more: &[(&str, &str)],
        body: Body<'_>,
    ) -> Result<Answer, (NetError, Duration)> {
        let began = Instant::now();
        self.exchange(method, url, accept, more, body)
            .and_then(Opened::whole)
            .map_err(|error| (reason(error), began.elapsed()))
    }

    /// Sends a request without content; what comes back is read by the caller.
    pub fn open(&self, url: &str, accept: &str) -> Result<Opened, (NetError, Duration)> {
        let began = Instant::now();
        self.exchange("GET", url, accept, &[], Body::None)
            .map_err(|error| (reason(error), began.elapsed()))
    }

    fn exchange(
        &self,
        method: &str,
        url: &str,
        accept: &str,
        more: &[(&str, &str)],
        body: Body<'_>,
    ) -> Result<Opened, ureq::Error> {
        let mut request = ureq::http::Request::builder().method(method).uri(url);
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        request = request.header("Accept", accept);
        for (name, value) in more {
            request = request.header(*name, *value);
        }
        let mut agent = &self.agent;
        if let Some(forward) = self.forward.as_ref().filter(|_| url.starts_with("http://")) {
            agent = &forward.agent;
            if let Some(credentials) = &forward.credentials {
                request = request.header("Proxy-Authorization", credentials);
            }
        }
        let answer = match body {
            Body::Held(Content { kind, bytes }) => {
                let request = request.header("Content-Type", kind).body(bytes)?;
                agent.run(request)?
            }
            Body::Read(Stream { kind, size, mut bytes }) => {
                let request = request.header("Content-Type", kind).header("Content-Length", size);
                agent.run(request.body(ureq::SendBody::from_reader(&mut bytes))?)?
            }
            Body::None => agent.run(request.body(())?)?,
        };
        let (head, body) = answer.into_parts();
        let headers = head.headers.iter().map(|(name, value)| {
            (name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into_owned())
        });
        let headers = headers.collect();
        Ok(Opened { status: head.status.as_u16(), headers, body: Box::new(body.into_reader()) })
    }
}

fn settings(plain: bool, timeouts: Timeouts, proxy: Option<ureq::Proxy>) -> ureq::config::Config {
    let mut settings = ureq::config::Config::builder();
    if plain {
        settings = settings.max_redirects(0).max_redirects_will_error(false);
    } else {
        // No redirect leads out of TLS.
        settings = settings.https_only(true);
    }
    settings
        .http_status_as_error(false)
        .timeout_connect(Some(timeouts.connect))
        .timeout_recv_response(Some(timeouts.read))
        .timeout_per_read(Some(timeouts.read))
        .input_buffer_size(BUFFER)
        .output_buffer_size(BUFFER)
        // A server may close a connection that is idle longer.
        .max_idle_age(Duration::from_secs(4))
        .proxy(proxy)
        .build()
}

/// The kind of failure behind an error of the HTTP client.
fn reason(error: ureq::Error) -> NetError {
    match error {
        ureq::Error::HostNotFound => NetError::Name,
        ureq::Error::Timeout(_) => NetError::Time,
        ureq::Error::Rustls(error) => of_tls(&error),
        ureq::Error::Io(error) => {
            if let Some(tls) = error.get_ref().and_then(|inner| inner.downcast_ref()) {
                return of_tls(tls);
            }
            if error.kind() == std::io::ErrorKind::ConnectionRefused {
                return NetError::Refused;
            }
            // The library has no kind for it, and no number.
            let lookup = "failed to lookup address information";
            if error.raw_os_error().is_none() && error.to_string().starts_with(lookup) {
                return NetError::Name;
            }
            NetError::Connect(error.to_string())
        }
        other => NetError::Other(other.to_string()),
    }
}

fn of_tls(error: &rustls::Error) -> NetError {
    let rustls::Error::InvalidCertificate(problem) = error else {
        return NetError::Tls(error.to_string());
    };
    NetError::Certificate(match problem {
        CertificateError::NotValidForName => CertificateProblem::Host(Vec::new()),
        CertificateError::NotValidForNameContext { presented, .. } => {
            CertificateProblem::Host(presented.iter().map(|name| shown(name)).collect())
        }
        CertificateError::Revoked => CertificateProblem::Revoked,
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            CertificateProblem::Expired
        }
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            CertificateProblem::NotYet
        }
        CertificateError::UnknownIssuer => CertificateProblem::Authority,
        other => CertificateProblem::Other(other.to_string()),
    })
}

/// `DNS:puppet` of `DnsName("puppet")`, as the original lists it.
fn shown(name: &str) -> String {
    let bare = name.split_once('(').map_or(name, |(_, rest)| rest.trim_end_matches(')'));
    format!("DNS:{}", bare.trim_matches('"'))
}
