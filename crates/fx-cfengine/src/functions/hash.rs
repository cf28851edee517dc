//! Digests of text and files.

use sha2::Digest;

use crate::eval::Context;
use crate::policy::Rval;
use crate::text::{encode, int_from, path};

use super::{FnResult, arg, text, truth};

pub(super) fn call(ctx: &mut Context<'_>, name: &str, args: &[Rval]) -> FnResult {
    match name {
        "hash" => text(digest_hex(arg(args, 1), &encode(arg(args, 0)))?),
        "file_hash" => {
            let digest = digest_hex(arg(args, 1), b"")?;
            match ctx.host().read(&path(arg(args, 0))) {
                Ok(bytes) => text(digest_hex(arg(args, 1), &bytes)?),
                // Nothing is read from a directory; what cannot be opened has the digest that
                // the original began with.
                Err(_) if ctx.host().stat(&path(arg(args, 0))).is_ok_and(|meta| meta.is_dir()) => {
                    text(digest)
                }
                Err(error) => {
                    tell_unopened(ctx, arg(args, 0), &error);
                    text("0".repeat(digest.len()))
                }
            }
        }
        "hashmatch" => {
            let bytes = match ctx.host().read(&path(arg(args, 0))) {
                Ok(bytes) => bytes,
                Err(error) => {
                    if ctx.host().stat(&path(arg(args, 0))).is_err() {
                        tell_unopened(ctx, arg(args, 0), &error);
                    }
                    return truth(false);
                }
            };
            truth(digest_hex(arg(args, 1), &bytes)?.eq_ignore_ascii_case(arg(args, 2)))
        }
        "hash_to_int" => {
            let (from, to) = (int_from(arg(args, 0))?, int_from(arg(args, 1))?);
            let (low, high) = (from.min(to), from.max(to));
            if high == low {
                return text(low.to_string());
            }
            let digest = sha2::Sha256::digest(encode(arg(args, 2)));
            let number = u64::from_le_bytes(digest[..8].try_into().ok()?);
            text((low + (number % (high - low) as u64) as i64).to_string())
        }
        _ => None,
    }
}

fn tell_unopened(ctx: &Context<'_>, file: &str, error: &fx_host::HostError) {
    let why = crate::load::reason(error);
    ctx.info(&format!("Cannot open file for hashing '{file}'. (fopen: {why})"));
}

/// A digest in hexadecimal; `None` for an unknown method.
pub(crate) fn digest_hex(method: &str, bytes: &[u8]) -> Option<String> {
    let hex = |digest: &[u8]| digest.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    Some(match method {
        "md5" => hex(&md5::Md5::digest(bytes)),
        "sha1" => hex(&sha1::Sha1::digest(bytes)),
        "sha224" => hex(&sha2::Sha224::digest(bytes)),
        "sha256" | "best" => hex(&sha2::Sha256::digest(bytes)),
        "sha384" => hex(&sha2::Sha384::digest(bytes)),
        "sha512" => hex(&sha2::Sha512::digest(bytes)),
        _ => return None,
    })
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
