//! The code of a site as the server wants it: catalogs by the workers, files by the snapshots.

use std::sync::Arc;
use std::time::Duration;

use fx_host::OsHost;
use fx_puppet::Server;
use fx_server::{
    CatalogMade, CatalogWish, Code, Content, EnvironmentInfo, FileWish, Listing, NodeInfo, Refusal,
    Tree,
};
use fx_wire::puppet::{CertName, Environment, Metadata};
use serde_json::{Map, Value, json};

use super::conf::{Mounts, VersionedCode};
use super::digests::Digests;
use super::environments::{Environments, Snapshot};
use super::files::{self, Served};
use super::job::{CompileJob, Job};
use super::lists::{ListKey, Lists};
use super::process::{Exports, Place};
use super::workers::{Log, Workers};
use super::{static_catalog, versions};

/// The code of a site.
pub(crate) struct Site {
    environments: Environments,
    workers: Workers,
    server: Server,
    conf: SiteCode,
    digests: Digests,
    lists: Lists,
    /// Whether there is somebody to ask what nodes export.
    has_exports: bool,
}

/// What the site's files say of its code.
#[derive(Debug, Default)]
pub(crate) struct SiteCode {
    pub(crate) versions: VersionedCode,
    pub(crate) mounts: Mounts,
}

/// How catalogs are compiled.
pub(crate) struct Compiling {
    pub(crate) workers: usize,
    /// The longest that a catalog may take.
    pub(crate) limit: Duration,
    pub(crate) place: Place,
}

/// The environment of nodes that name one which is not there.
const FALLBACK: &str = "production";

impl Site {
    pub(crate) fn start(
        environments: Environments,
        server: Server,
        exports: Option<Exports>,
        compiling: &Compiling,
        conf: SiteCode,
        log: &Log,
    ) -> std::io::Result<Site> {
        let has_exports = exports.is_some();
        let workers = Workers::start(compiling, exports, log)?;
        let (digests, lists) = (Digests::default(), Lists::default());
        Ok(Site { environments, workers, server, conf, digests, lists, has_exports })
    }

    fn snapshot(&self, name: &Environment) -> Result<Arc<Snapshot>, Refusal> {
        self.environments.snapshot(&OsHost::new(), name).ok_or(Refusal::NoEnvironment)
    }

    fn served<'a>(&'a self, snapshot: &'a Snapshot) -> Served<'a> {
        Served { snapshot, mounts: &self.conf.mounts, digests: &self.digests }
    }

    /// The catalog with the version of its code, where that is known.
    fn versioned(
        &self,
        snapshot: &Snapshot,
        wish: &CatalogWish,
        text: String,
    ) -> Result<String, Refusal> {
        let host = OsHost::new();
        if !wish.static_catalog || !snapshot.makes_static_catalogs {
            return Ok(text);
        }
        match versions::code_id(&host, &self.conf.versions, snapshot)? {
            Some(id) => static_catalog::with_files(&host, &self.served(snapshot), wish, &text, &id),
            None => Ok(text),
        }
    }

    /// The program that classifies nodes, where there is one.
    fn classifier(&self) -> Option<String> {
        let settings = self.environments.settings();
        (settings.get("node_terminus") == "exec").then(|| settings.get("external_nodes"))
    }

    /// What the classifier says of a node, as JSON.
    fn classified(&self, node: &CertName) -> Result<Value, Refusal> {
        let Some(command) = self.classifier() else { return Ok(Value::Null) };
        let job = Job::Classify { command, node: node.to_string() };
        let said = self.workers.run("", 0, &job)?;
        serde_json::from_str(&said.text).map_err(|error| Refusal::Failed(error.to_string()))
    }
}

impl Code for Site {
    fn catalog(&self, wish: &CatalogWish) -> Result<CatalogMade, Refusal> {
        let said = self.classified(&wish.node)?;
        let own = said["environment"].as_str().and_then(Environment::parse);
        let wanted = own.filter(|_| !wish.prefers_requested);
        let wanted = wanted.unwrap_or_else(|| wish.environment.clone());
        // Agents with an environment that is not there must get one that is, or they never heal.
        let fallback = Environment::parse(FALLBACK).ok_or(Refusal::NoEnvironment)?;
        let snapshot = match self.snapshot(&wanted) {
            Err(Refusal::NoEnvironment) => self.snapshot(&fallback)?,
            found => found?,
        };
        let environment = snapshot.name.clone();
        let job = Job::Compile(Box::new(CompileJob {
            environment: snapshot.job(),
            node: wish.node.to_string(),
            facts: wish.facts.clone(),
            extensions: wish.extensions.clone(),
            classified: said,
            server: (self.server.name.clone(), self.server.ip.clone()),
            has_exports: self.has_exports,
        }));
        let made = self.workers.run(&environment, snapshot.id, &job)?;
        let text = self.versioned(&snapshot, wish, made.text)?;
        Ok(CatalogMade { environment, text, exported: made.exported })
    }

    fn node(
        &self,
        name: &CertName,
        environment: &Environment,
        facts: Option<&Map<String, Value>>,
    ) -> Result<NodeInfo, Refusal> {
        if !self.has_environment(environment) {
            return Err(Refusal::NoEnvironment);
        }
        let said = self.classified(name)?;
        let mut parameters = facts.cloned().unwrap_or_default();
        if let Value::Object(own) = &said["parameters"] {
            parameters.extend(own.clone());
        }
        let own = said["environment"].as_str();
        Ok(NodeInfo {
            environment: own.unwrap_or(environment.as_str()).to_owned(),
            classes: said["classes"].clone(),
            parameters,
        })
    }

    fn has_environment(&self, environment: &Environment) -> bool {
        self.environments.has(&OsHost::new(), environment)
    }

    fn environments(&self) -> (Vec<String>, Vec<EnvironmentInfo>) {
        let host = OsHost::new();
        let shown = |path: &std::path::PathBuf| path.to_string_lossy().into_owned();
        let mut paths = vec!["data:text/plain,internal".to_owned()];
        let dirs = self.environments.paths();
        paths.extend(dirs.iter().map(|path| format!("file://{}", shown(path))));
        let timeout = self.environments.settings().get("environment_timeout");
        let timeout = timeout.parse::<u64>().map_or_else(|_| Value::from(timeout), Value::from);
        let names = self.environments.names(&host).into_iter();
        let snapshots =
            names.filter_map(|name| self.environments.snapshot(&host, &Environment::parse(&name)?));
        let all = snapshots.map(|one| EnvironmentInfo {
            name: one.name.clone(),
            modulepath: one.modulepath.iter().map(shown).collect(),
            manifest: shown(&one.manifest),
            timeout: timeout.clone(),
            config_version: one.config_version.clone(),
        });
        (paths, all.collect())
    }

    fn metadata(&self, environment: &Environment, wish: &FileWish) -> Result<Metadata, Refusal> {
        let snapshot = self.snapshot(environment)?;
        files::metadata(&OsHost::new(), &self.served(&snapshot), wish)
    }

    fn metadatas(
        &self,
        environment: &Environment,
        wish: &FileWish,
        tree: &Tree,
    ) -> Result<Listing, Refusal> {
        let snapshot = self.snapshot(environment)?;
        let look = || {
            let found = files::metadatas(&OsHost::new(), &self.served(&snapshot), wish, tree);
            found.map(|files| Listing::of(&files))
        };
        if !files::is_of_all_modules(&wish.mount) {
            return look();
        }
        self.lists.get(ListKey::new(&snapshot, wish, tree), look)
    }

    fn content(&self, environment: &Environment, wish: &FileWish) -> Result<Content, Refusal> {
        let snapshot = self.snapshot(environment)?;
        files::content(&OsHost::new(), &self.served(&snapshot), wish)
    }

    fn has_mount(&self, name: &str) -> bool {
        files::is_of_modules(name) || self.conf.mounts.get(name).is_some()
    }

    fn static_content(
        &self,
        environment: &Environment,
        code_id: &str,
        path: &[String],
    ) -> Result<Content, Refusal> {
        let snapshot = self.snapshot(environment)?;
        let what = (code_id, path);
        versions::content(&OsHost::new(), &self.conf.versions, &snapshot, environment, what)
    }

    fn classes(&self, environment: &Environment) -> Result<Value, Refusal> {
        let snapshot = self.snapshot(environment)?;
        Ok(json!({"files": snapshot.classes(&OsHost::new())?}))
    }

    fn modules(&self, environment: &Environment) -> Result<Value, Refusal> {
        let snapshot = self.snapshot(environment)?;
        let found = fx_puppet::installed_modules(&OsHost::new(), &snapshot.modulepath);
        let shown = found.into_iter().map(|module| {
            let name = module.full.map_or(module.name, |full| full.replacen('-', "/", 1));
            json!({"name": name, "version": module.version})
        });
        Ok(Value::Array(shown.collect()))
    }

    fn flush(&self, environment: Option<&Environment>) {
        self.environments.flush(environment);
        self.lists.flush();
    }
}
