//! Environments as snapshots: what was found of one at a moment, until its files change.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use fx_host::{Clock, Commands, Files, OsHost, Spec};
use fx_server::Refusal;
use fx_wire::puppet::Environment;
use serde_json::Value;

use super::fingerprint::{self, Look};
use super::job::EnvironmentJob;
use super::modules::Module;
use crate::personas::puppet::settings::Settings;

/// An environment as it was found. Nothing in it changes.
pub(crate) struct Snapshot {
    /// No other snapshot of this process has this number.
    pub(crate) id: u64,
    pub(crate) name: String,
    pub(crate) manifest: PathBuf,
    pub(crate) modulepath: Vec<PathBuf>,
    pub(crate) dir: Option<PathBuf>,
    pub(crate) hiera_config: Option<PathBuf>,
    /// What its catalogs have as version.
    pub(crate) version: String,
    pub(crate) config_version: String,
    /// The first of each name, by the order of the path.
    pub(crate) modules: Vec<Module>,
    pub(crate) makes_static_catalogs: bool,
    settings: Settings,
    /// When it was begun to be read, in seconds since 1970.
    began: i64,
    /// What its files were; not known before they are looked at for the first time.
    key: OnceLock<u64>,
    classes: OnceLock<Vec<Value>>,
}

impl Snapshot {
    /// Classes of all manifests, by file. They are read once.
    pub(crate) fn classes(&self, host: &OsHost) -> Result<&[Value], Refusal> {
        if let Some(known) = self.classes.get() {
            return Ok(known);
        }
        let mut dirs = vec![self.manifest.clone()];
        dirs.extend(self.modules.iter().map(|module| module.dir.join("manifests")));
        let mut found = Vec::new();
        for dir in dirs.iter().filter(|dir| host.stat(dir).is_ok()) {
            for (path, text) in fx_puppet::manifests(host, dir).map_err(Refusal::Failed)? {
                found.push(fx_puppet::class_list(&path, &text));
            }
        }
        found.sort_by(|a, b| a["path"].as_str().cmp(&b["path"].as_str()));
        Ok(self.classes.get_or_init(|| found))
    }

    /// What the compiler gets, without what is about a node.
    pub(super) fn job(&self) -> EnvironmentJob {
        EnvironmentJob {
            name: self.name.clone(),
            manifest: self.manifest.clone(),
            modulepath: self.modulepath.clone(),
            dir: self.dir.clone(),
            hiera_config: self.hiera_config.clone(),
            given: self.settings.values().clone(),
            version: self.version.clone(),
        }
    }

    /// Whether the files are those that were read. Those that nobody looked at yet are, if none of
    /// them changed since.
    fn is_current(&self, look: &Look) -> bool {
        match self.key.get() {
            Some(key) => *key == look.key,
            None => look.newest < self.began && self.key.set(look.key).is_ok(),
        }
    }

    pub(crate) fn module(&self, name: &str) -> Option<&Module> {
        self.modules.iter().find(|module| module.name == name)
    }
}

/// A snapshot, and when its files were last looked at.
struct Kept {
    snapshot: Arc<Snapshot>,
    looked: Instant,
    /// How long to wait with the next look.
    pause: Duration,
    /// Somebody looks now; the others need not wait for him.
    is_looked_at: bool,
}

impl Kept {
    fn new(snapshot: &Arc<Snapshot>, looked: Instant) -> Kept {
        Kept { snapshot: Arc::clone(snapshot), looked, pause: PAUSE, is_looked_at: false }
    }
}

/// All environments of a site.
pub(crate) struct Environments {
    settings: Settings,
    kept: Mutex<BTreeMap<String, Kept>>,
    next: AtomicU64,
}

/// Files are not looked at again sooner: many requests at once share one look.
const PAUSE: Duration = Duration::from_millis(250);
/// Nor later, where looking takes long.
const MOST_PAUSE: Duration = Duration::from_secs(1);

impl Environments {
    pub(crate) fn new(settings: Settings) -> Environments {
        Environments { settings, kept: Mutex::default(), next: AtomicU64::new(1) }
    }

    pub(crate) fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Directories in which environments are.
    pub(crate) fn paths(&self) -> Vec<PathBuf> {
        let paths = self.settings.get("environmentpath");
        paths.split(':').filter(|path| !path.is_empty()).map(PathBuf::from).collect()
    }

    /// Names of all environments, sorted.
    pub(crate) fn names(&self, host: &OsHost) -> Vec<String> {
        let mut names = Vec::new();
        for path in self.paths() {
            for entry in host.list(&path).unwrap_or_default() {
                let name = entry.name.to_string_lossy().into_owned();
                if Environment::parse(&name).is_some()
                    && host.stat(&path.join(&name)).is_ok_and(|meta| meta.is_dir())
                {
                    names.push(name);
                }
            }
        }
        names.sort();
        names.dedup();
        names
    }

    pub(crate) fn has(&self, host: &OsHost, name: &Environment) -> bool {
        self.settings.and("environment", name.as_str()).environment_dir(host).is_some()
    }

    /// The environment as it is now; nothing where there is none of the name.
    pub(crate) fn snapshot(&self, host: &OsHost, name: &Environment) -> Option<Arc<Snapshot>> {
        let settings = self.settings.and("environment", name.as_str());
        let now = Instant::now();
        let known = {
            let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
            let Some(known) = kept.get_mut(name.as_str()) else {
                settings.environment_dir(host)?;
                let snapshot = Arc::new(self.read(host, name, settings, None));
                kept.insert(name.to_string(), Kept::new(&snapshot, now));
                return Some(snapshot);
            };
            // `unlimited` means until somebody flushes it.
            let is_fixed = self.settings.get("environment_timeout") == "unlimited";
            if is_fixed || known.is_looked_at || now.duration_since(known.looked) < known.pause {
                return Some(Arc::clone(&known.snapshot));
            }
            known.is_looked_at = true;
            Arc::clone(&known.snapshot)
        };
        // A link may lead to another directory now.
        let dir = settings.environment_dir(host);
        let look = fingerprint::of(host, &known);
        let is_current = dir == known.dir && known.is_current(&look);
        let new = || {
            // Files that change while they are read differ from the look at the next one.
            let key = (dir == known.dir).then_some(look.key);
            Arc::new(self.read(host, name, settings.clone(), key))
        };
        let snapshot = match (is_current, &dir) {
            (true, _) => known,
            (false, Some(_)) => new(),
            (false, None) => {
                self.flush(Some(name));
                return None;
            }
        };
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        match kept.get_mut(name.as_str()) {
            Some(entry) if is_current => {
                entry.looked = Instant::now();
                // A tenth of the time at most goes into looking, unless a change would wait long.
                entry.pause = (now.elapsed() * 10).clamp(PAUSE, MOST_PAUSE);
                entry.is_looked_at = false;
            }
            // Somebody flushed it meanwhile.
            None if is_current => {}
            _ => drop(kept.insert(name.to_string(), Kept::new(&snapshot, Instant::now()))),
        }
        Some(snapshot)
    }

    fn read(
        &self,
        host: &OsHost,
        name: &Environment,
        settings: Settings,
        key: Option<u64>,
    ) -> Snapshot {
        let began = host.now().secs;
        let request = settings.request(host);
        let config_version = settings.config_version(host);
        let version = version(host, &config_version);
        let modules = super::modules::all(host, &request.modulepath);
        let mut snapshot = Snapshot {
            id: self.next.fetch_add(1, Ordering::Relaxed),
            name: name.to_string(),
            manifest: request.manifest,
            modulepath: request.modulepath,
            dir: request.environment_dir,
            hiera_config: request.hiera_config,
            version,
            config_version,
            modules,
            makes_static_catalogs: settings.own_or("static_catalogs", host) != "false",
            settings,
            began,
            key: key.map_or_else(OnceLock::new, OnceLock::from),
            classes: OnceLock::new(),
        };
        if snapshot.config_version.is_empty()
            && let Some(deployed) = super::versions::deployed(host, &snapshot)
        {
            snapshot.version = deployed;
        }
        snapshot
    }

    /// Forgets one environment, or all: the next request reads it again.
    pub(crate) fn flush(&self, name: Option<&Environment>) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        match name {
            Some(name) => drop(kept.remove(name.as_str())),
            None => kept.clear(),
        }
    }
}

/// What the command of an environment prints, or the time.
fn version(host: &OsHost, command: &str) -> String {
    let now = host.now().secs.to_string();
    if command.is_empty() {
        return now;
    }
    let words = command.split_whitespace();
    let spec = Spec::argv(words).timeout(Duration::from_secs(30));
    match host.run(&spec) {
        Ok(ended) if ended.exit.success() => {
            String::from_utf8_lossy(&ended.stdout).trim().to_owned()
        }
        _ => now,
    }
}
