//! storage: free space and plausibility of a volume, and whether it is mounted.

mod mount;

use std::rc::Rc;
use std::time::Duration;

use fx_cfengine::eval::promise::Expanded;
use fx_cfengine::log;
use fx_cfengine::outcome::Outcome;
use fx_cfengine::text::{from_path, int_from, path};
use fx_engine::Level;

use crate::agent::Agent;

use super::files::consider::considered;

pub(crate) use mount::finish;

/// Keeps a storage promise.
pub(crate) fn keep(ctx: &mut Agent<'_>, promise: &Rc<Expanded>) -> Outcome {
    let name = Rc::clone(&promise.promiser);
    if !ctx.acquire_alone(promise, &name) {
        return Outcome::Skipped;
    }
    let mut result = Outcome::Kept;
    if promise.has("mount") {
        result = mount::keep(ctx, promise);
    }
    // A promise of nothing has no outcome to set classes by.
    if !promise.has("volume") {
        return result;
    }
    result = result.merge(content(ctx, promise, &name));
    if let Some(wanted) = promise.scalar("freespace").cloned() {
        result = result.merge(free_space(ctx, promise, &name, &wanted));
    }
    result
}

// Whether as much lies at the top of the volume as is sensible.
fn content(ctx: &mut Agent<'_>, promise: &Rc<Expanded>, name: &str) -> Outcome {
    log!(ctx, Verbose, "Checking required filesystem {name}");
    let Ok(meta) = ctx.host().stat(&path(name)) else { return Outcome::Kept };
    if meta.is_dir() {
        let entries = match ctx.host().list(&path(name)) {
            Ok(entries) => entries,
            Err(error) => {
                let why = fx_cfengine::reason::reason(&error);
                ctx.error(&format!(
                    "Can't open directory '{name}' which checking required/disk. (opendir: {why})"
                ));
                return Outcome::Kept;
            }
        };
        let counted = |entry: &fx_host::Entry| {
            let entry = from_path(std::path::Path::new(&entry.name));
            considered(ctx, name, &entry, false)
        };
        let entries: Vec<_> = entries.into_iter().filter(counted).collect();
        let sizes = entries.iter().filter_map(|entry| {
            ctx.host().lstat(&path(name).join(&entry.name)).ok().map(|meta| meta.size as i64)
        });
        let size: i64 = sizes.sum();
        let text = if size < promise.int("sensible_size").unwrap_or(1000) {
            Some(format!("File system '{name}' is suspiciously small! ({size} bytes)"))
        } else if (entries.len() as i64) < promise.int("sensible_count").unwrap_or(2) {
            Some(format!("Filesystem '{name}' has only {} files/directories.", entries.len()))
        } else {
            None
        };
        if let Some(text) = text {
            return ctx.settle(Level::Error, Outcome::Interrupted, promise, &text);
        }
    }
    let text = format!("Filesystem '{name}' content seems to be sensible as promised");
    ctx.settle(Level::Info, Outcome::Kept, promise, &text)
}

fn free_space(ctx: &mut Agent<'_>, promise: &Rc<Expanded>, name: &str, wanted: &str) -> Outcome {
    if let Err(error) = ctx.host().stat(&path(name)) {
        let why = fx_cfengine::reason::reason(&error);
        ctx.error(&format!("Couldn't stat '{name}' while checking diskspace. (stat: {why})"));
        return Outcome::Kept;
    }
    let space = match ctx.host().space(&path(name), Duration::from_secs(10)) {
        Ok(space) => space,
        Err(error) => {
            let why = fx_cfengine::reason::reason(&error);
            ctx.error(&format!("Couldn't get filesystem info for '{name}'. (statfs: {why})"));
            return Outcome::Kept;
        }
    };
    let text = if let Some(percent) = wanted.trim_end().strip_suffix('%') {
        let percent: u64 = percent.trim().parse().unwrap_or(0);
        let used = space.total.saturating_sub(space.free);
        let free = (space.available * 100).checked_div(space.available + used).unwrap_or(0);
        (free < percent).then(|| {
            format!(
                "Free disk space is under {percent}% for volume containing '{name}', {free}% free"
            )
        })
    } else {
        let bytes = int_from(wanted).unwrap_or(0).max(0) as u64;
        (space.available < bytes).then(|| {
            format!(
                "Disk space under {} kB for volume containing '{name}' ({} kB free)",
                bytes / 1024,
                space.available / 1024
            )
        })
    };
    match text {
        Some(text) => ctx.settle(Level::Error, Outcome::Failed, promise, &text),
        None => Outcome::Kept,
    }
}
