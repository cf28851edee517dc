//! What a run was asked to do: literal options, turned into settings once.

use std::rc::Rc;

use fx_engine::Level;

use crate::load::lower::Component;
use crate::text::Str;

/// What `--simulate` shows at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Simulate {
    /// Differences.
    Diff,
    /// Changed files.
    Manifest,
    /// All files looked at.
    ManifestFull,
}

/// What a caller wants of the language.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// Entry policy file as given; `None` takes the default of the work directory.
    pub file: Option<String>,
    /// The file was given as an argument: a bare name is looked for here, not in `inputs`.
    pub here: bool,
    /// Work directory; `None` takes the default.
    pub workdir: Option<String>,
    /// Somebody sits at the terminal: errors end the run instead of falling back.
    pub interactive: bool,
    /// This run is itself the fallback.
    pub fallback: bool,
    /// Where the tools are; `None` is `bin` of the work directory.
    pub bindir: Option<String>,
    /// Classes of `-D`.
    pub define: Vec<String>,
    /// Classes of `-N`.
    pub negate: Vec<String>,
    /// Bundles of `-b`.
    pub bundles: Option<Vec<String>>,
    /// How much to say.
    pub level: Option<Level>,
    /// Nothing is changed.
    pub dry_run: bool,
    /// Locks are not looked at.
    pub no_lock: bool,
    /// Changes go to an overlay.
    pub simulate: Option<Simulate>,
    /// `def_preferred.json` is not looked at.
    pub ignore_preferred_augments: bool,
    /// Class and variable moments are noted in the ledger.
    pub trace: bool,
    /// Promises that were passed over leave a step that says why.
    pub reasons: bool,
    /// `--show-evaluated-classes`.
    pub show_classes: Option<String>,
    /// `--show-evaluated-vars`.
    pub show_vars: Option<String>,
    /// Only checks, as `cf-promises` does.
    pub check: bool,
    /// With `check`: evaluates, as `-c` does.
    pub full_check: bool,
    /// Functions are not called.
    pub no_functions: bool,
    /// Functions that run commands are not called, and what is said afterwards is marked.
    pub no_commands: bool,
    /// Types whose deprecation warnings are shown or are errors.
    pub warnings: Option<String>,
    /// A directory to be marked as a release once it is found right.
    pub tag_release: Option<String>,
    /// Writes the policy, or the result of a check, in this format.
    pub output: Option<String>,
}

/// Names and numbers every promise frame needs, made once.
#[derive(Debug)]
pub(crate) struct Ids {
    pub(crate) uid: Str,
    pub(crate) gid: Str,
    pub(crate) pid: Str,
    pub(crate) ppid: Str,
    pub(crate) no_tags: Rc<[Str]>,
    pub(crate) promise_tags: Rc<[Str]>,
}

/// Settings of a run.
#[derive(Clone, Debug)]
pub(crate) struct Config {
    pub(crate) component: Component,
    pub(crate) level: Level,
    pub(crate) trace: bool,
    pub(crate) reasons: bool,
    pub(crate) dry_run: bool,
    pub(crate) no_commands: bool,
    pub(crate) no_lock: bool,
    /// Our own verbs report what is to be done with the step, not as a warning.
    pub(crate) quiet_rehearsal: bool,
    pub(crate) simulate: Option<Simulate>,
    pub(crate) launch_dir: Str,
    pub(crate) ids: Rc<Ids>,
    pub(crate) paths: Rc<Paths>,
    pub(crate) bundles: Option<Vec<Str>>,
    pub(crate) ignore_preferred_augments: bool,
}

/// Directories of an installation.
#[derive(Clone, Debug)]
pub(crate) struct Paths {
    pub(crate) workdir: String,
    pub(crate) inputs: String,
    pub(crate) masterfiles: String,
    pub(crate) state: String,
    pub(crate) bin: String,
    pub(crate) modules: String,
    pub(crate) logs: String,
    pub(crate) pids: String,
    /// Entry policy file, resolved.
    pub(crate) entry: String,
    /// Its directory.
    pub(crate) entry_dir: String,
}
