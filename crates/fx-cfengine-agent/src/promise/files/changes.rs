//! changes: content digests and attributes remembered across runs, and reported when they differ.

use std::collections::BTreeSet;
use std::rc::Rc;

use fx_cfengine::eval::classes::ClassScope;
use fx_cfengine::eval::frames::PromiseFrame;
use fx_cfengine::eval::promise::Expanded;
use fx_cfengine::functions::{digest_hex, digest_of_file};
use fx_cfengine::json::{Json, Object};
use fx_cfengine::outcome::Outcome;
use fx_cfengine::text::{Str, decode, path};
use fx_engine::{Change, Failure, Level};
use fx_host::{HostError, Meta, WriteOptions};

use crate::agent::Agent;
use crate::change::{self, ABSENT, value};
use crate::wording::{self, Words};

use super::as_promised;

/// Minutes for which an alert stays defined.
const PERSISTENCE: i64 = 10;

fn store(ctx: &Agent<'_>) -> String {
    format!("{}/fx_changes.json", ctx.config.paths.state)
}

/// What is remembered of files, read once a run and written after each promise.
#[derive(Default)]
pub(crate) struct Memory {
    known: Option<Object>,
    dirty: bool,
}

impl Agent<'_> {
    fn remembered(&mut self) -> &mut Object {
        if self.changes.known.is_none() {
            let bytes = self.host().read(&path(&store(self))).ok();
            let read = bytes.and_then(|bytes| Json::parse(&decode(&bytes)));
            self.changes.known = Some(match read {
                Some(Json::Object(map)) => map,
                _ => Object::new(),
            });
        }
        self.changes.known.get_or_insert_default()
    }

    fn recall(&mut self, key: &str) -> Option<Str> {
        self.remembered().get(key).and_then(Json::primitive).map(|text| Str::from(&*text))
    }

    fn remember(&mut self, key: String, value: Json) {
        self.remembered().insert(key.into(), value);
        self.changes.dirty = true;
    }
}

/// Writes down what a promise has found. A promise whose memory is lost is not kept.
pub(super) fn save(ctx: &mut Agent<'_>, promise: &Expanded, result: &mut Outcome) {
    if !std::mem::take(&mut ctx.changes.dirty) || ctx.config.dry_run {
        return;
    }
    let Some(known) = ctx.changes.known.take() else { return };
    let known = Json::Object(known);
    let place = path(&store(ctx));
    let text = known.compact();
    let options = WriteOptions::default();
    let written = ctx.own_state(|act| act.write(&place, text.as_bytes(), &options));
    if let Json::Object(known) = known {
        ctx.changes.known = Some(known);
    }
    if let Err(error) = written {
        let failure = Failure::from(error);
        let text = wording::unwritten_changes(&store(ctx), &failure);
        ctx.why.typed(&failure);
        *result = result.merge(ctx.settle(Level::Error, Outcome::Failed, promise, &text));
    }
}

/// Adds a line to the log of changed files: time, handle, file, kind and message.
fn log_change(ctx: &Agent<'_>, file: &str, kind: char, message: &str) -> Result<(), Failure> {
    let place = format!("{}/file_changes.log", ctx.config.paths.state);
    let handle = ctx.promise_frame().map(PromiseFrame::handle).unwrap_or_default();
    let line = format!("{},{handle},{file},{kind},{message}\n", ctx.host().now().secs);
    let line = fx_cfengine::text::encode(&line);
    ctx.own_state(|act| act.append(&path(&place), &line, 0o600)).map_err(|error| {
        let failure = Failure::from(error);
        let why = wording::why(&failure);
        ctx.error(&format!("Could not write to the hash change log. (fopen: {why})"));
        failure
    })
}

/// Records a change of what is remembered, with the words for it.
fn record(
    ctx: &mut Agent<'_>,
    promise: &Expanded,
    result: &mut Outcome,
    change: Change,
    words: &Words,
    work: impl FnOnce(&mut Agent<'_>) -> Result<(), Failure>,
) -> bool {
    let changes = [change];
    if !ctx.may(promise, result, &changes, &words.should) {
        return false;
    }
    let done = work(ctx);
    ctx.change(promise, result, &changes, words, |_| done).is_some()
}

/// The names remembered of a directory.
pub(super) fn listing(ctx: &mut Agent<'_>, dir: &str) -> BTreeSet<String> {
    match ctx.remembered().get(format!("dir:{dir}").as_str()) {
        Some(list) => {
            list.values().filter_map(Json::primitive).map(|name| name.to_string()).collect()
        }
        None => BTreeSet::new(),
    }
}

/// Logs a file that was not there before.
pub(super) fn found(ctx: &mut Agent<'_>, promise: &Expanded, file: &str, result: &mut Outcome) {
    ctx.log(Level::Notice, &format!("New file '{file}' found"));
    if ctx.config.dry_run {
        return;
    }
    // What could not be written was logged.
    if let Err(failure) = log_change(ctx, file, 'N', "New file found") {
        ctx.why.typed(&failure);
        *result = result.merge(ctx.settle_quietly(Outcome::Failed, promise));
    }
}

/// Compares the names in a directory with those remembered of it, and remembers them.
pub(super) fn directory(
    ctx: &mut Agent<'_>,
    promise: &Rc<Expanded>,
    dir: &str,
    names: &BTreeSet<String>,
    old: &BTreeSet<String>,
    result: &mut Outcome,
) {
    if names.difference(old).next().is_some() {
        *result = result.merge(Outcome::Repaired);
    }
    for name in old.difference(names) {
        let file = format!("{dir}/{name}");
        ctx.log(Level::Notice, &format!("File '{file}' no longer exists"));
        let words = wording::record(
            format!("record removal of '{file}'"),
            format!("Removal of '{file}' recorded"),
            format!("Failed to record removal of '{file}'"),
        );
        let gone = change::record(&file, "ensure", "present", ABSENT);
        record(ctx, promise, result, gone, &words, |ctx| {
            log_change(ctx, &file, 'R', "File removed")
        });
        ctx.remembered().retain(|key, _| key.split_once(':').is_none_or(|(_, kept)| kept != file));
        ctx.changes.dirty = true;
    }
    let joined = |names: &BTreeSet<String>| {
        value(&names.iter().map(String::as_str).collect::<Vec<_>>().join("\n"))
    };
    let listing = change::record(dir, "listing", joined(old), joined(names));
    let words = wording::record(
        format!("record directory listing for '{dir}'"),
        format!("Recorded directory listing for '{dir}'"),
        format!("Failed to record directory listing for '{dir}'"),
    );
    let changes = if names == old { &[][..] } else { std::slice::from_ref(&listing) };
    if !ctx.may(promise, result, changes, &words.should) {
        return;
    }
    if !promise.bool("update_hashes").unwrap_or(false) {
        let text = format!("Failed to record directory listing for '{dir}'");
        ctx.settle(Level::Info, Outcome::Repaired, promise, &text);
        *result = result.merge(Outcome::Failed);
        return;
    }
    if names == old {
        return;
    }
    let list = names.iter().map(|name| Json::str(name)).collect();
    record(ctx, promise, result, listing, &words, |ctx| {
        ctx.remember(format!("dir:{dir}"), Json::Array(list));
        Ok(())
    });
}

/// Compares one file with what is remembered of it.
pub(super) fn verify(
    ctx: &mut Agent<'_>,
    promise: &Rc<Expanded>,
    file: &str,
    meta: &Meta,
    result: &mut Outcome,
) {
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
    let mut changed = false;
    if meta.is_file() && matches!(report, "content" | "all") {
        for method in methods {
            let now = match digest_of_file(ctx.host(), method, &path(file)) {
                Some(Ok(now)) => now,
                // Of what cannot be read the original takes the digest of nothing.
                Some(Err(error)) if !matches!(error, HostError::TooLarge { .. }) => {
                    digest_hex(method, b"").unwrap_or_default()
                }
                Some(Err(error)) => {
                    let text = error.to_string();
                    *result =
                        result.merge(ctx.settle(Level::Error, Outcome::Failed, promise, &text));
                    return;
                }
                None => continue,
            };
            let key = format!("{method}:{file}");
            let old = ctx.recall(&key);
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
                    let word = if old.is_some() { "Updated" } else { "Stored" };
                    let words = wording::record(
                        format!("record change of hash for file '{file}'"),
                        format!("{word} {method} hash for '{file}' ({prefix}={now})"),
                        String::new(),
                    );
                    let was = old.as_deref().unwrap_or(ABSENT);
                    let hash = change::record(file, method, was, now.as_str());
                    if !ctx.may(promise, result, std::slice::from_ref(&hash), &words.should) {
                        changed = true;
                        // One digest that differs is enough for the original.
                        break;
                    }
                    if old.is_some() && !update {
                        let text =
                            format!("Hash for file '{file}' changed, but not updating the records");
                        *result =
                            result.merge(ctx.settle(Level::Error, Outcome::Failed, promise, &text));
                        continue;
                    }
                    record(ctx, promise, result, hash, &words, |ctx| {
                        ctx.remember(key, Json::str(&now));
                        Ok(())
                    });
                }
            }
        }
    }
    if changed {
        let words = logged_words(file, "integrity");
        let change = change::record(file, "integrity", "unchanged", "changed");
        record(ctx, promise, result, change, &words, |ctx| {
            ctx.persist_class("checksum_alerts", PERSISTENCE, true, "");
            ctx.put_class("checksum_alerts", ClassScope::Namespace, Rc::from([]), None);
            log_change(ctx, file, 'C', "Content changed")
        });
    }
    let content = matches!(report, "content" | "all");
    if content && promise.bool("report_diffs").unwrap_or(false) && meta.is_file() {
        // Where it may be done the original compares with a copy it keeps, which we do not.
        let before = *result;
        let diffs = [change::record(file, "diffs", "not reported", "reported")];
        if ctx.may(promise, result, &diffs, &format!("report diffs in '{file}'")) {
            *result = before;
        }
    }
    if matches!(report, "stats" | "all") {
        stats(ctx, promise, file, meta, update, result);
    }
}

// What is remembered of a file besides its content.
fn stats(
    ctx: &mut Agent<'_>,
    promise: &Rc<Expanded>,
    file: &str,
    meta: &Meta,
    update: bool,
    result: &mut Outcome,
) {
    let now: [i64; 6] = [
        i64::from(meta.kind.bits() | meta.mode),
        i64::from(meta.uid),
        i64::from(meta.gid),
        meta.dev as i64,
        meta.ino as i64,
        meta.mtime.secs,
    ];
    let key = format!("stat:{file}");
    let old = ctx.recall(&key).and_then(|text| {
        let numbers: Option<Vec<i64>> = text.split(' ').map(|word| word.parse().ok()).collect();
        <[i64; 6]>::try_from(numbers?).ok()
    });
    let stat_words = |done: String| {
        let should = format!("write stat information for '{file}' to database");
        wording::record(should, done, String::new())
    };
    let Some(old) = old else {
        let words = stat_words(format!("Wrote stat information for '{file}' to database"));
        let change = change::record(file, "stat", ABSENT, shown(&now));
        record(ctx, promise, result, change, &words, |ctx| {
            ctx.remember(key, Json::str(&shown(&now)));
            Ok(())
        });
        return;
    };
    if old == now {
        as_promised(ctx, promise, format_args!("No stat information change for '{file}'"));
        return;
    }
    let date = |secs: i64| {
        fx_cfengine::clock::format(ctx, secs, false, "%a %b %e %H:%M:%S %Y").unwrap_or_default()
    };
    let (from, to) = (date(old[5]), date(now[5]));
    let mut differs: Vec<(String, String, &str)> = Vec::new();
    if old[0] != now[0] {
        let change = format!("{:04o} -> {:04o}", old[0], now[0]);
        let message = format!("Permissions for '{file}' changed {change}");
        differs.push((message, format!("Permission: {change}"), "permissions"));
    }
    for (at, word, what) in
        [(1, "Owner", "ownership"), (2, "Group", "group"), (3, "Device", "device")]
    {
        if old[at] != now[at] {
            let change = format!("{} -> {}", old[at], now[at]);
            let message = format!("{word} for '{file}' changed {change}");
            differs.push((message, format!("{word}: {change}"), what));
        }
    }
    if old[4] != now[4] {
        let message = format!("inode for '{file}' changed {} -> {}", old[4], now[4]);
        differs.push((message, String::new(), ""));
    }
    if old[5] != now[5] {
        let message = format!("Last modified time for '{file}' changed '{from}' -> '{to}'");
        differs.push((message, format!("Modified time: {from} -> {to}"), "mtime"));
    }
    for (message, logged, what) in differs {
        ctx.log(Level::Notice, &message);
        if what.is_empty() {
            continue;
        }
        let change = change::record(file, what, "unchanged", logged.as_str());
        record(ctx, promise, result, change, &logged_words(file, what), |ctx| {
            log_change(ctx, file, 'S', &logged)
        });
    }
    if update {
        let words = stat_words(format!("Wrote stat information changes for '{file}' to database"));
        let change = change::record(file, "stat", shown(&old), shown(&now));
        record(ctx, promise, result, change, &words, |ctx| {
            ctx.remember(key, Json::str(&shown(&now)));
            Ok(())
        });
    }
}

fn logged_words(file: &str, what: &str) -> Words {
    wording::record(
        format!("record {what} changes in '{file}'"),
        format!("Recorded {what} changes in '{file}'"),
        format!("Failed to record {what} changes in '{file}'"),
    )
}

fn shown(numbers: &[i64; 6]) -> String {
    let words: Vec<String> = numbers.iter().map(ToString::to_string).collect();
    words.join(" ")
}
