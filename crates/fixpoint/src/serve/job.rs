//! What a process that compiles is told to do.

use std::path::PathBuf;
use std::rc::Rc;

use fx_puppet::{CatalogRequest, Compilation, Exports, Machine, Server, classify, facts_from_json};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// A task, as it is sent.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Job {
    /// What a classifier says of a node.
    Classify {
        command: String,
        node: String,
    },
    Compile(Box<CompileJob>),
}

/// A catalog to compile.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct CompileJob {
    pub(super) environment: EnvironmentJob,
    pub(super) node: String,
    pub(super) facts: Map<String, Value>,
    pub(super) extensions: Vec<(String, String)>,
    /// What the classifier said.
    pub(super) classified: Value,
    /// Name and address of the server.
    pub(super) server: (String, String),
    /// Whether there is somebody to ask what other nodes export.
    pub(super) has_exports: bool,
}

/// An environment, as the compiler wants it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct EnvironmentJob {
    pub(super) name: String,
    pub(super) manifest: PathBuf,
    pub(super) modulepath: Vec<PathBuf>,
    pub(super) dir: Option<PathBuf>,
    pub(super) hiera_config: Option<PathBuf>,
    pub(super) given: std::collections::BTreeMap<String, String>,
    pub(super) version: String,
}

impl Job {
    /// Does it: a text, and what a node exports.
    pub(super) fn carry_out(
        self,
        machine: &Machine,
        exports: Rc<dyn Exports>,
    ) -> Result<Compilation, String> {
        match self {
            Job::Classify { command, node } => {
                let text = classified(machine, &command, &node)?.to_string();
                Ok(Compilation { text, exported: Vec::new() })
            }
            Job::Compile(job) => job.compile(machine, exports),
        }
    }
}

impl CompileJob {
    fn compile(self, machine: &Machine, exports: Rc<dyn Exports>) -> Result<Compilation, String> {
        let EnvironmentJob { name, manifest, modulepath, dir, hiera_config, given, version } =
            self.environment;
        let classes = entries(&self.classified, "classes").into_iter();
        let classes = classes.map(|(name, parameters)| match parameters {
            fx_puppet::Value::Hash(parameters) => (name, fx_puppet::Hash::clone(&parameters)),
            _ => (name, fx_puppet::Hash::default()),
        });
        let request = CatalogRequest {
            manifest,
            modulepath,
            environment_dir: dir,
            hiera_config,
            environment: name,
            given,
            version: Some(version),
            server: Server { name: self.server.0, ip: self.server.1 },
            extensions: self.extensions,
            variables: entries(&self.classified, "parameters"),
            classes: classes.collect(),
            exports: self.has_exports.then_some(exports),
            ..CatalogRequest::default()
        };
        fx_puppet::compile(machine, &request, &self.node, facts_from_json(&self.facts))
    }
}

/// Classes or variables of a classification as the compiler wants them.
fn entries(said: &Value, what: &str) -> Vec<(String, fx_puppet::Value)> {
    said[what].as_object().map(facts_from_json).unwrap_or_default()
}

fn classified(machine: &Machine, command: &str, node: &str) -> Result<Value, String> {
    let found = classify(machine, command, node)?;
    let classes = found.classes.iter().map(|(name, parameters)| {
        let parameters = parameters.iter().map(|(key, value)| {
            let key = key.as_str().unwrap_or_default().to_owned();
            (key, fx_puppet::value_to_json(value))
        });
        (name.clone(), Value::Object(parameters.collect()))
    });
    let variables = found.variables.iter();
    let variables = variables.map(|(name, value)| (name.clone(), fx_puppet::value_to_json(value)));
    Ok(json!({
        "classes": classes.collect::<Map<_, _>>(),
        "parameters": variables.collect::<Map<_, _>>(),
        "environment": found.environment,
    }))
}
