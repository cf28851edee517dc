//! The machine as cf-serverd serves it, for many threads.

use std::fs::File;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant};

use fx_cfengine::peers::{Peers, Trusted};
use fx_cfengine_server::Rules;
use fx_engine::Level;
use fx_host::{
    Accounts, Clock, Commands, Env, Files, Kind, Meta, Net, OsHost, Priority, Served, Spec,
    SystemLog, SystemLogKind, list_served, open_served, resolve_served,
};
use fx_server::cfengine::{FileInfo, Importance, Opened, Paths, Site, Trust};
use fx_wire::cfengine::{Digest, Direction, FileKind, PrivateKey, PublicKey, Stat};

use super::tools::Log;

thread_local! {
    static HOST: OsHost = OsHost::new();
}

/// Contacts are written together, at most so often.
const TOGETHER: Duration = Duration::from_secs(1);

/// Where messages go.
pub(super) enum Messages {
    Here(Log),
    System(Option<SystemLog>),
}

struct Contacts {
    waiting: Vec<(Digest, String)>,
    written: Option<Instant>,
}

/// The machine, and what policy allows on it.
pub(super) struct OsSite {
    rules: RwLock<Arc<Rules>>,
    key: PrivateKey,
    peers: Peers,
    state: String,
    contacts: Mutex<Contacts>,
    messages: Messages,
}

impl OsSite {
    pub(super) fn new(
        rules: Rules,
        key: PrivateKey,
        workdir: &str,
        state: &str,
        messages: Messages,
    ) -> OsSite {
        OsSite {
            rules: RwLock::new(Arc::new(rules)),
            key,
            peers: Peers::new(workdir),
            state: state.to_owned(),
            contacts: Mutex::new(Contacts { waiting: Vec::new(), written: None }),
            messages,
        }
    }

    pub(super) fn exchange(&self, rules: Rules) {
        *self.rules.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(rules);
    }

    /// Writes contacts that wait, unless some were written a moment ago.
    pub(super) fn write_contacts(&self, at_once: bool) {
        let mut contacts = self.contacts.lock().unwrap_or_else(PoisonError::into_inner);
        let is_due = contacts.written.is_none_or(|written| written.elapsed() > TOGETHER);
        if contacts.waiting.is_empty() || !(is_due || at_once) {
            return;
        }
        let waiting = std::mem::take(&mut contacts.waiting);
        let written = HOST.with(|host| self.peers.saw(host, &waiting, Direction::Incoming));
        contacts.written = Some(Instant::now());
        drop(contacts);
        if let Err(error) = written {
            self.message(Importance::Error, &error.to_string());
        }
    }

    pub(super) fn message(&self, importance: Importance, text: &str) {
        match &self.messages {
            Messages::Here(log) => log.line(level(importance), text),
            Messages::System(Some(log)) if importance <= Importance::Notice => {
                let priority = match importance {
                    Importance::Error => Priority::Error,
                    Importance::Warning => Priority::Warning,
                    _ => Priority::Notice,
                };
                log.send(priority, text);
            }
            Messages::System(_) => {}
        }
    }
}

/// The log of the system, for one in the background.
pub(super) fn system_log(name: &str) -> Messages {
    Messages::System(SystemLog::open(SystemLogKind::Syslog, name).ok())
}

fn level(importance: Importance) -> Level {
    match importance {
        Importance::Error => Level::Error,
        Importance::Warning => Level::Warning,
        Importance::Notice => Level::Notice,
        Importance::Info => Level::Info,
        Importance::Verbose => Level::Verbose,
    }
}

fn stat(meta: &Meta) -> Stat {
    let kind = match meta.kind {
        Kind::File => FileKind::File,
        Kind::Symlink => FileKind::Link,
        Kind::Directory => FileKind::Directory,
        Kind::Fifo => FileKind::Fifo,
        Kind::BlockDevice => FileKind::Block,
        Kind::CharDevice => FileKind::Character,
        Kind::Socket => FileKind::Socket,
    };
    Stat {
        kind,
        mode: meta.mode,
        link_mode: if kind == FileKind::Link { meta.mode } else { 0 },
        uid: meta.uid,
        gid: meta.gid,
        size: meta.size,
        atime: meta.atime.secs,
        mtime: meta.mtime.secs,
        ctime: meta.ctime.secs,
        has_holes: meta.size > meta.blocks * 512,
        ino: meta.ino as i64,
        nlink: meta.nlink as i64,
        dev: meta.dev as i64,
    }
}

/// Files of requests that came together.
struct OsPaths(Served);

fn opened((file, meta): (File, Meta)) -> Opened {
    Opened { stat: stat(&meta), content: Box::new(file) }
}

impl Paths for OsPaths {
    fn find(&mut self, path: &str) -> Option<(String, FileInfo)> {
        let (resolved, meta) = self.0.find(Path::new(path)).ok()?;
        let target = meta.is_symlink().then(|| {
            let target = HOST.with(|host| host.read_link(&resolved));
            target.map(|target| target.as_os_str().as_bytes().to_vec()).unwrap_or_default()
        });
        let resolved = resolved.into_os_string().into_string().ok()?;
        Some((resolved, FileInfo { stat: stat(&meta), target }))
    }

    fn open_plain(&mut self, path: &str) -> Option<Opened> {
        self.0.open_plain(Path::new(path)).map(opened)
    }

    fn open(&mut self, path: &str) -> Option<Opened> {
        open_served(Path::new(path)).ok().map(opened)
    }
}

impl Site for OsSite {
    fn rules(&self) -> Arc<Rules> {
        Arc::clone(&self.rules.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn key(&self) -> &PrivateKey {
        &self.key
    }

    fn now(&self) -> i64 {
        HOST.with(|host| host.now().secs)
    }

    fn random(&self, buffer: &mut [u8]) {
        HOST.with(|host| host.random(buffer));
    }

    fn trust(&self, user: &str, key: &PublicKey, may_trust: bool) -> Trust {
        HOST.with(|host| match self.peers.trusts(host, user, key) {
            Trusted::Yes => Trust::Known,
            _ if !may_trust => Trust::Refused,
            // What is there under this name stays.
            Trusted::Different => Trust::New,
            Trusted::Unknown => match self.peers.trust(host, user, key) {
                Ok(()) => Trust::New,
                Err(error) => {
                    self.message(Importance::Error, &error.to_string());
                    Trust::Refused
                }
            },
        })
    }

    fn saw(&self, key: &PublicKey, address: &str) {
        let contact = (key.digest(), address.to_owned());
        self.contacts.lock().unwrap_or_else(PoisonError::into_inner).waiting.push(contact);
        self.write_contacts(false);
    }

    fn name_of(&self, address: &str) -> Option<String> {
        let address = address.parse().ok()?;
        HOST.with(|host| host.reverse(address).ok().flatten())
    }

    fn resolve(&self, path: &str) -> Option<String> {
        let resolved = resolve_served(Path::new(path)).ok()?;
        resolved.into_os_string().into_string().ok()
    }

    fn paths(&self) -> Box<dyn Paths> {
        Box::new(OsPaths(Served::default()))
    }

    fn list(&self, path: &str) -> Option<Vec<Vec<u8>>> {
        let names = list_served(Path::new(path)).ok()?;
        Some(names.into_iter().map(OsStringExt::into_vec).collect())
    }

    fn uid_of(&self, user: &str) -> Option<u32> {
        HOST.with(|host| host.user(user).ok().flatten().map(|user| user.uid))
    }

    fn persistent_classes(&self) -> Vec<String> {
        let file = format!("{}/fx_classes", self.state);
        let (bytes, now) =
            HOST.with(|host| (host.read(Path::new(&file)).unwrap_or_default(), host.now().secs));
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let lines = text.lines().filter_map(|line| {
            let (name, rest) = line.split_once('\t')?;
            let expires: i64 = rest.split('\t').next()?.parse().ok()?;
            (expires > now).then(|| name.to_owned())
        });
        lines.collect()
    }

    fn run(&self, words: &[String], line: &mut dyn FnMut(&[u8])) -> Result<i32, String> {
        let mut spec = Spec::argv(words.iter().cloned());
        spec.merge_stderr = true;
        let ended = HOST.with(|host| host.run_streaming(&spec, &mut |said| line(said.bytes)));
        ended.map(|ended| ended.exit.code()).map_err(|error| error.to_string())
    }

    fn logs(&self, importance: Importance) -> bool {
        match &self.messages {
            Messages::Here(log) => log.0 >= level(importance),
            Messages::System(_) => importance <= Importance::Notice,
        }
    }

    fn log(&self, importance: Importance, address: &str, text: &str) {
        self.message(importance, &format!("{:<17}{text}", format!("{address}> ")));
    }
}
