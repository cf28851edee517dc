//! Promise types, one file each.

pub(crate) mod classes;
pub(crate) mod commands;
pub(crate) mod custom;
pub(crate) mod files;
pub(crate) mod methods;
pub(crate) mod module_protocol;
pub(crate) mod packages;
pub(crate) mod processes;
pub(crate) mod reports;
pub(crate) mod services;
pub(crate) mod storage;
pub(crate) mod users;
pub(crate) mod vars;

use std::rc::Rc;

use fx_engine::Level;

use crate::eval::Context;
use crate::eval::promise::Expanded;
use crate::outcome::Outcome;

/// A promise type that this host cannot keep: said clearly, never passed over.
pub(crate) fn unsupported(ctx: &mut Context<'_>, promise: &Rc<Expanded>) -> Outcome {
    if !ctx.acquire(promise, &promise.promiser) {
        return Outcome::Skipped;
    }
    let text = format!(
        "Promises of type '{}' are not supported on this host ('{}')",
        promise.promise.kind, promise.promiser
    );
    ctx.settle(Level::Error, Outcome::Failed, promise, &text)
}
