//! Whose key signed a request, in the order in which the original finds what is wrong.

use fx_fleet::Stopped;
use fx_wire::chef::{Described, Protocol, Signable, Verifier};
use fx_wire::x509::PublicKey;

use crate::context::{Actor, Answer, Context, GLOBAL, fail, text};
use crate::keys::expiration;
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
        let names = [
            ("X-Ops-UserId", "x-ops-userid"),
            ("X-Ops-Timestamp", "x-ops-timestamp"),
            ("X-Ops-Sign", "x-ops-sign"),
            ("X-Ops-Content-Hash", "x-ops-content-hash"),
        ];
        let [Some(name), Some(timestamp), Some(sign), Some(content_hash)] =
            names.map(|(_, field)| request.field(field))
        else {
            let missing = names.iter().filter(|(_, field)| request.field(field).is_none());
            let missing: Vec<String> = missing.map(|(name, _)| format!("'{name}'")).collect();
            let missing = missing.join(", ");
            return fail(400, format!("missing required authentication header(s) {missing}"));
        };
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

/// A key that counts for a name.
struct Signer {
    actor: Actor,
    /// `None` where it cannot verify.
    verifier: Option<Verifier>,
    /// Seconds since 1970.
    expires: Option<u64>,
}

/// What the store says of a name within an organization.
pub(crate) struct Caller {
    is_organization_there: bool,
    is_member: bool,
    /// Those of the user first, then those of the client.
    signers: Vec<Signer>,
}

/// The client or user whose key the signature is of.
pub(crate) fn actor(context: &mut Context<'_, '_>, signed: &Signed<'_>) -> Answer<Actor> {
    let name = signed.name;
    let request = context.request;
    let callers = &context.server.callers;
    let caller = context.known(callers, name, |context| read(context, name))?;
    if !caller.is_organization_there {
        return fail(404, format!("organization '{}' does not exist.", context.org));
    }
    let now = context.server.now();
    let is_valid = |signer: &&Signer| signer.expires.is_none_or(|end| end > now);
    let mut signers = caller.signers.iter().filter(is_valid).peekable();
    if signers.peek().is_none() {
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
    let web_key = web_key.map(verifier);
    let signer = signers.find(|signer| {
        let verifier = web_key.as_ref().unwrap_or(&signer.verifier).as_ref();
        is_body
            && verifier.is_some_and(|key| key.verify(&signable, signed.protocol, &signed.signature))
    });
    let Some(Signer { actor, .. }) = signer else {
        return refuse(format!("Invalid signature for user or client '{name}'"));
    };
    // A user works in organizations that he belongs to.
    if !(actor.is_client || actor.is_superuser || context.org.is_empty() || caller.is_member) {
        let org = &context.org;
        return fail(403, format!("'{name}' not associated with organization '{org}'"));
    }
    Ok(actor.clone())
}

fn verifier(pem: &str) -> Option<Verifier> {
    Verifier::new(&PublicKey::from_pem(pem).ok()?)
}

/// Keys that count for a name.
fn read(context: &mut Context<'_, '_>, name: &str) -> Answer<Caller> {
    let org = context.org.clone();
    let is_organization_there = org.is_empty() || context.docs.has(GLOBAL, "organization", &org)?;
    let mut signers = Vec::new();
    for (scope, kind) in [(GLOBAL, "user"), (org.as_str(), "client")] {
        if kind == "client" && org.is_empty() {
            continue;
        }
        let Some(record) = context.get(scope, kind, name)? else { continue };
        for (key, value) in context.keys(scope, kind, name)? {
            let actor = Actor {
                is_client: kind == "client",
                name: name.to_owned(),
                id: text(&record, "authz_id").to_owned(),
                is_validator: record["validator"] == true,
                is_superuser: kind == "user" && name == SUPERUSER,
                key,
            };
            let verifier = verifier(text(&value, "public_key"));
            signers.push(Signer { actor, verifier, expires: expiration(&value) });
        }
    }
    let is_member = !org.is_empty() && context.has_own("member", name)?;
    Ok(Caller { is_organization_there, is_member, signers })
}
