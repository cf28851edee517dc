//! rename: new names, disabling, truncating and rotating.

use std::rc::Rc;

use fx_cfengine::eval::promise::Expanded;
use fx_cfengine::mode;
use fx_cfengine::outcome::Outcome;
use fx_cfengine::text::path;
use fx_engine::Change;
use fx_host::{Act, Kind, Look, Meta, WriteOptions};

use crate::agent::Agent;
use crate::change;
use crate::wording;

use super::{as_promised, changed};

/// Verifies the rename body on one file.
pub(super) fn verify(
    ctx: &mut Agent<'_>,
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
        let words = wording::rename(file, &name);
        let rename = |act: &dyn Act| act.rename(&place, &path(&name));
        let changes = [change::renamed(file, &name)];
        if ctx.change(promise, result, &changes, &words, rename).is_some() {
            ctx.simulated_rename(file, &name);
        }
        return;
    }
    if disable {
        disable_file(ctx, promise, file, meta, result);
        return;
    }
    match promise.int("rotate") {
        Some(0) => {
            let empty = [change::content(ctx.host(), &place, b"")];
            let options = WriteOptions::default();
            let words = wording::truncate(file);
            let truncate = |act: &dyn Act| act.write(&place, b"", &options);
            if empty[0].from == empty[0].to {
                // It is said of an empty file as well.
                if ctx.may(promise, result, &empty, &words.should) {
                    changed(ctx, promise, result, &words.done);
                }
            } else {
                ctx.change(promise, result, &empty, &words, truncate);
            }
        }
        Some(levels) if levels > 0 => {
            let words = wording::rotate(file, levels);
            let changes = rotation(ctx.host(), file);
            if !ctx.may(promise, result, &changes, &words.should) {
                return;
            }
            // Whatever asks for it, a file is rotated once in a run.
            if ctx.edits.rotated.insert(file.into()) {
                match ctx.make(&changes, |act| rotate(act, file, levels)) {
                    Ok(done) => {
                        if let Some(text) = done.made().flatten() {
                            ctx.error(&text);
                        }
                    }
                    Err(failure) => {
                        let text = words.failed.text(&failure);
                        return ctx.not_made(promise, result, &failure, &text);
                    }
                }
            }
            changed(ctx, promise, result, &words.done);
        }
        _ => {}
    }
}

/// What a rotation changes: the file is emptied, and `FILE.1` gets what it held.
pub(super) fn rotation(look: &dyn Look, file: &str) -> [Change; 2] {
    let first = format!("{file}.1");
    [change::of_file(file, "rotation", file, first.as_str()), change::copied(look, file, &first)]
}

/// Removes what the repository has now.
pub(super) fn remove_archived(
    ctx: &mut Agent<'_>,
    promise: &Rc<Expanded>,
    file: &str,
    result: &mut Outcome,
) {
    let gone = [change::removed(file, Kind::File)];
    if let Err(failure) = ctx.make(&gone, |act| act.remove_file(&path(file))) {
        ctx.not_made(promise, result, &failure, &failure.to_string());
    }
}

fn disable_file(
    ctx: &mut Agent<'_>,
    promise: &Rc<Expanded>,
    file: &str,
    meta: &Meta,
    result: &mut Outcome,
) {
    let place = path(file);
    if meta.is_symlink() {
        let gone = [change::removed(file, Kind::Symlink)];
        let words = wording::disable_link(file);
        ctx.change(promise, result, &gone, &words, |act| act.remove_file(&place));
        return;
    }
    let suffix = promise.scalar("disable_suffix").cloned().unwrap_or_else(|| ".cfdisabled".into());
    let name = format!("{file}{suffix}");
    let moved = [change::renamed(file, &name)];
    let kind = if meta.is_dir() { "directory" } else { "file" };
    if !ctx.may(promise, result, &moved, &format!("rename '{kind}' '{file}'")) {
        return;
    }
    let perms = promise
        .scalar("disable_mode")
        .and_then(|text| mode::parse(text))
        .map_or(meta.mode & 0o7777, |mask| (meta.mode | mask.plus) & !mask.minus & 0o7777);
    let words = wording::disabled_mode(file, perms);
    if perms == meta.mode & 0o7777 {
        // The original sets it all the same, and says so.
        changed(ctx, promise, result, &words.done);
    } else {
        let mode = [change::mode(file, meta.mode, perms)];
        ctx.change(promise, result, &mode, &words, |act| act.set_mode(&place, perms));
    }
    let words = wording::disable_file(file, &name, perms);
    let rename = |act: &dyn Act| act.rename(&place, &path(&name));
    if ctx.change(promise, result, &moved, &words, rename).is_some() {
        ctx.simulated_rename(file, &name);
        if super::edit::archive(ctx, promise, &name) {
            remove_archived(ctx, promise, &name, result);
        }
    }
}

/// `file.1` becomes `file.2` and so on; the file is copied to `file.1` and emptied.
/// What could not be kept is not emptied. Gives an error to log, if there is one.
pub(super) fn rotate(act: &dyn Act, file: &str, levels: i64) -> fx_host::Result<Option<String>> {
    for level in (1..levels).rev() {
        for packed in ["", ".gz", ".Z", ".bz", ".bz2"] {
            let from = format!("{file}.{level}{packed}");
            if act.lstat(&path(&from)).is_ok() {
                let to = format!("{file}.{}{packed}", level + 1);
                act.rename(&path(&from), &path(&to))?;
            }
        }
    }
    let place = path(file);
    let Ok(meta) = act.stat(&place) else { return Ok(None) };
    if meta.is_dir() {
        return Ok(Some(format!(
            "Unable to read source file while copying '{file}' to '{file}.1' (read: Is a directory)"
        )));
    }
    if act.open(&place).is_ok() {
        keep_copy(act, file, &format!("{file}.1"))?;
        act.write(&place, b"", &WriteOptions::default())?;
    }
    Ok(None)
}

/// Gives a file a second name, or a copy where it can have none. The file keeps its own name
/// until something new takes it, so nothing that fails later leaves the name empty.
pub(super) fn keep(act: &dyn Act, file: &str, backup: &str) -> fx_host::Result<()> {
    match act.hard_link(&path(file), &path(backup)) {
        Ok(()) => Ok(()),
        Err(_) => keep_copy(act, file, backup),
    }
}

/// Copies a file with its owner and mode; the copy has its name before anything else happens.
fn keep_copy(act: &dyn Act, file: &str, copy: &str) -> fx_host::Result<()> {
    let meta = act.stat(&path(file))?;
    let options = WriteOptions {
        mode: Some(meta.mode & 0o7777),
        uid: Some(meta.uid),
        gid: Some(meta.gid),
        mtime: None,
    };
    act.copy_file(&path(file), &path(copy), &options)?;
    act.settle()
}
