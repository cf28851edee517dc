//! Elliptic curve keys as scalar and uncompressed point, for the two curves in common use.

use p256::ecdsa::signature::hazmat::{PrehashSigner as _, PrehashVerifier as _};

use crate::{Error, Random, Result};

const NO_KEY: Error = Error("not a key of this curve");
const NO_CURVE: Error = Error("unknown curve name");

/// The named curves, with the length of a scalar.
pub const CURVES: &[(&str, usize)] = &[("prime256v1", 32), ("secp384r1", 48)];

/// The length of a scalar of the curve.
pub fn scalar_len(curve: &str) -> Result<usize> {
    CURVES.iter().find(|(name, _)| *name == curve).map(|(_, n)| *n).ok_or(NO_CURVE)
}

/// A new secret scalar.
pub fn generate(curve: &str, random: Random<'_>) -> Result<Vec<u8>> {
    let mut scalar = vec![0; scalar_len(curve)?];
    // A scalar of zero or above the order is as likely as a lightning stroke; a dead source
    // of random bytes must not loop for ever.
    for _ in 0..16 {
        (random.0)(&mut scalar);
        if public(curve, &scalar).is_ok() {
            return Ok(scalar);
        }
    }
    Err(Error("no random bytes"))
}

/// The uncompressed point that belongs to a scalar.
pub fn public(curve: &str, scalar: &[u8]) -> Result<Vec<u8>> {
    match curve {
        "prime256v1" => {
            let key = p256::ecdsa::SigningKey::from_slice(scalar).map_err(|_| NO_KEY)?;
            Ok(key.verifying_key().to_sec1_point(false).as_bytes().to_vec())
        }
        "secp384r1" => {
            let key = p384::ecdsa::SigningKey::from_slice(scalar).map_err(|_| NO_KEY)?;
            Ok(key.verifying_key().to_sec1_point(false).as_bytes().to_vec())
        }
        _ => Err(NO_CURVE),
    }
}

/// The signature of a digest, in DER.
pub fn sign(curve: &str, scalar: &[u8], digest: &[u8]) -> Result<Vec<u8>> {
    match curve {
        "prime256v1" => {
            let key = p256::ecdsa::SigningKey::from_slice(scalar).map_err(|_| NO_KEY)?;
            let signature: p256::ecdsa::Signature = key.sign_prehash(digest).map_err(|_| NO_KEY)?;
            Ok(signature.to_der().as_bytes().to_vec())
        }
        "secp384r1" => {
            let key = p384::ecdsa::SigningKey::from_slice(scalar).map_err(|_| NO_KEY)?;
            let signature: p384::ecdsa::Signature = key.sign_prehash(digest).map_err(|_| NO_KEY)?;
            Ok(signature.to_der().as_bytes().to_vec())
        }
        _ => Err(NO_CURVE),
    }
}

/// Whether the DER signature is that of the point's owner for the digest.
pub fn verify(curve: &str, point: &[u8], digest: &[u8], signature: &[u8]) -> Result<bool> {
    match curve {
        "prime256v1" => {
            let key = p256::ecdsa::VerifyingKey::from_sec1_bytes(point).map_err(|_| NO_KEY)?;
            let signature = p256::ecdsa::Signature::from_der(signature);
            Ok(signature.is_ok_and(|s| key.verify_prehash(digest, &s).is_ok()))
        }
        "secp384r1" => {
            let key = p384::ecdsa::VerifyingKey::from_sec1_bytes(point).map_err(|_| NO_KEY)?;
            let signature = p384::ecdsa::Signature::from_der(signature);
            Ok(signature.is_ok_and(|s| key.verify_prehash(digest, &s).is_ok()))
        }
        _ => Err(NO_CURVE),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_of_each_curve_signs_for_its_point() {
        for (curve, len) in CURVES {
            let mut n = 0;
            let scalar = generate(
                curve,
                Random(&mut |b: &mut [u8]| {
                    n += 1;
                    b.fill(n);
                }),
            )
            .expect("a scalar");
            assert_eq!(scalar.len(), *len);
            let point = public(curve, &scalar).expect("a point");
            assert_eq!((point.len(), point[0]), (1 + 2 * len, 4));
            let signature = sign(curve, &scalar, &[5; 32]).expect("signs");
            assert_eq!(verify(curve, &point, &[5; 32], &signature), Ok(true));
            assert_eq!(verify(curve, &point, &[6; 32], &signature), Ok(false));
            assert_eq!(verify(curve, &point, &[5; 32], b"rubbish"), Ok(false));
        }
    }

    #[test]
    fn other_curves_and_dead_sources_end_in_an_error() {
        assert_eq!(public("brainpoolP256r1", &[1; 32]), Err(NO_CURVE));
        assert_eq!(generate("prime256v1", Random(&mut |_| {})), Err(Error("no random bytes")));
    }
}
