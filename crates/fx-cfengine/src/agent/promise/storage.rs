//! storage: free space and plausibility of a volume, and whether it is mounted.

mod mount;

use std::rc::Rc;
use std::time::Duration;

use fx_engine::Level;

use crate::eval::promise::Expanded;
use crate::eval::{Context, log};
use crate::outcome::Outcome;
use crate::text::{int_from, path};

pub(crate) use mount::finish;

/// Keeps a storage promise.
pub(crate) fn keep(ctx: &mut Context<'_>, promise: &Rc<Expanded>) -> Outcome {
    let name = Rc::clone(&promise.promiser);
    if !ctx.acquire(promise, &name) {
        return Outcome::Skipped;
    }
    let mut result = Outcome::Kept;
    if promise.has("mount") {
        result = mount::keep(ctx, promise);
        if !promise.has("volume") {
            return result;
        }
    }
    let space = match ctx.host().space(&path(&name), Duration::from_secs(10)) {
        Ok(space) => space,
        Err(error) => {
            let text = format!("Could not examine the file system of '{name}': {error}");
            return ctx.settle(Level::Error, Outcome::Failed, promise, &text);
        }
    };
    if let Some(wanted) = promise.scalar("freespace").cloned() {
        let (enough, unit) = if let Some(percent) = wanted.strip_suffix('%') {
            let percent: u64 = percent.trim().parse().unwrap_or(0);
            let free = (space.available * 100).checked_div(space.total).unwrap_or(0);
            (free >= percent, "%")
        } else {
            let bytes = int_from(&wanted).unwrap_or(0).max(0) as u64;
            (space.available >= bytes, " bytes")
        };
        if enough {
            log!(ctx, Verbose, "Storage on '{name}' has at least {wanted}{unit} free");
            ctx.settle_quietly(Outcome::Kept, promise);
        } else {
            let text = format!("Free disk space is under {wanted} for volume containing '{name}'");
            result = ctx.settle(Level::Error, Outcome::Failed, promise, &text);
        }
    }
    if let (Some(size), Some(count)) = (promise.int("sensible_size"), promise.int("sensible_count"))
    {
        let entries = ctx.host().list(&path(&name)).map_or(0, |entries| entries.len() as i64);
        let used = space.total.saturating_sub(space.free) as i64;
        if used < size || entries < count {
            let text = format!(
                "File system '{name}' does not seem sensible: {used} bytes used, {entries} entries"
            );
            result = result.merge(ctx.settle(Level::Error, Outcome::Failed, promise, &text));
        }
    }
    if !promise.has("volume") {
        return ctx.settle_quietly(Outcome::Kept, promise);
    }
    result
}
