//! Puppet manifests and environments for the verbs: which files, and what they are asked.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use fx_engine::Level;
use fx_host::{Env, Files};
use fx_puppet_syntax::DefinitionKind;
use fx_source::{Diagnostic, Origin, Severity};

use super::{Ended, PolicyArgs, Way, files};
use crate::exit;
use crate::language::slips;
use crate::stage::Stage;

/// What is wrong with a manifest, a template, or every file of a directory.
pub(super) fn check(stage: &Stage, target: &Path, policy: &PolicyArgs) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    // A machine remembers where its modules are.
    let mut machines: BTreeMap<Vec<PathBuf>, fx_puppet::Machine> = BTreeMap::new();
    let top = stage.host.cwd().join(target);
    for file in files::below(stage, target) {
        let ending = files::ending(&file);
        let hidden = file.strip_prefix(&top).is_ok_and(|rest| {
            rest.components().any(|part| part.as_os_str().to_string_lossy().starts_with('.'))
        });
        if hidden {
            continue;
        }
        if !matches!(ending, "pp" | "epp") {
            found.extend(super::check_text(stage, &file));
            continue;
        }
        match stage.host.read_limited(&file, fx_host::limits::POLICY) {
            Ok(text) => {
                let modulepath = match policy.modulepath.as_slice() {
                    [] => around(stage, &file),
                    given => given.iter().map(|dir| stage.host.cwd().join(dir)).collect(),
                };
                let machine = machines.entry(modulepath.clone()).or_insert_with(|| stage.puppet());
                found.extend(match ending {
                    "epp" => check_template(stage, machine, modulepath, &file, &text),
                    _ => check_manifest(stage, machine, modulepath, &file, text),
                });
            }
            Err(error) => files::not_checked(stage, &error.to_string()),
        }
    }
    found
}

fn check_template(
    stage: &Stage,
    machine: &fx_puppet::Machine,
    modulepath: Vec<PathBuf>,
    file: &Path,
    text: &[u8],
) -> Vec<Diagnostic> {
    let id = stage.sources.add(&file.display().to_string(), text.to_vec());
    let (program, mut found) = fx_puppet_syntax::parse_epp(text, id);
    if let Some(better) = found.last().and_then(|error| slips::in_template(id, text, error)) {
        return vec![better];
    }
    if found.iter().all(|found| found.severity != Severity::Error) {
        found.extend(fx_puppet_syntax::validate(&program, fx_puppet_syntax::Strictness::Warning));
        found.extend(fx_puppet::lint(machine, modulepath, &program));
    }
    found
}

pub(super) fn evaluate(stage: &Stage, target: &Path, policy: &PolicyArgs, way: Way) -> Ended {
    let told = |text: String| {
        stage.run.ledger.message(Level::Error, &text, &Origin::default());
        Ended::from(exit::ERROR)
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
    let summary = fx_puppet_apply::run(&stage.puppet(), &request);
    Ended { code: summary.code, refused: summary.refused }
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
    modulepath: Vec<PathBuf>,
    file: &Path,
    text: Vec<u8>,
) -> Vec<Diagnostic> {
    let id = stage.sources.add(&file.display().to_string(), text.clone());
    let (program, mut found) = fx_puppet_syntax::parse(&text, id);
    if let Some(better) = found.last().and_then(|error| slips::behind(id, &text, error)) {
        return vec![better];
    }
    // Plans have functions and a scope of their own.
    let plan = file.components().any(|part| part.as_os_str() == "plans");
    if !plan && found.iter().all(|found| found.severity != Severity::Error) {
        found.extend(fx_puppet_syntax::validate(&program, fx_puppet_syntax::Strictness::Warning));
        found.extend(misplaced(stage, file, &program));
        found.extend(fx_puppet::lint(machine, modulepath, &program));
    }
    found
}

/// Classes and defines that are not found under their name, because their file has another.
fn misplaced(stage: &Stage, file: &Path, program: &fx_puppet_syntax::Program) -> Vec<Diagnostic> {
    let Some(expected) = expected_name(stage, file) else { return Vec::new() };
    let kinds = [DefinitionKind::Class, DefinitionKind::Define];
    let definitions = program.definitions.iter().filter(|one| kinds.contains(&one.kind));
    let wrong = definitions.filter(|one| {
        let name = one.name.trim_start_matches("::").to_lowercase();
        name != expected && !name.starts_with(&format!("{expected}::"))
    });
    let found = wrong.map(|one| {
        let message = format!("'{}' is not looked for in this file", one.name);
        Diagnostic::error("puppet-file-name", message)
            .label(one.name_span, "")
            .help(format!("this file is for '{expected}'"))
    });
    found.collect()
}

/// What a file of a module defines by its path.
fn expected_name(stage: &Stage, file: &Path) -> Option<String> {
    let manifests = file.ancestors().find(|dir| dir.ends_with("manifests"))?;
    let root = manifests.parent()?;
    let folder = root.parent()?.file_name()?;
    let is_module = stage.host.stat(&root.join("metadata.json")).is_ok()
        || ["modules", "site", "site-modules"].iter().any(|name| folder == *name);
    if !is_module {
        return None;
    }
    let own = stage.host.read(&root.join("metadata.json")).ok();
    let own = own.and_then(|text| serde_json::from_slice::<serde_json::Value>(&text).ok());
    let own = own.and_then(|json| Some(json["name"].as_str()?.to_owned()));
    let module = match &own {
        Some(name) => name.rsplit(['-', '/']).next().unwrap_or(name).to_owned(),
        None => root.file_name()?.to_str()?.to_owned(),
    };
    let rest = file.strip_prefix(manifests).ok()?.with_extension("");
    let parts = rest.components().map(|part| part.as_os_str().to_string_lossy().into_owned());
    let parts: Vec<String> = std::iter::once(module).chain(parts).collect();
    let name = parts.join("::");
    Some(name.strip_suffix("::init").unwrap_or(&name).to_lowercase())
}

/// Folders of modules that belong to a manifest: the one its module lies in, or those of its
/// environment.
fn around(stage: &Stage, file: &Path) -> Vec<PathBuf> {
    // A folder of modules and one of manifests are what an environment has; a module has the one.
    let has = |dir: &Path, name: &str| stage.host.stat(&dir.join(name)).is_ok();
    let module = file.ancestors().skip(1).find(|dir| {
        ["manifests", "metadata.json", "lib/puppet", "environment.conf"]
            .iter()
            .any(|name| has(dir, name))
    });
    let Some(module) = module else { return Vec::new() };
    // What lies in an environment finds the modules of all its folders.
    let environment = module
        .ancestors()
        .skip(1)
        .take(3)
        .find(|dir| has(dir, "environment.conf") || has(dir, "Puppetfile"));
    let root = environment.unwrap_or(module);
    let own = ["modules", "site", "site-modules"].map(|dir| root.join(dir)).to_vec();
    let mut found: Vec<PathBuf> =
        own.into_iter().filter(|dir| stage.host.stat(dir).is_ok()).collect();
    if found.is_empty() {
        found.extend(root.parent().map(Path::to_path_buf));
    }
    found
}
