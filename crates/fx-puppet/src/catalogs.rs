//! Compiling catalogs for nodes: one, or many one after the other in the same thread. Nothing
//! is applied.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use fx_host::Look;

use crate::compile::{Settings, from_json};
use crate::eval::Evaluator;
use crate::machine::Machine;
use crate::value::Value;

/// What holds for all nodes.
#[derive(Clone, Debug, Default)]
pub struct CatalogRequest {
    /// A manifest, or a folder of them.
    pub manifest: PathBuf,
    /// Where modules lie.
    pub modulepath: Vec<PathBuf>,
    /// Folder of the environment.
    pub environment_dir: Option<PathBuf>,
    /// The global `hiera.yaml`.
    pub hiera_config: Option<PathBuf>,
    /// Name of the environment.
    pub environment: String,
    /// Tell each phase.
    pub trace: bool,
    /// Settings of the original that were given, by name.
    pub given: crate::settings::Given,
    /// Classes a classifier gives the node, with their parameters.
    pub classes: Vec<(String, crate::value::Hash)>,
    /// Variables that a classifier sets at the top.
    pub variables: Vec<(String, Value)>,
    /// The compiling machine.
    pub server: Server,
    /// Extensions of the node's certificate, by short name.
    pub extensions: Vec<(String, String)>,
    /// The version of the code, where it is not the time of compiling.
    pub version: Option<String>,
    /// What other nodes export.
    pub exports: Option<Rc<dyn crate::Exports>>,
}

/// A catalog, compiled.
#[derive(Clone, Debug, PartialEq)]
pub struct Compilation {
    /// The catalog in JSON.
    pub text: String,
    /// Resources that are exported and not part of it, each in the form that the catalog has.
    pub exported: Vec<serde_json::Value>,
}

/// The compiling machine as manifests see it.
#[derive(Clone, Debug)]
pub struct Server {
    /// Its name.
    pub name: String,
    /// Its address.
    pub ip: String,
}

impl Default for Server {
    /// Names and addresses for documents: catalogs that are compared are the same everywhere.
    fn default() -> Server {
        Server { name: "puppet.example.com".into(), ip: "192.0.2.1".into() }
    }
}

/// Facts as they come over the network.
pub fn facts_from_json(
    values: &serde_json::Map<String, serde_json::Value>,
) -> Vec<(String, Value)> {
    values.iter().map(|(name, value)| (name.clone(), from_json(value))).collect()
}

/// Facts from a file: JSON or YAML, plain or as `puppet facts` prints them.
pub fn read_facts(machine: &Machine, path: &Path) -> Result<Vec<(String, Value)>, String> {
    let bytes = machine
        .run
        .look()
        .read_limited(path, fx_host::limits::DATA)
        .map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&bytes);
    let data = match serde_json::from_str::<serde_json::Value>(&text) {
        Ok(json) => from_json(&json),
        Err(_) => crate::yaml::parse(&text).map_err(|why| format!("{}: {why}", path.display()))?,
    };
    let Value::Hash(mut facts) = data else {
        return Err(format!("{}: facts must be a hash", path.display()));
    };
    if let Some(Value::Hash(values)) = facts.get(&Value::from("values")).cloned() {
        facts = values;
    }
    Ok(facts
        .iter()
        .map(|(name, value)| (name.as_str().unwrap_or_default().to_owned(), value.clone()))
        .collect())
}

/// The text of a manifest, or of all manifests in a folder in the order of their paths.
pub fn manifests(host: &dyn Look, path: &Path) -> Result<Vec<(String, Vec<u8>)>, String> {
    if !host.stat(path).is_ok_and(|meta| meta.is_dir()) {
        let text = host.read_trusted(path).map_err(|error| error.to_string())?;
        return Ok(vec![(path.to_string_lossy().into_owned(), text)]);
    }
    let mut found = Vec::new();
    let mut folders = vec![(path.to_path_buf(), 0)];
    while let Some((folder, depth)) = folders.pop() {
        for item in host.list_trusted(&folder).map_err(|error| error.to_string())? {
            let full = folder.join(&item.name);
            if host.stat(&full).is_ok_and(|meta| meta.is_dir()) {
                if depth < 100 {
                    folders.push((full, depth + 1));
                }
            } else if full.extension().is_some_and(|ending| ending == "pp") {
                found.push(full);
            }
        }
    }
    found.sort_by(|a, b| a.as_os_str().as_encoded_bytes().cmp(b.as_os_str().as_encoded_bytes()));
    found
        .into_iter()
        .map(|file| {
            let text = host.read_trusted(&file).map_err(|error| error.to_string())?;
            Ok((file.to_string_lossy().into_owned(), text))
        })
        .collect()
}

/// Compiles the catalog of a node to JSON text; the message of what went wrong otherwise.
pub fn catalog(
    machine: &Machine,
    request: &CatalogRequest,
    node: &str,
    facts: Vec<(String, Value)>,
) -> Result<String, String> {
    compile(machine, request, node, facts).map(|made| made.text)
}

/// The same with what the node exports.
pub fn compile(
    machine: &Machine,
    request: &CatalogRequest,
    node: &str,
    facts: Vec<(String, Value)>,
) -> Result<Compilation, String> {
    let look = machine.run.look();
    // An environment need not have manifests; a manifest that is named must be there.
    let is_bare = !request.given.contains_key("manifest") && look.lstat(&request.manifest).is_err();
    let texts = if is_bare { Vec::new() } else { manifests(look, &request.manifest)? };
    compile_texts(machine, request, node, facts, &texts)
}

/// The same from texts, each with the name that messages give it.
pub fn compile_texts(
    machine: &Machine,
    request: &CatalogRequest,
    node: &str,
    facts: Vec<(String, Value)>,
    texts: &[(String, Vec<u8>)],
) -> Result<Compilation, String> {
    let evaluator = evaluator_of(machine, request, node, Some(facts));
    evaluator.compile(texts)?;
    finished(&evaluator, request)
}

/// An evaluator for a node, with nothing evaluated yet. Without facts those of this machine count.
pub(crate) fn evaluator_of(
    machine: &Machine,
    request: &CatalogRequest,
    node: &str,
    facts: Option<Vec<(String, Value)>>,
) -> Rc<Evaluator> {
    let settings = Settings {
        node: node.to_owned(),
        environment: request.environment.clone(),
        modulepath: request.modulepath.clone(),
        environment_dir: request.environment_dir.clone(),
        hiera_config: request.hiera_config.clone(),
        facts,
        is_remote: true,
        server_name: request.server.name.clone(),
        server_ip: request.server.ip.clone(),
        classes: request.classes.clone(),
        variables: request.variables.clone(),
        extensions: request.extensions.clone(),
        takes_words: false,
        backup: None,
        custom_facts: false,
        file_server: None,
        server_bucket: None,
        exports: request.exports.clone(),
        plugins: None,
        given: request.given.clone(),
        trace: request.trace,
        debugs: false,
    };
    Evaluator::new(machine, settings)
}

/// The catalog of what was evaluated.
pub(crate) fn finished(
    evaluator: &Evaluator,
    request: &CatalogRequest,
) -> Result<Compilation, String> {
    let version = match &request.version {
        // A number of a version is a number in the catalog, as the original has it.
        Some(text) => {
            text.parse::<i64>().map_or_else(|_| text.as_str().into(), serde_json::Value::from)
        }
        None => evaluator.run.look().now().secs.into(),
    };
    let text = evaluator.catalog_text(&version)?;
    Ok(Compilation { text, exported: evaluator.exported() })
}
