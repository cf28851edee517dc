//! Puppet manifests and environments for the verbs: which files, and what they are asked.

use std::path::{Path, PathBuf};

use fx_engine::Level;
use fx_host::{Env, Files};
use fx_source::{Diagnostic, Origin, Severity};

use super::{PolicyArgs, Way};
use crate::exit;
use crate::stage::Stage;

pub(super) fn check(stage: &Stage, target: &Path, policy: &PolicyArgs) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let machine = stage.puppet();
    for file in manifests(stage, target) {
        match stage.host.read_limited(&file, fx_host::limits::POLICY) {
            Ok(text) => found.extend(check_manifest(stage, &machine, policy, &file, text)),
            Err(error) => {
                stage.run.ledger.message(Level::Error, &error.to_string(), &Origin::default());
            }
        }
    }
    found
}

pub(super) fn evaluate(stage: &Stage, target: &Path, policy: &PolicyArgs, way: Way) -> u8 {
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
    let mut texts = Vec::new();
    for file in manifests(stage, target) {
        match stage.host.read_trusted(&file) {
            Ok(bytes) => texts.push((file.display().to_string(), bytes)),
            Err(error) => return told(error.to_string()),
        }
    }
    let request = fx_puppet_apply::Request {
        manifests: texts,
        modulepath,
        noop: way.rehearse,
        environment_dir: (!is_file).then_some(environment),
        explains: true,
        ..fx_puppet_apply::Request::default()
    };
    fx_puppet_apply::run(&stage.puppet(), &request).code
}

/// The manifest itself, or those of an environment, in byte order of their paths.
fn manifests(stage: &Stage, target: &Path) -> Vec<PathBuf> {
    let full = stage.host.cwd().join(target);
    if target.extension().is_some() {
        return vec![full];
    }
    let mut found = Vec::new();
    let own = full.join("manifests");
    // A directory that is no environment has its manifests by itself.
    let mut todo = vec![if stage.host.stat(&own).is_ok() { own } else { full }];
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

fn check_manifest(
    stage: &Stage,
    machine: &fx_puppet::Machine,
    policy: &PolicyArgs,
    file: &Path,
    text: Vec<u8>,
) -> Vec<Diagnostic> {
    let id = stage.sources.add(&file.display().to_string(), text.clone());
    let (program, mut found) = fx_puppet_syntax::parse(&text, id);
    if found.iter().all(|found| found.severity != Severity::Error) {
        found.extend(fx_puppet_syntax::validate(&program, fx_puppet_syntax::Strictness::Warning));
        let mut modulepath: Vec<PathBuf> =
            policy.modulepath.iter().map(|dir| stage.host.cwd().join(dir)).collect();
        if modulepath.is_empty() {
            modulepath = around(stage, file);
        }
        found.extend(fx_puppet::lint(machine, modulepath, &program));
    }
    found
}

/// Folders of modules that belong to a manifest: the one its module lies in, or those of its
/// environment.
fn around(stage: &Stage, file: &Path) -> Vec<PathBuf> {
    let Some(root) = file
        .ancestors()
        .find(|dir| dir.file_name().is_some_and(|name| name == "manifests"))
        .and_then(Path::parent)
    else {
        return Vec::new();
    };
    let own = ["modules", "site", "site-modules"].map(|dir| root.join(dir)).to_vec();
    let mut found: Vec<PathBuf> =
        own.into_iter().filter(|dir| stage.host.stat(dir).is_ok()).collect();
    if found.is_empty() {
        found.extend(root.parent().map(Path::to_path_buf));
    }
    found
}
