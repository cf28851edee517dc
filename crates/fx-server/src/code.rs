//! What the server is given of the code it serves: catalogs, files, environments.

use fx_wire::puppet::{CertName, Environment, Metadata};
use serde_json::{Map, Value};

use crate::body::Content;
use crate::listing::Listing;

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// There is no such environment.
    NoEnvironment,
    /// There is no such thing.
    NotFound(String),
    /// It was tried and failed.
    Failed(String),
    /// Too much is under way.
    Busy,
}

/// A catalog that a node wants.
#[derive(Clone, Debug)]
pub struct CatalogWish {
    pub node: CertName,
    pub environment: Environment,
    pub facts: Map<String, Value>,
    /// Puppet's extensions of the node's certificate.
    pub extensions: Vec<(String, String)>,
    /// Whether the node showed a certificate.
    pub is_authenticated: bool,
    pub transaction_uuid: Option<String>,
    pub static_catalog: bool,
    pub checksum_types: Vec<String>,
    /// The environment is the client's, whatever a classifier says.
    pub prefers_requested: bool,
}

/// A catalog that was compiled.
#[derive(Clone, Debug, PartialEq)]
pub struct CatalogMade {
    pub environment: String,
    /// JSON with types beside values that JSON has no type for.
    pub text: String,
    /// Resources that are exported and not the node's own, in the same form.
    pub exported: Vec<Value>,
}

/// What is known of a node before its catalog.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeInfo {
    pub environment: String,
    pub classes: Value,
    pub parameters: Map<String, Value>,
}

/// A file or a tree that a node wants.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FileWish {
    /// `modules`, `plugins` …
    pub mount: String,
    /// Who wants it; empty without a certificate.
    pub client: String,
    /// Below the mount; sound segments.
    pub path: Vec<String>,
    /// `sha256` …
    pub checksum: String,
    pub follows_links: bool,
    /// Whether owner and mode are the file's own.
    pub with_permissions: bool,
}

/// How far into a tree.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Tree {
    pub recurses: bool,
    pub depth: Option<usize>,
    /// Patterns of names that are left out.
    pub ignore: Vec<String>,
}

/// An environment as clients see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnvironmentInfo {
    pub name: String,
    pub modulepath: Vec<String>,
    pub manifest: String,
    /// Seconds, or `unlimited`.
    pub timeout: Value,
    pub config_version: String,
}

/// The code of a site. All calls block; they come from many threads at once.
pub trait Code: Send + Sync {
    fn catalog(&self, wish: &CatalogWish) -> Result<CatalogMade, Refusal>;
    fn node(
        &self,
        name: &CertName,
        environment: &Environment,
        facts: Option<&Map<String, Value>>,
    ) -> Result<NodeInfo, Refusal>;
    fn has_environment(&self, environment: &Environment) -> bool;
    /// Where environments are looked for, and those that are there.
    fn environments(&self) -> (Vec<String>, Vec<EnvironmentInfo>);
    fn metadata(&self, environment: &Environment, wish: &FileWish) -> Result<Metadata, Refusal>;
    fn metadatas(
        &self,
        environment: &Environment,
        wish: &FileWish,
        tree: &Tree,
    ) -> Result<Listing, Refusal>;
    fn content(&self, environment: &Environment, wish: &FileWish) -> Result<Content, Refusal>;
    /// Whether files are served under this name.
    fn has_mount(&self, name: &str) -> bool;
    /// A file as it was at a version of the code.
    fn static_content(
        &self,
        environment: &Environment,
        code_id: &str,
        path: &[String],
    ) -> Result<Content, Refusal>;
    /// Classes by file, as the endpoint writes them.
    fn classes(&self, environment: &Environment) -> Result<Value, Refusal>;
    /// Modules with their versions.
    fn modules(&self, environment: &Environment) -> Result<Value, Refusal>;
    /// Forgets what was read of one environment, or of all.
    fn flush(&self, environment: Option<&Environment>);
}
