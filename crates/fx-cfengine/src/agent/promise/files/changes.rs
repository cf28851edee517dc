//! changes: content digests and attributes remembered across runs, and told when they differ.

use std::rc::Rc;

use fx_engine::Level;
use fx_host::{Meta, WriteOptions};

use crate::eval::Context;
use crate::eval::promise::Expanded;
use crate::functions::digest_hex;
use crate::json::{Json, Object};
use crate::outcome::Outcome;
use crate::text::{decode, path};

use super::as_promised;

fn store(ctx: &Context<'_>) -> String {
    format!("{}/fx_changes.json", ctx.config.paths.state)
}

/// Compares one file with what is remembered of it.
pub(super) fn verify(
    ctx: &mut Context<'_>,
    promise: &Rc<Expanded>,
    file: &str,
    meta: &Meta,
    result: &mut Outcome,
) {
    let place = path(&store(ctx));
    let mut known =
        match ctx.host().read(&place).ok().and_then(|bytes| Json::parse(&decode(&bytes))) {
            Some(Json::Object(map)) => map,
            _ => Object::new(),
        };
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
    let mut dirty = false;
    if meta.is_file() && matches!(report, "content" | "all") {
        let bytes = ctx.host().read(&path(file)).unwrap_or_default();
        for method in methods {
            let Some(now) = digest_hex(method, &bytes) else { continue };
            let key = format!("{method}:{file}");
            let old = known.get(key.as_str()).and_then(Json::primitive);
            match old {
                Some(old) if *old == *now => {
                    as_promised(ctx, promise, &format!("File '{file}' hash is as promised"));
                }
                old => {
                    let prefix = if *method == "md5" { "MD5" } else { "SHA" };
                    if old.is_some() {
                        ctx.info(&format!("Hash '{method}' for '{file}' changed!"));
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
    if dirty && !ctx.config.dry_run {
        let text = Json::Object(known).compact();
        let _best_effort = ctx.host().write(&place, text.as_bytes(), &WriteOptions::default());
    }
}
