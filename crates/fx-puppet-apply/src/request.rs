//! What a run is given, and what it ends with.

use std::path::PathBuf;
use std::rc::Rc;

use fx_engine::Level;
use fx_puppet::settings::Given;
use fx_puppet::{FileServer, Hash, ServerBucket, Value};

/// What to apply, and how.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// Manifests by the names that messages give them, taken as one.
    pub manifests: Vec<(String, Vec<u8>)>,
    /// A catalog to apply instead: its name, and its text.
    pub catalog: Option<(String, Vec<u8>)>,
    /// The catalog comes from a server.
    pub agent: Option<AgentRun>,
    /// Where modules lie.
    pub modulepath: Vec<PathBuf>,
    /// Only log what would be done.
    pub noop: bool,
    /// Only resources with one of these tags.
    pub tags: Vec<String>,
    /// No resources with one of these tags.
    pub skip_tags: Vec<String>,
    /// A command to run before anything is done.
    pub prerun: Option<String>,
    /// A command to run at the end.
    pub postrun: Option<String>,
    /// Show how the content of files changes.
    pub show_diff: bool,
    /// Where state is kept.
    pub vardir: Option<PathBuf>,
    /// Answers for sources that begin with `puppet:`; the module path does where not given.
    pub file_server: Option<Rc<dyn FileServer>>,
    /// Takes old content for file buckets that are on a server.
    pub server_bucket: Option<Rc<dyn ServerBucket>>,
    /// A directory with the `lib` and the `facts.d` that a server sent.
    pub plugins: Option<PathBuf>,
    /// Name of the node; that of the machine where not given.
    pub certname: Option<String>,
    /// Folder of the environment.
    pub environment_dir: Option<PathBuf>,
    /// Name of the environment; `production` where empty.
    pub environment: String,
    /// The global `hiera.yaml`.
    pub hiera_config: Option<PathBuf>,
    /// Where the report is written.
    pub report: Option<PathBuf>,
    /// Where the figures of the report are written.
    pub summary: Option<PathBuf>,
    /// Where the names of classes are written.
    pub class_list: Option<PathBuf>,
    /// Where the names of resources are written.
    pub resource_list: Option<PathBuf>,
    /// The figures of the run are wanted as text.
    pub summarizes: bool,
    /// One resource by itself: it has no place in stages and classes, and only what happens to
    /// it is logged.
    pub alone: bool,
    /// Folder for graphs, where they are wanted.
    pub graphs: Option<PathBuf>,
    /// Classes and parameters that a classifier gives the node.
    pub classes: Vec<(String, Hash)>,
    /// Variables that a classifier gives the node.
    pub variables: Vec<(String, Value)>,
    /// Settings of the original that were given, by name.
    pub given: Given,
    /// Log each phase.
    pub trace: bool,
    /// Log more than the original does where something is wrong.
    pub explains: bool,
    /// What the report's log holds, down to this level.
    pub level: Option<Level>,
    /// Exit codes depend on changes and failures.
    pub detailed_exitcodes: bool,
}

/// What the run of an agent has beside that of `puppet apply`.
#[derive(Clone, Debug)]
pub struct AgentRun {
    /// The name of this run, which the server knows, too.
    pub transaction_uuid: String,
    /// Whether the catalog was kept from an earlier run: `not_used`, `explicitly_requested` or
    /// `on_failure`.
    pub cached_catalog_status: &'static str,
    /// The server of a list that answered.
    pub server_used: Option<String>,
    /// What the catalog calls its own version, and its name.
    pub version: serde_json::Value,
    pub catalog_uuid: Option<String>,
    /// The environment that was asked for first.
    pub initial_environment: String,
    /// What was logged before the catalog was there.
    pub log: Vec<(Level, String)>,
}

/// How it ended.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// Exit code of the original.
    pub code: u8,
    /// The figures of the run, where they are wanted.
    pub figures: String,
    /// The report of an agent's run, as it is sent.
    pub report: Option<serde_json::Value>,
    /// Where in the text of the policy is what kept it from being compiled.
    pub refused: Option<fx_source::Diagnostic>,
}

impl Summary {
    pub(crate) fn code(code: u8) -> Summary {
        Summary { code, ..Summary::default() }
    }
}
