//! One connection after its peer is known: requests and their answers.

use std::sync::Arc;

use fx_cfengine_server::{Peer, Rules};
use fx_wire::cfengine::{Bad, Frame, ILLEGAL, REFUSAL, Request, TERMINATOR, classic};

use super::files::Denied;
use super::site::{Importance, Paths, Site};

/// Where answers go.
pub(super) trait Output {
    /// One transaction.
    fn frame(&mut self, more: bool, payload: &[u8]);
    /// Bytes without a frame; whether somebody still listens.
    fn raw(&mut self, bytes: &[u8]) -> bool;
    /// Whether somebody still listens.
    fn is_heard(&self) -> bool;
}

/// Whether the connection goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    Continue,
    Close,
}

/// A run that was asked for and whose classes are still to come.
pub(super) struct Asked {
    pub(super) arguments: String,
    pub(super) classes: Vec<String>,
}

/// One peer.
pub(super) struct Session {
    pub(super) site: Arc<dyn Site>,
    pub(super) paths: Box<dyn Paths>,
    /// What was allowed when the connection began.
    pub(super) rules: Arc<Rules>,
    pub(super) peer: Peer,
    /// Whether the old form is spoken, …
    pub(super) classic: bool,
    /// … the request at hand was encrypted, …
    pub(super) encrypted: bool,
    /// … and with which key.
    pub(super) cipher_key: Option<classic::SessionKey>,
    pub(super) asked: Option<Asked>,
    pub(super) stage: super::classic::Stage,
}

impl Session {
    pub(super) fn new(site: Arc<dyn Site>, peer: Peer) -> Session {
        let rules = site.rules();
        Session {
            paths: site.paths(),
            site,
            rules,
            peer,
            classic: false,
            encrypted: false,
            cipher_key: None,
            asked: None,
            stage: super::classic::Stage::Claim,
        }
    }

    pub(super) fn log(&self, importance: Importance, text: &str) {
        self.site.log(importance, &self.peer.address, text);
    }

    /// Logs what would cost too much to word for nobody.
    pub(super) fn log_verbose(&self, text: impl FnOnce() -> String) {
        if self.site.logs(Importance::Verbose) {
            self.log(Importance::Verbose, &text());
        }
    }

    /// An answer that is encrypted where the request was.
    pub(super) fn answer_secure(&self, more: bool, payload: &[u8], out: &mut dyn Output) {
        match self.cipher_key.filter(|_| self.encrypted) {
            Some(key) => out.frame(more, &classic::encrypt(&key, payload)),
            None => out.frame(more, payload),
        }
    }

    /// Answers transactions that came together.
    pub(super) fn answer_all(&mut self, frames: &[Frame], out: &mut dyn Output) -> Next {
        // What was found for earlier ones may lie elsewhere by now.
        self.paths = self.site.paths();
        for frame in frames {
            if self.answer(frame, out) == Next::Close {
                return Next::Close;
            }
            if !out.is_heard() {
                break;
            }
        }
        Next::Continue
    }

    fn answer(&mut self, frame: &Frame, out: &mut dyn Output) -> Next {
        if self.classic && !self.is_authenticated() {
            return self.authenticate(&frame.payload, out);
        }
        if let Some(asked) = &mut self.asked {
            if frame.payload.strip_suffix(b"\0").unwrap_or(&frame.payload) != TERMINATOR {
                // The original looks at no more than ten.
                if asked.classes.len() < 10 {
                    asked.classes.push(String::from_utf8_lossy(&frame.payload).into_owned());
                }
                return Next::Continue;
            }
            return self.execute(out);
        }
        let mut payload = std::borrow::Cow::Borrowed(&frame.payload);
        self.encrypted = false;
        if self.classic && classic::is_secure(&payload) {
            let opened = self.cipher_key.and_then(|key| classic::open(&key, &payload));
            let Some(opened) = opened else { return self.illegal(&frame.payload, out) };
            self.encrypted = true;
            payload = std::borrow::Cow::Owned(opened);
        }
        match Request::parse(&payload) {
            Ok(request) => self.answer_request(request, &frame.payload, out),
            Err(Bad::Empty) => {
                self.log(Importance::Warning, "Got NULL transmission");
                Next::Continue
            }
            Err(Bad::Unknown) => self.illegal(&frame.payload, out),
        }
    }

    fn illegal(&self, payload: &[u8], out: &mut dyn Output) -> Next {
        let shown = String::from_utf8_lossy(payload);
        self.log(
            Importance::Info,
            &format!("Closing connection due to illegal request: {}", shown.escape_debug()),
        );
        out.frame(false, ILLEGAL);
        Next::Close
    }

    fn answer_request(&mut self, request: Request, payload: &[u8], out: &mut dyn Output) -> Next {
        let denied = match request {
            Request::Version => {
                out.frame(false, b"OK: 3.21.0");
                Ok(())
            }
            Request::Stat { time, path } => self.stat(time, &path, out),
            Request::List { path } => self.list(&path, out),
            Request::Compare { path, digest } => self.compare(&path, &digest, out),
            Request::Get { path } => match self.get(&path, out) {
                Ok(true) => Ok(()),
                // The other side counts bytes, and they are not all there.
                Ok(false) => return Next::Close,
                Err(denied) => Err(denied),
            },
            Request::Variable { name } => self.variable(&name, out),
            Request::Context { pattern } => self.context(&pattern, out),
            Request::Query { name, .. } => {
                let name = String::from_utf8_lossy(&name).into_owned();
                if self.rules.queries.allows_name(&name, &self.peer) {
                    Err(Denied::Illegal)
                } else {
                    self.log(Importance::Info, &format!("access denied to query: {name}"));
                    Err(Denied::Refused)
                }
            }
            Request::Cookie => {
                if self.rules.queries.allows_name("delta", &self.peer) {
                    Err(Denied::Illegal)
                } else {
                    Err(Denied::Refused)
                }
            }
            Request::CallCollect => return Next::Close,
            Request::Execute { arguments } => {
                let arguments = String::from_utf8_lossy(&arguments).into_owned();
                self.asked = Some(Asked { arguments, classes: Vec::new() });
                Ok(())
            }
        };
        match denied {
            Ok(()) => Next::Continue,
            Err(Denied::Refused) => {
                let shown = String::from_utf8_lossy(payload);
                let user = &self.peer.user;
                self.log(
                    Importance::Verbose,
                    &format!("REFUSAL to user='{user}' of request: {}", shown.escape_debug()),
                );
                out.frame(false, REFUSAL);
                Next::Continue
            }
            Err(Denied::Illegal) => self.illegal(payload, out),
        }
    }

    fn variable(&self, name: &[u8], out: &mut dyn Output) -> Result<(), Denied> {
        let name = String::from_utf8_lossy(name);
        if !self.rules.literals.allows_name(&name, &self.peer) {
            self.log(Importance::Info, &format!("access denied to variable: {name}"));
            return Err(Denied::Refused);
        }
        self.answer_secure(false, b"BAD: Not found", out);
        Ok(())
    }

    fn context(&self, pattern: &[u8], out: &mut dyn Output) -> Result<(), Denied> {
        let pattern = String::from_utf8_lossy(pattern);
        let classes = self.site.persistent_classes();
        let found: Vec<&str> = classes
            .iter()
            .map(String::as_str)
            .filter(|class| fx_cfengine_server::matches_pattern(&pattern, class))
            .filter(|class| self.rules.contexts.allows_match(class, &self.peer))
            .collect();
        if found.is_empty() {
            let text = format!("No allowed classes for remoteclassesmatching: {pattern}");
            self.log(Importance::Info, &text);
            return Err(Denied::Refused);
        }
        let mut text = found.join(",");
        text.truncate(text.floor_char_boundary(fx_wire::cfengine::LARGEST));
        self.answer_secure(false, text.as_bytes(), out);
        Ok(())
    }
}
