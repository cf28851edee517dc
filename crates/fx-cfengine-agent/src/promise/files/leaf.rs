//! One file found: transformed, renamed, deleted, touched, or its attributes set right.

use std::rc::Rc;

use fx_cfengine::command::command_arg0;
use fx_cfengine::command::is_executable;
use fx_cfengine::eval::promise::Expanded;
use fx_cfengine::log;
use fx_cfengine::mode;
use fx_cfengine::outcome::Outcome;
use fx_cfengine::text::{Str, decode, from_path, path};
use fx_engine::Level;
use fx_host::Meta;

use crate::action::Action;
use crate::agent::Agent;
use crate::change;
use crate::promise::commands::judge;
use crate::wording::{self, Words};

use super::{acl, as_promised, changed, changes, failed, rename};

/// Verifies one file in the order of VerifyFileLeaf.
pub(super) fn verify(
    ctx: &mut Agent<'_>,
    promise: &Rc<Expanded>,
    file: &Str,
    followed: Option<&Meta>,
    result: &mut Outcome,
) {
    log!(ctx, Verbose, "Handling file existence constraints on '{file}'");
    ctx.put_this("promiser", Rc::clone(file));
    let promise = &super::with_path(ctx, promise);
    // By now the original has cut the dot off the promiser.
    let cut = promise.promiser.strip_suffix("/.").filter(|_| !promise.has("depth_search"));
    super::log_default_rxdirs(ctx, promise, cut.unwrap_or(&promise.promiser));
    let meta = match followed {
        Some(meta) => meta.clone(),
        None => match ctx.host().lstat(&path(file)) {
            Ok(meta) => meta,
            Err(error) if error.is_not_found() => return,
            Err(error) => {
                failed(ctx, promise, result, &error.to_string());
                return;
            }
        },
    };
    if promise.has("transformer") {
        transform(ctx, promise, file, result);
    } else {
        // Each has an outcome of its own, so that a warning of one does not hide that another
        // failed.
        let mut apart = |act: &mut dyn FnMut(&mut Agent<'_>, &mut Outcome)| {
            let mut own = Outcome::Kept;
            act(ctx, &mut own);
            *result = result.merge(own);
        };
        if promise.has("rename") {
            apart(&mut |ctx, own| rename::verify(ctx, promise, file, &meta, own));
        }
        if promise.has("delete") {
            apart(&mut |ctx, own| delete(ctx, promise, file, &meta, own));
        }
        if promise.bool("touch").unwrap_or(false) {
            apart(&mut |ctx, own| touch(ctx, promise, file, own));
        }
    }
    // What the file was like is still known where it has gone by now: what then is to change
    // of it fails.
    if promise.has("perms") || promise.has("changes") || promise.has("aces") {
        if (meta.is_dir()
            && promise.has("depth_search")
            && !promise.bool("include_basedir").unwrap_or(false))
            && **file == *promise.promiser
        {
            log!(ctx, Debug, "Promise to skip base directory '{file}'");
        } else {
            // Modes and owners are those of the file behind a link that is promised itself.
            let behind = followed.and_then(|_| super::edit::follow(ctx, file).ok());
            let place = behind.as_deref().unwrap_or(file);
            let mut own = Outcome::Kept;
            attributes_at(ctx, promise, file, place, &meta, &mut own);
            *result = result.merge(own);
        }
    }
}

fn delete(
    ctx: &mut Agent<'_>,
    promise: &Rc<Expanded>,
    file: &str,
    meta: &Meta,
    result: &mut Outcome,
) {
    let place = path(file);
    let removal = [change::removed(file, meta.kind)];
    if !meta.is_dir() {
        let words = wording::delete_file(file);
        ctx.change(promise, result, &removal, &words, |act| act.remove_file(&place));
        return;
    }
    let words = wording::delete_directory(file);
    if !ctx.may(promise, result, &removal, &words.should) {
        return;
    }
    if !promise.bool("rmdirs").unwrap_or(false) {
        as_promised(
            ctx,
            promise,
            format_args!("Keeping directory '{file}' since 'rmdirs' attribute was not specified"),
        );
        return;
    }
    if promise.has("depth_search") && *file == *promise.promiser {
        return;
    }
    // One that is not empty stays, and that is no failure.
    if ctx.host().list(&place).is_ok_and(|entries| !entries.is_empty()) {
        log!(ctx, Verbose, "Delete directory '{file}' not empty, skipping");
        return;
    }
    ctx.change(promise, result, &removal, &words, |act| act.remove_dir(&place));
}

fn touch(ctx: &mut Agent<'_>, promise: &Rc<Expanded>, file: &str, result: &mut Outcome) {
    touch_as(ctx, promise, file, &wording::touch(file), result);
}

fn touch_as(
    ctx: &mut Agent<'_>,
    promise: &Rc<Expanded>,
    file: &str,
    words: &Words,
    result: &mut Outcome,
) {
    let now = ctx.host().now();
    let times = [change::touched(ctx.host(), file)];
    ctx.change(promise, result, &times, words, |act| {
        act.set_times(&path(file), Some(now), Some(now))
    });
}

fn transform(ctx: &mut Agent<'_>, promise: &Rc<Expanded>, file: &str, result: &mut Outcome) {
    let Some(command) = promise.scalar("transformer").cloned() else { return };
    if !is_executable(ctx, &command_arg0(&command)) {
        failed(ctx, promise, result, &format!("Transformer '{command}' for file '{file}' failed"));
        return;
    }
    let run = [change::run(&command)];
    if !ctx.may(promise, result, &run, &format!("transform file '{file}' with '{command}'")) {
        return;
    }
    if !ctx.acquire_alone(promise, &command) {
        return;
    }
    ctx.info(&format!("Transforming '{file}' with '{command}'"));
    // In a simulation the command is pointed to the copy.
    let overlay = ctx.simulation.as_ref().map(|simulation| simulation.overlay);
    let mut line = command.to_string();
    if let Some(overlay) = overlay {
        let copy = overlay.bring_in(&path(file)).ok().filter(|_| line.contains(file));
        let Some(copy) = copy else {
            let text = format!(
                "Failed to replace path '{file}' in transformer command '{command}' for changes chroot"
            );
            failed(ctx, promise, result, &text);
            return;
        };
        line = line.replace(file, &from_path(&copy));
    }
    let mut spec = ctx.command_spec(&line, false);
    spec.merge_stderr = true;
    let words = wording::record(
        String::new(),
        String::new(),
        format!("Transformer '{command}' for file '{file}' failed"),
    );
    let Some(ended) = ctx.change(promise, result, &run, &words, |act| act.run(&spec)) else {
        return;
    };
    for line in decode(&ended.stdout).lines() {
        ctx.info(line);
    }
    if let Some(Err(error)) = overlay.map(|overlay| overlay.take_over(&path(file))) {
        ctx.error(&error.to_string());
    }
    ctx.settle(
        Level::Info,
        Outcome::Repaired,
        promise,
        &format!("Transformed '{file}' with '{command}' "),
    );
    ctx.note_end(&command, ended.exit, &ended.stdout);
    let outcome = judge(ctx, promise, ended.exit.code(), &promise.promiser.clone());
    *result = result.merge(outcome);
    if matches!(outcome, Outcome::Failed) {
        ctx.error(&format!("Transformer '{file}' => '{command}' returned error"));
    } else {
        ctx.info(&format!("Transformer '{file}' => '{command}' seemed to work ok"));
    }
}

/// Mode, owner, group, change monitoring and ACL of one file.
pub(super) fn attributes(
    ctx: &mut Agent<'_>,
    promise: &Rc<Expanded>,
    file: &str,
    meta: &Meta,
    result: &mut Outcome,
) {
    attributes_at(ctx, promise, file, file, meta, result);
}

// The same for a file that is logged by one name and changed by another.
fn attributes_at(
    ctx: &mut Agent<'_>,
    promise: &Rc<Expanded>,
    file: &str,
    place: &str,
    meta: &Meta,
    result: &mut Outcome,
) {
    let mut wanted = meta.mode;
    if let Some(mask) = promise.scalar("mode").and_then(|text| mode::parse(text)) {
        let rxdirs = promise.bool("rxdirs");
        wanted = (wanted | mask.plus) & !mask.minus & 0o7777;
        if meta.is_dir() && rxdirs.unwrap_or(false) {
            wanted |= (wanted & 0o444) >> 2;
        }
    }
    super::setxid::verify(ctx, promise, file, meta, wanted, result);
    owner(ctx, promise, file, place, meta, result);
    if promise.has("changes") {
        changes::verify(ctx, promise, file, meta, result);
    }
    if meta.is_symlink() {
        super::link::kill_dead(ctx, promise, file, result);
        return;
    }
    super::setxid::verify(ctx, promise, file, meta, meta.mode, result);
    if wanted == meta.mode {
        as_promised(ctx, promise, format_args!("File permissions on '{file}' as promised"));
    } else {
        let words = wording::change_mode(file, meta.mode, wanted);
        let mode = [change::mode(place, meta.mode, wanted)];
        ctx.change(promise, result, &mode, &words, |act| act.set_mode(&path(place), wanted));
    }
    if promise.has("aces") {
        acl::verify(ctx, promise, file, meta, result);
    }
    // Logged before, as what should be done; the original does it nevertheless.
    if promise.bool("touch").unwrap_or(false) && ctx.action(promise) == Action::Fix {
        touch_as(ctx, promise, file, &wording::touch_again(file), result);
    }
}

enum Choice {
    /// As it is, or any will do.
    Same,
    Set(u32),
    NoneExist,
}

fn choose(current: u32, names: Option<Vec<Str>>, find: impl Fn(&str) -> Option<u32>) -> Choice {
    let Some(names) = names else { return Choice::Same };
    let ids: Vec<Option<u32>> =
        names
            .iter()
            .map(|name| {
                if &**name == "*" {
                    Some(u32::MAX)
                } else {
                    name.parse().ok().or_else(|| find(name))
                }
            })
            .collect();
    if ids.iter().any(|id| matches!(id, Some(id) if *id == current || *id == u32::MAX)) {
        return Choice::Same;
    }
    ids.into_iter().flatten().next().map_or(Choice::NoneExist, Choice::Set)
}

fn log_unknown(ctx: &Agent<'_>, promise: &Expanded, what: &str) {
    ctx.info(&format!("Could not get {what}"));
    ctx.log_place(Level::Info, &promise.promise);
}

/// Names of owners and groups that are not there are logged in each pass, whatever the file.
pub(super) fn log_unknown_owners(ctx: &mut Agent<'_>, promise: &Expanded) {
    if !ctx.logs(Level::Info) {
        return;
    }
    let named = |attribute: &str| {
        let names = promise.list(attribute).unwrap_or_default();
        names.into_iter().filter(|name| &**name != "*" && name.parse::<u32>().is_err())
    };
    let mut unknown: Vec<String> = named("owners")
        .filter(|name| ctx.host().user(name).ok().flatten().is_none())
        .map(|name| no_user(&name))
        .collect();
    unknown.extend(
        named("groups")
            .filter(|name| ctx.host().group(name).ok().flatten().is_none())
            .map(|name| no_group(&name)),
    );
    for what in &unknown {
        log_unknown(ctx, promise, what);
        ctx.repeats = true;
    }
}

fn no_user(name: &str) -> String {
    format!("UID for user '{name}', (getpwnam: not found)")
}

fn no_group(name: &str) -> String {
    format!("GID for group '{name}', (getgrnam: not found)")
}

fn owner(
    ctx: &mut Agent<'_>,
    promise: &Rc<Expanded>,
    file: &str,
    place: &str,
    meta: &Meta,
    result: &mut Outcome,
) {
    let users = promise.list("owners");
    let groups = promise.list("groups");
    if users.is_none() && groups.is_none() {
        return;
    }
    let uid = choose(meta.uid, users, |name| {
        let found = ctx.host().user(name).ok().flatten();
        if found.is_none() {
            log_unknown(ctx, promise, &no_user(name));
        }
        found.map(|user| user.uid)
    });
    let gid = choose(meta.gid, groups, |name| {
        let found = ctx.host().group(name).ok().flatten();
        if found.is_none() {
            log_unknown(ctx, promise, &no_group(name));
        }
        found.map(|group| group.gid)
    });
    let mut chosen = |choice, what: &str| match choice {
        Choice::Same => None,
        Choice::Set(id) => Some(id),
        Choice::NoneExist => {
            let text =
                format!("None of the promised {what} for '{file}' exist -- see INFO logs for more");
            failed(ctx, promise, result, &text);
            None
        }
    };
    let (uid, gid) = (chosen(uid, "owners"), chosen(gid, "groups"));
    if uid.is_none() && gid.is_none() {
        if *result != Outcome::Failed {
            as_promised(ctx, promise, format_args!("Owner of '{file}' as promised"));
        }
        return;
    }
    // Owners that nobody knows are logged before they change.
    if matches!(ctx.host().user_by_id(meta.uid), Ok(None)) {
        let text = format!(
            "File '{file}' is not owned by anybody in the passwd database (uid = {})",
            meta.uid
        );
        ctx.settle(Level::Warning, Outcome::Warn, promise, &text);
    }
    if matches!(ctx.host().group_by_id(meta.gid), Ok(None)) {
        let text = format!(
            "File '{file}' is not owned by any group in group database  (gid = {})",
            meta.gid
        );
        ctx.settle(Level::Warning, Outcome::Warn, promise, &text);
    }
    let mut changes = Vec::new();
    changes.extend(uid.map(|uid| change::of_file(place, "owner", meta.uid, uid)));
    changes.extend(gid.map(|gid| change::of_file(place, "group", meta.gid, gid)));
    let should = wording::should_change_owner(file, uid, gid);
    if !ctx.may(promise, result, &changes, &should) {
        return;
    }
    let link = if meta.is_symlink() { "link " } else { "" };
    match ctx.make(&changes, |act| act.set_owner(&path(place), uid, gid)) {
        Ok(_) => {
            for (what, old, new) in [("Owner", meta.uid, uid), ("Group", meta.gid, gid)] {
                if let Some(new) = new {
                    let text = format!("{what} of {link}'{file}' was {old}, set to {new}");
                    changed(ctx, promise, result, &text);
                }
            }
        }
        Err(failure) => {
            let why = wording::why(&failure);
            let text = format!("Cannot set ownership on file '{file}'. (chown: {why})");
            *result = result.merge(ctx.settle(Level::Error, Outcome::Denied, promise, &text));
        }
    }
}
