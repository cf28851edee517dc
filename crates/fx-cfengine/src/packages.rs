//! The lists of packages that runs leave behind, and the functions that search them.

use std::rc::Rc;

use crate::eval::Context;
use crate::functions::FnResult;
use crate::json::Json;
use crate::policy::Rval;
use crate::regex;
use crate::text::{decode, encode, path};

/// One package as a package manager lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Package {
    pub name: String,
    pub version: String,
    pub arch: String,
}

/// What is listed of packages.
#[derive(Clone, Copy)]
pub enum Kind {
    Installed,
    Updates,
}

impl Kind {
    pub fn file(self, ctx: &Context<'_>, module: &str) -> String {
        let kind = match self {
            Kind::Installed => "installed",
            Kind::Updates => "updates",
        };
        format!("{}/fx_packages_{kind}_{module}.csv", ctx.config.paths.state)
    }
}

/// `packagesmatching` and `packageupdatesmatching`: the inventory, filtered.
pub(crate) fn matching(ctx: &mut Context<'_>, name: &str, args: &[Rval]) -> FnResult {
    let words: Vec<&str> = args.iter().filter_map(Rval::as_scalar).map(|text| &**text).collect();
    let [package, version, arch, method] = words[..] else { return None };
    let pattern = format!("^{package},{version},{arch},{method}$");
    regex::compile(&pattern)?;
    if !ctx.control.package_inventory.is_empty() {
        let kind = match name {
            "packagesmatching" => Kind::Installed,
            _ => Kind::Updates,
        };
        let found = in_inventory(ctx, kind, &pattern)?;
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
    pub fn write_state(&self, file: &str, content: &[u8]) {
        if self.config.dry_run {
            return;
        }
        let options = fx_host::WriteOptions::default();
        if let Err(error) = self.own_state(|act| act.write(&path(file), content, &options)) {
            self.verbose(&error.to_string());
        }
    }
}

/// Keeps what a module of the inventory listed.
pub fn keep(ctx: &Context<'_>, module: &str, kind: Kind, list: &[Package]) {
    if !ctx.control.package_inventory.iter().any(|known| **known == *module) {
        return;
    }
    let line = |one: &Package| format!("{},{},{}\n", one.name, one.version, one.arch);
    let lines: String = list.iter().map(line).collect();
    ctx.write_state(&kind.file(ctx, module), &encode(&lines));
}

/// The packages of the inventory whose line matches; nothing where no module is known yet.
pub(crate) fn in_inventory(ctx: &Context<'_>, kind: Kind, pattern: &str) -> Option<Vec<Json>> {
    let known = ctx.control.package_inventory.iter().filter(|name| !name.contains("$("));
    let mut some = false;
    let mut found = Vec::new();
    for name in known {
        some = true;
        let Ok(bytes) = ctx.host().read(&path(&kind.file(ctx, name))) else {
            // Whoever looks for the list makes an empty one.
            keep(ctx, name, kind, &[]);
            continue;
        };
        for line in decode(&bytes).lines() {
            let line = format!("{line},{name}");
            if regex::full(pattern, &line) {
                found.extend(fields(&line));
            }
        }
    }
    some.then_some(found)
}
