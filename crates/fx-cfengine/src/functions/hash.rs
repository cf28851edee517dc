//! Digests of text and files.

use std::path::Path;

use fx_crypto::digest::Algorithm;
use fx_host::{HostError, Look, limits};
use sha2::Digest;

use crate::eval::Context;
use crate::text::{encode, int_from, path};

use super::{FnResult, Given, arg, text, truth};

/// `hash`.
pub(crate) fn hash(_: &mut Context<'_>, Given { args, .. }: Given<'_>) -> FnResult {
    text(digest_hex(arg(args, 1), &encode(arg(args, 0)))?)
}

/// `file_hash`.
pub(crate) fn file_hash(ctx: &mut Context<'_>, Given { args, .. }: Given<'_>) -> FnResult {
    let digest = digest_hex(arg(args, 1), b"")?;
    match digest_of_file(ctx.host(), arg(args, 1), &path(arg(args, 0)))? {
        Ok(hex) => text(hex),
        // Nothing is read from a directory; what cannot be opened has the digest that
        // the original began with.
        Err(_) if ctx.host().stat(&path(arg(args, 0))).is_ok_and(|meta| meta.is_dir()) => {
            text(digest)
        }
        Err(error) => {
            log_unopened(ctx, arg(args, 0), &error);
            text("0".repeat(digest.len()))
        }
    }
}

/// `hashmatch`.
pub(crate) fn hashmatch(ctx: &mut Context<'_>, Given { args, .. }: Given<'_>) -> FnResult {
    let file = path(arg(args, 0));
    let Some(digest) = digest_of_file(ctx.host(), arg(args, 1), &file) else {
        return match ctx.host().open(&file) {
            Ok(_) => None,
            Err(_) => truth(false),
        };
    };
    match digest {
        Ok(hex) => truth(hex.eq_ignore_ascii_case(arg(args, 2))),
        Err(error) => {
            if ctx.host().stat(&file).is_err() {
                log_unopened(ctx, arg(args, 0), &error);
            }
            truth(false)
        }
    }
}

/// `hash_to_int`.
pub(crate) fn hash_to_int(_: &mut Context<'_>, Given { args, .. }: Given<'_>) -> FnResult {
    let (from, to) = (int_from(arg(args, 0))?, int_from(arg(args, 1))?);
    let (low, high) = (from.min(to), from.max(to));
    if high == low {
        return text(low.to_string());
    }
    let digest = sha2::Sha256::digest(encode(arg(args, 2)));
    let number = u64::from_le_bytes(digest[..8].try_into().ok()?);
    text((low + (number % (high - low) as u64) as i64).to_string())
}

fn log_unopened(ctx: &Context<'_>, file: &str, error: &HostError) {
    let why = crate::reason::reason(error);
    ctx.info(&format!("Cannot open file for hashing '{file}'. (fopen: {why})"));
}

/// The digest of a name; `None` for an unknown one.
fn algorithm(method: &str) -> Option<Algorithm> {
    match method {
        "best" => Some(Algorithm::Sha256),
        "md5" | "sha1" | "sha224" | "sha256" | "sha384" | "sha512" => Algorithm::named(method),
        _ => None,
    }
}

/// A digest in hexadecimal; `None` for an unknown method.
pub fn digest_hex(method: &str, bytes: &[u8]) -> Option<String> {
    algorithm(method).map(|algorithm| algorithm.hex(bytes))
}

/// The digest of a file's content in hexadecimal; `None` for an unknown method.
pub fn digest_of_file(
    host: &dyn Look,
    method: &str,
    file: &Path,
) -> Option<Result<String, HostError>> {
    let algorithm = algorithm(method)?;
    let size = host.stat(file).map_or(0, |meta| meta.size);
    if size > limits::DIGEST {
        return Some(Err(HostError::TooLarge { path: file.to_owned(), limit: limits::DIGEST }));
    }
    let digest = host.open(file).and_then(|mut content| {
        algorithm.hex_of(&mut content).map_err(|error| HostError::io("read", file, error))
    });
    Some(digest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_are_those_of_the_methods() {
        assert_eq!(digest_hex("md5", b"").as_deref(), Some("d41d8cd98f00b204e9800998ecf8427e"));
        assert_eq!(
            digest_hex("sha1", b"abc").as_deref(),
            Some("a9993e364706816aba3e25717850c26c9cd0d89d")
        );
        assert_eq!(digest_hex("nope", b""), None);
    }
}
