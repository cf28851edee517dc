//! rename: new names, disabling, truncating and rotating.

use std::rc::Rc;

use fx_host::{Meta, WriteOptions};

use crate::eval::Context;
use crate::eval::promise::Expanded;
use crate::load::reason;
use crate::mode;
use crate::outcome::Outcome;
use crate::text::path;

use super::{as_promised, changed, failed};

/// Verifies the rename body on one file.
pub(super) fn verify(
    ctx: &mut Context<'_>,
    promise: &Rc<Expanded>,
    file: &str,
    meta: &Meta,
    result: &mut Outcome,
) {
    let place = path(file);
    if ctx.host().lstat(&place).is_err() {
        as_promised(
            ctx,
            promise,
            format_args!("File object named '{file}' is not there (promise kept)"),
        );
        return;
    }
    let disable = promise.bool("disable").unwrap_or(false);
    if disable {
        ctx.warning(&format!("File object '{file}' exists, contrary to promise"));
    }
    let beside = |name: &str| {
        if name.starts_with('/') {
            name.to_owned()
        } else {
            let dir = file.rfind('/').map_or("", |at| &file[..at]);
            format!("{dir}/{name}")
        }
    };
    if let Some(name) = promise.scalar("newname").cloned() {
        let name = beside(&name);
        if ctx.making_changes(promise, result, &format!("rename file '{file}' to '{name}'")) {
            match ctx.host().rename(&place, &path(&name)) {
                Ok(()) => {
                    changed(ctx, promise, result, &format!("Renamed file '{file}' to '{name}'"));
                    ctx.simulated_rename(file, &name);
                }
                Err(error) => {
                    let text = format!(
                        "Error occurred while renaming '{file}'. (rename: {})",
                        reason(&error)
                    );
                    failed(ctx, promise, result, &text);
                }
            }
        }
        return;
    }
    if disable {
        disable_file(ctx, promise, file, meta, result);
        return;
    }
    match promise.int("rotate") {
        Some(0) if ctx.making_changes(promise, result, &format!("truncate '{file}'")) => {
            let _logged = ctx.host().write(&place, b"", &WriteOptions::default());
            changed(ctx, promise, result, &format!("Truncated '{file}'"));
        }
        Some(levels)
            if levels > 0
                && ctx.making_changes(
                    promise,
                    result,
                    &format!("rotate file '{file}' in {levels} fifo"),
                ) =>
        {
            // Whatever asks for it, a file is rotated once in a run.
            if ctx.agent.edits.rotated.insert(file.into()) {
                rotate(ctx, file, levels);
            }
            changed(ctx, promise, result, &format!("Rotated file '{file}' in {levels} fifo"));
        }
        _ => {}
    }
}

fn disable_file(
    ctx: &mut Context<'_>,
    promise: &Rc<Expanded>,
    file: &str,
    meta: &Meta,
    result: &mut Outcome,
) {
    let place = path(file);
    if meta.is_symlink() {
        if ctx.making_changes(promise, result, &format!("disable link '{file}'")) {
            match ctx.host().remove_file(&place) {
                Ok(()) => changed(
                    ctx,
                    promise,
                    result,
                    &format!("Disabled symbolic link '{file}' by deleting it"),
                ),
                Err(error) => {
                    failed(
                        ctx,
                        promise,
                        result,
                        &format!("Unable to unlink '{file}'. (unlink: {})", reason(&error)),
                    );
                }
            }
        }
        return;
    }
    let kind = if meta.is_dir() { "directory" } else { "file" };
    if !ctx.making_changes(promise, result, &format!("rename '{kind}' '{file}'")) {
        return;
    }
    let suffix = promise.scalar("disable_suffix").cloned().unwrap_or_else(|| ".cfdisabled".into());
    let name = format!("{file}{suffix}");
    let perms = promise
        .scalar("disable_mode")
        .and_then(|text| mode::parse(text))
        .map_or(meta.mode & 0o7777, |mask| (meta.mode | mask.plus) & !mask.minus & 0o7777);
    match ctx.host().set_mode(&place, perms) {
        Ok(()) => changed(
            ctx,
            promise,
            result,
            &format!("Changed permissions of '{file}' to 'mode {perms:04o}'"),
        ),
        Err(error) => {
            let text = format!(
                "Failed to change permissions of '{file}' to 'mode {perms:04o}' ({})",
                reason(&error)
            );
            failed(ctx, promise, result, &text);
        }
    }
    match ctx.host().rename(&place, &path(&name)) {
        Ok(()) => {
            let text =
                format!("Disabled file '{file}' by renaming to '{name}' with mode {perms:04o}");
            changed(ctx, promise, result, &text);
            ctx.simulated_rename(file, &name);
            if super::edit::archive(ctx, promise, &name) {
                let _gone = ctx.host().remove_file(&path(&name));
            }
        }
        Err(error) => {
            let text =
                format!("Error occurred while renaming '{file}'. (rename: {})", reason(&error));
            failed(ctx, promise, result, &text);
        }
    }
}

/// `file.1` becomes `file.2` and so on; the file is copied to `file.1` and emptied.
pub(super) fn rotate(ctx: &Context<'_>, file: &str, levels: i64) {
    for level in (1..levels).rev() {
        for packed in ["", ".gz", ".Z", ".bz", ".bz2"] {
            let from = format!("{file}.{level}{packed}");
            if ctx.host().lstat(&path(&from)).is_ok() {
                let to = format!("{file}.{}{packed}", level + 1);
                let _best_effort = ctx.host().rename(&path(&from), &path(&to));
            }
        }
    }
    let place = path(file);
    let Ok(meta) = ctx.host().stat(&place) else { return };
    if meta.is_dir() {
        ctx.error(&format!(
            "Unable to read source file while copying '{file}' to '{file}.1' (read: Is a directory)"
        ));
        return;
    }
    if ctx.host().open(&place).is_ok() {
        let options = WriteOptions {
            mode: Some(meta.mode),
            uid: Some(meta.uid),
            gid: Some(meta.gid),
            mtime: None,
        };
        let kept = ctx.host().copy_file(&place, &path(&format!("{file}.1")), &options);
        // What could not be kept is not emptied.
        if let Err(error) =
            kept.and_then(|()| ctx.host().write(&place, b"", &WriteOptions::default()))
        {
            ctx.error(&error.to_string());
        }
    }
}
