//! link_from: symbolic links by their kind, hard links, and links for all children.

use std::rc::Rc;

use fx_cfengine::eval::promise::Expanded;
use fx_cfengine::outcome::Outcome;
use fx_cfengine::reason::reason;
use fx_cfengine::regex;
use fx_cfengine::text::{compress_path as compress, from_path, path};
use fx_engine::Level;
use fx_host::{Act, Kind};

use crate::agent::Agent;
use crate::change::{self, ABSENT, value};
use crate::wording;

use super::consider::{considered, is_plain};
use super::{as_promised, changed, copy, create, failed};

fn absolute(link: &str, target: &str) -> String {
    if target.starts_with('/') {
        return target.to_owned();
    }
    let dir = link.rfind('/').map_or("", |at| &link[..at]);
    compress(&format!("{dir}/{target}"))
}

/// Verifies one link.
pub(super) fn schedule(
    ctx: &mut Agent<'_>,
    promise: &Rc<Expanded>,
    file: &str,
    source: &str,
) -> Outcome {
    let base = file.rsplit('/').next().unwrap_or(file);
    if promise
        .list("copy_patterns")
        .is_some_and(|patterns| patterns.iter().any(|pattern| regex::full_or_same(pattern, base)))
    {
        return copy::verify_copy(ctx, promise, source, file);
    }
    match promise.scalar("link_type").map_or("symlink", |kind| kind) {
        "hardlink" => hard(ctx, promise, file, source),
        "relative" => relative(ctx, promise, file, source),
        "absolute" => absolute_link(ctx, promise, file, source),
        _ => symbolic(ctx, promise, file, source),
    }
}

fn absolute_link(ctx: &mut Agent<'_>, promise: &Rc<Expanded>, file: &str, source: &str) -> Outcome {
    let mut target =
        if source.starts_with('.') { absolute(file, source) } else { compress(source) };
    if promise.scalar("when_no_source").is_some_and(|word| &**word == "force")
        && let Ok(real) = ctx.host().real_path(&path(&target))
    {
        target = from_path(&real);
    }
    symbolic(ctx, promise, file, &target)
}

/// A symbolic link with the shortest relative target.
pub(super) fn relative(
    ctx: &mut Agent<'_>,
    promise: &Rc<Expanded>,
    file: &str,
    source: &str,
) -> Outcome {
    if source.starts_with('.') {
        return symbolic(ctx, promise, file, source);
    }
    let source = compress(source);
    if source == file {
        let text =
            format!("Failed to link '{file}' to '{source}', can't link file '{source}' to itself");
        return ctx.settle(Level::Error, Outcome::Interrupted, promise, &text);
    }
    let from: Vec<&str> = file.split('/').filter(|part| !part.is_empty()).collect();
    let to: Vec<&str> = source.split('/').filter(|part| !part.is_empty()).collect();
    let shared =
        from.iter().zip(&to).take_while(|(a, b)| a == b).count().min(from.len().saturating_sub(1));
    let mut target = String::from("./");
    for _ in shared + 1..from.len() {
        target.push_str("../");
    }
    target.push_str(&to[shared..].join("/"));
    symbolic(ctx, promise, file, &target)
}

/// A symbolic link with this target as written.
pub(super) fn symbolic(
    ctx: &mut Agent<'_>,
    promise: &Rc<Expanded>,
    file: &str,
    source: &str,
) -> Outcome {
    let mut result = Outcome::Kept;
    let to = if source.starts_with(['/', '.']) { source.to_owned() } else { format!("./{source}") };
    let full = absolute(file, &to);
    let missing = ctx.host().stat(&path(&full)).is_err();
    let when_missing = if promise.has("copy_from") {
        "force".into()
    } else {
        promise.scalar("when_no_source").cloned().unwrap_or_else(|| "nop".into())
    };
    if missing && !matches!(&*when_missing, "force" | "delete") {
        failed(
            ctx,
            promise,
            &mut result,
            &format!("Unable to create link '{file}' -> '{to}', no source"),
        );
        return result;
    }
    if missing && &*when_missing == "delete" {
        kill_dead(ctx, promise, file, &mut result);
        return result;
    }
    let obstructions = promise.bool("move_obstructions").unwrap_or(false);
    let Ok(current) = ctx.host().read_link(&path(file)).map(|target| from_path(&target)) else {
        let should = format!("create link '{file}'");
        if !ctx.may(promise, &mut result, &change::linked(file, source), &should) {
            return result;
        }
        match create::make_parents(ctx, promise, file, &mut result) {
            None => return result,
            Some(true) => changed(
                ctx,
                promise,
                &mut result,
                &format!("Created parent directory for link '{file}'"),
            ),
            Some(false) => {}
        }
        if !create::move_obstruction(ctx, promise, file, obstructions, &mut result) {
            let text =
                format!("Unable to create link '{file}' -> '{to}', failed to move obstruction");
            failed(ctx, promise, &mut result, &text);
            return result;
        }
        if !make(ctx, promise, file, source, &mut result) {
            failed(ctx, promise, &mut result, &format!("Unable to create link '{file}' -> '{to}'"));
        }
        return result;
    };
    if current == source || current == to {
        as_promised(ctx, promise, format_args!("Link '{file}' points to '{source}', promise kept"));
        return result;
    }
    if !obstructions {
        let text =
            format!("Link '{file}' points to '{current}' not '{to}', but not moving obstructions");
        failed(ctx, promise, &mut result, &text);
        return result;
    }
    let words = wording::remove_wrong_link(file, &current, &to);
    let gone = [change::of_file(file, "target", value(&current), ABSENT)];
    let remove = |act: &dyn Act| act.remove_file(&path(file));
    if ctx.change(promise, &mut result, &gone, &words, remove).is_some() {
        make(ctx, promise, file, source, &mut result);
    }
    result
}

fn make(
    ctx: &mut Agent<'_>,
    promise: &Rc<Expanded>,
    file: &str,
    target: &str,
    result: &mut Outcome,
) -> bool {
    let make = |act: &dyn Act| act.symlink(&path(target), &path(file));
    let words = wording::link(file, target);
    ctx.change(promise, result, &change::linked(file, target), &words, make).is_some()
}

/// A second name for a file.
pub(super) fn hard(
    ctx: &mut Agent<'_>,
    promise: &Rc<Expanded>,
    file: &str,
    source: &str,
) -> Outcome {
    let mut result = Outcome::Kept;
    let to = if source.starts_with(['/', '.']) { source.to_owned() } else { format!("./{source}") };
    let full = absolute(file, &to);
    let Some(source_meta) = ctx.host().stat(&path(&full)).ok().filter(fx_host::Meta::is_file)
    else {
        let text =
            format!("Source file '{to}' is not a regular file, not appropriate to hard-link");
        failed(ctx, promise, &mut result, &text);
        return result;
    };
    if let Ok(meta) = ctx.host().stat(&path(file)) {
        if meta.ino == source_meta.ino && meta.dev == source_meta.dev {
            as_promised(
                ctx,
                promise,
                format_args!("Hard link '{file}' -> '{to}' exists and is okay"),
            );
            return result;
        }
        ctx.info(&format!("'{file}' does not appear to be a hard link to '{to}'"));
        let inode =
            [change::of_file(file, "inode", meta.ino.to_string(), source_meta.ino.to_string())];
        if !ctx.may(promise, &mut result, &inode, &format!("hard link '{file}' -> '{to}'")) {
            return result;
        }
        let allowed = promise.bool("move_obstructions").unwrap_or(false);
        if !create::move_obstruction(ctx, promise, file, allowed, &mut result) {
            let text = format!(
                "Unable to create hard link '{file}' -> '{to}', failed to move obstruction"
            );
            failed(ctx, promise, &mut result, &text);
            return result;
        }
    }
    make_hard(ctx, promise, file, &full, &mut result);
    result
}

/// Makes a hard link and says so.
pub(super) fn make_hard(
    ctx: &mut Agent<'_>,
    promise: &Rc<Expanded>,
    file: &str,
    to: &str,
    result: &mut Outcome,
) {
    let made =
        [change::created(file, Kind::File), change::of_file(file, "hard link", ABSENT, value(to))];
    let make = |act: &dyn Act| act.hard_link(&path(to), &path(file));
    ctx.change(promise, result, &made, &wording::hard_link(file, to), make);
}

/// Links every child of a directory.
pub(super) fn children(
    ctx: &mut Agent<'_>,
    promise: &Rc<Expanded>,
    file: &str,
    source: &str,
    level: i64,
) -> Outcome {
    let mut result = Outcome::Kept;
    let mut there = false;
    if let Ok(meta) = ctx.host().lstat(&path(file)) {
        if promise.bool("move_obstructions").unwrap_or(false) && meta.is_symlink() {
            let gone = [change::removed(file, Kind::Symlink)];
            let words = wording::remove_obstructing_link(file);
            let remove = |act: &dyn Act| act.remove_file(&path(file));
            ctx.change(promise, &mut result, &gone, &words, remove);
        } else if meta.is_dir() {
            there = true;
        } else {
            let text = format!(
                "Cannot promise to link files to children of '{file}' as it is not a directory"
            );
            failed(ctx, promise, &mut result, &text);
            return result;
        }
    }
    if !there && !create::create(ctx, promise, &format!("{file}/."), false, &mut result) {
        let text = format!("Failed to create directory '{file}' for linking files as its children");
        failed(ctx, promise, &mut result, &text);
        return result;
    }
    let entries = match ctx.host().list(&path(source)) {
        Ok(entries) => entries,
        Err(error) => {
            let why = reason(&error);
            let text =
                format!("Can't open source of children to link '{source}'. (opendir: {why})");
            failed(ctx, promise, &mut result, &text);
            return result;
        }
    };
    let overriding =
        promise.scalar("when_linking_children").is_some_and(|word| &**word == "override_file");
    for entry in entries {
        let name = from_path(std::path::Path::new(&entry.name));
        let (link, target) = (format!("{file}/{name}"), format!("{source}/{name}"));
        if !considered(ctx, source, &name, is_plain(ctx, &target)) {
            continue;
        }
        if let Ok(meta) = ctx.host().lstat(&path(&link))
            && !meta.is_symlink()
            && !meta.is_dir()
        {
            if !overriding {
                ctx.verbose(&format!(
                    "Have promised not to disturb existing content belonging to '{link}'"
                ));
                continue;
            }
            create::move_obstruction(ctx, promise, &link, true, &mut result);
        }
        let deeper = super::recurse::depth(promise) > level
            && ctx.host().lstat(&path(&target)).is_ok_and(|meta| meta.is_dir());
        let outcome = if deeper && level < 100 {
            children(ctx, promise, &link, &target, level + 1)
        } else {
            schedule(ctx, promise, &link, &target)
        };
        result = result.merge(outcome);
        if result == Outcome::Repaired {
            ctx.simulated_change(&link);
        }
    }
    result
}

/// Removes a link that points nowhere, where the promise asks for it; whether it is gone.
pub(super) fn kill_dead(
    ctx: &mut Agent<'_>,
    promise: &Rc<Expanded>,
    file: &str,
    result: &mut Outcome,
) -> bool {
    let Ok(target) = ctx.host().read_link(&path(file)).map(|target| from_path(&target)) else {
        return true;
    };
    let full = compress(&absolute(file, &target));
    if ctx.host().stat(&path(&full)).is_ok() {
        return false;
    }
    let wanted = promise.scalar("when_no_source").is_some_and(|word| &**word == "delete")
        || promise.bool("rmdeadlinks").unwrap_or(false);
    if !wanted {
        return false;
    }
    let gone = [change::removed(file, Kind::Symlink)];
    let words = wording::remove_dead_link(file);
    ctx.change(promise, result, &gone, &words, |act| act.remove_file(&path(file)));
    true
}
