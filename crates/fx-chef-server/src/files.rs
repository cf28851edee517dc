//! Contents of cookbook files by their MD5, under URLs that carry a signature of ours.

use fx_fleet::Stopped;
use hmac::{Hmac, KeyInit, Mac};
use serde_json::json;
use sha2::Sha256;

use crate::context::{Answer, Context, GLOBAL, fail, text};
use crate::message::{Reply, Request};
use crate::server::Server;

/// How long a URL is good for, in seconds: for uploads, and for downloads.
const UPLOAD: u64 = 900;
const DOWNLOAD: u64 = 28_800;

pub(crate) fn is_checksum(text: &str) -> bool {
    text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// The name under which a content is kept.
fn blob(org: &str, checksum: &str) -> String {
    format!("chef/{org}/{checksum}")
}

fn signature(server: &Server, org: &str, method: &str, checksum: &str, expires: u64) -> String {
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(server.file_key()) else {
        return String::new();
    };
    mac.update(format!("{method}\n{org}\n{checksum}\n{expires}").as_bytes());
    mac.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The URL of a content, for a while.
pub(crate) fn url(context: &Context<'_, '_>, method: &str, checksum: &str) -> String {
    let lifetime = if method == "PUT" { UPLOAD } else { DOWNLOAD };
    // The same for an hour, so that a document does not change with every look at it.
    let expires = (context.server.now() + lifetime).next_multiple_of(3600);
    let signature = signature(context.server, &context.org, method, checksum, expires);
    context.url(&format!("file_store/checksums/{checksum}?Expires={expires}&Signature={signature}"))
}

/// Whether the URL of a request is one of ours and not too old.
pub(crate) fn is_ours(server: &Server, org: &str, request: &Request, checksum: &str) -> bool {
    let query = &request.query;
    let expires: u64 = query.get("Expires").and_then(|text| text.parse().ok()).unwrap_or(0);
    let given = query.get("Signature").unwrap_or_default();
    let expected = signature(server, org, &request.method, checksum, expires);
    let same = given.len() == expected.len()
        && given.bytes().zip(expected.bytes()).fold(0, |sum, (a, b)| sum | (a ^ b)) == 0;
    same && expires >= server.now() && is_checksum(checksum)
}

/// The answer to a URL that is not.
pub(crate) fn refusal() -> Reply {
    Reply::error(403, "the URL is not valid, or not any more")
}

fn check(context: &Context<'_, '_>, checksum: &str) -> Answer<()> {
    if is_ours(context.server, &context.org, context.request, checksum) {
        return Ok(());
    }
    Err(Stopped::Caller(refusal()))
}

pub(crate) fn get(context: &mut Context<'_, '_>, parts: &[String]) -> Answer {
    check(context, &parts[0])?;
    let name = blob(&context.org, &parts[0]);
    match context.docs.get(GLOBAL, "content", &name)? {
        Some(content) => Ok(Reply::bytes("application/x-binary", content)),
        None => fail(404, format!("Object not found: {}", context.request.path)),
    }
}

pub(crate) fn put(context: &mut Context<'_, '_>, parts: &[String]) -> Answer {
    check(context, &parts[0])?;
    let content = &context.request.body;
    let checksum = fx_crypto::digest::Algorithm::Md5.hex(content);
    if !checksum.eq_ignore_ascii_case(&parts[0]) {
        return fail(400, format!("the content has the checksum {checksum}, not {}", parts[0]));
    }
    keep(context, content)?;
    Ok(Reply::empty(200))
}

/// Keeps a content; its checksum.
pub(crate) fn keep(context: &mut Context<'_, '_>, content: &[u8]) -> Answer<String> {
    let checksum = fx_crypto::digest::Algorithm::Md5.hex(content);
    let name = blob(&context.org, &checksum);
    context.docs.put(GLOBAL, "content", &name, content)?;
    context.put_own("checksum", &checksum, &json!({}))?;
    Ok(checksum)
}

/// Whether a content was uploaded.
pub(crate) fn is_there(context: &mut Context<'_, '_>, checksum: &str) -> Answer<bool> {
    context.has_own("checksum", checksum)
}

/// Removes contents of a manifest that no other one names.
pub(crate) fn sweep(context: &mut Context<'_, '_>, removed: &serde_json::Value) -> Answer<()> {
    let checksums: Vec<String> = removed["all_files"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|file| text(file, "checksum").to_owned())
        .collect();
    let mut used = std::collections::BTreeSet::new();
    for kind in ["cookbook", "artifact"] {
        for (_, record) in context.all_own(kind)? {
            for file in record["all_files"].as_array().into_iter().flatten() {
                used.insert(text(file, "checksum").to_owned());
            }
        }
    }
    let org = context.org.clone();
    for checksum in checksums.into_iter().filter(|one| !used.contains(one)) {
        context.remove_own("checksum", &checksum)?;
        context.docs.remove(GLOBAL, "content", &blob(&org, &checksum))?;
    }
    Ok(())
}
