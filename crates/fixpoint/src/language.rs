//! Which language a target is written in, and that language asked to evaluate it. The verbs
//! know no language; this file knows no verb.

mod cfengine;
mod chef;
mod files;
mod puppet;
mod slips;
mod texts;

use std::path::{Path, PathBuf};

use fx_engine::Level;
use fx_host::{Files, LeftOut, OsHost, Sandbox};
use fx_source::{Color, Diagnostic, FileId, Location, Origin, Severity, render_text};

use crate::stage::Stage;
use crate::{exit, terminal};

/// What is run, and its options.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct PolicyArgs {
    /// Policy: CFEngine's `.cf`, Puppet's `.pp` or an environment's directory, a Chef recipe's
    /// `.rb`, a cookbook or a repository of cookbooks
    #[arg(required = true)]
    pub(crate) targets: Vec<PathBuf>,
    /// Classes to define, separated by commas (CFEngine)
    #[arg(short = 'D', long, value_delimiter = ',')]
    pub(crate) define: Vec<String>,
    /// Bundles to run instead of the bundlesequence, separated by commas (CFEngine)
    #[arg(short, long, value_delimiter = ',')]
    pub(crate) bundles: Option<Vec<String>>,
    /// Where modules lie, separated by colons (Puppet)
    #[arg(long, value_delimiter = ':')]
    pub(crate) modulepath: Vec<PathBuf>,
    /// The run list, separated by commas (Chef)
    #[arg(short = 'o', long = "run-list", value_delimiter = ',')]
    pub(crate) run_list: Vec<String>,
    /// The target is the client.rb of a node: what its server says is run (Chef). A copy of the
    /// machine then has its network
    #[arg(long)]
    pub(crate) server: bool,
    /// A JSON file with attributes of the node (Chef)
    #[arg(short = 'j', long = "json-attributes")]
    pub(crate) json_attributes: Option<PathBuf>,
}

impl PolicyArgs {
    /// The same as words of a command line, for a process inside a copy of the machine.
    pub(crate) fn words(&self) -> Vec<std::ffi::OsString> {
        let mut words: Vec<std::ffi::OsString> = Vec::new();
        if !self.define.is_empty() {
            words.extend(["-D".into(), self.define.join(",").into()]);
        }
        if let Some(bundles) = &self.bundles {
            words.extend(["-b".into(), bundles.join(",").into()]);
        }
        for dir in &self.modulepath {
            words.extend(["--modulepath".into(), dir.clone().into_os_string()]);
        }
        if !self.run_list.is_empty() {
            words.extend(["-o".into(), self.run_list.join(",").into()]);
        }
        if self.server {
            words.push("--server".into());
        }
        if let Some(file) = &self.json_attributes {
            words.extend(["-j".into(), file.clone().into_os_string()]);
        }
        words.extend(self.targets.iter().map(|target| target.clone().into_os_string()));
        words
    }
}

/// Whose evaluation of a CFEngine policy is meant: each daemon has bundles of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Component {
    /// cf-agent
    #[default]
    Agent,
    /// cf-serverd
    Server,
    /// cf-monitord
    Monitor,
}

/// How a policy is evaluated.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Way {
    /// Whose bundles are evaluated.
    pub(crate) component: Component,
    /// Changes are reported, not made.
    pub(crate) rehearse: bool,
    /// This is a throw-away copy of the machine: changes are made in it and reported as changes
    /// that would be made.
    pub(crate) in_copy: bool,
    /// The copy has a network, and packages are installed in it.
    pub(crate) net: bool,
    /// Functions that run commands are not called.
    pub(crate) no_functions: bool,
    /// The order is shown in all its steps.
    pub(crate) trace: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Language {
    Cfengine,
    Puppet,
    Chef,
}

/// The language of a target, or why there is none.
pub(crate) fn of(host: &dyn fx_host::Host, target: &Path) -> Result<Language, String> {
    let name = target.display();
    let full = host.cwd().join(target);
    match target.extension().and_then(|extension| extension.to_str()) {
        Some("cf") => Ok(Language::Cfengine),
        Some("pp") => Ok(Language::Puppet),
        Some("rb") => Ok(Language::Chef),
        _ if host.stat(&full.join("manifests")).is_ok() => Ok(Language::Puppet),
        _ if host.stat(&full.join("cookbooks")).is_ok()
            || host.stat(&full.join("metadata.rb")).is_ok() =>
        {
            Ok(Language::Chef)
        }
        _ if has_manifests(host, &full) => Ok(Language::Puppet),
        _ => Err(format!(
            "'{name}': not a policy; expected a name that ends in .cf, .pp or .rb, or a directory with .pp files, manifests, cookbooks or metadata.rb"
        )),
    }
}

/// Whether a directory has manifests by itself.
fn has_manifests(host: &dyn fx_host::Host, dir: &Path) -> bool {
    let is_manifest = |name: &std::ffi::OsStr| Path::new(name).extension() == Some("pp".as_ref());
    host.list(dir).is_ok_and(|all| all.iter().any(|entry| is_manifest(&entry.name)))
}

/// Evaluates a target. The code is 0, 1, or the language's own.
pub(crate) fn evaluate(
    stage: &Stage,
    language: Language,
    target: &Path,
    policy: &PolicyArgs,
    way: Way,
) -> u8 {
    if way.component != Component::Agent && language != Language::Cfengine {
        let text = format!(
            "'{}' is not evaluated: only CFEngine policy has bundles for a server and a monitor; leave out --component",
            target.display()
        );
        stage.run.ledger.message(Level::Error, &text, &Origin::default());
        return exit::ERROR;
    }
    // Recipes and the Ruby of modules act while they compile: a preview without a copy of
    // the machine would touch it.
    if way.no_functions && language != Language::Cfengine {
        let text = format!(
            "'{}' is not evaluated: its code could change the machine while it compiles, and there is no copy of the machine to do it in",
            target.display()
        );
        stage.run.ledger.message(Level::Error, &text, &Origin::default());
        return exit::ERROR;
    }
    if way.in_copy {
        stage.run.ledger.set_in_copy();
        if way.net {
            stage.run.ledger.set_copy_has_network();
        }
        let stage = &stage.watching(left_out());
        return evaluate_or_show(stage, language, target, policy, way);
    }
    evaluate_or_show(stage, language, target, policy, way)
}

/// Evaluates; where that fails and the text of the policy is wrong, shows its lines as `check` does.
fn evaluate_or_show(
    stage: &Stage,
    language: Language,
    target: &Path,
    policy: &PolicyArgs,
    way: Way,
) -> u8 {
    let Ended { code, refused } = evaluate_in(stage, language, target, policy, way);
    if code != exit::OK {
        let mut found = match language {
            Language::Cfengine => cfengine::texts(stage),
            Language::Puppet => puppet::check(stage, target, policy),
            Language::Chef => chef::texts(stage, target),
        };
        // What a check of the text finds in that line says the same, and may know what was meant.
        let line = |found: &Diagnostic| found.primary().map(|span| stage.sources.location(span));
        if let Some(refused) = refused
            && !found.iter().any(|known| same_line(line(known), line(&refused)))
        {
            found.insert(0, refused);
        }
        // Where not a single step was taken, a name that is near another one is what failed.
        let ran = !stage.run.ledger.steps().is_empty();
        let is_error = |found: &Diagnostic| found.severity == Severity::Error;
        let only_errors = ran || found.iter().any(is_error);
        found.retain(|found| is_error(found) || (!only_errors && found.help.is_some()));
        found.truncate(MOST_SHOWN);
        let bright = terminal::color_on_errors(&*stage.host, terminal::ColorChoice::Auto);
        let color = if bright { Color::Always } else { Color::Never };
        terminal::hand_on(&render_text(&stage.sources, &found, color));
    }
    code
}

fn same_line(one: Option<Location>, other: Option<Location>) -> bool {
    let line = |at: Location| (at.file, at.line);
    one.is_some() && one.map(line) == other.map(line)
}

/// Errors of a text that are shown beside a failed run.
const MOST_SHOWN: usize = 5;

/// How evaluation ended: its code, and the place in the text that kept it from beginning.
struct Ended {
    code: u8,
    refused: Option<Diagnostic>,
}

impl From<u8> for Ended {
    fn from(code: u8) -> Ended {
        Ended { code, refused: None }
    }
}

fn evaluate_in(
    stage: &Stage,
    language: Language,
    target: &Path,
    policy: &PolicyArgs,
    way: Way,
) -> Ended {
    match language {
        Language::Cfengine => cfengine::evaluate(stage, target, policy, way).into(),
        Language::Puppet => puppet::evaluate(stage, target, policy, way),
        Language::Chef => chef::evaluate(stage, target, policy, way),
    }
}

/// What this copy does not have as the machine has it, also by the names of links that lead
/// there from the places where systems have them.
fn left_out() -> Vec<LeftOut> {
    let mut trees = Sandbox::left_out_here();
    let host = OsHost::new();
    for dir in ["/", "/var"].map(Path::new) {
        for entry in host.list(dir).unwrap_or_default() {
            let path = dir.join(&entry.name);
            let Some(target) = host.read_link(&path).ok().map(|target| dir.join(target)) else {
                continue;
            };
            let found = trees.iter().find(|tree| target.starts_with(&tree.path)).cloned();
            trees.extend(found.map(|tree| LeftOut { path, ..tree }));
        }
    }
    trees
}

pub(crate) use chef::collection as chef_collection;
pub(crate) use files::{NOT_CHECKED, language as language_of_tree};

/// What is wrong with the texts of a target: a code, and what was not reported through the record.
/// Without functions those that run commands are not called, and their values are not known.
pub(crate) fn check(
    stage: &Stage,
    language: Language,
    target: &Path,
    policy: &PolicyArgs,
    no_functions: bool,
) -> (u8, Vec<Diagnostic>) {
    match language {
        Language::Cfengine => cfengine::check(stage, target, policy, no_functions),
        Language::Puppet => (exit::OK, puppet::check(stage, target, policy)),
        Language::Chef => (exit::OK, chef::check(stage, target, policy)),
    }
}

/// What is wrong with a file that is Ruby, a template or data, by its name.
fn check_text(stage: &Stage, file: &Path) -> Option<Diagnostic> {
    type Check = fn(FileId, &[u8]) -> Option<Diagnostic>;
    let check: Check = match files::ending(file) {
        "rb" => texts::ruby,
        "erb" => texts::erb,
        "json" => texts::json,
        "yaml" | "yml" | "eyaml" => texts::yaml,
        _ => return None,
    };
    let text = match stage.host.read_limited(file, fx_host::limits::POLICY) {
        Ok(text) => text,
        Err(error) => {
            files::not_checked(stage, &error.to_string());
            return None;
        }
    };
    let id = stage.sources.add(&file.display().to_string(), text.clone());
    check(id, &text)
}
