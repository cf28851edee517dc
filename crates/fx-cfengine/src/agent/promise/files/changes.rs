//! changes: content digests and attributes remembered across runs, and told when they differ.

use std::rc::Rc;

use fx_engine::Level;
use fx_host::{Meta, WriteOptions};

use crate::eval::Context;
use crate::eval::classes::ClassScope;
use crate::eval::frames::PromiseFrame;
use crate::eval::promise::Expanded;
use crate::functions::digest_hex;
use crate::json::{Json, Object};
use crate::outcome::Outcome;
use crate::text::{decode, path};

use super::as_promised;

/// Minutes for which an alert stays defined.
const PERSISTENCE: i64 = 10;

fn store(ctx: &Context<'_>) -> String {
    format!("{}/fx_changes.json", ctx.config.paths.state)
}

fn known(ctx: &Context<'_>) -> Object {
    match ctx.host().read(&path(&store(ctx))).ok().and_then(|bytes| Json::parse(&decode(&bytes))) {
        Some(Json::Object(map)) => map,
        _ => Object::new(),
    }
}

fn remember(ctx: &Context<'_>, known: Object) {
    if !ctx.config.dry_run {
        let text = Json::Object(known).compact();
        let place = path(&store(ctx));
        let _best_effort = ctx.host().write(&place, text.as_bytes(), &WriteOptions::default());
    }
}

/// Adds a line to the log of changed files: time, handle, file, kind and message.
fn log_change(ctx: &Context<'_>, file: &str, kind: char, message: &str) -> bool {
    let place = format!("{}/file_changes.log", ctx.config.paths.state);
    let handle = ctx.promise_frame().map(PromiseFrame::handle).unwrap_or_default();
    let line = format!("{},{handle},{file},{kind},{message}\n", ctx.host().now().secs);
    match ctx.host().append(&path(&place), &crate::text::encode(&line), 0o600) {
        Ok(()) => true,
        Err(error) => {
            ctx.error(&format!(
                "Could not write to the hash change log. (fopen: {})",
                crate::load::reason(&error)
            ));
            false
        }
    }
}

/// Compares the names in a directory with those remembered of it: what is new, what is gone.
pub(super) fn directory(
    ctx: &mut Context<'_>,
    promise: &Rc<Expanded>,
    dir: &str,
    mut names: Vec<String>,
    result: &mut Outcome,
) {
    names.sort();
    let key = format!("dir:{dir}");
    let mut known = known(ctx);
    let old: Vec<String> = known
        .get(key.as_str())
        .map(|list| {
            list.values().filter_map(Json::primitive).map(|name| name.to_string()).collect()
        })
        .unwrap_or_default();
    if old == names {
        return;
    }
    for name in names.iter().filter(|name| !old.contains(name)) {
        let file = format!("{dir}/{name}");
        ctx.log(Level::Notice, &format!("New file '{file}' found"));
        if !ctx.config.dry_run {
            log_change(ctx, &file, 'N', "New file found");
        }
        *result = result.merge(ctx.settle_quietly(Outcome::Repaired, promise));
    }
    for name in old.iter().filter(|name| !names.contains(name)) {
        let file = format!("{dir}/{name}");
        ctx.log(Level::Notice, &format!("File '{file}' no longer exists"));
        if ctx.making_changes(promise, result, &format!("record removal of '{file}'")) {
            let outcome = if log_change(ctx, &file, 'R', "File removed") {
                let text = format!("Removal of '{file}' recorded");
                ctx.settle(Level::Info, Outcome::Repaired, promise, &text)
            } else {
                let text = format!("Failed to record removal of '{file}'");
                ctx.settle(Level::Error, Outcome::Failed, promise, &text)
            };
            *result = result.merge(outcome);
        }
        known.retain(|key, _| key.split_once(':').is_none_or(|(_, kept)| kept != file));
    }
    known.insert(key.into(), Json::Array(names.iter().map(|name| Json::str(name)).collect()));
    remember(ctx, known);
}

/// Compares one file with what is remembered of it.
pub(super) fn verify(
    ctx: &mut Context<'_>,
    promise: &Rc<Expanded>,
    file: &str,
    meta: &Meta,
    result: &mut Outcome,
) {
    let mut known = known(ctx);
    let report = promise.scalar("report_changes").map_or("none", |word| word);
    let update = promise.bool("update_hashes").unwrap_or(false);
    let methods: &[&str] = match promise.scalar("hash").map(|word| &**word) {
        None => &["md5"],
        Some("best") => &["md5", "sha1"],
        Some("md5") => &["md5"],
        Some("sha1") => &["sha1"],
        Some("sha256") => &["sha256"],
        Some("sha384") => &["sha384"],
        Some("sha512") => &["sha512"],
        Some("sha224") => &["sha224"],
        Some(_) => &["md5"],
    };
    let (mut dirty, mut changed) = (false, false);
    if meta.is_file() && matches!(report, "content" | "all") {
        let bytes = ctx.host().read(&path(file)).unwrap_or_default();
        for method in methods {
            let Some(now) = digest_hex(method, &bytes) else { continue };
            let key = format!("{method}:{file}");
            let old = known.get(key.as_str()).and_then(Json::primitive);
            match old {
                Some(old) if *old == *now => {
                    as_promised(ctx, promise, format_args!("File '{file}' hash is as promised"));
                }
                old => {
                    let prefix = if *method == "md5" { "MD5" } else { "SHA" };
                    if old.is_some() {
                        ctx.info(&format!("Hash '{method}' for '{file}' changed!"));
                        changed = true;
                    }
                    let should = format!("record change of hash for file '{file}'");
                    if !ctx.making_changes(promise, result, &should) {
                        changed = true;
                        continue;
                    }
                    if old.is_some() && !update {
                        let text =
                            format!("Hash for file '{file}' changed, but not updating the records");
                        *result =
                            result.merge(ctx.settle(Level::Error, Outcome::Failed, promise, &text));
                        continue;
                    }
                    let word = if old.is_some() { "Updated" } else { "Stored" };
                    let text = format!("{word} {method} hash for '{file}' ({prefix}={now})");
                    known.insert(key.into(), Json::str(&now));
                    dirty = true;
                    *result =
                        result.merge(ctx.settle(Level::Info, Outcome::Repaired, promise, &text));
                }
            }
        }
    }
    if changed
        && ctx.making_changes(promise, result, &format!("record integrity changes in '{file}'"))
    {
        ctx.persist_class("checksum_alerts", PERSISTENCE, true, "");
        ctx.put_class("checksum_alerts", ClassScope::Namespace, Rc::from([]), None);
        let outcome = if log_change(ctx, file, 'C', "Content changed") {
            let text = format!("Recorded integrity changes in '{file}'");
            ctx.settle(Level::Info, Outcome::Repaired, promise, &text)
        } else {
            let text = format!("Failed to record integrity changes in '{file}'");
            ctx.settle(Level::Error, Outcome::Failed, promise, &text)
        };
        *result = result.merge(outcome);
    }
    if promise.bool("report_diffs").unwrap_or(false) && meta.is_file() {
        // Where it may be done the original compares with a copy it keeps, which we do not.
        let before = *result;
        if ctx.making_changes(promise, result, &format!("report diffs in '{file}'")) {
            *result = before;
        }
    }
    if matches!(report, "stats" | "all") {
        let now = format!("{:o} {} {} {}", meta.mode, meta.uid, meta.gid, meta.mtime.secs);
        let key = format!("stat:{file}");
        match known.get(key.as_str()).and_then(Json::primitive) {
            Some(old) if *old == *now => {}
            Some(_) => {
                ctx.log(Level::Notice, &format!("Status of '{file}' changed"));
                known.insert(key.into(), Json::str(&now));
                dirty = true;
                *result = result.merge(ctx.settle_quietly(Outcome::Repaired, promise));
            }
            None => {
                known.insert(key.into(), Json::str(&now));
                dirty = true;
            }
        }
    }
    if dirty {
        remember(ctx, known);
    }
}
