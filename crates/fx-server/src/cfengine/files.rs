//! Requests of files: paths translated and judged once, and the answers.

use std::io::Read;

use fx_cfengine_server::Peer;
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
enum Wanted {
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
struct Allowed {
    /// The resolved path.
    path: String,
    /// What it was when that was decided.
    seen: FileInfo,
}

impl Session {
    // The path that a request names, shortcuts replaced.
    fn expanded(&self, word: &str, path: &[u8]) -> Result<String, Denied> {
        let Ok(asked) = std::str::from_utf8(path) else { return Err(Denied::Refused) };
        self.log_verbose(|| format!("{:>14} {word:>7} {asked}", "Received:"));
        let expanded = self.rules.expand(asked, &self.peer);
        expanded.ok_or_else(|| {
            self.log(Importance::Info, &format!("Relative paths are not allowed: {asked}"));
            Denied::Refused
        })
    }

    /// The resolved path of a request, if the peer may have it.
    fn allowed(&mut self, word: &str, path: &[u8], wanted: Wanted) -> Result<Allowed, Denied> {
        let expanded = self.expanded(word, path)?;
        self.resolved(word, &expanded, wanted)
    }

    fn resolved(&mut self, word: &str, expanded: &str, wanted: Wanted) -> Result<Allowed, Denied> {
        let Some((resolved, seen)) = self.paths.find(expanded) else {
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
        if !self.may_have(&judged) {
            let word = if word == "MD5" { "file" } else { word };
            self.log(Importance::Info, &format!("access denied to {word}: {judged}"));
            return Err(Denied::Refused);
        }
        Ok(Allowed { path: bare_or_root(bare).to_owned(), seen })
    }

    /// Opens the file that a request names, if the peer may have it; nothing where it is no
    /// regular file.
    fn file(&mut self, word: &str, path: &[u8]) -> Result<(String, Option<Opened>), Denied> {
        let expanded = self.expanded(word, path)?;
        // Most paths have no link in them: they can be judged as they are written, and opened
        // without a look beforehand. Whatever is different goes the long way.
        let plain = if self.may_have(&expanded) { self.paths.open_plain(&expanded) } else { None };
        let (path, opened) = if plain.is_some() {
            self.log_verbose(|| format!("{:>14} {word:>7} {expanded}", "Translated to:"));
            (expanded, plain)
        } else {
            let Allowed { path, .. } = self.resolved(word, &expanded, Wanted::File)?;
            let opened = self.paths.open(&path);
            (path, opened)
        };
        Ok((path, opened.filter(|opened| opened.stat.kind == FileKind::File)))
    }

    fn may_have(&self, judged: &str) -> bool {
        let rules = &self.rules;
        if self.classic {
            return rules.paths.allows_path_classic(judged, &self.peer, self.encrypted);
        }
        rules.paths.allows_path(judged, &self.peer)
    }

    pub(super) fn stat(
        &mut self,
        time: i64,
        path: &[u8],
        out: &mut dyn Output,
    ) -> Result<(), Denied> {
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

    pub(super) fn list(&mut self, path: &[u8], out: &mut dyn Output) -> Result<(), Denied> {
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
        &mut self,
        path: &[u8],
        digest: &[u8],
        out: &mut dyn Output,
    ) -> Result<(), Denied> {
        let (_, found) = self.file("MD5", path)?;
        let ours = found.and_then(|opened| {
            // As long as it was when it was opened: its end need not be looked for. Files of the
            // kernel say they are empty and are not.
            let size = opened.stat.size;
            let mut content = opened.content.take(if size == 0 { u64::MAX } else { size });
            fx_crypto::digest::Algorithm::Md5.bytes_of(&mut content).ok()
        });
        let same = ours.is_some() && ours.as_deref() == digest.get(..16);
        out.frame(false, if same { SAME } else { DIFFERENT });
        Ok(())
    }

    /// Opens a file that the peer may read.
    fn opened(&mut self, path: &[u8]) -> Result<Opened, Denied> {
        let (path, opened) = self.file("GET", path)?;
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
    pub(super) fn get(&mut self, path: &[u8], out: &mut dyn Output) -> Result<bool, Denied> {
        let mut opened = self.opened(path)?;
        if let Some(key) = self.encrypted.then_some(self.cipher_key).flatten() {
            return Ok(super::classic::send_encrypted(&mut opened, &key, out));
        }
        let mut left = opened.stat.size;
        let mut buffer = vec![0; left.min(CHUNK as u64) as usize];
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
