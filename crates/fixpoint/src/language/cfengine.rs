//! CFEngine policy for the verbs.

use std::path::Path;

use fx_cfengine::Request;
use fx_host::Env;
use fx_source::Diagnostic;

use super::{PolicyArgs, Way};
use crate::stage::Stage;

pub(super) fn evaluate(stage: &Stage, target: &Path, policy: &PolicyArgs, way: Way) -> u8 {
    let request = Request {
        dry_run: way.rehearse,
        no_lock: true,
        no_commands: way.no_functions,
        trace: way.trace,
        ..request(stage, target, policy)
    };
    fx_cfengine_agent::run(stage.run, &stage.sources, &request).code
}

/// The check evaluates, so errors are said through the record; what is hardly meant as it
/// is written is returned.
pub(super) fn check(
    stage: &Stage,
    target: &Path,
    policy: &PolicyArgs,
    no_functions: bool,
) -> (u8, Vec<Diagnostic>) {
    let request = Request { no_commands: no_functions, ..request(stage, target, policy) };
    let (summary, found) = fx_cfengine::lint(stage.run, &stage.sources, &request);
    (summary.code, found)
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
