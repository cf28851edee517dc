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
            match ctx.host().write(&place, b"", &WriteOptions::default()) {
                Ok(()) => changed(ctx, promise, result, &format!("Truncated '{file}'")),
                Err(error) => failed(ctx, promise, result, &error.to_string()),
            }
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
            if ctx.agent.edits.rotated.insert(file.into())
                && let Err(error) = rotate(ctx, file, levels)
            {
                failed(ctx, promise, result, &error.to_string());
                return;
            }
            changed(ctx, promise, result, &format!("Rotated file '{file}' in {levels} fifo"));
        }
        _ => {}
    }
}

/// Removes what the repository has now.
pub(super) fn remove_archived(
    ctx: &mut Context<'_>,
    promise: &Rc<Expanded>,
    file: &str,
    result: &mut Outcome,
) {
    if let Err(error) = ctx.host().remove_file(&path(file)) {
        failed(ctx, promise, result, &error.to_string());
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
                remove_archived(ctx, promise, &name, result);
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
/// What could not be kept is not emptied.
pub(super) fn rotate(ctx: &Context<'_>, file: &str, levels: i64) -> fx_host::Result<()> {
    for level in (1..levels).rev() {
        for packed in ["", ".gz", ".Z", ".bz", ".bz2"] {
            let from = format!("{file}.{level}{packed}");
            if ctx.host().lstat(&path(&from)).is_ok() {
                let to = format!("{file}.{}{packed}", level + 1);
                ctx.host().rename(&path(&from), &path(&to))?;
            }
        }
    }
    let place = path(file);
    let Ok(meta) = ctx.host().stat(&place) else { return Ok(()) };
    if meta.is_dir() {
        ctx.error(&format!(
            "Unable to read source file while copying '{file}' to '{file}.1' (read: Is a directory)"
        ));
        return Ok(());
    }
    if ctx.host().open(&place).is_ok() {
        keep_copy(ctx, file, &format!("{file}.1"))?;
        ctx.host().write(&place, b"", &WriteOptions::default())?;
    }
    Ok(())
}

/// Gives a file a second name, or a copy where it can have none. The file keeps its own name
/// until something new takes it, so nothing that fails later leaves the name empty.
pub(super) fn keep(ctx: &Context<'_>, file: &str, backup: &str) -> fx_host::Result<()> {
    match ctx.host().hard_link(&path(file), &path(backup)) {
        Ok(()) => Ok(()),
        Err(_) => keep_copy(ctx, file, backup),
    }
}

/// Copies a file with its owner and mode; the copy has its name before anything else happens.
fn keep_copy(ctx: &Context<'_>, file: &str, copy: &str) -> fx_host::Result<()> {
    let meta = ctx.host().stat(&path(file))?;
    let options = WriteOptions {
        mode: Some(meta.mode & 0o7777),
        uid: Some(meta.uid),
        gid: Some(meta.gid),
        mtime: None,
    };
    ctx.host().copy_file(&path(file), &path(copy), &options)?;
    ctx.host().settle()
}
