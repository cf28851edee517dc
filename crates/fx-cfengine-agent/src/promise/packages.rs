//! packages: by a package method (lists and commands of the policy) or by a package module.

mod inventory;
mod listing;
mod method;
mod module;
mod schedule;
mod version;

use std::rc::Rc;

use fx_cfengine::eval::promise::Expanded;
use fx_cfengine::outcome::Outcome;
use fx_cfengine::packages::Package;

use crate::agent::Agent;

pub(crate) use inventory::update as update_inventory;
pub(crate) use schedule::run_scheduled;

/// What one list command printed.
struct Installed {
    command: String,
    packages: Vec<Package>,
    patches: Vec<Package>,
}

/// What the packages promises of a section have found and left to do.
#[derive(Default)]
pub(crate) struct State {
    lists: Vec<Installed>,
    scheduled: Vec<schedule::Batch>,
    modules: module::Caches,
}

/// Keeps a packages promise.
pub(crate) fn keep(ctx: &mut Agent<'_>, promise: &Rc<Expanded>) -> Outcome {
    let old = promise.has("package_policy")
        || promise.has("package_method")
        || promise.has("package_list_command");
    let new = promise.has("policy")
        || promise.has("package_module")
        || promise.has("package_module_name");
    if old && new {
        let text = "Mixed old and new package promise attributes inside one package promise.";
        return ctx.settle(fx_engine::Level::Error, Outcome::Failed, promise, text);
    }
    if new { module::keep(ctx, promise) } else { method::keep(ctx, promise) }
}

/// A text as a regular expression that matches only itself.
fn quoted(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        if c.is_ascii_punctuation() {
            out.push('\\');
        }
        out.push(c);
    }
    out
}
