//! Copies from another machine. What a directory will need is requested ahead: what its entries
//! are, whether contents differ, and small contents, so that a round trip is paid once for many
//! files and not for each.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::io::Read;
use std::rc::Rc;

use fx_cfengine::eval::promise::Expanded;
use fx_cfengine::text::{decode, encode, path};
use fx_crypto::digest::Algorithm;
use fx_engine::{Change, Failure, Target};
use fx_host::{Act, Kind, Look, Meta, Reader, Time, WriteOptions};
use fx_remote::cfengine::{Connection, Found, Lost};
use fx_wire::cfengine::{FileKind, Stat};
use rustc_hash::FxHashMap;

use crate::agent::Agent;
use crate::change;
use crate::network::Line;

use super::source::{Destination, Source};

/// A file that is larger is not requested ahead, …
const SMALL: u64 = 64 << 10;
/// … nor more than this in all.
const AHEAD: u64 = 1 << 20;

/// What was learnt and is not used yet.
#[derive(Default)]
struct Ahead {
    stats: FxHashMap<String, Option<(Meta, String)>>,
    differs: FxHashMap<String, bool>,
    contents: FxHashMap<String, Vec<u8>>,
    /// What was here a moment ago.
    here: FxHashMap<String, Option<Meta>>,
    /// Files that are likely to be copied, in their order.
    likely: VecDeque<(String, u64)>,
}

/// Another machine, and what is known of its files for this promise.
pub(super) struct Remote {
    line: Line,
    server: String,
    address: String,
    compares: bool,
    fetches: bool,
    verifies: bool,
    /// Whether each destination has one source: nothing else of this copy changes it.
    is_apart: bool,
    ahead: RefCell<Ahead>,
}

fn kind(kind: FileKind) -> Kind {
    match kind {
        FileKind::File => Kind::File,
        FileKind::Link => Kind::Symlink,
        FileKind::Directory => Kind::Directory,
        FileKind::Fifo => Kind::Fifo,
        FileKind::Block => Kind::BlockDevice,
        FileKind::Character => Kind::CharDevice,
        FileKind::Socket => Kind::Socket,
    }
}

fn meta(stat: &Stat) -> Meta {
    Meta {
        kind: kind(stat.kind),
        mode: stat.mode,
        uid: stat.uid,
        gid: stat.gid,
        size: stat.size,
        dev: stat.dev as u64,
        ino: stat.ino as u64,
        nlink: stat.nlink as u64,
        rdev: 0,
        blocks: if stat.has_holes { 0 } else { stat.size.div_ceil(512) },
        atime: Time::from_secs(stat.atime),
        mtime: Time::from_secs(stat.mtime),
        ctime: Time::from_secs(stat.ctime),
    }
}

impl Remote {
    pub(super) fn new(line: Line, server: &str, promise: &Expanded) -> Remote {
        let compare = promise.scalar("compare").map(|word| &**word);
        let by_content = matches!(compare, Some("digest" | "hash" | "checksum" | "binary"));
        let forced = promise.bool("force_update").unwrap_or(false);
        Remote {
            address: line.address.to_string(),
            line,
            server: server.to_owned(),
            compares: by_content && !forced,
            fetches: !promise.has("file_select"),
            verifies: promise.bool("verify").unwrap_or(false),
            is_apart: !promise.bool("collapse_destination_dir").unwrap_or(false),
            ahead: RefCell::default(),
        }
    }

    // A connection that is lost is lost for all promises.
    fn with<T>(&self, work: impl FnOnce(&mut Connection) -> Result<T, Lost>) -> Result<T, Lost> {
        let mut held = self.line.connection.borrow_mut();
        let connection = held.as_mut().ok_or(Lost::HungUp)?;
        let done = work(connection);
        if done.is_err() {
            *held = None;
        }
        done
    }

    fn heard<T>(&self, ctx: &Agent<'_>, answer: Result<T, Lost>) -> Option<T> {
        match answer {
            Ok(value) => Some(value),
            Err(lost) => {
                ctx.error(&format!("Lost the connection to '{}': {lost}", self.server));
                None
            }
        }
    }

    fn look(&self, ctx: &Agent<'_>, files: &[String]) {
        let unknown: Vec<&String> = {
            let ahead = self.ahead.borrow();
            files.iter().filter(|file| !ahead.stats.contains_key(*file)).collect()
        };
        if unknown.is_empty() {
            return;
        }
        let paths: Vec<Vec<u8>> = unknown.iter().map(|file| encode(file).to_vec()).collect();
        let now = ctx.host().now().secs;
        let Some(found) = self.heard(ctx, self.with(|line| line.stats(&paths, now))) else {
            return;
        };
        let mut ahead = self.ahead.borrow_mut();
        for (file, found) in unknown.into_iter().zip(found) {
            let known = match found {
                Found::Is(stat, target) => Some((meta(&stat), decode(&target.unwrap_or_default()))),
                Found::Refused(text) => {
                    let text = decode(&text);
                    ctx.verbose(&format!("Server returned error: {text}"));
                    if text.contains("unsynchronized") {
                        ctx.error("Clocks differ too much to do copy by date (security), server reported: unsynchronized");
                    }
                    None
                }
            };
            ahead.stats.insert(file.clone(), known);
        }
    }

    // Compares what is here with what is there, and notes what will have to be copied.
    fn prepare(&self, ctx: &Agent<'_>, dir: &str, to: &str, names: &[String]) {
        let (mut compared, mut likely) = (Vec::new(), VecDeque::new());
        let here = match ctx.host().directory(&path(to)) {
            Ok(here) => Some(here),
            // A directory that a rehearsal does not make.
            Err(error) if error.is_not_found() => None,
            Err(_) => return,
        };
        let mut ahead = self.ahead.borrow_mut();
        for name in names {
            let (source, place) = (format!("{dir}/{name}"), path(name));
            let Some(Some((meta, _))) = ahead.stats.get(&source) else { continue };
            if !meta.is_file() {
                continue;
            }
            let size = meta.size;
            let Some(here) = &here else {
                likely.push_back((source, size));
                continue;
            };
            let Ok(old) = here.lstat_opt(place.as_os_str()) else { continue };
            match &old {
                None => likely.push_back((source, size)),
                Some(old) if self.compares && old.is_file() => {
                    if old.size != size {
                        likely.push_back((source, size));
                    } else if let Ok(content) = here.open(place.as_os_str())
                        && let Some(digest) = digest(content, size)
                    {
                        compared.push((source, digest, size));
                    }
                }
                Some(_) => {}
            }
            if self.is_apart {
                ahead.here.insert(format!("{to}/{name}"), old);
            }
        }
        drop(ahead);
        let wanted: Vec<(Vec<u8>, Vec<u8>)> = compared
            .iter()
            .map(|(source, digest, _)| (encode(source).to_vec(), digest.clone()))
            .collect();
        let answers = if wanted.is_empty() {
            Ok(Vec::new())
        } else {
            self.with(|line| line.compare(&wanted))
        };
        let Some(answers) = self.heard(ctx, answers) else { return };
        let mut ahead = self.ahead.borrow_mut();
        for ((source, _, size), differs) in compared.into_iter().zip(answers) {
            if differs {
                likely.push_back((source.clone(), size));
            }
            ahead.differs.insert(source, differs);
        }
        if self.fetches {
            ahead.likely = likely;
        }
    }

    // Small files from this one on, together.
    fn fetch_some(&self, source: &str) -> Result<(), Lost> {
        let mut batch: Vec<(String, u64)> = Vec::new();
        {
            let mut ahead = self.ahead.borrow_mut();
            let Some(at) = ahead.likely.iter().position(|(file, _)| file == source) else {
                return Ok(());
            };
            ahead.likely.drain(..at);
            let mut total = 0;
            while let Some((_, size)) = ahead.likely.front() {
                if *size > SMALL || total + size > AHEAD {
                    break;
                }
                total += size;
                batch.extend(ahead.likely.pop_front().filter(|(_, size)| *size > 0));
            }
        }
        let mut at = 0;
        while at < batch.len() {
            let paths: Vec<Vec<u8>> =
                batch[at..].iter().map(|(file, _)| encode(file).to_vec()).collect();
            let sent = self.with(|line| line.request_files(&paths))?;
            for (file, size) in &batch[at..at + sent] {
                let mut content = Vec::with_capacity(*size as usize);
                // One that is refused is requested again alone, and its refusal reported then.
                if self.with(|line| line.content(*size, &mut content))?.is_ok() {
                    self.ahead.borrow_mut().contents.insert(file.clone(), content);
                }
            }
            at += sent;
        }
        Ok(())
    }
}

// The digest of so many bytes: the end of a file whose size is known need not be looked for. Files
// of the kernel say they are empty and are not.
fn digest(content: Reader<'_>, size: u64) -> Option<Vec<u8>> {
    let most = if size == 0 { u64::MAX } else { size };
    Algorithm::Md5.bytes_of(&mut content.take(most)).ok()
}

fn digest_of(look: &dyn Look, file: &str) -> Option<Vec<u8>> {
    digest(look.open(&path(file)).ok()?, 0)
}

impl Source for Remote {
    fn server(&self) -> &str {
        &self.server
    }

    fn is_local(&self) -> bool {
        false
    }

    fn stat(&self, ctx: &Agent<'_>, file: &str) -> Option<Meta> {
        self.look(ctx, &[file.to_owned()]);
        let ahead = self.ahead.borrow();
        ahead.stats.get(file)?.as_ref().map(|(meta, _)| meta.clone())
    }

    fn lstat(&self, ctx: &Agent<'_>, file: &str) -> Option<Meta> {
        self.stat(ctx, file)
    }

    fn list(&self, ctx: &Agent<'_>, _: &Rc<Expanded>, dir: &str, to: &str) -> Option<Vec<String>> {
        let answer = self.heard(ctx, self.with(|line| line.list(&encode(dir))))?;
        let names = match answer {
            Ok(names) => names,
            Err(text) => {
                ctx.info(&decode(&text));
                return None;
            }
        };
        let mut names: Vec<String> = names.iter().map(|name| decode(name)).collect();
        names.sort();
        let files: Vec<String> = names.iter().map(|name| format!("{dir}/{name}")).collect();
        self.look(ctx, &files);
        self.prepare(ctx, dir, to, &names);
        Some(names)
    }

    fn link_target(&self, ctx: &Agent<'_>, file: &str) -> String {
        self.look(ctx, &[file.to_owned()]);
        let ahead = self.ahead.borrow();
        let known = ahead.stats.get(file).and_then(Option::as_ref);
        known.map(|(_, target)| target.clone()).unwrap_or_default()
    }

    fn real_path(&self, _: &Agent<'_>, _: &str) -> Option<String> {
        None
    }

    fn differs(&self, ctx: &Agent<'_>, source: &str, file: &str) -> bool {
        if let Some(known) = self.ahead.borrow_mut().differs.remove(source) {
            return known;
        }
        let Some(digest) = digest_of(ctx.host(), file) else { return true };
        let wanted = [(encode(source).to_vec(), digest)];
        let answer = self.heard(ctx, self.with(|line| line.compare(&wanted)));
        answer.and_then(|answers| answers.first().copied()).unwrap_or(false)
    }

    fn destination(&self, file: &str) -> Destination {
        match self.ahead.borrow_mut().here.remove(file) {
            None => Destination::Unknown,
            Some(None) => Destination::Absent,
            Some(Some(meta)) => Destination::There(meta),
        }
    }

    fn is_readable(&self, _: &Agent<'_>, _: &str) -> bool {
        self.line.connection.borrow().is_some()
    }

    fn change(&self, ctx: &Agent<'_>, _: &str, file: &str, meta: &Meta, is_first: bool) -> Change {
        let from = if is_first { change::absent() } else { change::shown(ctx.host(), file) };
        let to = format!("{} bytes of {}", meta.size, meta.mtime.secs);
        Change::of(Target::file(path(file)), "content", from, to)
    }

    fn copied_words(&self, source: &str, new: &str, _: Option<u32>) -> String {
        format!("Copied file '{source}' from '{}' to '{new}'", self.address)
    }

    fn fetch(&self, ctx: &Agent<'_>, source: &str, meta: &Meta) -> Result<(), String> {
        if meta.size > SMALL || self.ahead.borrow().contents.contains_key(source) {
            return Ok(());
        }
        // There is nothing to request of an empty file, and the original's answer to an encrypted
        // request of one is no answer.
        if meta.size == 0 {
            self.ahead.borrow_mut().contents.insert(source.to_owned(), Vec::new());
            return Ok(());
        }
        let lost = |lost: Lost| {
            format!("Lost the connection to '{}' while copying '{source}': {lost}", self.server)
        };
        self.fetch_some(source).map_err(lost)?;
        if self.ahead.borrow().contents.contains_key(source) {
            return Ok(());
        }
        let mut content = Vec::new();
        let name = encode(source).to_vec();
        let answer = self.with(|line| {
            line.request_files(std::slice::from_ref(&name))?;
            line.content(meta.size, &mut content)
        });
        match answer.map_err(lost)? {
            Ok(()) => {
                self.ahead.borrow_mut().contents.insert(source.to_owned(), content);
                Ok(())
            }
            Err(text) => {
                ctx.verbose(&decode(&text));
                Err(format!("Network access to '{}:{source}' denied", self.server))
            }
        }
    }

    fn write(
        &self,
        act: &dyn Act,
        source: &str,
        file: &str,
        meta: &Meta,
        options: &WriteOptions,
    ) -> Result<(), Failure> {
        let fetched = self.ahead.borrow_mut().contents.remove(source);
        if let Some(content) = fetched {
            act.write(&path(file), &content, options)?;
        } else {
            let name = encode(source).to_vec();
            let pieces = |into: &mut dyn std::io::Write| {
                let answer = self.with(|line| {
                    line.request_files(std::slice::from_ref(&name))?;
                    line.content(meta.size, into)
                });
                let refused = |text: &[u8]| std::io::Error::other(decode(text));
                match answer {
                    Ok(Ok(())) => Ok(()),
                    Ok(Err(text)) => Err(refused(&text)),
                    Err(lost) => Err(std::io::Error::other(lost.to_string())),
                }
            };
            act.write_pieces(&path(file), &pieces, options)?;
        }
        if self.verifies {
            self.verify(act, source, file)?;
        }
        Ok(())
    }
}

impl Remote {
    fn verify(&self, act: &dyn Act, source: &str, file: &str) -> Result<(), Failure> {
        let wanted = [(encode(source).to_vec(), digest_of(act, file).unwrap_or_default())];
        match self.with(|line| line.compare(&wanted)) {
            Ok(answers) if answers == [false] => Ok(()),
            Ok(_) => {
                Err(Failure::new(format!("'{file}' is not what '{source}' is after the copy")))
            }
            Err(lost) => Err(Failure::new(lost.to_string())),
        }
    }
}
