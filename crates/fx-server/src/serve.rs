//! Listening: connections, TLS, HTTP, and the limits of each.

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use fx_wire::puppet::{Bad, Pairs, Segments};
use fx_wire::x509::Certificate;
use http_body_util::BodyExt;
use hyper::body::{Body, Bytes, Incoming};
use hyper::header::{HeaderName, HeaderValue};
use hyper::{Response, StatusCode};
use tokio::sync::Semaphore;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;

use crate::app::{App, Gate};
use crate::body::Outgoing;
use crate::caller::Caller;
use crate::http::{self, Ending};
use crate::message::{Head, Reply, Request};
use crate::packed::packed;
use crate::tls::{Tls, TlsError};

/// What a server allows its clients.
#[derive(Clone, Debug)]
pub struct Limits {
    pub connections: usize,
    pub connections_of_peer: usize,
    /// For the handshake, for the head of a request, and between requests.
    pub patience: Duration,
    /// For the body of a request.
    pub body_patience: Duration,
    /// Threads that answer. Each holds on to memory of its own.
    pub answering: usize,
    /// Catalogs that are made at the same time. The others wait, and hold no thread meanwhile.
    pub catalogs: usize,
    /// Catalogs that wait beyond this are refused: agents come again.
    pub waiting: usize,
    /// Large bodies that are held in memory at the same time.
    pub large_bodies: usize,
    /// How often the store is queried for revocations of other servers.
    pub refresh: Duration,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            connections: 4096,
            connections_of_peer: 1024,
            patience: Duration::from_secs(30),
            body_patience: Duration::from_mins(2),
            answering: 16,
            catalogs: 4,
            waiting: 256,
            large_bodies: 4,
            refresh: Duration::from_secs(2),
        }
    }
}

/// Bodies up to this size need no turn.
pub(crate) const ORDINARY_BODY: u64 = 1 << 20;

/// So much memory is taken for a body before it comes.
const USUAL_BODY: usize = 256 << 10;

/// Why a server ended.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    #[error(transparent)]
    Tls(#[from] TlsError),
    #[error("cannot listen: {0}")]
    Listen(#[from] std::io::Error),
}

struct Server {
    app: Arc<App>,
    limits: Limits,
    large: Semaphore,
    catalogs: Semaphore,
    waiting: Semaphore,
}

/// Serves until the flag is set, and then until the requests under way are answered.
pub fn serve(
    listener: TcpListener,
    app: Arc<App>,
    tls: &Tls,
    limits: Limits,
    stop: Arc<AtomicBool>,
) -> Result<(), ServeError> {
    let acceptor = TlsAcceptor::from(Arc::new(tls.config()?));
    let runtime = http::runtime(&limits)?;
    let large = Semaphore::new(limits.large_bodies);
    let catalogs = Semaphore::new(limits.catalogs.max(1));
    let waiting = Semaphore::new(limits.waiting.max(1));
    let server = Arc::new(Server { app, limits, large, catalogs, waiting });
    let ended = runtime.block_on(async {
        tokio::spawn(refresh(Arc::clone(&server)));
        http::accept(listener, &server.limits, &stop, |stream, peer, ending| {
            let (acceptor, server) = (acceptor.clone(), Arc::clone(&server));
            async move {
                let patience = server.limits.patience;
                if let Ok(Ok(stream)) = timeout(patience, acceptor.accept(stream)).await {
                    connection(stream, peer, server, ending).await;
                }
            }
        })
        .await
    });
    runtime.shutdown_timeout(Duration::from_secs(5));
    ended
}

/// Looks for revocations that other servers over the same store made.
async fn refresh(server: Arc<Server>) {
    loop {
        tokio::time::sleep(server.limits.refresh).await;
        let app = Arc::clone(&server.app);
        let refreshed =
            tokio::task::spawn_blocking(move || app.parts.revoked.refresh(&app.parts.fleet)).await;
        if let Ok(Err(error)) = refreshed {
            (server.app.parts.log)(&error.to_string());
        }
    }
}

type Stream = tokio_rustls::server::TlsStream<tokio::net::TcpStream>;

async fn connection(stream: Stream, peer: SocketAddr, server: Arc<Server>, ending: Ending) {
    let shown = stream.get_ref().1.peer_certificates().and_then(<[_]>::first);
    let certificate = shown.and_then(|der| Certificate::from_der(der.to_vec()).ok());
    let caller = certificate.map_or(Caller::Anonymous, |certificate| Caller::of(&certificate));
    let patience = server.limits.patience;
    http::speak(stream, patience, ending, move |request| {
        answer(Arc::clone(&server), caller.clone(), peer, request)
    })
    .await;
}

async fn answer(
    server: Arc<Server>,
    caller: Caller,
    peer: SocketAddr,
    request: hyper::Request<Incoming>,
) -> Response<Outgoing> {
    let (parts, body) = request.into_parts();
    let is_head = parts.method == hyper::Method::HEAD;
    let reply = match head(&parts, caller) {
        Ok(head) => {
            let line = format!("{} {}", head.method, head.path);
            let name = head.caller.identity().map_or_else(|| "-".into(), |one| one.name.clone());
            let reply = after_head(&server, head, body).await;
            let bytes = reply.content.as_ref().map_or(reply.body.len() as u64, |file| file.length);
            (server.app.parts.log)(&format!(
                "{} {name} \"{line}\" {} {bytes}",
                peer.ip(),
                reply.status
            ));
            reply
        }
        Err(reply) => closing(reply, &body),
    };
    response(reply, server.app.parts.version, is_head)
}

async fn after_head(server: &Arc<Server>, head: Head, body: Incoming) -> Reply {
    let app = Arc::clone(&server.app);
    let found = match app.gate(&head) {
        Gate::Open(found) => found,
        Gate::Closed(reply) => return closing(reply, &body),
    };
    let declared = body.size_hint().upper();
    if declared.is_some_and(|size| size > found.most as u64) && found.most > 0 {
        return closing(Reply::text(413, "the body is too large"), &body);
    }
    let _turn = if declared.is_none_or(|size| size > ORDINARY_BODY) {
        let patience = server.limits.body_patience;
        match timeout(patience, server.large.acquire()).await {
            Ok(Ok(turn)) => Some(turn),
            _ => return closing(crate::app::busy(), &body),
        }
    } else {
        None
    };
    let room = Vec::with_capacity(likely_size(&body, found.most));
    let read = timeout(server.limits.body_patience, read_body(body, found.most, room)).await;
    let body = match read {
        Ok(Ok(body)) => body,
        Ok(Err(reply)) => return reply,
        Err(_) => return Reply::text(408, "the body took too long").with("connection", "close"),
    };
    // Compilers are fewer than agents: who waits for one must not keep files from others.
    let _compiling = if found.route.compiles() {
        let Ok(waits) = server.waiting.try_acquire() else { return crate::app::busy() };
        let turn = server.catalogs.acquire().await;
        drop(waits);
        Some(turn)
    } else {
        None
    };
    let request = Request { head, body };
    let made = tokio::task::spawn_blocking(move || {
        let reply = app.carry_out(&found, &request);
        packed(&request.head, reply)
    })
    .await;
    // A defect of ours ends this answer and nothing else.
    made.unwrap_or_else(|_| Reply::text(500, "Internal Server Error"))
}

/// A reply before the body was read. The connection ends with it, unless there is no body.
fn closing(reply: Reply, body: &Incoming) -> Reply {
    if body.is_end_stream() || reply.fields.iter().any(|(name, _)| *name == "connection") {
        return reply;
    }
    reply.with("connection", "close")
}

/// How much room a body probably needs: what it declares is believed up to the size of a usual
/// document.
pub(crate) fn likely_size(body: &Incoming, most: usize) -> usize {
    let declared = usize::try_from(body.size_hint().lower()).unwrap_or(0);
    declared.min(most).min(USUAL_BODY)
}

/// Reads a body to its end into a buffer, which is empty.
pub(crate) async fn read_body(
    mut body: Incoming,
    most: usize,
    mut bytes: Vec<u8>,
) -> Result<Vec<u8>, Reply> {
    let too_large = || Reply::text(413, "the body is too large").with("connection", "close");
    while let Some(frame) = body.frame().await {
        let Ok(frame) = frame else {
            return Err(Reply::text(400, "the body ended too soon").with("connection", "close"));
        };
        if let Some(data) = frame.data_ref() {
            if bytes.len() + data.len() > most {
                return Err(too_large());
            }
            bytes.extend_from_slice(data);
        }
    }
    Ok(bytes)
}

fn head(parts: &hyper::http::request::Parts, caller: Caller) -> Result<Head, Reply> {
    let raw = parts.uri.path();
    let path = Segments::parse(raw).map_err(|bad| match bad {
        Bad::Relative => {
            let text = format!("Invalid relative path (.. or .) in: {raw}");
            Reply::new(400, None, text.into_bytes())
        }
        Bad::Malformed => Reply::text(400, "the path is not well formed"),
    })?;
    let query = Pairs::parse(parts.uri.query().unwrap_or_default())
        .ok_or_else(|| Reply::text(400, "the query is not well formed"))?;
    let fields = parts.headers.iter().map(|(name, value)| {
        (name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into_owned())
    });
    Ok(Head {
        method: parts.method.as_str().to_owned(),
        path,
        query,
        caller,
        fields: fields.collect(),
    })
}

fn response(reply: Reply, version: &'static str, is_head: bool) -> Response<Outgoing> {
    let body = match reply.content {
        _ if is_head => Outgoing::whole(Bytes::new()),
        Some(content) => Outgoing::poured(content),
        None => Outgoing::whole(reply.body),
    };
    let mut response = Response::new(body);
    *response.status_mut() =
        StatusCode::from_u16(reply.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = response.headers_mut();
    headers.insert("x-puppet-version", HeaderValue::from_static(version));
    if let Some(kind) = reply.content_type {
        headers.insert(hyper::header::CONTENT_TYPE, HeaderValue::from_static(kind));
    }
    for (name, value) in reply.fields {
        if let Ok(value) = HeaderValue::from_str(&value) {
            headers.insert(HeaderName::from_static(name), value);
        }
    }
    response
}
