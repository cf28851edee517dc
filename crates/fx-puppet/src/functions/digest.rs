//! Digests, and numbers drawn from them.

use md5::Digest;

use super::{Call, Native, native};
use crate::eval::{Evaluated, Flow, interpolated};
use crate::value::Value;

pub(super) static TABLE: &[Native] = &[
    native("md5", &[], |call| digest::<md5::Md5>(call, "md5")),
    native("sha1", &[], |call| digest::<sha1::Sha1>(call, "sha1")),
    native("sha256", &[], |call| digest::<sha2::Sha256>(call, "sha256")),
    native("digest", &[], |call| digest::<sha2::Sha256>(call, "digest")),
    native("fqdn_rand", &[], fqdn_rand),
];

fn digest<D: Digest>(call: &Call<'_>, name: &str) -> Evaluated {
    let [value] = call.args else {
        return Err(Flow::raw(format!(
            "{name}(): Wrong number of arguments given ({} for 1)",
            call.args.len()
        )));
    };
    let bytes = match value {
        Value::Binary(bytes) => bytes.to_vec(),
        Value::Undef => Vec::new(),
        Value::Bool(_)
        | Value::Int(_)
        | Value::Float(_)
        | Value::Default
        | Value::Array(_)
        | Value::Hash(_)
        | Value::Type(_)
        | Value::Sensitive(_) => {
            return Err(Flow::raw(format!(
                "no implicit conversion of {} into String",
                super::sprintf::class_of(value)
            )));
        }
        value => interpolated(value).into_bytes(),
    };
    Ok(Value::from(fx_formats::hex(D::digest(bytes))))
}

/// The number that the original draws: a digest of the node's name and seed starts a
/// Mersenne twister.
fn fqdn_rand(call: &Call<'_>) -> Evaluated {
    let most = match call.arg(0) {
        Value::Int(most) => *most,
        Value::String(text) => text.parse().unwrap_or(0),
        _ => 0,
    };
    if most <= 0 {
        return Err(Flow::raw("fqdn_rand(): The first argument must be a positive integer"));
    }
    // Facts are found out when they are first asked for, and this asks.
    if call.evaluator.known_facts.get().is_none() {
        call.evaluator.facts();
    }
    let fqdn = match call.evaluator.top.own("facts") {
        Some(facts) => fqdn_of(&facts).unwrap_or_default(),
        None => String::new(),
    };
    let fqdn = if call.arg(2).is_true() { fqdn.to_lowercase() } else { fqdn };
    let digest = md5::Md5::digest(format!("{fqdn}:{most}:{}", interpolated(call.arg(1))));
    let seed = digest.iter().fold(0_u128, |seed, byte| seed << 8 | u128::from(*byte));
    Ok(Value::Int(crate::random::limited(seed, most as u64 - 1) as i64))
}

fn fqdn_of(facts: &Value) -> Option<String> {
    let Value::Hash(facts) = facts else { return None };
    let Value::Hash(networking) = facts.get(&Value::from("networking"))? else { return None };
    networking.get(&Value::from("fqdn")).map(interpolated)
}
