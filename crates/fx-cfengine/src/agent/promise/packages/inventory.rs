//! The inventory of `package_inventory`: what package modules list, kept between runs.
//!
//! It is brought up to date after the bundles, and read by `packagesmatching` and the like.

use crate::eval::Context;
use crate::json::Json;
use crate::regex;
use crate::text::{Str, decode, encode, path};

use super::Package;
use super::module::Module;

/// What is listed of packages.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    Installed,
    Updates,
}

impl Kind {
    fn file(self, ctx: &Context<'_>, module: &str) -> String {
        let kind = match self {
            Kind::Installed => "installed",
            Kind::Updates => "updates",
        };
        format!("{}/fx_packages_{kind}_{module}.csv", ctx.config.paths.state)
    }
}

/// Asks the modules of the inventory for what they know, where that is old enough.
pub(crate) fn update(ctx: &Context<'_>) {
    for name in &ctx.control.package_inventory {
        if ctx.find_body("package_module", name).is_none() {
            ctx.error(&format!("Can not find body for package module: {name}"));
            continue;
        }
        let Some(module) = Module::named(ctx, name).filter(|module| module.speaks(ctx)) else {
            ctx.error(&format!("Can not set up wrapper for module: {name}"));
            continue;
        };
        for kind in [Kind::Installed, Kind::Updates] {
            if !update_one(ctx, &module, name, kind) {
                ctx.info("Some error occurred while updating available updates cache.");
            }
        }
    }
}

fn update_one(ctx: &Context<'_>, module: &Module, name: &Str, kind: Kind) -> bool {
    if ctx.agent.packages.modules.know(kind, name) {
        return true;
    }
    let file = kind.file(ctx, name);
    let known = ctx.host().stat(&path(&file)).ok();
    let minutes = match kind {
        Kind::Installed => module.installed_after,
        Kind::Updates => module.updates_after,
    };
    if let Some(meta) = &known
        && !ctx.config.no_lock
        && ctx.host().now().secs - meta.mtime.secs < minutes * 60
    {
        return true;
    }
    let command = match kind {
        Kind::Installed => "list-installed",
        // Where nothing is known yet the network is asked.
        Kind::Updates if known.is_none() => "list-updates",
        Kind::Updates => "list-updates-local",
    };
    let Some(listing) = module.list(ctx, command, &module.defaults) else { return false };
    keep(ctx, name, kind, &listing.packages);
    if listing.wrong {
        ctx.info("Error updating packages cache.");
    }
    !listing.wrong
}

/// Keeps what a module of the inventory listed.
pub(super) fn keep(ctx: &Context<'_>, module: &str, kind: Kind, list: &[Package]) {
    if !ctx.control.package_inventory.iter().any(|known| **known == *module) {
        return;
    }
    let line = |one: &Package| format!("{},{},{}\n", one.name, one.version, one.arch);
    let lines: String = list.iter().map(line).collect();
    ctx.write_state(&kind.file(ctx, module), &encode(&lines));
}

/// The packages of the inventory whose line matches; nothing where no module is known yet.
pub(super) fn matching(ctx: &Context<'_>, kind: Kind, pattern: &str) -> Option<Vec<Json>> {
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
                found.extend(super::fields(&line));
            }
        }
    }
    some.then_some(found)
}
