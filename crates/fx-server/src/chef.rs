//! Chef's clients: connections, with or without TLS, in front of [`fx_chef_server::Server`].

use std::net::TcpListener;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use fx_chef_server::{Reply, Request, Server};
use fx_wire::puppet::Pairs;
use http_body_util::Full;
use hyper::body::{Body, Bytes, Incoming};
use hyper::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use hyper::{Response, StatusCode};
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;

use crate::http::{self, Ending};
use crate::serve::{Limits, ORDINARY_BODY, ServeError, likely_size, read_body};
use crate::tls::Tls;

struct Face {
    server: Arc<Server>,
    limits: Limits,
    large: Semaphore,
    log: Arc<dyn Fn(&str) + Send + Sync>,
}

/// Serves until the flag is set, and then until the requests under way are answered.
pub fn serve_chef(
    listener: TcpListener,
    server: Arc<Server>,
    tls: Option<&Tls>,
    limits: Limits,
    log: Arc<dyn Fn(&str) + Send + Sync>,
    stop: Arc<AtomicBool>,
) -> Result<(), ServeError> {
    let acceptor = match tls {
        Some(tls) => Some(TlsAcceptor::from(Arc::new(tls.config()?))),
        None => None,
    };
    let runtime = http::runtime(&limits)?;
    let large = Semaphore::new(limits.large_bodies);
    let face = Arc::new(Face { server, limits, large, log });
    let ended =
        runtime.block_on(http::accept(listener, &face.limits, &stop, |stream, _, ending| {
            connection(stream, acceptor.clone(), Arc::clone(&face), ending)
        }));
    runtime.shutdown_timeout(Duration::from_secs(5));
    ended
}

async fn connection(
    stream: TcpStream,
    acceptor: Option<TlsAcceptor>,
    face: Arc<Face>,
    ending: Ending,
) {
    let patience = face.limits.patience;
    let answered = move |request| answer(Arc::clone(&face), request);
    match acceptor {
        None => http::speak(stream, patience, ending, answered).await,
        Some(acceptor) => {
            if let Ok(Ok(stream)) = timeout(patience, acceptor.accept(stream)).await {
                http::speak(stream, patience, ending, answered).await;
            }
        }
    }
}

async fn answer(face: Arc<Face>, request: hyper::Request<Incoming>) -> Response<Full<Bytes>> {
    let (parts, body) = request.into_parts();
    let is_head = parts.method == hyper::Method::HEAD;
    let line = format!("{} {}", parts.method, parts.uri.path());
    let reply = reply(&face, &parts, body).await;
    (face.log)(&format!("\"{line}\" {} {}", reply.status, reply.body.len()));
    response(&face.server, reply, is_head)
}

async fn reply(face: &Arc<Face>, parts: &hyper::http::request::Parts, body: Incoming) -> Reply {
    let refused = |status: u16, text: &str| {
        let body = format!("{{\"error\":[\"{text}\"]}}").into_bytes();
        let fields = vec![("connection", "close".to_owned())];
        Reply { status, content_type: "application/json", fields, body }
    };
    let Some(query) = Pairs::parse(parts.uri.query().unwrap_or_default()) else {
        return refused(400, "the query is not well formed");
    };
    let fields = parts.headers.iter().map(|(name, value)| {
        (name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into_owned())
    });
    let mut request = Request {
        method: parts.method.as_str().to_owned(),
        path: parts.uri.path().to_owned(),
        query,
        fields: fields.collect(),
        body: Vec::new(),
    };
    let place = face.server.find(&request);
    let most = face.server.body_limit(&request, &place);
    let declared = body.size_hint().upper();
    if declared.is_some_and(|size| size > most as u64) {
        return face.server.refuse_body(&request, place);
    }
    let patience = face.limits.body_patience;
    let _turn = if declared.is_none_or(|size| size > ORDINARY_BODY) {
        match timeout(patience, face.large.acquire()).await {
            Ok(Ok(turn)) => Some(turn),
            _ => return refused(503, "too much is under way"),
        }
    } else {
        None
    };
    if !body.is_end_stream() {
        let room = face.server.buffers.take(likely_size(&body, most));
        request.body = match timeout(patience, read_body(body, most, room)).await {
            Ok(Ok(body)) => body,
            Ok(Err(wrong)) if wrong.status == 413 => {
                return face.server.refuse_body(&request, place);
            }
            Ok(Err(wrong)) => return refused(wrong.status, "the body cannot be read"),
            Err(_) => return refused(408, "the body took too long"),
        };
    }
    let server = Arc::clone(&face.server);
    // A defect of ours ends this answer and nothing else.
    let defect = || refused(500, "internal service error");
    if server.answers_at_once(&request, &place) {
        let made = std::panic::catch_unwind(AssertUnwindSafe(|| server.answer_at(&request, place)));
        return made.unwrap_or_else(|_| defect());
    }
    let answered = move || {
        let reply = server.answer_at(&request, place);
        server.buffers.give_back(request.body);
        reply
    };
    let made = tokio::task::spawn_blocking(answered).await;
    made.unwrap_or_else(|_| defect())
}

/// A body that goes back to the buffers of its server when it was sent.
struct Lent {
    body: Vec<u8>,
    server: Arc<Server>,
}

impl AsRef<[u8]> for Lent {
    fn as_ref(&self) -> &[u8] {
        &self.body
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        self.server.buffers.give_back(std::mem::take(&mut self.body));
    }
}

fn response(server: &Arc<Server>, reply: Reply, is_head: bool) -> Response<Full<Bytes>> {
    let body = if is_head {
        Bytes::new()
    } else if server.buffers.wants(&reply.body) {
        Bytes::from_owner(Lent { body: reply.body, server: Arc::clone(server) })
    } else {
        Bytes::from(reply.body)
    };
    let mut response = Response::new(Full::new(body));
    *response.status_mut() =
        StatusCode::from_u16(reply.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(reply.content_type));
    for (name, value) in reply.fields {
        if let Ok(value) = HeaderValue::from_str(&value) {
            headers.insert(HeaderName::from_static(name), value);
        }
    }
    response
}
