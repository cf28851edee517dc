//! Which language a target is written in, and that language asked to evaluate it. The verbs
//! know no language; this file knows no verb.

use std::path::{Path, PathBuf};

use fx_engine::Level;
use fx_host::{Env, Files};
use fx_source::{Diagnostic, Origin, Severity};

use crate::exit;
use crate::stage::Stage;

/// What is run, and with what it is told.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct PolicyArgs {
    /// Policy: CFEngine's `.cf`, Puppet's `.pp`, or the directory of a Puppet environment
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
        words.extend(self.targets.iter().map(|target| target.clone().into_os_string()));
        words
    }
}

/// How a policy is evaluated.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Way {
    /// Changes are told, not made.
    pub(crate) rehearse: bool,
    /// Functions that run commands are not called.
    pub(crate) no_functions: bool,
    /// The order is told in all its steps.
    pub(crate) trace: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Language {
    Cfengine,
    Puppet,
}

/// The language of a target, or why there is none.
pub(crate) fn of(host: &dyn fx_host::Host, target: &Path) -> Result<Language, String> {
    let name = target.display();
    let full = host.cwd().join(target);
    match target.extension().and_then(|extension| extension.to_str()) {
        Some("cf") => Ok(Language::Cfengine),
        Some("pp") => Ok(Language::Puppet),
        Some("rb") => Err(format!("'{name}': Chef recipes cannot be run yet")),
        _ if host.stat(&full.join("manifests")).is_ok() => Ok(Language::Puppet),
        _ => Err(format!(
            "'{name}': not a policy; a name that ends in .cf or .pp was expected, or a directory with manifests"
        )),
    }
}

/// Evaluates a target. The code is 0, 1, or the language's own.
pub(crate) fn evaluate(
    stage: &Stage,
    language: Language,
    target: &Path,
    policy: &PolicyArgs,
    way: Way,
) -> u8 {
    match language {
        Language::Cfengine => {
            let request = fx_cfengine::Request {
                dry_run: way.rehearse,
                no_lock: true,
                no_functions: way.no_functions,
                trace: way.trace,
                ..cfengine_request(stage, target, policy)
            };
            fx_cfengine::run(stage.run, &stage.sources, &request).code
        }
        Language::Puppet => puppet(stage, target, policy, way),
    }
}

/// What is wrong with the text of a target. CFEngine says it through the record, as its
/// check evaluates; the code tells.
pub(crate) fn check(
    stage: &Stage,
    language: Language,
    target: &Path,
    policy: &PolicyArgs,
) -> (u8, Vec<Diagnostic>) {
    match language {
        Language::Cfengine => {
            let request =
                fx_cfengine::Request { check: true, ..cfengine_request(stage, target, policy) };
            (fx_cfengine::run(stage.run, &stage.sources, &request).code, Vec::new())
        }
        Language::Puppet => {
            let mut found = Vec::new();
            for file in manifests(stage, target) {
                match stage.host.read(&file) {
                    Ok(text) => found.extend(check_manifest(stage, &file, text)),
                    Err(error) => stage.run.ledger.message(
                        Level::Error,
                        &error.to_string(),
                        &Origin::default(),
                    ),
                }
            }
            let wrong = found.iter().any(|found| found.severity == Severity::Error);
            (if wrong { exit::ERROR } else { exit::OK }, found)
        }
    }
}

fn cfengine_request(stage: &Stage, target: &Path, policy: &PolicyArgs) -> fx_cfengine::Request {
    fx_cfengine::Request {
        file: Some(stage.host.cwd().join(target).display().to_string()),
        define: policy.define.clone(),
        bundles: policy.bundles.clone(),
        // A policy with errors is told and left; no failsafe policy takes its place.
        interactive: true,
        ..fx_cfengine::Request::default()
    }
}

fn puppet(stage: &Stage, target: &Path, policy: &PolicyArgs, way: Way) -> u8 {
    let told = |text: String| {
        stage.run.ledger.message(Level::Error, &text, &Origin::default());
        exit::ERROR
    };
    let environment = stage.host.cwd().join(target);
    let is_file = target.extension().is_some();
    let mut modulepath: Vec<PathBuf> =
        policy.modulepath.iter().map(|dir| stage.host.cwd().join(dir)).collect();
    if modulepath.is_empty() && !is_file {
        modulepath = ["modules", "site", "site-modules"].map(|dir| environment.join(dir)).to_vec();
        modulepath.retain(|dir| stage.host.stat(dir).is_ok());
    }
    let mut text = Vec::new();
    let files = manifests(stage, target);
    for file in &files {
        match stage.host.read(file) {
            Ok(bytes) => text.extend(bytes),
            Err(error) => return told(error.to_string()),
        }
    }
    let name = files.first().map_or_else(String::new, |file| file.display().to_string());
    let request = fx_puppet::Request {
        name,
        text,
        modulepath,
        noop: way.rehearse,
        ..fx_puppet::Request::default()
    };
    fx_puppet::run(&stage.puppet(), &request).code
}

/// The manifest itself, or those of an environment, in byte order of their paths.
fn manifests(stage: &Stage, target: &Path) -> Vec<PathBuf> {
    let full = stage.host.cwd().join(target);
    if target.extension().is_some() {
        return vec![full];
    }
    let mut found = Vec::new();
    let mut todo = vec![full.join("manifests")];
    while let Some(dir) = todo.pop() {
        for entry in stage.host.list(&dir).unwrap_or_default() {
            let path = dir.join(&entry.name);
            if path.extension().is_some_and(|extension| extension == "pp") {
                found.push(path);
            } else if stage.host.stat(&path).is_ok_and(|meta| meta.is_dir()) {
                todo.push(path);
            }
        }
    }
    found.sort();
    found
}

fn check_manifest(stage: &Stage, file: &Path, text: Vec<u8>) -> Vec<Diagnostic> {
    let id = stage.sources.add(&file.display().to_string(), text.clone());
    let (program, mut found) = fx_puppet_syntax::parse(&text, id);
    if found.iter().all(|found| found.severity != Severity::Error) {
        found.extend(fx_puppet_syntax::validate(&program, fx_puppet_syntax::Strictness::Warning));
    }
    found
}
