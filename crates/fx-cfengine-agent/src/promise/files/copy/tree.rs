//! Trees of files in a copy: directories made on the way, links in the way, and what is
//! purged because the source does not have it.

use std::rc::Rc;

use fx_cfengine::eval::promise::Expanded;
use fx_cfengine::outcome::Outcome;
use fx_cfengine::reason::reason;
use fx_cfengine::text::{from_path, path};
use fx_engine::{Failure, Level};
use fx_host::{Act, Kind};

use crate::agent::Agent;
use crate::change;
use crate::wording;

use super::super::consider::{considered, is_plain};
use super::super::{as_promised, changed, create, failed, recurse, select};
use super::{Copying, copied_attributes, verify};

pub(super) fn tree(
    ctx: &mut Agent<'_>,
    promise: &Rc<Expanded>,
    from: &str,
    to: &str,
    depth: i64,
    device: u64,
    copying: &mut Copying,
) -> Outcome {
    let mut result = Outcome::Kept;
    if depth <= 0 {
        let text = format!("Maximum recursion level reached at '{from}'");
        failed(ctx, promise, &mut result, &text);
        return result;
    }
    match create::make_parents(ctx, promise, &format!("{to}/dummy"), &mut result) {
        None => return result,
        Some(true) => {
            changed(ctx, promise, &mut result, &format!("Created parent directory for '{to}'"))
        }
        Some(false) => {}
    }
    let to = to.trim_end_matches('/');
    match ctx.host().lstat(&path(to)) {
        Ok(found) if found.is_symlink() => {
            if !set_link_aside(ctx, promise, to, &mut result) {
                return result;
            }
        }
        Ok(_) => {}
        Err(error) => {
            let why = reason(&error);
            let text = format!("Unable to stat newly created directory '{to}'. (lstat: {why})");
            failed(ctx, promise, &mut result, &text);
            return result;
        }
    }
    let source = Rc::clone(&copying.from);
    let Some(names_there) = source.list(ctx, promise, from, to) else {
        let text = format!("Can't open directory '{from}' for copying");
        return result.merge(ctx.settle(Level::Error, Outcome::Interrupted, promise, &text));
    };
    let travel = promise.bool("traverse_links").unwrap_or(false);
    let collapse = promise.bool("collapse_destination_dir").unwrap_or(false);
    let mut names: Vec<String> = Vec::new();
    for name in names_there {
        let below = format!("{from}/{name}");
        let found = if travel { source.stat(ctx, &below) } else { source.lstat(ctx, &below) };
        let source = below;
        let plain = found.as_ref().is_some_and(|meta| meta.is_file() || meta.is_symlink());
        if !considered(ctx, from, &name, plain) {
            continue;
        }
        names.push(name.clone());
        let Some(meta) = found else { continue };
        let target = if collapse && meta.is_dir() { to.to_owned() } else { format!("{to}/{name}") };
        if promise.bool("xdev").unwrap_or(false) && meta.is_dir() && meta.dev != device {
            continue;
        }
        if !meta.is_dir() {
            result = result.merge(verify(ctx, promise, &source, &target, copying));
            continue;
        }
        if travel {
            ctx.verbose("Traversing directory links during copy is too dangerous, pruned");
            continue;
        }
        if recurse::skipped(promise, &source, &name) {
            continue;
        }
        if !collapse {
            if ctx.host().stat(&path(&target)).is_err() {
                let words = wording::copy_directory(&target);
                let made = [change::created(&target, Kind::Directory)];
                if !ctx.may(promise, &mut result, &made, &words.should) {
                    plan_copies(ctx, promise, &source, &target, depth - 1, copying, &mut result);
                    continue;
                }
                if let Err(failure) = ctx.make(&made, |act| act.make_dir(&path(&target), 0o700)) {
                    let text = words.failed.text(&failure);
                    let outcome = ctx.settle(Level::Error, Outcome::Interrupted, promise, &text);
                    result = result.merge(outcome);
                    continue;
                }
                changed(ctx, promise, &mut result, &words.done);
            }
            if let Ok(found) = ctx.host().stat(&path(&target)) {
                copied_attributes(ctx, promise, &source, &target, &meta, &found, copying);
            }
        }
        let outcome = tree(ctx, promise, &source, &target, depth - 1, device, copying);
        result = result.merge(outcome);
    }
    if promise.bool("purge").unwrap_or(false) {
        purge(ctx, promise, to, &names, &mut result);
    }
    result
}

// What would be copied below a directory that is not made.
fn plan_copies(
    ctx: &mut Agent<'_>,
    promise: &Rc<Expanded>,
    from: &str,
    to: &str,
    depth: i64,
    copying: &Copying,
    result: &mut Outcome,
) {
    if depth <= 0 {
        let text = format!("Maximum recursion level reached at '{from}'");
        failed(ctx, promise, result, &text);
        return;
    }
    let there = Rc::clone(&copying.from);
    for name in there.list(ctx, promise, from, to).unwrap_or_default() {
        let (source, target) = (format!("{from}/{name}"), format!("{to}/{name}"));
        let Some(meta) = there.lstat(ctx, &source) else { continue };
        if !considered(ctx, from, &name, meta.is_file() || meta.is_symlink()) {
            continue;
        }
        if meta.is_dir() {
            if !recurse::skipped(promise, &source, &name) {
                let made = [change::created(&target, Kind::Directory)];
                ctx.may(promise, result, &made, &wording::copy_directory(&target).should);
                plan_copies(ctx, promise, &source, &target, depth - 1, copying, result);
            }
            continue;
        }
        if promise.has("file_select") && !select::selected(ctx, promise, &source, &meta) {
            continue;
        }
        let (made, should) = match meta.kind {
            Kind::Symlink => {
                (change::created(&target, meta.kind), format!("create link '{target}'"))
            }
            Kind::Fifo => (change::created(&target, meta.kind), format!("create FIFO '{target}'")),
            _ => (
                there.change(ctx, &source, &target, &meta, false),
                format!("copy '{target}' to '{source}'"),
            ),
        };
        ctx.may(promise, result, &[made], &should);
    }
}

// A link where a directory is to be copied to makes way for a directory, if it may.
fn set_link_aside(
    ctx: &mut Agent<'_>,
    promise: &Rc<Expanded>,
    to: &str,
    result: &mut Outcome,
) -> bool {
    if !promise.bool("move_obstructions").unwrap_or(false) {
        let text = format!(
            "Path '{to}' is a symlink. Unable to move it aside without move_obstructions is set"
        );
        failed(ctx, promise, result, &text);
        return false;
    }
    let moved = format!("{to}.cf-moved");
    let changes = [change::renamed(to, &moved)];
    if ctx.may(promise, result, &changes, &format!("backup '{to}'")) {
        match ctx.make(&changes, |act| act.rename(&path(to), &path(&moved))) {
            Ok(_) => changed(ctx, promise, result, &format!("Backed up '{to}'")),
            Err(_) => ctx.error(&format!("Unable to backup old '{to}'")),
        }
    }
    let words = wording::directory_for_link(to);
    let made = [change::created(to, Kind::Directory)];
    if !ctx.may(promise, result, &made, &words.should) {
        return true;
    }
    ctx.change(promise, result, &made, &words, |act| act.make_dir(&path(to), 0o700)).is_some()
}

fn purge(
    ctx: &mut Agent<'_>,
    promise: &Rc<Expanded>,
    dir: &str,
    keep: &[String],
    result: &mut Outcome,
) {
    if dir.len() < 2 {
        failed(ctx, promise, result, &format!("Purge of '{dir}' denied - too dangerous!"));
        return;
    }
    if !promise.has("depth_search") {
        let text = format!("No depth search when copying '{dir}' so purging does not apply");
        as_promised(ctx, promise, format_args!("{text}"));
        return;
    }
    for entry in ctx.host().list(&path(dir)).unwrap_or_default() {
        let name = from_path(std::path::Path::new(&entry.name));
        let file = format!("{dir}/{name}");
        if keep.contains(&name) || !considered(ctx, dir, &name, is_plain(ctx, &file)) {
            continue;
        }
        let Ok(meta) = ctx.host().lstat(&path(&file)) else { continue };
        let gone = [change::removed(&file, meta.kind)];
        let words = wording::purge(&file, meta.is_dir());
        ctx.change(promise, result, &gone, &words, |act| {
            if meta.is_dir() {
                remove_tree(act, &file, 0)
            } else {
                act.remove_file(&path(&file)).map_err(Failure::from)
            }
        });
    }
}

/// Removes a directory and all below it.
pub(super) fn remove_tree(act: &dyn Act, dir: &str, depth: u32) -> Result<(), Failure> {
    if depth > 200 {
        return Err(Failure::new(format!("'{dir}' is too deep to be removed")));
    }
    for entry in act.list(&path(dir)).unwrap_or_default() {
        let file = format!("{dir}/{}", from_path(std::path::Path::new(&entry.name)));
        match act.lstat(&path(&file)) {
            Ok(meta) if meta.is_dir() => remove_tree(act, &file, depth + 1)?,
            Ok(_) => act.remove_file(&path(&file))?,
            Err(_) => {}
        }
    }
    Ok(act.remove_dir(&path(dir))?)
}
