//! Whose key signed a request, in the order in which the original finds what is wrong.

use fx_fleet::Stopped;
use fx_wire::chef::{Described, Protocol, Signable, verify};
use fx_wire::x509::PublicKey;
use serde_json::Value;

use crate::context::{Actor, Answer, Context, GLOBAL, fail, text};
use crate::keys::is_expired;
use crate::message::{Reply, Request};
use crate::server::SUPERUSER;

/// How far clocks may differ, in seconds.
const SKEW: u64 = 900;

/// What the headers of a signed request say.
pub(crate) struct Signed<'a> {
    name: &'a str,
    timestamp: &'a str,
    protocol: Protocol,
    content_hash: &'a str,
    signature: String,
}

fn refuse<T>(reason: impl Into<String>) -> Answer<T> {
    let challenge = "X-Ops-Sign version=\"1.0\" version=\"1.1\"";
    Err(Stopped::Caller(Reply::error(401, reason).with("www-authenticate", challenge)))
}

impl Signed<'_> {
    pub(crate) fn read(request: &Request, now: u64) -> Answer<Signed<'_>> {
        let names = ["X-Ops-UserId", "X-Ops-Timestamp", "X-Ops-Sign", "X-Ops-Content-Hash"];
        let value = |name: &str| request.field(&name.to_lowercase());
        let missing: Vec<String> =
            names.iter().filter(|name| value(name).is_none()).map(|n| format!("'{n}'")).collect();
        if !missing.is_empty() {
            let missing = missing.join(", ");
            return fail(400, format!("missing required authentication header(s) {missing}"));
        }
        let [name, timestamp, sign, content_hash] = names.map(|name| value(name).unwrap_or(""));
        let Some(time) = seconds(timestamp) else {
            return refuse("bad header(s) 'X-Ops-Timestamp'");
        };
        if time.abs_diff(now) > SKEW {
            return refuse(format!(
                "Failed to authenticate as {name}. Synchronize the clock on your host."
            ));
        }
        let Ok(Described(protocol)) = Described::parse(sign) else {
            return fail(400, "Unsupported authentication protocol version");
        };
        let mut signature = String::new();
        for number in 1.. {
            match request.field(&format!("x-ops-authorization-{number}")) {
                Some(line) => signature.push_str(line),
                None => break,
            }
        }
        Ok(Signed { name, timestamp, protocol, content_hash, signature })
    }
}

/// Seconds of `2026-01-02T03:04:05Z`.
fn seconds(timestamp: &str) -> Option<u64> {
    let time: jiff::Timestamp = timestamp.parse().ok()?;
    (timestamp.len() == 20 && timestamp.ends_with('Z'))
        .then(|| u64::try_from(time.as_second()).ok())
        .flatten()
}

/// The client or user whose key the signature is of.
pub(crate) fn actor(context: &mut Context<'_, '_>, signed: &Signed<'_>) -> Answer<Actor> {
    let name = signed.name;
    let request = context.request;
    let keys = keys_of(context, name)?;
    if keys.is_empty() {
        return refuse(format!(
            "Failed to authenticate as '{name}'. Ensure that your node_name and client key are correct."
        ));
    }
    let is_body = signed.protocol.content_hash(&request.body) == signed.content_hash;
    let signable = Signable {
        method: &request.method,
        path: &request.path,
        content_hash: signed.content_hash,
        timestamp: signed.timestamp,
        name,
        api_version: request.field("x-ops-server-api-version").unwrap_or("0"),
    };
    // A page that signs for its users has a key of its own.
    let is_web = request.field("x-ops-request-source") == Some("web");
    let web_key = context.server.parts.web_key.as_deref().filter(|_| is_web);
    let signer = keys.into_iter().find(|(_, key)| {
        let pem = web_key.unwrap_or_else(|| text(key, "public_key"));
        is_body
            && PublicKey::from_pem(pem)
                .is_ok_and(|key| verify(&signable, signed.protocol, &signed.signature, &key))
    });
    let Some((actor, _)) = signer else {
        return refuse(format!("Invalid signature for user or client '{name}'"));
    };
    belongs(context, &actor)?;
    Ok(actor)
}

/// Keys that count for a name: those of the user first, then those of the client.
fn keys_of(context: &mut Context<'_, '_>, name: &str) -> Answer<Vec<(Actor, Value)>> {
    let mut found = Vec::new();
    let now = context.server.now();
    let org = context.org.clone();
    for (scope, kind) in [(GLOBAL, "user"), (org.as_str(), "client")] {
        if kind == "client" && org.is_empty() {
            continue;
        }
        let Some(record) = context.get(scope, kind, name)? else { continue };
        for (key, value) in context.keys(scope, kind, name)? {
            if is_expired(&value, now) {
                continue;
            }
            let actor = Actor {
                is_client: kind == "client",
                name: name.to_owned(),
                id: text(&record, "authz_id").to_owned(),
                is_validator: record["validator"] == true,
                is_superuser: kind == "user" && name == SUPERUSER,
                key,
            };
            found.push((actor, value));
        }
    }
    Ok(found)
}

/// A user works in organizations that he belongs to.
fn belongs(context: &mut Context<'_, '_>, actor: &Actor) -> Answer<()> {
    if actor.is_client || actor.is_superuser || context.org.is_empty() {
        return Ok(());
    }
    if context.has_own("member", &actor.name)? {
        return Ok(());
    }
    // An invitation is answered, and a public key read, by who is no member yet.
    let (name, org) = (&actor.name, &context.org);
    fail(403, format!("'{name}' not associated with organization '{org}'"))
}
