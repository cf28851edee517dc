//! packages: by a package method (lists and commands of the policy) or by a package module.

mod inventory;
mod listing;
mod method;
mod module;
mod schedule;
mod version;

use std::rc::Rc;

use crate::eval::Context;
use crate::eval::promise::Expanded;
use crate::functions::FnResult;
use crate::json::Json;
use crate::outcome::Outcome;
use crate::policy::Rval;
use crate::regex;
use crate::text::{decode, path};

pub(crate) use inventory::update as update_inventory;
pub(crate) use schedule::run_scheduled;

/// One package as a package manager lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Package {
    name: String,
    version: String,
    arch: String,
}

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
pub(crate) fn keep(ctx: &mut Context<'_>, promise: &Rc<Expanded>) -> Outcome {
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

/// `packagesmatching` and `packageupdatesmatching`: the inventory, filtered.
pub(crate) fn matching(ctx: &mut Context<'_>, name: &str, args: &[Rval]) -> FnResult {
    let words: Vec<&str> = args.iter().filter_map(Rval::as_scalar).map(|text| &**text).collect();
    let [package, version, arch, method] = words[..] else { return None };
    let pattern = format!("^{package},{version},{arch},{method}$");
    regex::compile(&pattern)?;
    if !ctx.control.package_inventory.is_empty() {
        let kind = match name {
            "packagesmatching" => inventory::Kind::Installed,
            _ => inventory::Kind::Updates,
        };
        let found = inventory::matching(ctx, kind, &pattern)?;
        return Some(Rval::Data(Rc::new(Json::Array(found))));
    }
    let file = if name == "packagesmatching" {
        "software_packages.csv"
    } else {
        "software_patches_avail.csv"
    };
    let inventory = format!("{}/{file}", ctx.config.paths.state);
    let Ok(bytes) = ctx.host().read(&path(&inventory)) else {
        ctx.verbose(&format!(
            "Cannot open the packages inventory '{inventory}' - This is not necessarily an error."
        ));
        return Some(Rval::Data(Rc::new(Json::Array(Vec::new()))));
    };
    let mut found = Vec::new();
    for line in decode(&bytes).lines() {
        if regex::find(&pattern, line).is_some() {
            found.extend(fields(line));
        }
    }
    Some(Rval::Data(Rc::new(Json::Array(found))))
}

// A line of an inventory: name, version, architecture and what listed it.
fn fields(line: &str) -> Option<Json> {
    let fields: Vec<&str> = line.splitn(4, ',').collect();
    let [package, version, arch, method] = fields[..] else { return None };
    let pairs = [("arch", arch), ("method", method), ("name", package), ("version", version)];
    Some(Json::Object(
        pairs.into_iter().map(|(key, value)| (key.into(), Json::str(value))).collect(),
    ))
}

impl Context<'_> {
    /// Writes a file of our own under the state directory, but in a dry run; a failure is only
    /// logged.
    fn write_state(&self, file: &str, content: &[u8]) {
        if self.config.dry_run {
            return;
        }
        let options = fx_host::WriteOptions::default();
        if let Err(error) = self.own_state(|act| act.write(&path(file), content, &options)) {
            self.verbose(&error.to_string());
        }
    }
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
