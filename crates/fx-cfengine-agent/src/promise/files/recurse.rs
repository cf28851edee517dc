//! Descending into directories for the leaf operations.

use std::collections::BTreeSet;
use std::rc::Rc;

use fx_cfengine::eval::promise::Expanded;
use fx_cfengine::log;
use fx_cfengine::outcome::Outcome;
use fx_cfengine::regex;
use fx_cfengine::text::{Str, from_path, path};

use crate::agent::Agent;

use super::consider::considered;
use super::{changes, failed, leaf, link, select};

/// Depth of a `depth_search` body.
pub(super) fn depth(promise: &Expanded) -> i64 {
    promise.int("depth").unwrap_or(0)
}

/// Whether a directory is left out by name.
pub(super) fn skipped(promise: &Expanded, file: &str, name: &str) -> bool {
    let matches = |list: &str| {
        promise.list(list).map(|patterns| {
            patterns.iter().any(|pattern| {
                regex::full_or_same(pattern, name) || regex::full_or_same(pattern, file)
            })
        })
    };
    if matches("exclude_dirs") == Some(true) {
        return true;
    }
    matches("include_dirs") == Some(false)
}

/// Applies the leaf operations to a path, or to everything below it.
pub(super) fn search(
    ctx: &mut Agent<'_>,
    promise: &Rc<Expanded>,
    file: &Str,
    deep: bool,
    result: &mut Outcome,
) {
    let logged = !promise.has("rename");
    if !deep {
        let selected = !promise.has("file_select")
            || ctx
                .host()
                .lstat(&path(file))
                .is_ok_and(|meta| select::selected(ctx, promise, file, &meta));
        if !selected {
            return;
        }
        if logged {
            ctx.simulated_look(file);
        }
        leaf::verify(ctx, promise, file, None, result);
        return;
    }
    let found = ctx.host().lstat(&path(file));
    if let Err(error) = ctx.host().stat(&path(file)) {
        let mode = found.map(|meta| meta.mode).unwrap_or_default();
        let why = fx_cfengine::reason::reason(&error);
        let text =
            format!("Could not change to directory '{file}' (mode '{mode:04o}', chdir: {why})");
        failed(ctx, promise, result, &text);
        return;
    }
    // The original is where it meant to go only if that is no link.
    if found.is_ok_and(|meta| meta.is_symlink()) {
        ctx.error(&format!(
            "SERIOUS SECURITY ALERT: path race exploited in recursion to/from '{file}'. Not safe for agent to continue - aborting"
        ));
        ctx.fatal("Not safe to continue");
        return;
    }
    let device = ctx.host().stat(&path(file)).map(|meta| meta.dev).unwrap_or_default();
    descend(ctx, promise, file, 0, device, result);
}

fn descend(
    ctx: &mut Agent<'_>,
    promise: &Rc<Expanded>,
    dir: &Str,
    level: i64,
    device: u64,
    result: &mut Outcome,
) {
    if level > 100 {
        ctx.error(&format!(
            "WARNING: Very deep nesting of directories (>100 deep) for '{dir}' (Aborting files)"
        ));
        return;
    }
    let max = depth(promise);
    let entries = match ctx.host().list(&path(dir)) {
        Ok(entries) => entries,
        Err(error) => {
            log!(ctx, Info, "Could not open existing directory '{dir}'");
            if !error.is_not_found() {
                failed(ctx, promise, result, &error.to_string());
            }
            return;
        }
    };
    let known = promise.has("changes").then(|| changes::listing(ctx, dir));
    let mut selected = BTreeSet::new();
    let xdev = promise.bool("xdev").unwrap_or(false);
    let travel = promise.bool("traverse_links").unwrap_or(false);
    for entry in entries {
        let name = from_path(std::path::Path::new(&entry.name));
        let slash = if dir.ends_with('/') { "" } else { "/" };
        let file: Str = format!("{dir}{slash}{name}").into();
        let mut meta = match ctx.host().lstat(&path(&file)) {
            Ok(meta) => meta,
            Err(error) if error.is_not_found() => continue,
            Err(error) => {
                failed(ctx, promise, result, &error.to_string());
                continue;
            }
        };
        if !considered(ctx, dir, &name, meta.is_file() || meta.is_symlink()) {
            continue;
        }
        if meta.is_symlink()
            && promise.bool("rmdeadlinks").unwrap_or(false)
            && link::kill_dead(ctx, promise, &file, result)
        {
            ctx.simulated_change(&file);
            continue;
        }
        if travel && meta.is_symlink() {
            if meta.uid != 0 && meta.uid != ctx.host().euid() {
                ctx.info(&format!(
                    "File '{file}' is an untrusted link: cfengine will not follow it with a destructive operation"
                ));
                continue;
            }
            match ctx.host().stat(&path(&file)) {
                Ok(target) => meta = target,
                Err(error) => {
                    let why = fx_cfengine::reason::reason(&error);
                    let text =
                        format!("Recurse was working on '{file}' when this failed. (stat: {why})");
                    failed(ctx, promise, result, &text);
                    continue;
                }
            }
        }
        // A layered file system gives its files devices of their own, so that only a
        // directory shows where another one begins.
        if xdev && meta.is_dir() && meta.dev != device {
            continue;
        }
        if meta.is_dir() {
            if skipped(promise, &file, &name) {
                continue;
            }
            if max > 1 && level < max {
                descend(ctx, promise, &file, level + 1, device, result);
            }
        }
        if !promise.has("file_select") || select::selected(ctx, promise, &file, &meta) {
            if let Some(known) = &known {
                if !known.contains(&name) {
                    changes::found(ctx, promise, &file, result);
                }
                selected.insert(name);
            }
            leaf::verify(ctx, promise, &file, None, result);
            if !promise.has("rename") {
                ctx.simulated_look(&file);
            }
            if *result == Outcome::Repaired {
                ctx.simulated_change(&file);
            }
        }
    }
    if let Some(known) = known {
        changes::directory(ctx, promise, dir, &selected, &known, result);
    }
}
