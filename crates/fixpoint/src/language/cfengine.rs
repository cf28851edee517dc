//! CFEngine policy for the verbs.

use std::path::{Path, PathBuf};

use fx_cfengine::Request;
use fx_host::{Env, Files};
use fx_source::{Diagnostic, FileId, Severity};

use super::{Component, PolicyArgs, Way, files};
use crate::exit;
use crate::stage::Stage;

pub(super) fn evaluate(stage: &Stage, target: &Path, policy: &PolicyArgs, way: Way) -> u8 {
    let request = Request {
        dry_run: way.rehearse,
        no_lock: true,
        no_commands: way.no_functions,
        trace: way.trace,
        ..request(stage, target, policy)
    };
    match way.component {
        Component::Agent => fx_cfengine_agent::run(stage.run, &stage.sources, &request).code,
        Component::Server => daemon(stage, request, fx_cfengine::Component::Server, |ctx| {
            ctx.evaluate_server();
        }),
        Component::Monitor => daemon(stage, request, fx_cfengine::Component::Monitor, |ctx| {
            ctx.evaluate_monitor();
        }),
    }
}

/// Reads policy as a daemon does and evaluates its bundles once.
fn daemon(
    stage: &Stage,
    request: Request,
    component: fx_cfengine::Component,
    evaluate: impl FnOnce(&mut fx_cfengine::eval::Context<'_>),
) -> u8 {
    let request = Request { component, ..request };
    match fx_cfengine::start::start(stage.run, &stage.sources, &request) {
        Err(ended) => ended.code,
        Ok(mut ctx) => {
            ctx.resolve_policy();
            evaluate(&mut ctx);
            exit::OK
        }
    }
}

/// What is wrong with the text of each file; where nothing is, each policy that can be run by
/// itself is evaluated: errors are then reported through the record.
pub(super) fn check(
    stage: &Stage,
    target: &Path,
    policy: &PolicyArgs,
    no_functions: bool,
) -> (u8, Vec<Diagnostic>) {
    let whole = files::is_dir(stage, &stage.host.cwd().join(target));
    let files: Vec<PathBuf> = files::below(stage, target)
        .into_iter()
        .filter(|file| !whole || files::ending(file) == "cf")
        .collect();
    let mut ids = Vec::new();
    for file in &files {
        match stage.host.read_limited(file, fx_host::limits::POLICY) {
            Ok(text) => ids.push(stage.sources.add(&file.display().to_string(), text)),
            Err(error) if whole => files::not_checked(stage, &error.to_string()),
            // A file by itself is reported by the evaluation.
            Err(_) => {}
        }
    }
    let mut found = if whole {
        fx_cfengine::texts(&stage.sources, &ids)
    } else {
        // Names of other files are known once its inputs are loaded.
        ids.iter().flat_map(|id| fx_cfengine::text(&stage.sources, *id)).collect()
    };
    if found.iter().any(|found| found.severity == Severity::Error) {
        return (exit::ERROR, found);
    }
    let entries = if whole { fx_cfengine::entries(&stage.sources, &ids) } else { ids };
    let mut code = exit::OK;
    for id in entries {
        let name = stage.sources.file(id).name().to_string();
        let before = stage.sources.len();
        let request =
            Request { no_commands: no_functions, ..request(stage, Path::new(&name), policy) };
        let (summary, more) = fx_cfengine::lint(stage.run, &stage.sources, &request);
        code = code.max(summary.code);
        // Files that the policy includes were read meanwhile.
        let read: Vec<FileId> = stage.sources.ids().skip(before).collect();
        let read: Vec<FileId> =
            read.into_iter().filter(|id| stage.sources.file(*id).name().ends_with(".cf")).collect();
        // The names of a directory are known from all its files, and were compared with them.
        let names = if whole { Vec::new() } else { fx_cfengine::texts(&stage.sources, &read) };
        for one in names.into_iter().chain(more) {
            if !found.iter().any(|old| same(stage, old, &one)) {
                found.push(one);
            }
        }
    }
    (code, found)
}

/// What is wrong with the texts that a run has read.
pub(super) fn texts(stage: &Stage) -> Vec<Diagnostic> {
    let read = stage.sources.ids();
    let read: Vec<FileId> =
        read.filter(|id| stage.sources.file(*id).name().ends_with(".cf")).collect();
    fx_cfengine::texts(&stage.sources, &read)
}

/// Whether two findings are one: a file that two policies include is read twice.
fn same(stage: &Stage, a: &Diagnostic, b: &Diagnostic) -> bool {
    let place = |one: &Diagnostic| one.primary().map(|span| stage.sources.location(span));
    a.message == b.message && place(a) == place(b)
}

fn request(stage: &Stage, target: &Path, policy: &PolicyArgs) -> Request {
    Request {
        file: Some(stage.host.cwd().join(target).display().to_string()),
        define: policy.define.clone(),
        bundles: policy.bundles.clone(),
        reasons: true,
        // The errors of a policy are reported; no failsafe policy takes its place.
        interactive: true,
        ..Request::default()
    }
}
