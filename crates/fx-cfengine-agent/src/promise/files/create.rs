//! Creating files, directories and pipes, with the directories they need.

use std::rc::Rc;

use fx_cfengine::eval::promise::Expanded;
use fx_cfengine::log;
use fx_cfengine::mode;
use fx_cfengine::outcome::Outcome;
use fx_cfengine::text::{canonify, path};
use fx_host::{Act, Kind, WriteOptions};

use crate::agent::Agent;
use crate::change;
use crate::wording;

use super::{changed, failed, rename};

/// Creates what the path stands for; whether it is there afterwards.
pub(super) fn create(
    ctx: &mut Agent<'_>,
    promise: &Rc<Expanded>,
    file: &str,
    search: bool,
    result: &mut Outcome,
) -> bool {
    if !file.starts_with('/') {
        let text = format!(
            "Cannot create a relative filename '{file}' - has no invariant meaning. (create: No such file or directory)"
        );
        failed(ctx, promise, result, &text);
        return false;
    }
    if search || file.ends_with("/.") || file == "/." {
        let made = [change::created(file, Kind::Directory)];
        if !ctx.may(promise, result, &made, &format!("create directory '{file}'")) {
            return false;
        }
        // Without the mark of a directory only those above it are made, search or not.
        match make_parents(ctx, promise, file, result) {
            None => return false,
            Some(true) => changed(ctx, promise, result, &format!("Created directory '{file}'")),
            Some(false) => {}
        }
        return true;
    }
    let mode = match promise.scalar("mode").and_then(|text| mode::parse(text)) {
        None => {
            log!(ctx, Verbose, "No mode was set, choose plain file default 0600");
            0o600
        }
        Some(mask) => mask.plus & !mask.minus,
    };
    let fifo = promise.scalar("file_type").is_some_and(|kind| &**kind == "fifo");
    match make_parents(ctx, promise, file, result) {
        None => return false,
        Some(true) => changed(ctx, promise, result, &format!("Created directory for '{file}'")),
        Some(false) => {}
    }
    let place = path(file);
    if fifo {
        let made = change::created_with(file, Kind::Fifo, mode);
        let words = wording::make_fifo(file, mode);
        let make = |act: &dyn Act| act.make_fifo(&place, mode);
        return ctx.change(promise, result, &made, &words, make).is_some();
    }
    let made = change::created_with(file, Kind::File, mode);
    let words = wording::create_file(file, mode);
    if !ctx.may(promise, result, &made, &words.should) {
        return false;
    }
    let found = ctx.host().lstat_opt(&place);
    let Ok(found) = super::seen(ctx, promise, found, result) else { return false };
    if found.is_some() {
        let text = format!(
            "Error creating file '{file}', mode '{mode:04o}'. (open: 'File exists'). Most likely a dangling symlink is in the way. Refusing to create the target file of dangling symlink (security risk)."
        );
        failed(ctx, promise, result, &text);
        return false;
    }
    let options = WriteOptions { mode: Some(mode), ..WriteOptions::default() };
    let make = |act: &dyn Act| act.write(&place, b"", &options);
    ctx.change(promise, result, &made, &words, make).is_some()
}

/// Makes the directories above a path; whether any was made, `None` when one could not be.
pub(crate) fn make_parents(
    ctx: &mut Agent<'_>,
    promise: &Rc<Expanded>,
    file: &str,
    result: &mut Outcome,
) -> Option<bool> {
    let parent = match file.rfind('/') {
        None | Some(0) => return Some(false),
        Some(at) => &file[..at],
    };
    if ctx.host().stat(&path(parent)).is_ok_and(|meta| meta.is_dir()) {
        return Some(false);
    }
    let force = promise.bool("move_obstructions").unwrap_or(false);
    let mut at = 1;
    let mut made = false;
    loop {
        let end = parent[at..].find('/').map_or(parent.len(), |next| at + next);
        let dir = &parent[..end];
        let place = path(dir);
        match ctx.host().stat(&place) {
            Ok(meta) if meta.is_dir() => {}
            found => {
                let obstructed = found.is_ok() || ctx.host().lstat(&place).is_ok();
                if obstructed {
                    if !force {
                        let text = format!(
                            "The object '{dir}' is not a directory. Cannot make a new directory without deleting it."
                        );
                        failed(ctx, promise, result, &text);
                        return None;
                    }
                    let moved = format!("{dir}.cf-moved");
                    let words = wording::move_obstructing_parent(dir, &moved);
                    let rename = |act: &dyn Act| act.rename(&place, &path(&moved));
                    let changes = [change::renamed(dir, &moved)];
                    ctx.change(promise, result, &changes, &words, rename)?;
                }
                let words = wording::make_parent(dir, file);
                let changes = [change::created(dir, Kind::Directory)];
                if ctx.may(promise, result, &changes, &words.should) {
                    let make = |act: &dyn Act| act.make_dir(&place, 0o700);
                    ctx.change(promise, result, &changes, &words, make)?;
                    made = true;
                }
            }
        }
        if end == parent.len() {
            return Some(made);
        }
        at = end + 1;
    }
}

/// Moves what stands in the way of a promise aside; whether the way is free.
pub(super) fn move_obstruction(
    ctx: &mut Agent<'_>,
    promise: &Rc<Expanded>,
    file: &str,
    allowed: bool,
    result: &mut Outcome,
) -> bool {
    let place = path(file);
    let Ok(meta) = ctx.host().lstat(&place) else { return true };
    if !allowed {
        failed(ctx, promise, result, &format!("Object '{file}' is obstructing promise"));
        return false;
    }
    let now = ctx.host().now().secs;
    let stamp = || {
        let date =
            fx_cfengine::clock::format(ctx, now, false, "%a %b %e %H:%M:%S %Y").unwrap_or_default();
        format!("_{now}_{}", canonify(&date))
    };
    let saved = if meta.is_dir() {
        format!("{file}{}.cfsaved.dir", stamp())
    } else {
        let timestamp = promise.scalar("copy_backup").or_else(|| promise.scalar("edit_backup"));
        let middle = if timestamp.is_some_and(|word| &**word == "timestamp") {
            stamp()
        } else {
            String::new()
        };
        format!("{file}{middle}.cfsaved")
    };
    let words = wording::move_obstruction(file, &saved, meta.is_dir());
    let rename = |act: &dyn Act| act.rename(&place, &path(&saved));
    if ctx.change(promise, result, &[change::renamed(file, &saved)], &words, rename).is_none() {
        return false;
    }
    if !meta.is_dir() && super::edit::archive(ctx, promise, &saved) {
        rename::remove_archived(ctx, promise, &saved, result);
    }
    true
}
