//! A connection to a server: how it is made, and requests of files over it.

use std::io::Write;
use std::net::TcpStream;
use std::sync::Arc;

use fx_wire::cfengine::tls::{Offer, client_config, peer_key};
use fx_wire::cfengine::{
    DIFFERENT, FileKind, Frame, Greeting, PrivateKey, PublicKey, Request, Stat, classic,
    identity_line, is_welcome, names, version_line,
};
use rustls::pki_types::ServerName;
use rustls::{ClientConnection, StreamOwned};

use super::transport::{Stream, Transport};
use super::{Lost, Protocol};

/// Requests under way at the same time: their answers wait in buffers of the system.
const MOST_AT_ONCE: usize = 128;
/// What the original puts before a text in the place of a file.
const REFUSED: &[u8] = b"BAD: ";
const CHANGED: &[u8] = b"BAD: File changed while copying: ";
const BLOCK: usize = 2048;

/// Who we are and what we want of a connection.
pub struct Wish<'a> {
    pub key: &'a PrivateKey,
    /// Our certificate, made from the key.
    pub certificate: &'a [u8],
    pub user: &'a str,
    /// Name and release of our program.
    pub program: &'a str,
    pub release: &'a str,
    pub protocol: Protocol,
    pub offer: Offer,
    /// Whether requests over the old form are encrypted.
    pub encrypt: bool,
    /// The key that the server is known by, for the old form.
    pub known: Option<PublicKey>,
    pub random: &'a mut dyn FnMut(&mut [u8]),
    /// Name of this host, for the old form.
    pub host: &'a str,
}

/// Whose connection was opened.
pub struct Opened {
    pub connection: Connection,
    pub key: PublicKey,
}

/// What a server says of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    Is(Box<Stat>, Option<Vec<u8>>),
    /// It is not there, or not for us: the server says no more.
    Refused(Vec<u8>),
}

/// A connection to a server that takes us.
pub struct Connection {
    pub(super) transport: Transport,
    /// The key of the session, where requests are encrypted by themselves.
    secure: Option<classic::SessionKey>,
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.transport.close();
    }
}

impl Connection {
    /// Opens a connection over a socket. `trusts` decides about the key of the server before
    /// anything else is said.
    pub fn open(
        socket: TcpStream,
        wish: &mut Wish<'_>,
        trusts: &mut dyn FnMut(&PublicKey) -> bool,
    ) -> Result<Opened, Lost> {
        match wish.protocol {
            Protocol::Classic => {
                let mut transport = Transport::new(Stream::Plain(socket));
                let (key, session) = super::classic::authenticate(&mut transport, wish, trusts)?;
                let secure = wish.encrypt.then_some(session);
                Ok(Opened { connection: Connection { transport, secure }, key })
            }
            Protocol::Tls(wanted) => {
                let (transport, key) = secured(socket, wish, trusts)?;
                let mut connection = Connection { transport, secure: None };
                connection.introduce(wish, wanted)?;
                Ok(Opened { connection, key })
            }
        }
    }

    fn introduce(&mut self, wish: &Wish<'_>, wanted: u8) -> Result<(), Lost> {
        let line = self.transport.line()?;
        let common = Greeting::parse(&line).and_then(|greeting| greeting.common(wanted));
        let version = common.ok_or(Lost::Version)?;
        self.transport.say(&version_line(version, wish.program, wish.release))?;
        self.transport.say(&identity_line(wish.user))?;
        let answer = self.transport.line()?;
        if is_welcome(&answer) {
            return Ok(());
        }
        Err(Lost::Identity(String::from_utf8_lossy(&answer).trim_end().to_owned()))
    }

    // The payload of a request as it goes out.
    fn payload(&self, request: &Request) -> Vec<u8> {
        let plain = match (request, &self.secure) {
            (Request::Get { path }, Some(_)) => classic::get_payload(path),
            _ => request.payload(),
        };
        match &self.secure {
            Some(key) => classic::shut(key, &plain).unwrap_or(plain),
            None => plain,
        }
    }

    /// Sends requests together, as many as may be under way; how many these were.
    fn send_some(&mut self, requests: &[Request]) -> Result<usize, Lost> {
        let mut sent = 0;
        for request in requests.iter().take(MOST_AT_ONCE) {
            let payload = self.payload(request);
            if sent > 0 && !self.transport.has_room(&payload) {
                break;
            }
            self.transport.queue(&payload)?;
            sent += 1;
        }
        self.transport.flush()?;
        Ok(sent)
    }

    /// What paths stand for.
    pub fn stats(&mut self, paths: &[Vec<u8>], now: i64) -> Result<Vec<Found>, Lost> {
        let requests: Vec<Request> =
            paths.iter().map(|path| Request::Stat { time: now, path: path.clone() }).collect();
        let mut found = Vec::with_capacity(paths.len());
        while found.len() < requests.len() {
            let sent = self.send_some(&requests[found.len()..])?;
            for _ in 0..sent {
                found.push(self.found()?);
            }
        }
        Ok(found)
    }

    fn found(&mut self) -> Result<Found, Lost> {
        let line = self.transport.frame()?.payload;
        if !line.starts_with(b"OK: ") {
            return Ok(Found::Refused(line));
        }
        let target = self.transport.frame()?.payload;
        let Some(stat) = Stat::parse(&line) else {
            return Err(Lost::Broken("an answer cannot be read".into()));
        };
        let target = target.strip_prefix(b"OK:").unwrap_or_default();
        let end = target.iter().position(|byte| *byte == 0).unwrap_or(target.len());
        let is_link = stat.kind == FileKind::Link && end > 0;
        Ok(Found::Is(Box::new(stat), is_link.then(|| target[..end].to_vec())))
    }

    /// The names in a directory, without `.` and `..`; what the server said otherwise.
    pub fn list(&mut self, path: &[u8]) -> Result<Result<Vec<Vec<u8>>, Vec<u8>>, Lost> {
        let payload = self.payload(&Request::List { path: path.to_vec() });
        self.transport.send(&payload)?;
        let mut all = Vec::new();
        loop {
            let frame = self.opened()?;
            if frame.payload.starts_with(REFUSED) && all.is_empty() {
                return Ok(Err(frame.payload));
            }
            if names(&frame.payload, &mut all) {
                break;
            }
            // The original goes on to the terminator; a last packet without one is its end too.
            if !frame.more || all.len() > 1_000_000 {
                break;
            }
        }
        // A name is one component, whatever the server says.
        all.retain(|name| name != b"." && name != b".." && !name.contains(&b'/'));
        Ok(Ok(all))
    }

    // A transaction that is encrypted where requests are.
    fn opened(&mut self) -> Result<Frame, Lost> {
        let frame = self.transport.frame()?;
        let Some(key) = &self.secure else { return Ok(frame) };
        match classic::decrypt(key, &frame.payload) {
            Some(payload) => Ok(Frame { more: frame.more, payload }),
            // Refusals come in the clear.
            None => Ok(frame),
        }
    }

    /// Whether contents differ from digests, for each path.
    pub fn compare(&mut self, wanted: &[(Vec<u8>, Vec<u8>)]) -> Result<Vec<bool>, Lost> {
        let requests: Vec<Request> = wanted
            .iter()
            .map(|(path, digest)| Request::Compare { path: path.clone(), digest: digest.clone() })
            .collect();
        let mut differ = Vec::with_capacity(wanted.len());
        while differ.len() < requests.len() {
            let sent = self.send_some(&requests[differ.len()..])?;
            for _ in 0..sent {
                differ.push(self.transport.frame()?.payload == DIFFERENT);
            }
        }
        Ok(differ)
    }

    /// Requests files, of which [`Connection::content`] reads one after the other; how many of
    /// them were requested.
    pub fn request_files(&mut self, paths: &[Vec<u8>]) -> Result<usize, Lost> {
        let requests: Vec<Request> =
            paths.iter().map(|path| Request::Get { path: path.clone() }).collect();
        self.send_some(&requests)
    }

    /// The content of the file requested first, as large as its answer said; the text of the
    /// server where it refuses.
    pub fn content(
        &mut self,
        size: u64,
        into: &mut dyn Write,
    ) -> Result<Result<(), Vec<u8>>, Lost> {
        if self.secure.is_some() {
            self.secure_content(into)
        } else {
            self.plain_content(size, into)
        }
    }

    fn plain_content(
        &mut self,
        size: u64,
        into: &mut dyn Write,
    ) -> Result<Result<(), Vec<u8>>, Lost> {
        if size == 0 {
            return Ok(Ok(()));
        }
        if self.is_refused(size)? {
            return Ok(Err(self.transport.frame()?.payload));
        }
        let mut left = size;
        while left > 0 {
            let done = size - left;
            if left >= BLOCK as u64 && done.is_multiple_of(BLOCK as u64) && done > 0 {
                self.check_unchanged()?;
            }
            let until_block = BLOCK as u64 - done % BLOCK as u64;
            let bytes = self.transport.raw(left.min(until_block) as usize)?;
            into.write_all(bytes)?;
            left -= bytes.len() as u64;
        }
        Ok(Ok(()))
    }

    // A refusal stands where the content would, as a transaction.
    fn is_refused(&mut self, size: u64) -> Result<bool, Lost> {
        let start = self.transport.peek(1)?;
        if start[0] != b't' {
            return Ok(false);
        }
        let least = (size.min(8)) as usize;
        let start = self.transport.peek(least)?;
        let is_head = start[..least.min(2)] == b"t "[..least.min(2)]
            && start[..least].iter().skip(2).all(|byte| byte.is_ascii_digit() || *byte == 0)
            && (least < 3 || start[2].is_ascii_digit())
            && (least < 8 || start[7] == 0);
        // A short file that looks like the head of a transaction is taken for one.
        if !is_head || size < 4 {
            return Ok(false);
        }
        Ok(self.transport.peek(13)?[8..13] == *REFUSED)
    }

    fn check_unchanged(&mut self) -> Result<(), Lost> {
        if self.transport.peek(1)?[0] != b'B' {
            return Ok(());
        }
        if self.transport.peek(CHANGED.len())?.starts_with(CHANGED) {
            return Err(Lost::Broken("the file changed while it was copied".into()));
        }
        Ok(())
    }

    fn secure_content(&mut self, into: &mut dyn Write) -> Result<Result<(), Vec<u8>>, Lost> {
        let Some(key) = self.secure else { return Ok(Ok(())) };
        loop {
            let frame = self.transport.frame()?;
            let Some(plain) = classic::decrypt(&key, &frame.payload) else {
                return Ok(Err(frame.payload));
            };
            into.write_all(&plain)?;
            if !frame.more {
                return Ok(Ok(()));
            }
        }
    }

    /// The text of a variable that the server gives away.
    pub fn variable(&mut self, name: &[u8]) -> Result<Vec<u8>, Lost> {
        let payload = self.payload(&Request::Variable { name: name.to_vec() });
        self.transport.send(&payload)?;
        Ok(self.opened()?.payload)
    }

    /// Classes of the server that match a pattern.
    pub fn context(&mut self, pattern: &[u8]) -> Result<Vec<u8>, Lost> {
        let payload = self.payload(&Request::Context { pattern: pattern.to_vec() });
        self.transport.send(&payload)?;
        Ok(self.opened()?.payload)
    }
}

fn secured(
    socket: TcpStream,
    wish: &mut Wish<'_>,
    trusts: &mut dyn FnMut(&PublicKey) -> bool,
) -> Result<(Transport, PublicKey), Lost> {
    let config = client_config(wish.key, wish.certificate, &wish.offer)
        .map_err(|error| Lost::Tls(error.to_string()))?;
    // Nobody looks at the name.
    let name = ServerName::from(std::net::Ipv4Addr::LOCALHOST);
    let mut tls = ClientConnection::new(Arc::new(config), name.into())
        .map_err(|error| Lost::Tls(error.to_string()))?;
    let mut socket = socket;
    while tls.is_handshaking() {
        tls.complete_io(&mut socket)?;
    }
    let key = peer_key(tls.peer_certificates()).ok_or(Lost::Version)?;
    if !trusts(&key) {
        return Err(Lost::Untrusted(Box::new(key)));
    }
    Ok((Transport::new(Stream::Tls(Box::new(StreamOwned::new(tls, socket)))), key))
}
