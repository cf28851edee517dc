//! The code of a site as the server wants it: catalogs by the workers, files by the snapshots.

use std::rc::Rc;
use std::sync::Arc;

use fx_fleet::Fleet;
use fx_host::OsHost;
use fx_puppet::{Compilation, Exports, Machine, Server, classify, facts_from_json};
use fx_server::{
    CatalogMade, CatalogWish, Code, EnvironmentInfo, FileWish, NodeInfo, Refusal, Tree,
};
use fx_wire::puppet::{CertName, Environment, Metadata};
use serde_json::{Map, Value, json};

use super::environments::{Environments, Snapshot};
use super::exports::Store;
use super::files;
use super::workers::{Log, Workers};

/// The code of a site.
pub(crate) struct Site {
    environments: Environments,
    workers: Workers,
    server: Server,
    /// What nodes export, where it is kept.
    exports: Option<Fleet>,
}

/// The environment of nodes that name one which is not there.
const FALLBACK: &str = "production";

impl Site {
    pub(crate) fn start(
        environments: Environments,
        server: Server,
        exports: Option<Fleet>,
        workers: usize,
        log: &Log,
    ) -> std::io::Result<Site> {
        Ok(Site { environments, workers: Workers::start(workers, log)?, server, exports })
    }

    fn snapshot(&self, name: &Environment) -> Result<Arc<Snapshot>, Refusal> {
        self.environments.snapshot(&OsHost::new(), name).ok_or(Refusal::NoEnvironment)
    }

    /// The program that classifies nodes, where there is one.
    fn classifier(&self) -> Option<String> {
        let settings = self.environments.settings();
        (settings.get("node_terminus") == "exec").then(|| settings.get("external_nodes"))
    }

    /// What the classifier says of a node, as JSON.
    fn classified(&self, node: &CertName) -> Result<Value, Refusal> {
        let Some(command) = self.classifier() else { return Ok(Value::Null) };
        let name = node.to_string();
        let said = self.workers.run(None, move |machine| {
            let found = classify(machine, &command, &name)?;
            let classes: Map<String, Value> = found
                .classes
                .iter()
                .map(|(name, parameters)| {
                    let parameters = parameters.iter().map(|(key, value)| {
                        let key = key.as_str().unwrap_or_default().to_owned();
                        (key, fx_puppet::value_to_json(value))
                    });
                    (name.clone(), Value::Object(parameters.collect()))
                })
                .collect();
            let variables = found.variables.iter();
            let variables: Map<String, Value> = variables
                .map(|(name, value)| (name.clone(), fx_puppet::value_to_json(value)))
                .collect();
            let environment = found.environment;
            Ok(json!({"classes": classes, "parameters": variables, "environment": environment})
                .to_string())
        })?;
        serde_json::from_str(&said).map_err(|error| Refusal::Failed(error.to_string()))
    }
}

/// Classes or variables of a classification as the compiler wants them.
fn entries(said: &Value, what: &str) -> Vec<(String, fx_puppet::Value)> {
    said[what].as_object().map(facts_from_json).unwrap_or_default()
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
        let (wish, server) = (wish.clone(), self.server.clone());
        let fleet = self.exports.clone();
        let made = self.workers.run(Some(Arc::clone(&snapshot)), move |machine| {
            compile(machine, &snapshot, &wish, &said, server, fleet)
        })?;
        Ok(CatalogMade { environment, text: made.text, exported: made.exported })
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
        files::metadata(&OsHost::new(), &*self.snapshot(environment)?, wish)
    }

    fn metadatas(
        &self,
        environment: &Environment,
        wish: &FileWish,
        tree: &Tree,
    ) -> Result<Vec<Metadata>, Refusal> {
        files::metadatas(&OsHost::new(), &*self.snapshot(environment)?, wish, tree)
    }

    fn content(
        &self,
        environment: &Environment,
        mount: &str,
        path: &[String],
    ) -> Result<Vec<u8>, Refusal> {
        files::content(&OsHost::new(), &*self.snapshot(environment)?, mount, path)
    }

    fn static_content(
        &self,
        _environment: &Environment,
        _code_id: &str,
        _path: &[String],
    ) -> Result<Vec<u8>, Refusal> {
        Err(Refusal::Failed("versions of code are not configured on this server".into()))
    }

    fn classes(&self, environment: &Environment) -> Result<Value, Refusal> {
        self.snapshot(environment)?;
        Err(Refusal::Failed("environment_classes is not there yet".into()))
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
    }
}

fn compile(
    machine: &Machine,
    snapshot: &Snapshot,
    wish: &CatalogWish,
    said: &Value,
    server: Server,
    fleet: Option<Fleet>,
) -> Result<Compilation, String> {
    let mut request = snapshot.request();
    request.server = server;
    request.extensions.clone_from(&wish.extensions);
    request.variables = entries(said, "parameters");
    let classes = entries(said, "classes").into_iter();
    request.classes = classes
        .map(|(name, parameters)| match parameters {
            fx_puppet::Value::Hash(parameters) => (name, fx_puppet::Hash::clone(&parameters)),
            _ => (name, fx_puppet::Hash::default()),
        })
        .collect();
    let facts = facts_from_json(&wish.facts);
    request.exports = fleet.map(|fleet| Rc::new(Store(fleet)) as Rc<dyn Exports>);
    fx_puppet::compile(machine, &request, wish.node.as_str(), facts)
}
