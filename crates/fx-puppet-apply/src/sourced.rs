//! Files whose source lies on a Puppet server or a web server, or whose content is known by a time or by a digest
//! that the manifest gives. Plain copies of local files are in [`super::files`].

use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use fx_engine::{Change, Failure, Resource as Thing, ResourceId, Target};
use fx_host::{Act, HostError, Look, Meta, Request, Response};
use fx_puppet::{Fetched, FileServer};
use fx_resources::digest::Algorithm;
use fx_resources::file;

/// Most bytes that are taken from a web server.
const MOST_BYTES: u64 = 4 << 30;

/// The original's `http_read_timeout`.
const MOST_TIME: Duration = Duration::from_mins(10);

/// Where content may come from.
#[derive(Clone, Debug)]
pub(super) enum Candidate {
    /// A file of this machine.
    Local {
        /// The file, if there can be one.
        path: Option<PathBuf>,
        /// As messages name it.
        shown: String,
    },
    /// An address of a web server.
    Web(String),
    /// A file of a Puppet server.
    Served {
        /// As messages name it.
        uri: String,
        server: Rc<dyn FileServer>,
        /// Its digest, once the server was asked for it.
        label: Option<String>,
    },
}

impl Candidate {
    pub(super) fn shown(&self) -> &str {
        match self {
            Candidate::Local { shown, .. }
            | Candidate::Web(shown)
            | Candidate::Served { uri: shown, .. } => shown,
        }
    }
}

/// Whether a source is on a web server.
pub(super) fn is_web(source: &str) -> bool {
    source.starts_with("http://") || source.starts_with("https://")
}

/// What content is compared by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Digest(Algorithm),
    Mtime,
    Ctime,
}

impl Kind {
    /// The kind of a value of `checksum`.
    pub(super) fn named(word: &str) -> Option<Kind> {
        match word {
            "mtime" => Some(Kind::Mtime),
            "ctime" => Some(Kind::Ctime),
            other => Algorithm::named(other).map(Kind::Digest),
        }
    }
}

/// What the server says of content: a label such as `{sha256}…`, and the time if it is one.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Label {
    kind: Kind,
    text: String,
    secs: i64,
}

/// A file with such a source.
pub(super) struct Sourced {
    /// The file without its content.
    pub(super) desired: file::Desired,
    /// Where content may come from, the best first.
    pub(super) candidates: Vec<Candidate>,
    /// What content is compared by, as far as the source knows it.
    pub(super) kind: Kind,
    /// The digest the content must have, where the manifest says so.
    pub(super) value: Option<String>,
    /// Whether a file is made where there is none.
    pub(super) creates: bool,
    /// Why it cannot be done at all.
    pub(super) refused: Option<&'static str>,
    work: Option<Work>,
}

/// What looking found, kept for acting.
struct Work {
    inner: file::File,
    changes: Vec<Change>,
    /// The new content, or why it could not be had; nothing where the old one stays.
    new: Option<Result<file::Content, Failure>>,
    /// The label that new content must have.
    wanted: String,
    kind: Kind,
    /// The content is written although its bytes stay the same.
    touches: bool,
}

impl Sourced {
    pub(super) fn new(desired: file::Desired, candidates: Vec<Candidate>, kind: Kind) -> Sourced {
        Sourced { desired, candidates, kind, value: None, creates: true, refused: None, work: None }
    }

    /// The first source there is, with what it says of its content.
    fn find(&self, host: &dyn Look) -> Result<(&Candidate, Label), Failure> {
        for candidate in &self.candidates {
            let label = match candidate {
                Candidate::Local { path: Some(path), .. } => match host.stat(path) {
                    Ok(meta) => Some(self.local(host, path, &meta)?),
                    Err(_) => None,
                },
                Candidate::Local { path: None, .. } => None,
                Candidate::Web(url) => {
                    let answer = head(host, url).map_err(|why| {
                        Failure::new(format!("Could not retrieve file metadata for {url}: {why}"))
                    })?;
                    answer.map(|answer| label(host, &answer, self.kind))
                }
                Candidate::Served { label, .. } => label.as_deref().and_then(|text| {
                    let kind = Kind::named(text.strip_prefix('{')?.split_once('}')?.0)?;
                    Some(Label { kind, text: text.to_owned(), secs: 0 })
                }),
            };
            if let Some(label) = label {
                return Ok((candidate, label));
            }
        }
        let all = self.candidates.iter().map(|one| one.shown().to_owned()).collect();
        Err(Failure::NoSource(all))
    }

    fn local(&self, host: &dyn Look, path: &Path, meta: &Meta) -> Result<Label, Failure> {
        Ok(match self.kind {
            Kind::Digest(algorithm) => {
                let text = fx_resources::digest::label_of_file(algorithm, host, path)?;
                Label { kind: self.kind, text, secs: 0 }
            }
            kind => time_label(host, kind, stamp(kind, meta)),
        })
    }

    /// The label of what is there.
    fn current(&self, host: &dyn Look, kind: Kind, meta: &Meta) -> Result<Label, Failure> {
        Ok(match kind {
            Kind::Digest(algorithm) => {
                let text =
                    fx_resources::digest::label_of_file(algorithm, host, &self.desired.path)?;
                Label { kind, text, secs: 0 }
            }
            kind => time_label(host, kind, stamp(kind, meta)),
        })
    }
}

impl Thing for Sourced {
    fn id(&self) -> ResourceId {
        ResourceId::new("file", self.desired.path.to_string_lossy())
    }

    fn target(&self) -> Target {
        Target::file(&self.desired.path)
    }

    fn observe(&mut self, host: &dyn Look) -> Result<Vec<Change>, Failure> {
        self.work = None;
        if let Some(why) = self.refused {
            return Err(Failure::new(why));
        }
        let meta = host.lstat_opt(&self.desired.path)?;
        if meta.is_none() && !self.creates {
            return Ok(Vec::new());
        }
        let there = meta.filter(Meta::is_file);
        let (candidate, wanted) = match (&self.value, self.kind) {
            (Some(value), Kind::Digest(algorithm)) => {
                let text = format!("{{{}}}{value}", algorithm.name());
                (None, Label { kind: self.kind, text, secs: 0 })
            }
            _ => {
                let (candidate, label) = self.find(host)?;
                (Some(candidate), label)
            }
        };
        let current = match &there {
            Some(meta) => Some(self.current(host, wanted.kind, meta)?),
            None => None,
        };
        let in_sync = match &current {
            Some(current) if matches!(wanted.kind, Kind::Digest(_)) => current.text == wanted.text,
            Some(current) => current.secs >= wanted.secs,
            None => false,
        };
        let stays = in_sync || (self.desired.create_only && there.is_some());
        let new = if stays {
            None
        } else {
            let candidate = match candidate {
                Some(candidate) => Ok(candidate),
                None => self.find(host).map(|(candidate, _)| candidate),
            };
            Some(candidate.and_then(|candidate| fetch(host, candidate)))
        };
        let mut desired = self.desired.clone();
        if let Some(Ok(new)) = &new {
            desired.content = Some(new.clone());
        }
        let mut inner = file::File::new(desired);
        let changes = inner.observe(host)?;
        let mut told: Vec<Change> =
            changes.iter().filter(|change| change.property != "content").cloned().collect();
        let writes = changes.iter().any(|change| change.property == "content");
        let touches = new.is_some() && !writes && there.is_some();
        if new.is_some() && self.value.is_none() {
            let from = current.map(|current| current.text);
            let mut change = Change::of(self.target(), "content", from, wanted.text.as_str());
            let written = changes.iter().find(|change| change.property == "content");
            if there.is_some()
                && let Some(written) = written
            {
                change.detail.clone_from(&written.detail);
            }
            told.push(change);
        } else if new.is_some()
            && let Some(current) = current
        {
            let bare = |label: &str| label.split_once('}').map_or("", |(_, sum)| sum).to_owned();
            told.push(Change::of(
                self.target(),
                "checksum_value",
                bare(&current.text),
                bare(&wanted.text),
            ));
        }
        let kind = wanted.kind;
        self.work = Some(Work { inner, changes, new, wanted: wanted.text, kind, touches });
        Ok(told)
    }

    fn apply(&mut self, host: &dyn Act, _changes: &[Change]) -> Result<(), Failure> {
        let Some(mut work) = self.work.take() else {
            return Err(Failure::new("file was not observed before it was applied"));
        };
        match (&work.new, work.kind) {
            (Some(Err(failure)), _) => return Err(failure.clone()),
            (Some(Ok(new)), Kind::Digest(algorithm)) => {
                let made = match new {
                    file::Content::Copy { source, .. } => {
                        fx_resources::digest::label_of_file(algorithm, host, source)?
                    }
                    file::Content::Bytes(bytes) => algorithm.label(bytes),
                };
                if made != work.wanted {
                    let (path, wanted) = (self.desired.path.clone(), work.wanted.clone());
                    return Err(Failure::WrongDigest { path, found: made, wanted });
                }
            }
            _ => {}
        }
        work.inner.apply(host, &work.changes)?;
        if work.touches {
            host.set_times(&self.desired.path, None, Some(host.now()))?;
        }
        Ok(())
    }
}

fn stamp(kind: Kind, meta: &Meta) -> i64 {
    if kind == Kind::Ctime { meta.ctime.secs } else { meta.mtime.secs }
}

/// The content that a source has.
fn fetch(host: &dyn Look, candidate: &Candidate) -> Result<file::Content, Failure> {
    match candidate {
        Candidate::Local { path: Some(path), .. } => Ok(file::Content::copy(path)),
        Candidate::Local { path: None, shown } => Err(Failure::NoSource(vec![shown.clone()])),
        Candidate::Served { uri, server, .. } => {
            let failed = |why: String| {
                Failure::new(format!("Could not retrieve file content for {uri}: {why}"))
            };
            Ok(match server.content(uri).map_err(failed)? {
                Fetched::Bytes(bytes) => file::Content::bytes(bytes),
                Fetched::File(path) => file::Content::copy(path),
            })
        }
        Candidate::Web(url) => {
            let answer = exchange(host, "GET", url, &[]).map_err(Failure::new)?;
            if (200..300).contains(&answer.status) {
                return Ok(file::Content::bytes(answer.body));
            }
            let body = String::from_utf8_lossy(&answer.body).into_owned();
            let (url, _) = without_login(url);
            Err(Failure::HttpStatus { url, status: answer.status, body })
        }
    }
}

fn time_label(host: &dyn Look, kind: Kind, secs: i64) -> Label {
    let word = if kind == Kind::Ctime { "ctime" } else { "mtime" };
    let time = fx_puppet::local_time(host, secs).strftime("%Y-%m-%d %H:%M:%S %z");
    Label { kind, text: format!("{{{word}}}{time}"), secs }
}

/// What an answer says of its content: by the wanted digest, by another one, or by
/// its time, which is now where it has none.
fn label(host: &dyn Look, answer: &Response, asked: Kind) -> Label {
    let header = |name: &str| {
        let found = answer.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.trim().to_owned())
    };
    let digest = |algorithm: Algorithm| {
        let sum = match algorithm {
            Algorithm::Sha256 => header("x-checksum-sha256"),
            Algorithm::Sha1 => header("x-checksum-sha1"),
            Algorithm::Md5 => header("x-checksum-md5").or_else(|| {
                let bytes = fx_formats::base64::decode_relaxed(&header("content-md5")?);
                bytes.map(fx_formats::hex)
            }),
            _ => None,
        }?;
        let text = format!("{{{}}}{sum}", algorithm.name());
        Some(Label { kind: Kind::Digest(algorithm), text, secs: 0 })
    };
    let time = || match header("last-modified").and_then(|date| http_time(&date)) {
        Some(at) => Label {
            kind: Kind::Mtime,
            text: format!("{{mtime}}{} UTC", at.strftime("%Y-%m-%d %H:%M:%S")),
            secs: at.as_second(),
        },
        None => time_label(host, Kind::Mtime, host.now().secs),
    };
    let first = match asked {
        Kind::Digest(algorithm) => digest(algorithm),
        Kind::Mtime => Some(time()),
        Kind::Ctime => None,
    };
    first
        .or_else(|| {
            [Algorithm::Sha256, Algorithm::Sha1, Algorithm::Md5].into_iter().find_map(digest)
        })
        .unwrap_or_else(time)
}

/// A time as HTTP writes it.
fn http_time(text: &str) -> Option<jiff::Timestamp> {
    static PARSER: jiff::fmt::rfc2822::DateTimeParser =
        jiff::fmt::rfc2822::DateTimeParser::new().relaxed_weekday(true);
    PARSER.parse_timestamp(text).ok()
}

/// Asks what a server says of a file; nothing where it has none.
fn head(host: &dyn Look, url: &str) -> Result<Option<Response>, String> {
    let is_there = |answer: &Response| (200..300).contains(&answer.status);
    let answer = exchange(host, "HEAD", url, &[])?;
    if is_there(&answer) {
        return Ok(Some(answer));
    }
    // Some servers know no HEAD; one byte is requested then.
    if matches!(answer.status, 403 | 405) {
        let answer = exchange(host, "GET", url, &[("Range", "bytes=0-0")])?;
        return Ok(is_there(&answer).then_some(answer));
    }
    Ok(None)
}

fn exchange(
    host: &dyn Look,
    method: &str,
    url: &str,
    headers: &[(&str, &str)],
) -> Result<Response, String> {
    if url.bytes().any(|byte| byte <= b' ' || byte >= 0x7f || b"<>\"{}|\\^`".contains(&byte)) {
        return Err(format!("bad URI(is not URI?): {url:?}"));
    }
    let (bare, login) = without_login(url);
    let mut request = Request::get(bare.as_str());
    method.clone_into(&mut request.method);
    request.timeout = MOST_TIME;
    request.limit = MOST_BYTES;
    request.headers =
        headers.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
    if let Some(login) = login {
        let word = fx_formats::base64::encode(login.as_bytes());
        request.headers.push(("Authorization".into(), format!("Basic {word}")));
    }
    let started = host.monotonic();
    host.fetch(&request).map_err(|error| {
        let took = host.monotonic().saturating_sub(started).as_secs_f64();
        let reason = match error {
            HostError::Net { reason, .. } => reason,
            other => other.to_string(),
        };
        format!("Request to {bare} failed after {took:.3} seconds: {}", connecting(&bare, &reason))
    })
}

/// An address without name and password, and those two as they are sent.
fn without_login(url: &str) -> (String, Option<String>) {
    let Some((scheme, rest)) = url.split_once("://") else { return (url.to_owned(), None) };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    match rest[..end].rfind('@') {
        Some(at) => (format!("{scheme}://{}", &rest[at + 1..]), Some(rest[..at].to_owned())),
        None => (url.to_owned(), None),
    }
}

/// Why no connection was made, in the original's words.
fn connecting(url: &str, reason: &str) -> String {
    let (scheme, rest) = url.split_once("://").unwrap_or(("http", url));
    let place = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let port = if scheme == "https" { 443 } else { 80 };
    let is_given = place.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    let place = if is_given { place.to_owned() } else { format!("{place}:{port}") };
    if reason.contains("Connection refused") {
        return format!(
            "Failed to open TCP connection to {place} (Connection refused - connect(2) for {place})"
        );
    }
    let lookups = ["Temporary failure in name resolution", "Name or service not known"];
    match lookups.iter().find(|why| reason.contains(**why)) {
        Some(why) => format!("Failed to open TCP connection to {place} (getaddrinfo: {why})"),
        None => reason.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fx_host::{Files, MemoryHost};

    fn serves(host: &MemoryHost, url: &str, headers: &[(&str, &str)]) {
        let headers =
            headers.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
        host.on_exchange(url, Response { status: 200, headers, body: b"hello\n".to_vec() });
    }

    fn converge(host: &MemoryHost, kind: &str, url: &str) -> String {
        let desired = file::Desired { path: "/o".into(), ..file::Desired::default() };
        let kind = Kind::named(kind).unwrap();
        let mut thing = Sourced::new(desired, vec![Candidate::Web(url.into())], kind);
        match thing.observe(host) {
            Ok(changes) => {
                if !changes.is_empty()
                    && let Err(failure) = thing.apply(host, &changes)
                {
                    return failure.to_string();
                }
                let line = |c: &Change| format!("{}: {} -> {}", c.property, c.from, c.to);
                changes.iter().map(line).collect::<Vec<_>>().join("\n")
            }
            Err(failure) => failure.to_string(),
        }
    }

    #[test]
    fn content_is_compared_by_the_first_digest_the_server_gives() {
        let host = MemoryHost::linux();
        let sum = Algorithm::Md5.hex(b"hello\n");
        serves(&host, "http://w/a", &[("x-checksum-md5", &sum)]);
        let made = format!("ensure: absent -> file\ncontent: undef -> {{md5}}{sum}");
        assert_eq!(converge(&host, "sha256", "http://w/a"), made);
        assert_eq!(host.text("/o"), "hello\n");
        assert_eq!(converge(&host, "sha256", "http://w/a"), "");
    }

    #[test]
    fn without_a_digest_the_later_time_wins() {
        let host = MemoryHost::linux();
        host.put("/o", "old\n");
        let early = ("last-modified", "Thu, 01 Jan 1970 00:00:00 GMT");
        serves(&host, "http://w/a", &[early]);
        assert_eq!(converge(&host, "sha256", "http://w/a"), "");
        let late = ("last-modified", "Mon, 02 Jan 2090 03:04:05 GMT");
        serves(&host, "http://w/a", &[late]);
        let told = converge(&host, "sha256", "http://w/a");
        assert!(told.ends_with("-> {mtime}2090-01-02 03:04:05 UTC"), "{told}");
        assert_eq!(host.text("/o"), "hello\n");
    }

    #[test]
    fn content_with_another_digest_than_promised_is_refused() {
        let host = MemoryHost::linux();
        let sum = Algorithm::Sha256.hex(b"x");
        serves(&host, "http://w/a", &[("x-checksum-sha256", &sum)]);
        let told = converge(&host, "sha256", "http://w/a");
        assert!(told.starts_with("new content of '/o' has the digest"), "{told}");
        assert!(host.lstat(Path::new("/o")).is_err());
    }

    #[test]
    fn requests_that_fail_have_the_words_of_the_original() {
        let table = [
            (
                "http://h:9/x",
                "io: Connection refused (os error 111)",
                "Failed to open TCP connection to h:9 (Connection refused - connect(2) for h:9)",
            ),
            ("https://h/x", "strange", "strange"),
        ];
        for (url, reason, expected) in table {
            assert_eq!(connecting(url, reason), expected);
        }
        let (bare, login) = without_login("http://u:p@h/x@y");
        assert_eq!((bare.as_str(), login.as_deref()), ("http://h/x@y", Some("u:p")));
        let host = MemoryHost::linux();
        let bad = "Could not retrieve file metadata for http://h/a b: bad URI(is not URI?): \"http://h/a b\"";
        assert_eq!(converge(&host, "sha256", "http://h/a b"), bad);
    }
}
