//! copy_from: copies by comparison, with backups, purging and links, from this machine or another.

mod local;
mod remote;
mod server;
mod source;
mod tree;

use std::collections::hash_map::Entry;
use std::rc::Rc;

use fx_cfengine::eval::classes::ClassScope;
use fx_cfengine::eval::promise::Expanded;
use fx_cfengine::eval::vars::Found;
use fx_cfengine::outcome::Outcome;
use fx_cfengine::policy::Rval;
use fx_cfengine::reason::reason;
use fx_cfengine::regex;
use fx_cfengine::text::{Str, canonify, path};
use fx_crypto::digest::Algorithm;
use fx_engine::{Change, Level, Target};
use fx_host::{Act, Kind, Meta, WriteOptions};
use rustc_hash::FxHashMap;
use source::{Destination, Source};
use tree::{remove_tree, tree};

use crate::agent::Agent;
use crate::change::{self, ABSENT};
use crate::wording;

use super::{as_promised, changed, create, failed, leaf, link, rename, select};

/// A copy under way.
pub(super) struct Copying {
    from: Rc<dyn Source>,
    /// Source inodes with several names, and where the first of them was copied to.
    linked: FxHashMap<(u64, u64), String>,
}

impl Copying {
    fn new(from: Rc<dyn Source>) -> Copying {
        Copying { from, linked: FxHashMap::default() }
    }
}

/// Verifies the copy a promise asks for.
pub(super) fn schedule(ctx: &mut Agent<'_>, promise: &Rc<Expanded>, file: &Str) -> Outcome {
    let mut result = Outcome::Kept;
    let Some(source) = promise.scalar("source").cloned() else {
        failed(
            ctx,
            promise,
            &mut result,
            &format!("Body copy_from for file '{file}' has no source"),
        );
        return result;
    };
    let Some(from) = server::find(ctx, promise) else {
        failed(ctx, promise, &mut result, &format!("No suitable server found for '{file}'"));
        ctx.log_place(Level::Error, &promise.promise);
        return result;
    };
    let server = from.server().to_owned();
    let Some(meta) = from.stat(ctx, &source) else {
        if promise.bool("missing_ok").unwrap_or(false) {
            let text = format!(
                "Can't stat file '{source}' on '{server}' but promise is kept because of 'missing_ok' in files.copy_from promise"
            );
            as_promised(ctx, promise, format_args!("{text}"));
        } else {
            let text =
                format!("Can't stat file '{source}' on '{server}' in files.copy_from promise");
            failed(ctx, promise, &mut result, &text);
        }
        return result;
    };
    let target = if meta.is_dir() { format!("{file}/.") } else { file.to_string() };
    match create::make_parents(ctx, promise, &target, &mut result) {
        None => return result,
        Some(true) => {
            changed(ctx, promise, &mut result, &format!("Created parent directory for '{file}'"))
        }
        Some(false) => {}
    }
    let mut copying = Copying::new(from);
    if meta.is_dir() {
        let depth = super::recurse::depth(promise);
        let outcome = tree(ctx, promise, &source, file, depth, meta.dev, &mut copying);
        result = result.merge(outcome);
        if promise.bool("check_root").unwrap_or(false)
            && let Ok(found) = ctx.host().stat(&path(file))
        {
            result = result
                .merge(copied_attributes(ctx, promise, &source, file, &meta, &found, &copying));
        }
    } else {
        let outcome = verify(ctx, promise, &source, file, &mut copying);
        result = result.merge(outcome);
    }
    result
}

/// One file, from a promise that is not a copy itself.
pub(super) fn verify_copy(
    ctx: &mut Agent<'_>,
    promise: &Rc<Expanded>,
    source: &str,
    file: &str,
) -> Outcome {
    verify(ctx, promise, source, file, &mut Copying::new(Rc::new(local::Local)))
}

// A link is copied as a link unless another kind is asked for; `none` is no other kind.
fn link_kind(promise: &Expanded) -> Str {
    promise
        .scalar("link_type")
        .filter(|kind| matches!(&***kind, "hardlink" | "relative" | "absolute"))
        .cloned()
        .unwrap_or_else(|| "symlink".into())
}

fn verify(
    ctx: &mut Agent<'_>,
    promise: &Rc<Expanded>,
    source: &str,
    file: &str,
    copying: &mut Copying,
) -> Outcome {
    let from = Rc::clone(&copying.from);
    let Some(meta) = from.lstat(ctx, source) else {
        let mut result = Outcome::Kept;
        failed(ctx, promise, &mut result, &format!("Can't stat '{source}' in verify copy"));
        return result;
    };
    // D-062: a name is not removed for a copy that is not made.
    let is_copied = |ctx: &Agent<'_>| {
        !(source == file && from.is_local())
            && (!promise.has("file_select") || select::selected(ctx, promise, source, &meta))
    };
    if meta.nlink > 1 && is_copied(ctx) {
        keep_structure(ctx, promise, file, &meta, copying);
    }
    copy_file(ctx, promise, source, file, &meta, copying)
}

// As RegisterAHardLink does: where the first name of an inode is copied to is remembered; what is at the destination of
// another name goes first, so that it becomes a link to that one. How this ends is no part of how the copy ends.
fn keep_structure(
    ctx: &mut Agent<'_>,
    promise: &Rc<Expanded>,
    file: &str,
    meta: &Meta,
    copying: &mut Copying,
) {
    if let Entry::Vacant(free) = copying.linked.entry((meta.dev, meta.ino)) {
        free.insert(file.to_owned());
        return;
    }
    let old = match copying.from.destination(file) {
        Destination::Absent => None,
        Destination::There(old) => Some(old),
        Destination::Unknown => ctx.host().lstat_opt(&path(file)).ok().flatten(),
    };
    let gone: Vec<Change> = old.iter().map(|old| change::removed(file, old.kind)).collect();
    let mut apart = Outcome::Kept;
    let should = format!("remove old hard link '{file}' to preserve structure");
    if !ctx.may(promise, &mut apart, &gone, &should) {
        return;
    }
    let text = format!("Removed old hard link '{file}' to preserve structure");
    changed(ctx, promise, &mut apart, &text);
    if let Some(old) = old {
        remove(ctx, file, old.kind);
    }
}

fn matches_list(promise: &Expanded, list: &str, name: &str) -> bool {
    promise
        .list(list)
        .is_some_and(|patterns| patterns.iter().any(|pattern| regex::full_or_same(pattern, name)))
}

fn single_copy(ctx: &Agent<'_>, file: &str) -> bool {
    listed(ctx, "files_single_copy", file)
}

// Whether a list of patterns of `body agent control` names the file.
fn listed(ctx: &Agent<'_>, list: &str, file: &str) -> bool {
    match ctx.control.agent.get(list) {
        Some(Rval::List(items)) => items
            .iter()
            .filter_map(Rval::as_scalar)
            .any(|pattern| regex::full_or_same(pattern, file)),
        _ => false,
    }
}

// A copy that was made defines a class of its own, where the agent is asked for it.
fn auto_define(ctx: &mut Agent<'_>, file: &str) {
    if listed(ctx, "files_auto_define", file) {
        let class = format!("auto_{}", canonify(file));
        ctx.put_class(&class, ClassScope::Namespace, Rc::from(["source=promise".into()]), None);
        ctx.info(&format!("Auto defining class '{class}'"));
    }
}

fn copy_file(
    ctx: &mut Agent<'_>,
    promise: &Rc<Expanded>,
    source: &str,
    file: &str,
    meta: &Meta,
    copying: &mut Copying,
) -> Outcome {
    let mut result = Outcome::Kept;
    let from = Rc::clone(&copying.from);
    let server = from.server();
    if source == file && from.is_local() {
        as_promised(
            ctx,
            promise,
            format_args!("File copy promise loop: file/dir '{source}' is its own source"),
        );
        return result;
    }
    if promise.has("file_select") && !select::selected(ctx, promise, source, meta) {
        as_promised(ctx, promise, format_args!("Skipping non-selected file '{source}'"));
        return result;
    }
    if ctx.edits.single_copied.contains(file) {
        as_promised(ctx, promise, format_args!("Skipping single-copied file '{file}'"));
        return result;
    }
    let base = source.rsplit('/').next().unwrap_or(source).to_owned();
    if matches_list(promise, "linkcopy_patterns", &base) {
        if matches_list(promise, "copylink_patterns", &base) {
            let text = format!(
                "File {source} matches both copylink_patterns and linkcopy_patterns - promise loop (skipping)!"
            );
            as_promised(ctx, promise, format_args!("{text}"));
            return result;
        }
        return link_copy(ctx, promise, source, file, meta, copying);
    }
    let Ok(old) = make_way(ctx, promise, &*from, file, meta, &mut result) else { return result };
    if !size_allowed(promise, meta) {
        let text =
            format!("Source file '{source}' size is not in the permitted safety range, skipping");
        as_promised(ctx, promise, format_args!("{text}"));
        return result;
    }
    let Some(old) = old else {
        return copy_new(ctx, promise, source, file, meta, copying, result);
    };
    let default = ctx.control.agent.get("defaultcopytype").and_then(Rval::as_scalar).cloned();
    let compare = promise.scalar("compare").cloned().or(default).unwrap_or_else(|| "none".into());
    let compare = &*compare;
    if compare == "exists" {
        as_promised(ctx, promise, format_args!("Existence only is promised, no copying required"));
        return result;
    }
    let differs = promise.bool("force_update").unwrap_or(false)
        || needs_copy(ctx, &*from, compare, source, file, meta, &old);
    if promise.bool("type_check").unwrap_or(false) && old.kind != meta.kind {
        let text =
            format!("Promised file copy {file} exists but type mismatch with source '{source}'");
        failed(ctx, promise, &mut result, &text);
        return result;
    }
    if !(differs || meta.is_symlink()) {
        result = result.merge(copied_attributes(ctx, promise, source, file, meta, &old, copying));
        if single_copy(ctx, file) {
            ctx.edits.single_copied.insert(file.into());
        }
        as_promised(ctx, promise, format_args!("File '{file}' is an up to date copy of source"));
        return result;
    }
    if meta.is_file() {
        let should = format!("update file '{file}' from '{source}' on '{server}'");
        let copied = [from.change(ctx, source, file, meta, false)];
        if !ctx.may(promise, &mut result, &copied, &should) {
            return result;
        }
        let new = New { copied: &copied, is_first: false };
        if copy_regular(ctx, promise, source, file, meta, &new, copying, &mut result) {
            if let Ok(found) = ctx.host().stat(&path(file)) {
                changed(
                    ctx,
                    promise,
                    &mut result,
                    &format!("Updated '{file}' from source '{source}' on '{server}'"),
                );
                result = result
                    .merge(copied_attributes(ctx, promise, source, file, meta, &found, copying));
            }
            if single_copy(ctx, file) {
                ctx.edits.single_copied.insert(file.into());
            }
            auto_define(ctx, file);
        } else {
            failed(
                ctx,
                promise,
                &mut result,
                &format!("Was not able to copy '{source}' on '{server}' to '{file}'"),
            );
        }
        return result;
    }
    if meta.is_symlink() {
        result = result.merge(link_copy(ctx, promise, source, file, meta, copying));
    }
    result
}

// What is at the destination, a link that is in the way being removed and directories above it
// made.
fn make_way(
    ctx: &mut Agent<'_>,
    promise: &Rc<Expanded>,
    from: &dyn Source,
    file: &str,
    meta: &Meta,
    result: &mut Outcome,
) -> Result<Option<Meta>, Blocked> {
    let found = match from.destination(file) {
        Destination::Absent => return Ok(None),
        Destination::There(meta) => Ok(Some(meta)),
        Destination::Unknown => ctx.host().lstat_opt(&path(file)),
    };
    let old = super::seen(ctx, promise, found, result).map_err(|_| Blocked)?;
    match old {
        Some(found) if found.is_symlink() && !meta.is_symlink() => {
            if promise.bool("type_check").unwrap_or(false) {
                let text =
                    "File image exists but destination type is silly (file/dir/link doesn't match)";
                failed(ctx, promise, result, text);
                ctx.log_place(Level::Error, &promise.promise);
                return Err(Blocked);
            }
            let gone = [change::removed(file, Kind::Symlink)];
            let words = wording::remove_old_link(file);
            let remove = |act: &dyn Act| act.remove_file(&path(file));
            ctx.change(promise, result, &gone, &words, remove).map(|()| None).ok_or(Blocked)
        }
        Some(found) => Ok(Some(found)),
        None => {
            if create::make_parents(ctx, promise, file, result).ok_or(Blocked)? {
                let text = format!("Created parent directory for '{file}'");
                changed(ctx, promise, result, &text);
            }
            Ok(None)
        }
    }
}

/// The copy cannot be made, and that was reported.
struct Blocked;

// Whether the source is as large as the promise allows.
fn size_allowed(promise: &Expanded, meta: &Meta) -> bool {
    let Some((low, high)) = promise.scalar("copy_size").and_then(|range| range.split_once(','))
    else {
        return true;
    };
    let low = fx_cfengine::text::int_from(low.trim()).unwrap_or(0);
    let high = fx_cfengine::text::int_from(high.trim()).unwrap_or(i64::MAX);
    let size = meta.size as i64;
    size >= low && (size <= high || high == 999_999_999)
}

fn copy_new(
    ctx: &mut Agent<'_>,
    promise: &Rc<Expanded>,
    source: &str,
    file: &str,
    meta: &Meta,
    copying: &mut Copying,
    mut result: Outcome,
) -> Outcome {
    let from = Rc::clone(&copying.from);
    let server = from.server();
    if meta.is_file() {
        let copied = [from.change(ctx, source, file, meta, true)];
        if !ctx.may(promise, &mut result, &copied, &format!("copy '{file}' to '{source}'")) {
            return result;
        }
        let new = New { copied: &copied, is_first: true };
        if copy_regular(ctx, promise, source, file, meta, &new, copying, &mut result) {
            if let Ok(found) = ctx.host().stat(&path(file)) {
                result = result
                    .merge(copied_attributes(ctx, promise, source, file, meta, &found, copying));
            }
            changed(
                ctx,
                promise,
                &mut result,
                &format!("Updated file '{file}' from '{server}:{source}'"),
            );
            if single_copy(ctx, file) {
                ctx.edits.single_copied.insert(file.into());
            }
            auto_define(ctx, file);
        } else {
            failed(ctx, promise, &mut result, &format!("Copy from '{server}:{source}' failed"));
        }
        return result;
    }
    match meta.kind {
        Kind::Fifo => {
            let made = [change::created(file, Kind::Fifo)];
            let make = |act: &dyn Act| act.make_fifo(&path(file), meta.mode);
            ctx.change(promise, &mut result, &made, &wording::copy_fifo(file), make);
        }
        Kind::Symlink => {
            result = result.merge(link_copy(ctx, promise, source, file, meta, copying));
        }
        _ => failed(
            ctx,
            promise,
            &mut result,
            &format!("Cannot create special file '{file}'. (mknod: not supported)"),
        ),
    }
    result
}

fn needs_copy(
    ctx: &Agent<'_>,
    from: &dyn Source,
    compare: &str,
    source: &str,
    file: &str,
    meta: &Meta,
    old: &Meta,
) -> bool {
    match compare {
        "digest" | "hash" | "checksum" | "binary" => {
            if !meta.is_file() || !old.is_file() {
                return meta.ctime > old.ctime;
            }
            if meta.size != old.size {
                return true;
            }
            from.differs(ctx, source, file)
        }
        "mtime" => old.mtime.secs < meta.mtime.secs,
        "atime" => {
            old.ctime.secs < meta.ctime.secs
                || old.mtime.secs < meta.mtime.secs
                || needs_copy(ctx, from, "binary", source, file, meta, old)
        }
        _ => old.ctime.secs < meta.ctime.secs || old.mtime.secs < meta.mtime.secs,
    }
}

fn link_copy(
    ctx: &mut Agent<'_>,
    promise: &Rc<Expanded>,
    source: &str,
    file: &str,
    meta: &Meta,
    copying: &mut Copying,
) -> Outcome {
    let base = source.rsplit('/').next().unwrap_or(source);
    let kind = link_kind(promise);
    let from = Rc::clone(&copying.from);
    let mut target =
        if meta.is_symlink() { from.link_target(ctx, source) } else { source.to_owned() };
    if meta.is_symlink() && &*kind == "absolute" && !target.starts_with('/') {
        let dir = source.rfind('/').map_or("", |at| &source[..at]);
        target = format!("{dir}/{target}");
    }
    if matches_list(promise, "copylink_patterns", base) {
        let real = from.real_path(ctx, source).unwrap_or(target);
        return match from.stat(ctx, &real) {
            Some(found) => copy_file(ctx, promise, &real, file, &found, copying),
            None => Outcome::Kept,
        };
    }
    let outcome = match &*kind {
        "relative" => link::relative(ctx, promise, file, &target),
        "hardlink" => link::hard(ctx, promise, file, &target),
        _ => link::symbolic(ctx, promise, file, &target),
    };
    // As LinkCopy does: how the link itself ended is logged, but is not how the copy ended.
    let mut result = Outcome::Kept;
    if !matches!(outcome, Outcome::Kept | Outcome::Repaired) {
        return result;
    }
    match ctx.host().lstat(&path(file)) {
        Ok(found) => copied_attributes(ctx, promise, source, file, meta, &found, copying),
        Err(error) => {
            let text = format!("Can't lstat '{file}'. (lstat: {})", reason(&error));
            failed(ctx, promise, &mut result, &text);
            result
        }
    }
}

/// A file that is about to be copied.
struct New<'a> {
    copied: &'a [Change],
    /// Nothing has its name yet.
    is_first: bool,
}

// Writes the copy beside and moves it into place; the old file becomes a backup.
#[expect(clippy::too_many_arguments, reason = "one copy with what it reads and writes")]
fn copy_regular(
    ctx: &mut Agent<'_>,
    promise: &Rc<Expanded>,
    source: &str,
    file: &str,
    meta: &Meta,
    new: &New<'_>,
    copying: &mut Copying,
    result: &mut Outcome,
) -> bool {
    let copied = new.copied;
    let first = copying.linked.get(&(meta.dev, meta.ino)).filter(|_| meta.nlink > 1);
    if let Some(first) = first.filter(|first| *first != file).cloned() {
        if let Ok(found) = ctx.host().lstat(&path(file))
            && remove(ctx, file, found.kind)
        {
            changed(ctx, promise, result, &format!("Removed '{file}'"));
        }
        link::make_hard(ctx, promise, file, &first, result);
        return true;
    }
    // That nothing has the name was seen a moment ago.
    let found = if new.is_first { Ok(None) } else { ctx.host().stat_opt(&path(file)) };
    let Ok(old) = super::seen(ctx, promise, found, result) else { return false };
    let from = Rc::clone(&copying.from);
    if !from.is_readable(ctx, source) {
        let text = format!("Failed copying file '{source}' to '{file}.cfnew'");
        failed(ctx, promise, result, &text);
        return false;
    }
    let preserve = promise.bool("preserve").unwrap_or(false);
    // A new file gets what the agent's own mask leaves of the source's mode.
    let mode = if preserve {
        meta.mode & 0o7777 & !own_umask(ctx)
    } else {
        old.as_ref().map_or(0o600, |old| old.mode & 0o777)
    };
    let backup = promise.scalar("copy_backup").map_or("true", |word| word);
    let discard = matches!(backup, "false" | "no" | "off");
    let new = format!("{file}.cfnew");
    let said = from.copied_words(source, &new, (!preserve).then_some(mode));
    // Over the network there is something to say only once the content is here.
    if from.is_local() {
        changed(ctx, promise, result, &said);
    } else if let Err(why) = from.fetch(ctx, source, meta) {
        failed(ctx, promise, result, &why);
        return false;
    } else {
        changed(ctx, promise, result, &said);
    }
    let mut saved = None;
    if let Some(old) = &old {
        if discard {
            if old.is_dir() {
                let gone = [change::removed(file, Kind::Directory)];
                if let Err(failure) = ctx.make(&gone, |act| remove_tree(act, file, 0)) {
                    let text = format!("Failed to remove directory '{file}'");
                    ctx.not_made(promise, result, &failure, &text);
                }
            }
        } else {
            let name = backup_name(ctx, file, backup, ".cfsaved");
            if let Ok(found) = ctx.host().lstat(&path(&name))
                && remove(ctx, &name, found.kind)
            {
                changed(ctx, promise, result, &format!("Removed old backup '{name}'"));
            }
            // The name is free for a moment only where something else than a file has it.
            let (kept, words) =
                (change::created(&name, old.kind), wording::back_up_for_copy(file, &name));
            let is_file = old.is_file();
            let keep = |act: &dyn Act| {
                if is_file {
                    rename::keep(act, file, &name)
                } else {
                    act.rename(&path(file), &path(&name))
                }
            };
            if ctx.change(promise, result, &[kept], &words, keep).is_none() {
                return false;
            }
            saved = Some(name);
        }
    }
    let options = WriteOptions {
        mode: Some(mode),
        uid: Some(ctx.host().euid()),
        gid: Some(ctx.host().egid()),
        mtime: promise.bool("stealth").unwrap_or(false).then_some(meta.mtime),
    };
    let words = wording::install_copy(file);
    let copy = |act: &dyn Act| from.write(act, source, file, meta, &options);
    if ctx.change(promise, result, copied, &words, copy).is_none() {
        // Where the name was given up for the copy, the old thing has it again.
        if let Some(saved) = saved
            && ctx.host().lstat(&path(file)).is_err()
            && let Err(failure) = ctx.make(&[change::renamed(&saved, file)], |act| {
                act.rename(&path(&saved), &path(file))
            })
        {
            ctx.not_made(promise, result, &failure, &failure.to_string());
        }
        return false;
    }
    if let Some(saved) = saved
        && super::edit::archive(ctx, promise, &saved)
    {
        changed(ctx, promise, result, &format!("Archived backup '{saved}'"));
        rename::remove_archived(ctx, promise, &saved, result);
    }
    true
}

// Removes something without a word; whether it is gone.
fn remove(ctx: &Agent<'_>, file: &str, kind: Kind) -> bool {
    ctx.make(&[change::removed(file, kind)], |act| act.remove_file(&path(file))).is_ok()
}

fn own_umask(ctx: &mut Agent<'_>) -> u32 {
    if let Some(known) = ctx.edits.umask {
        return known;
    }
    let status = ctx.host().read(&path("/proc/self/status")).unwrap_or_default();
    let status = fx_cfengine::text::decode(&status);
    let line_of_mask = status.lines().find_map(|line| line.strip_prefix("Umask:"));
    let mask =
        line_of_mask.and_then(|text| u32::from_str_radix(text.trim(), 8).ok()).unwrap_or(0o022);
    ctx.edits.umask = Some(mask);
    mask
}

/// The name of a backup, with a time stamp where the policy says so.
pub(super) fn backup_name(ctx: &Agent<'_>, file: &str, policy: &str, suffix: &str) -> String {
    if policy != "timestamp" {
        return format!("{file}{suffix}");
    }
    let now = ctx.host().now().secs;
    let date =
        fx_cfengine::clock::format(ctx, now, false, "%a %b %e %H:%M:%S %Y").unwrap_or_default();
    let start = ctx.vars.get("sys", "systime").and_then(Found::scalar).unwrap_or_default();
    format!("{file}_{start}_{}{suffix}", canonify(&date))
}

// The promised attributes; with preserve, what perms leave open comes from the source.
fn copied_attributes(
    ctx: &mut Agent<'_>,
    promise: &Rc<Expanded>,
    from: &str,
    file: &str,
    source: &Meta,
    found: &Meta,
    copying: &Copying,
) -> Outcome {
    let mut result = Outcome::Kept;
    if !promise.bool("preserve").unwrap_or(false) {
        if promise.has("perms") || promise.has("aces") {
            leaf::attributes(ctx, promise, file, found, &mut result);
        } else {
            as_promised(ctx, promise, format_args!("File permissions on '{file}' as promised"));
        }
        return result;
    }
    // The source's mode wins over that of perms.
    let mut attributes = promise.attributes.clone();
    fx_cfengine::eval::promise::set(
        &mut attributes,
        "mode".into(),
        Rval::Scalar(format!("{:04o}", source.mode).into()),
    );
    if promise.bool("rxdirs").is_none() {
        fx_cfengine::eval::promise::set(&mut attributes, "rxdirs".into(), Rval::scalar("false"));
    }
    if !promise.has("owners") {
        let owner = Rval::List([Rval::Scalar(source.uid.to_string().into())].into());
        fx_cfengine::eval::promise::set(&mut attributes, "owners".into(), owner);
    }
    if !promise.has("groups") {
        let group = Rval::List([Rval::Scalar(source.gid.to_string().into())].into());
        fx_cfengine::eval::promise::set(&mut attributes, "groups".into(), group);
    }
    let preserving = Rc::new(Expanded {
        promise: Rc::clone(&promise.promise),
        promiser: Rc::clone(&promise.promiser),
        promisee: promise.promisee.clone(),
        attributes,
        comment: promise.comment.clone(),
    });
    leaf::attributes(ctx, &preserving, file, found, &mut result);
    // What a server says of a file does not include them.
    if copying.from.is_local() {
        copy_xattrs(ctx, promise, from, file, &mut result);
    }
    result
}

// Lists of access and labels go with a copy that preserves.
fn copy_xattrs(
    ctx: &mut Agent<'_>,
    promise: &Rc<Expanded>,
    source: &str,
    file: &str,
    result: &mut Outcome,
) {
    let (mut names, mut changes) = (Vec::new(), Vec::new());
    for name in ctx.host().xattrs(&path(source)).unwrap_or_default() {
        let name =
            fx_cfengine::text::decode(std::os::unix::ffi::OsStrExt::as_bytes(name.as_os_str()));
        let Ok(Some(value)) = ctx.host().xattr(&path(source), &name) else { continue };
        let old = ctx.host().xattr(&path(file), &name).ok().flatten();
        if old.as_deref() == Some(&*value) {
            continue;
        }
        let label = |value: &[u8]| Algorithm::Sha256.label(value);
        let from = old.as_deref().map_or_else(|| ABSENT.to_owned(), label);
        changes.push(Change::of(
            Target::file(path(file)),
            format!("xattr {name}"),
            from,
            label(&value),
        ));
        names.push((name, value));
    }
    if changes.is_empty() {
        return;
    }
    let words = wording::copy_attributes(source, file);
    if !ctx.may(promise, result, &changes, &words.should) {
        return;
    }
    // One that the file system does not take is passed over.
    let mut copied = false;
    for ((name, value), change) in names.iter().zip(&changes) {
        let set = |act: &dyn Act| act.set_xattr(&path(file), name, Some(value));
        copied |= ctx.make(std::slice::from_ref(change), set).is_ok();
    }
    if copied {
        changed(ctx, promise, result, &words.done);
    }
}
