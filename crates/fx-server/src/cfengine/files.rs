//! Requests of files: paths translated and judged once, and the answers.

use fx_cfengine_server::{Peer, Rules};
use fx_wire::cfengine::{DIFFERENT, FileKind, SAME, packets};

use super::session::{Output, Session};
use super::site::{FileInfo, Importance, Opened};

/// Longer names are suspicious to the original.
const LONGEST_NAME: usize = 256;
/// A difference of clocks that is too large, in seconds.
const DRIFT: u64 = 3600;
const CHUNK: usize = 16 << 10;

/// What a path has to be.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    Anything,
    Directory,
    File,
}

/// Why nothing is given.
pub(super) enum Denied {
    Refused,
    Illegal,
}

/// What a peer may have.
pub(super) struct Allowed {
    /// The resolved path.
    pub(super) path: String,
    /// What it was when that was decided.
    seen: FileInfo,
}

impl Session {
    /// The resolved path of a request, if the peer may have it.
    pub(super) fn allowed(
        &self,
        word: &str,
        path: &[u8],
        wanted: Wanted,
    ) -> Result<Allowed, Denied> {
        let Ok(asked) = std::str::from_utf8(path) else { return Err(Denied::Refused) };
        self.log_verbose(|| format!("{:>14} {word:>7} {asked}", "Received:"));
        let rules = &self.rules;
        let Some(expanded) = rules.expand(asked, &self.peer) else {
            self.log(Importance::Info, &format!("Relative paths are not allowed: {asked}"));
            return Err(Denied::Refused);
        };
        let Some((resolved, seen)) = self.site.find(&expanded) else {
            self.log(
                Importance::Info,
                &format!("Failed to canonicalise filename '{expanded}' (realpath: No such file or directory)"),
            );
            return Err(Denied::Refused);
        };
        let bare = resolved.trim_end_matches('/');
        let is_dir = match wanted {
            Wanted::Directory => true,
            Wanted::File => false,
            Wanted::Anything => seen.stat.kind == FileKind::Directory,
        };
        let judged = if is_dir { format!("{bare}/") } else { bare_or_root(bare).to_owned() };
        self.log_verbose(|| format!("{:>14} {word:>7} {judged}", "Translated to:"));
        if !self.may_have(rules, &judged, &expanded) {
            let word = if word == "MD5" { "file" } else { word };
            self.log(Importance::Info, &format!("access denied to {word}: {judged}"));
            return Err(Denied::Refused);
        }
        Ok(Allowed { path: bare_or_root(bare).to_owned(), seen })
    }

    fn may_have(&self, rules: &Rules, judged: &str, _: &str) -> bool {
        if self.classic {
            return rules.paths.allows_path_classic(judged, &self.peer, self.encrypted);
        }
        rules.paths.allows_path(judged, &self.peer)
    }

    pub(super) fn stat(&self, time: i64, path: &[u8], out: &mut dyn Output) -> Result<(), Denied> {
        let Allowed { path, seen } = self.allowed("STAT", path, Wanted::Anything)?;
        let now = self.site.now();
        if self.rules.control.deny_bad_clocks && now.abs_diff(time) > DRIFT {
            let text = format!("BAD: Clocks are too far unsynchronized {now}/{time}");
            self.log(Importance::Info, &format!("denybadclocks {text}"));
            out.frame(false, text.as_bytes());
            return Ok(());
        }
        let name = path.rsplit('/').next().unwrap_or_default();
        if name.len() > LONGEST_NAME {
            out.frame(false, format!("BAD: Filename suspiciously long [{path}]").as_bytes());
            return Ok(());
        }
        let FileInfo { stat, target } = seen;
        // What a GET would be refused is not announced as a file of some size either way: the
        // stream of contents has no room for a refusal.
        out.frame(false, stat.line().as_bytes());
        let target = [b"OK:".as_slice(), &target.unwrap_or_default()].concat();
        out.frame(false, &target[..target.len().min(fx_wire::cfengine::LARGEST)]);
        Ok(())
    }

    pub(super) fn list(&self, path: &[u8], out: &mut dyn Output) -> Result<(), Denied> {
        let path = self.allowed("OPENDIR", path, Wanted::Directory)?.path;
        let Some(names) = self.site.list(&path) else {
            let text = format!("BAD: cfengine, couldn't open dir {path}");
            self.answer_secure(false, text.as_bytes(), out);
            return Ok(());
        };
        for frame in packets(names.iter().map(Vec::as_slice)) {
            self.answer_secure(frame.more, &frame.payload, out);
        }
        Ok(())
    }

    pub(super) fn compare(
        &self,
        path: &[u8],
        digest: &[u8],
        out: &mut dyn Output,
    ) -> Result<(), Denied> {
        let path = self.allowed("MD5", path, Wanted::File)?.path;
        let found = self.site.open(&path).filter(|opened| opened.stat.kind == FileKind::File);
        let ours = found.and_then(|mut opened| {
            let hex = fx_crypto::digest::Algorithm::Md5.hex_of(&mut opened.content).ok()?;
            Some(hex)
        });
        let theirs = digest.get(..16).map(fx_formats::hex);
        let same = ours.is_some() && ours == theirs;
        out.frame(false, if same { SAME } else { DIFFERENT });
        Ok(())
    }

    /// Opens a file that the peer may read.
    fn opened(&self, path: &[u8]) -> Result<Opened, Denied> {
        let path = self.allowed("GET", path, Wanted::File)?.path;
        let opened = self.site.open(&path).filter(|opened| opened.stat.kind == FileKind::File);
        let Some(opened) = opened else { return Err(Denied::Refused) };
        if !self.may_read(&opened, &self.peer) {
            self.log(Importance::Info, &format!("REFUSE access to file: {path}"));
            return Err(Denied::Refused);
        }
        Ok(opened)
    }

    // Others than root have what is theirs and what everybody can read.
    fn may_read(&self, opened: &Opened, peer: &Peer) -> bool {
        peer.user == "root"
            || opened.stat.mode & 0o004 != 0
            || self.site.uid_of(&peer.user) == Some(opened.stat.uid)
    }

    /// Exactly as many bytes as the file had when it was opened; `false` where it had fewer in the
    /// end, and the connection cannot go on.
    pub(super) fn get(&self, path: &[u8], out: &mut dyn Output) -> Result<bool, Denied> {
        let mut opened = self.opened(path)?;
        if let Some(key) = self.encrypted.then_some(self.cipher_key).flatten() {
            return Ok(super::classic::send_encrypted(&mut opened, &key, out));
        }
        let mut left = opened.stat.size;
        let mut buffer = vec![0; CHUNK];
        while left > 0 {
            let most = left.min(CHUNK as u64) as usize;
            match opened.content.read(&mut buffer[..most]) {
                Ok(0) | Err(_) => return Ok(false),
                Ok(count) => {
                    if !out.raw(&buffer[..count]) {
                        return Ok(false);
                    }
                    left -= count as u64;
                }
            }
        }
        Ok(true)
    }
}

fn bare_or_root(bare: &str) -> &str {
    if bare.is_empty() { "/" } else { bare }
}
