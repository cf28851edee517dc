//! The inventory of `package_inventory`: what package modules list, kept between runs.
//!
//! It is brought up to date after the bundles, and read by `packagesmatching` and the like.

use fx_cfengine::packages::{Kind, keep};
use fx_cfengine::text::{Str, path};

use crate::agent::Agent;

use super::module::Module;

/// Asks the modules of the inventory for what they know, where that is old enough.
pub(crate) fn update(ctx: &Agent<'_>) {
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

fn update_one(ctx: &Agent<'_>, module: &Module, name: &Str, kind: Kind) -> bool {
    if ctx.packages.modules.know(kind, name) {
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
