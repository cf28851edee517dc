//! Creating files, directories and pipes, with the directories they need.

use std::rc::Rc;

use fx_host::WriteOptions;

use crate::eval::promise::Expanded;
use crate::eval::{Context, log};
use crate::load::reason;
use crate::mode;
use crate::outcome::Outcome;
use crate::text::{canonify, path};

use super::{changed, failed, rename};

/// Creates what the path stands for; whether it is there afterwards.
pub(super) fn create(
    ctx: &mut Context<'_>,
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
        if !ctx.making_changes(promise, result, &format!("create directory '{file}'")) {
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
        if !ctx.making_changes(
            promise,
            result,
            &format!("create named pipe '{file}', mode {mode:04o}"),
        ) {
            return false;
        }
        return match ctx.host().make_fifo(&place, mode) {
            Ok(()) => {
                changed(
                    ctx,
                    promise,
                    result,
                    &format!("Created named pipe '{file}', mode {mode:04o}"),
                );
                true
            }
            Err(error) => {
                let text = format!(
                    "Error creating file '{file}', mode '{mode:04o}'. (mkfifo: {})",
                    reason(&error)
                );
                failed(ctx, promise, result, &text);
                false
            }
        };
    }
    if !ctx.making_changes(promise, result, &format!("create file '{file}', mode '{mode:04o}'")) {
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
    match ctx.host().write(&place, b"", &options) {
        Ok(()) => {
            changed(ctx, promise, result, &format!("Created file '{file}', mode {mode:04o}"));
            true
        }
        Err(error) => {
            let text = format!(
                "Error creating file '{file}', mode '{mode:04o}'. (open: {})",
                reason(&error)
            );
            failed(ctx, promise, result, &text);
            false
        }
    }
}

/// Makes the directories above a path; whether any was made, `None` when one could not be.
pub(crate) fn make_parents(
    ctx: &mut Context<'_>,
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
                    if !ctx.making_changes(
                        promise,
                        result,
                        &format!("move obstructing file/link '{dir}' to '{moved}'"),
                    ) {
                        return None;
                    }
                    if let Err(error) = ctx.host().rename(&place, &path(&moved)) {
                        failed(
                            ctx,
                            promise,
                            result,
                            &format!(
                                "Can't rename '{dir}' to '{moved}'. (rename: {})",
                                reason(&error)
                            ),
                        );
                        return None;
                    }
                    changed(
                        ctx,
                        promise,
                        result,
                        &format!("Moved obstructing file/link '{dir}' to '{moved}'"),
                    );
                }
                let should = format!("make directory '{dir}' for '{file}'");
                if ctx.making_changes(promise, result, &should) {
                    if let Err(error) = ctx.host().make_dir(&place, 0o700) {
                        let text =
                            format!("Failed to make directory: {dir} (mkdir: {})", reason(&error));
                        failed(ctx, promise, result, &text);
                        return None;
                    }
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
    ctx: &mut Context<'_>,
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
            crate::clock::format(ctx, now, false, "%a %b %e %H:%M:%S %Y").unwrap_or_default();
        format!("_{now}_{}", canonify(&date))
    };
    let (saved, should, did) = if meta.is_dir() {
        (
            format!("{file}{}.cfsaved.dir", stamp()),
            format!("move aside directory '{file}' obstructing"),
            format!("Moved directory '{file}' to '{file}.cfsaved'"),
        )
    } else {
        let timestamp = promise.scalar("copy_backup").or_else(|| promise.scalar("edit_backup"));
        let middle = if timestamp.is_some_and(|word| &**word == "timestamp") {
            stamp()
        } else {
            String::new()
        };
        let saved = format!("{file}{middle}.cfsaved");
        (
            saved.clone(),
            format!("move aside object '{file}' obstructing promise"),
            format!("Moved obstructing object '{file}' to '{saved}'"),
        )
    };
    if !ctx.making_changes(promise, result, &should) {
        return false;
    }
    if let Err(error) = ctx.host().rename(&place, &path(&saved)) {
        failed(
            ctx,
            promise,
            result,
            &format!("Can't rename '{file}' to '{saved}'. (rename: {})", reason(&error)),
        );
        return false;
    }
    changed(ctx, promise, result, &did);
    if !meta.is_dir() && super::edit::archive(ctx, promise, &saved) {
        rename::remove_archived(ctx, promise, &saved, result);
    }
    true
}
