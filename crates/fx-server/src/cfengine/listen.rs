//! Listening: connections, TLS, who is there, and the limits of each.

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use fx_cfengine_server::{Peer, Refusal};
use fx_wire::cfengine::tls::{Offer, SERVER_CIPHERS, TlsError, peer_key, server_config};
use fx_wire::cfengine::{
    Frame, Frames, Greeting, PublicKey, VERSION, encode, self_signed, user_of, version_line,
};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::{Semaphore, mpsc};
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;

use super::session::{Next, Output, Session};
use super::site::{Importance, Site, Trust};
use crate::connections::Connections;
use crate::serve::ServeError;

/// A record of TLS: a transaction that is cut by its end is not read by the original.
const RECORD: usize = 16 << 10;
/// What of a connection is read ahead of its answers.
const MOST_WAITING: usize = 64 << 10;

/// What a server allows its clients besides policy.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Connections of all, whoever they are.
    pub connections: usize,
    /// For the handshake and until somebody said who he is.
    pub patience: Duration,
    /// Between requests.
    pub idle: Duration,
    /// Threads that answer.
    pub answering: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            connections: 4096,
            patience: Duration::from_secs(30),
            idle: Duration::from_mins(10),
            answering: 32,
        }
    }
}

/// A server about to serve.
pub struct Listening {
    pub listener: TcpListener,
    pub site: Arc<dyn Site>,
    pub limits: Limits,
    pub stop: Arc<AtomicBool>,
    /// Called now and then with the number of connections, to read policy anew.
    pub tick: Box<dyn Fn(usize) + Send>,
}

struct Server {
    site: Arc<dyn Site>,
    limits: Limits,
    acceptor: TlsAcceptor,
    answering: Semaphore,
}

fn acceptor(site: &dyn Site) -> Result<TlsAcceptor, TlsError> {
    let control = site.rules().control.clone();
    let ciphers = control.ciphers.unwrap_or_else(|| SERVER_CIPHERS.to_owned());
    let offer = Offer { ciphers: Some(ciphers), least: control.least_tls };
    let now = u64::try_from(site.now()).unwrap_or_default();
    let certificate =
        self_signed(site.key(), now).map_err(|error| TlsError::Other(error.to_string()))?;
    Ok(TlsAcceptor::from(Arc::new(server_config(site.key(), &certificate, &offer)?)))
}

/// Serves until the flag is set.
pub fn serve_cfengine(listening: Listening) -> Result<(), ServeError> {
    let Listening { listener, site, limits, stop, tick } = listening;
    let own = |error: TlsError| ServeError::Tls(crate::tls::TlsError::Own(error.to_string()));
    let acceptor = acceptor(&*site).map_err(own)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .max_blocking_threads(limits.answering.max(2) + 2)
        .thread_keep_alive(Duration::from_secs(20))
        .enable_all()
        .build()?;
    listener.set_nonblocking(true)?;
    let answering = Semaphore::new(limits.answering);
    let server = Arc::new(Server { site, limits, acceptor, answering });
    let ended = runtime.block_on(accept(listener, server, stop, tick));
    runtime.shutdown_timeout(Duration::from_secs(2));
    ended
}

async fn accept(
    listener: TcpListener,
    server: Arc<Server>,
    stop: Arc<AtomicBool>,
    tick: Box<dyn Fn(usize) + Send>,
) -> Result<(), ServeError> {
    let listener = tokio::net::TcpListener::from_std(listener)?;
    let connections = Connections::default();
    while !stop.load(Ordering::Relaxed) {
        // The flag is set by a signal, which ends no wait.
        let accepted = timeout(Duration::from_millis(200), listener.accept()).await;
        tick(connections.all());
        let Ok(accepted) = accepted else { continue };
        let Ok((stream, peer)) = accepted else {
            // Too many files are open: connections must end before more can begin.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        take(&server, &connections, stream, peer);
    }
    Ok(())
}

fn take(server: &Arc<Server>, connections: &Connections, stream: TcpStream, peer: SocketAddr) {
    let ip = peer.ip().to_canonical();
    let address = ip.to_string();
    let control = &server.site.rules().control;
    let refused = match control.admits(&address, connections.of(ip)) {
        Ok(()) => None,
        Err(Refusal::NotAllowed) => {
            Some(format!("Remote host '{address}' not in allowconnects, denying connection"))
        }
        Err(Refusal::Denied) => {
            Some(format!("Remote host '{address}' is in denyconnects, denying connection"))
        }
        Err(Refusal::Second) => Some(format!(
            "Remote host '{address}' is not in allowallconnects, denying second simultaneous connection"
        )),
    };
    if let Some(text) = refused {
        server.site.log(Importance::Error, &address, &text);
        return;
    }
    // What policy allows at most is not what an attack may use up: idle connections cost little.
    let most = server.limits.connections.max(control.most_connections);
    let Some(counted) = connections.count(ip, most, most) else {
        let text = format!("Too many connections ({most}), dropping connection!");
        server.site.log(Importance::Error, &address, &text);
        return;
    };
    let server = Arc::clone(server);
    tokio::spawn(async move {
        let _counted = counted;
        let _ = stream.set_nodelay(true);
        server.site.log(Importance::Info, &address, "Accepting connection");
        connection(&server, stream, &address).await;
        server.site.log(Importance::Info, &address, "Closing connection, terminating thread");
    });
}

/// Whether the first bytes are those of the old form.
async fn is_classic(stream: &TcpStream, patience: Duration) -> Option<bool> {
    let mut first = [0; 14];
    let looked = timeout(patience, async {
        loop {
            match stream.peek(&mut first).await {
                Ok(0) | Err(_) => return None,
                // A handshake of TLS begins so, and no transaction does.
                Ok(_) if first[0] == 0x16 => return Some(false),
                Ok(count) if count >= 13 => return Some(&first[8..13] == b"CAUTH"),
                Ok(_) => tokio::time::sleep(Duration::from_millis(20)).await,
            }
        }
    });
    looked.await.ok().flatten()
}

async fn connection(server: &Arc<Server>, stream: TcpStream, address: &str) {
    let patience = server.limits.patience;
    let Some(classic) = is_classic(&stream, patience).await else { return };
    if classic {
        if !server.site.rules().control.allows_legacy(address) {
            let text = "Connection is not using latest protocol, denying";
            return server.site.log(Importance::Info, address, text);
        }
        let peer = Peer { address: address.to_owned(), ..Peer::default() };
        let mut session = Session::new(Arc::clone(&server.site), peer);
        session.classic = true;
        return converse(server, stream, session).await;
    }
    let accepted = timeout(patience, server.acceptor.accept(stream)).await;
    let mut stream = match accepted {
        Ok(Ok(stream)) => stream,
        Ok(Err(error)) => {
            let text = format!("Failed to accept TLS connection: {error}");
            return server.site.log(Importance::Error, address, &text);
        }
        Err(_) => return,
    };
    let Some(key) = peer_key(stream.get_ref().1.peer_certificates()) else { return };
    let introduced = timeout(patience, introduce(server, &mut stream, &key, address)).await;
    let Ok(Some(session)) = introduced else { return };
    converse(server, stream, session).await;
}

async fn line(stream: &mut (impl AsyncRead + Unpin), waiting: &mut Vec<u8>) -> Option<Vec<u8>> {
    loop {
        if let Some(end) = waiting.iter().position(|byte| *byte == b'\n') {
            return Some(waiting.drain(..=end).collect());
        }
        if waiting.len() > 1023 {
            return None;
        }
        let mut buffer = [0; 1024];
        match stream.read(&mut buffer).await {
            Ok(0) | Err(_) => return None,
            Ok(count) => waiting.extend_from_slice(&buffer[..count]),
        }
    }
}

// Versions and names are exchanged, and the key is judged with the name.
async fn introduce<S: AsyncRead + AsyncWrite + Unpin>(
    server: &Arc<Server>,
    stream: &mut S,
    key: &PublicKey,
    address: &str,
) -> Option<Session> {
    let hello = version_line(VERSION, "cf-serverd", "3.21.0");
    stream.write_all(hello.as_bytes()).await.ok()?;
    stream.flush().await.ok()?;
    let mut waiting = Vec::new();
    let greeting = Greeting::parse(&line(stream, &mut waiting).await?)?;
    if !(2..=VERSION).contains(&greeting.version) {
        return None;
    }
    let user = user_of(&line(stream, &mut waiting).await?)?;
    let site = Arc::clone(&server.site);
    let (peer_key, who, from) = (key.clone(), user.clone(), address.to_owned());
    let judged = tokio::task::spawn_blocking(move || {
        let rules = site.rules();
        let trust = site.trust(&who, &peer_key, rules.control.trusts_from(&from));
        if trust != Trust::Refused {
            site.saw(&peer_key, &from);
        }
        let name = if rules.needs_names() { site.name_of(&from) } else { None };
        (trust, name)
    });
    let (trust, name) = judged.await.ok()?;
    match trust {
        Trust::Known => {}
        Trust::New => {
            let text = format!("Trusting new key: {}", key.digest());
            server.site.log(Importance::Notice, address, &text);
        }
        Trust::Refused => {
            let text = "TRUST FAILED, peer presented an untrusted key, dropping connection!";
            server.site.log(Importance::Notice, address, text);
            return None;
        }
    }
    let welcome = match user.as_str() {
        "" => "OK WELCOME\n".to_owned(),
        user => format!("OK WELCOME USERNAME={user}\n"),
    };
    stream.write_all(welcome.as_bytes()).await.ok()?;
    stream.flush().await.ok()?;
    let key = key.digest().to_string();
    let peer = Peer { address: address.to_owned(), name, key, user };
    Some(Session::new(Arc::clone(&server.site), peer))
}

/// Answers on their way to the connection, in pieces that one record holds.
struct Outgoing {
    send: mpsc::Sender<Vec<u8>>,
    waiting: Vec<u8>,
    is_gone: bool,
}

impl Outgoing {
    fn flush(&mut self) {
        let piece = std::mem::take(&mut self.waiting);
        if !piece.is_empty() && !self.is_gone {
            self.is_gone = self.send.blocking_send(piece).is_err();
        }
    }
}

impl Output for Outgoing {
    fn frame(&mut self, more: bool, payload: &[u8]) {
        if self.waiting.len() + payload.len() + 8 > RECORD {
            self.flush();
        }
        encode(more, payload, &mut self.waiting);
    }

    fn raw(&mut self, bytes: &[u8]) -> bool {
        if self.waiting.len() + bytes.len() > RECORD {
            self.flush();
        }
        self.waiting.extend_from_slice(bytes);
        !self.is_gone
    }

    fn is_heard(&self) -> bool {
        !self.is_gone
    }
}

async fn converse<S: AsyncRead + AsyncWrite + Unpin>(
    server: &Arc<Server>,
    mut stream: S,
    mut session: Session,
) {
    let mut frames = Frames::default();
    let mut buffer = vec![0; RECORD];
    loop {
        let (waiting, broken) = complete(&mut frames);
        if waiting.is_empty() {
            if broken || frames.waiting() > MOST_WAITING {
                return;
            }
            match timeout(server.limits.idle, stream.read(&mut buffer)).await {
                Ok(Ok(count)) if count > 0 => frames.feed(&buffer[..count]),
                _ => return,
            }
            continue;
        }
        let Ok(_turn) = server.answering.acquire().await else { return };
        let (send, mut receive) = mpsc::channel(2);
        let answering = tokio::task::spawn_blocking(move || {
            let mut out = Outgoing { send, waiting: Vec::new(), is_gone: false };
            let next = session.answer_all(&waiting, &mut out);
            out.flush();
            (session, next)
        });
        while let Some(piece) = receive.recv().await {
            let sent = timeout(server.limits.idle, async {
                stream.write_all(&piece).await?;
                stream.flush().await
            });
            if !matches!(sent.await, Ok(Ok(()))) {
                return;
            }
        }
        let Ok((back, next)) = answering.await else { return };
        if next == Next::Close {
            let _ = stream.shutdown().await;
            return;
        }
        session = back;
    }
}

// Transactions that are there as a whole, and whether what follows is none.
fn complete(frames: &mut Frames) -> (Vec<Frame>, bool) {
    let mut whole = Vec::new();
    loop {
        match frames.next_frame() {
            Ok(Some(frame)) => whole.push(frame),
            Ok(None) => return (whole, false),
            Err(_) => return (whole, true),
        }
    }
}
